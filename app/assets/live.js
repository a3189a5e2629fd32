// Shows escaped HTML from Python, and reports two clicks: a sortable head and a model link.
// Rows that were opened stay open when the table is ordered or filtered anew.
// Links keep their address, so a new tab, a copied link and the middle button still work.

const ROWS = "details[data-row]";
const nameOf = (row) => row.dataset.row;

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
    const opened = new Set([...root.querySelectorAll(ROWS)].filter((row) => row.open).map(nameOf));
    const focusedRow = root.contains(document.activeElement)
      ? document.activeElement.closest(ROWS)?.dataset.row
      : undefined;
    root.innerHTML = data.html;
    root.shownHtml = data.html;
    for (const row of root.querySelectorAll(ROWS)) {
      row.open = opened.has(nameOf(row));
      if (nameOf(row) === focusedRow) row.querySelector("summary").focus();
    }
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
    const place = event.target.closest("a[data-place]");
    if (place) {
      // Without a hash in the address: the back button would stop at it and change nothing.
      event.preventDefault();
      document.getElementById(place.dataset.place)?.scrollIntoView();
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
