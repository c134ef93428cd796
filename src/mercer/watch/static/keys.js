// Keys for all that is done often. They are off while a person writes.

import {make, part} from "./page_parts.js";

const WRITING = new Set(["INPUT", "TEXTAREA", "SELECT"]);

// `keys` lists [key, what it does, action]; several keys may share a line of the help, as in "1 … 6".
export function useKeys(keys) {
  const actions = new Map(keys.map(([key, , action]) => [key, action]));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || part("help").open) return;
    if (WRITING.has(event.target.tagName) && event.key !== "Escape") return;
    const action = actions.get(event.key);
    if (!action) return;
    event.preventDefault();
    action();
  });
  const lines = keys.filter(([, what]) => what);
  part("keys").replaceChildren(...lines.map(([key, what]) => make("div", "", make("dt", "", make("kbd", "", shown(key))), make("dd", "", what))));
  part("help-open").onclick = openHelp;
}

export function openHelp() {
  part("help").showModal();
}

const shown = (key) => ({ArrowLeft: "←", ArrowRight: "→", Escape: "Esc"})[key] ?? key;
