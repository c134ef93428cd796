// Light, dark, or as the system says.

import {part, remember, remembered} from "./page_parts.js";

const ORDER = ["system", "light", "dark"];

export class Theme {
  constructor(onChange) {
    this.onChange = onChange;
    this.name = remembered("theme", "system");
    if (!ORDER.includes(this.name)) this.name = "system";
    part("theme").onclick = () => this.next();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.onChange());
    this.#show();
  }

  next() {
    this.name = ORDER[(ORDER.indexOf(this.name) + 1) % ORDER.length];
    remember("theme", this.name);
    this.#show();
    this.onChange();
  }

  #show() {
    document.documentElement.dataset.theme = this.name;
    part("theme").textContent = `Colours: ${this.name}`;
    part("theme").setAttribute("aria-label", `Colours: ${this.name}. Press to change.`);
  }
}
