// Shows escaped HTML from Python, and reports two clicks: a sortable head and a model link.
// Links keep their address, so a new tab, a copied link and the middle button still work.

export default function ({ data, parentElement, setTriggerValue }) {
  let root = parentElement.querySelector(".tt-live");
  if (!root) {
    root = document.createElement("div");
    root.className = "tt-live";
    parentElement.appendChild(root);
  }
  if (root.shownHtml !== data.html) {
    const focused = root.contains(document.activeElement)
      ? document.activeElement.closest("th")?.cellIndex
      : undefined;
    root.innerHTML = data.html;
    root.shownHtml = data.html;
    if (focused !== undefined) {
      root.querySelectorAll("thead th")[focused]?.querySelector("button")?.focus();
    }
  }
  root.onclick = (event) => {
    const head = event.target.closest("[data-sort]");
    if (head) {
      setTriggerValue("sort", head.dataset.sort);
      return;
    }
    const link = event.target.closest("a[data-open]");
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (link && isPlain) {
      // What the back button does too: Streamlit shows the page that the address names.
      event.preventDefault();
      history.pushState({}, "", link.href);
      window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
    }
  };
}
