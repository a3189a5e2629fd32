// Keeps a note in the browser's local storage, and reports once what it holds when asked.

export default function ({ data, parentElement, setTriggerValue }) {
  try {
    if (data.keep === "") {
      localStorage.removeItem(data.name);
    } else if (data.keep) {
      localStorage.setItem(data.name, data.keep);
    } else if (data.wanted && !parentElement.hasAsked) {
      parentElement.hasAsked = true;
      const found = localStorage.getItem(data.name);
      if (found) setTriggerValue("found", found);
    }
  } catch {
    // A browser may forbid storage; then the rig stands in the address alone.
  }
}
