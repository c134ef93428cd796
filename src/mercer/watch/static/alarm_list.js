// The list of alarms, newest first.

import {count, duration, moment} from "./format.js";
import {make, notice, part, remember, remembered} from "./page_parts.js";
import {get} from "./server.js";

const PAGE = 50;
const PATIENCE = 3000; // milliseconds
const MOST = 500; // more are not kept; older ones come when they are asked for
const STATES = {open: "open", acknowledged: "acknowledged", shelved: "shelved", closed: "closed"};

export const isActive = (alarm) => alarm.closed === null;
export const isDone = (alarm) => alarm.closed !== null && alarm.acknowledged !== null;
export const isWaiting = (alarm) => isActive(alarm) && alarm.state === "open";
export const isUnseen = (alarm) => alarm.state === "closed" && alarm.acknowledged === null;

export const stateWord = (alarm) =>
  isUnseen(alarm) ? "closed, not acknowledged" : STATES[alarm.state] ?? alarm.state;

export class AlarmList {
  // `onChange(chosen)` is called when the list or what is chosen in it changes. While `isBusy()`, the choice stays.
  constructor(onChange, isBusy = () => false) {
    Object.assign(this, {onChange, isBusy, alarms: new Map(), chosen: null, byPerson: false, more: false, items: new Map()});
    Object.assign(this, {loadedAt: null, meanwhile: null}); // `meanwhile` has the alarms that arrive while the list is loaded
    this.onlyOpen = remembered("list", "all") === "open";
    part("only-active").onclick = () => this.#filter(true);
    part("all-alarms").onclick = () => this.#filter(false);
    part("older").onclick = () => this.#older();
    this.#filter(this.onlyOpen);
  }

  // The server may have answered before an alarm opened whose message is already here: messages win.
  async load() {
    const meanwhile = new Map();
    this.meanwhile = meanwhile;
    const {alarms} = await get("alarms", {limit: PAGE});
    if (this.meanwhile === meanwhile) this.meanwhile = null;
    const newest = Math.max(0, ...this.alarms.keys());
    this.more = alarms.length === PAGE;
    this.alarms = new Map([...alarms.map((alarm) => [alarm.id, alarm]), ...meanwhile]);
    this.loadedAt = performance.now();
    this.#keepChoice(Math.max(0, ...this.alarms.keys()) > newest);
    this.#show();
  }

  // An alarm that opened, changed or closed. The newest one is chosen until a person chooses another.
  arrived(alarm) {
    const fresh = !this.alarms.has(alarm.id);
    this.alarms.set(alarm.id, alarm);
    this.meanwhile?.set(alarm.id, alarm);
    if (fresh && this.alarms.size > MOST) this.#forget();
    this.#keepChoice(fresh);
    this.#show();
    return fresh;
  }

  // Some things happen without a message, such as the end of shelving: then the server counts other alarms than the list.
  compare(open) {
    if (this.known().length !== open && performance.now() - this.loadedAt > PATIENCE) this.load().catch(() => {});
  }

  known() {
    return [...this.alarms.values()].filter((alarm) => isActive(alarm) && alarm.state !== "shelved");
  }

  waiting() {
    return [...this.alarms.values()].filter(isWaiting);
  }

  shelved() {
    return [...this.alarms.values()].filter((alarm) => alarm.state === "shelved");
  }

  unseen() {
    return [...this.alarms.values()].filter(isUnseen);
  }

  choose(id, byPerson = true) {
    Object.assign(this, {chosen: id, byPerson});
    this.#show();
  }

  // The next or the previous alarm of the list.
  step(by) {
    const ids = this.#listed().map(({id}) => id);
    if (!ids.length) return;
    const at = ids.indexOf(this.chosen);
    const id = ids[Math.max(0, Math.min(ids.length - 1, at < 0 ? 0 : at + by))];
    this.choose(id);
    this.items.get(id)?.firstChild.focus();
  }

  #keepChoice(fresh = false) {
    const stays = this.byPerson || !fresh || this.isBusy();
    if (stays && this.alarms.has(this.chosen)) return;
    this.chosen = this.#sorted()[0]?.id ?? null;
    this.byPerson = false;
  }

  #forget() {
    const oldest = this.#sorted().at(-1);
    this.alarms.delete(oldest.id);
    this.more = true;
  }

  #sorted() {
    return [...this.alarms.values()].sort((a, b) => b.id - a.id);
  }

  #listed() {
    return this.#sorted().filter((alarm) => !this.onlyOpen || !isDone(alarm));
  }

  #filter(onlyOpen) {
    this.onlyOpen = onlyOpen;
    remember("list", onlyOpen ? "open" : "all");
    part("only-active").setAttribute("aria-pressed", String(onlyOpen));
    part("all-alarms").setAttribute("aria-pressed", String(!onlyOpen));
    this.#show();
  }

  async #older() {
    try {
      const before = Math.min(...this.alarms.keys());
      const {alarms} = await get("alarms", {limit: PAGE, before});
      alarms.slice(0, MOST - this.alarms.size).forEach((alarm) => this.alarms.set(alarm.id, alarm));
      this.more = alarms.length === PAGE && this.alarms.size < MOST;
      this.#show();
    } catch (error) {
      notice(`Older alarms could not be loaded. ${error.message}`, true);
    }
  }

  // Items stay the same elements, so that the one with the keyboard's focus keeps it.
  #show() {
    const listed = this.#listed();
    const items = new Map(listed.map((alarm) => [alarm.id, this.items.get(alarm.id) ?? this.#item(alarm.id)]));
    listed.forEach((alarm) => this.#fill(items.get(alarm.id), alarm));
    this.items = items;
    arrange(part("alarm-list"), [...items.values()]);
    part("no-alarms").hidden = listed.length > 0;
    part("no-alarms").textContent = this.alarms.size ? "No alarm waits for a person." : "No alarm so far.";
    part("older").hidden = !this.more;
    this.onChange(this.alarms.get(this.chosen) ?? null);
  }

  #item(id) {
    const button = make("button", "alarm", make("span", "dot"), make("span", "when"), make("span", "kind"), make("span", "names"), make("span", "note"));
    button.type = "button";
    button.onclick = () => this.choose(id);
    return make("li", "", button);
  }

  #fill(item, alarm) {
    if (item.alarm === alarm && item.chosen === (alarm.id === this.chosen)) return;
    Object.assign(item, {alarm, chosen: alarm.id === this.chosen});
    const button = item.firstChild;
    const [, when, kind, names, note] = button.children;
    button.dataset.state = isUnseen(alarm) ? "unseen" : alarm.state;
    button.dataset.alarm = alarm.id;
    button.setAttribute("aria-pressed", String(item.chosen));
    put(when, moment(alarm.opened));
    put(kind, `${stateWord(alarm)} · ${length(alarm)}`);
    put(names, alarm.contributions.slice(0, 3).map(({variable}) => variable).join(", "));
    put(note, alarm.comment);
    note.hidden = !alarm.comment;
  }
}

export const length = (alarm) => (alarm.closed === null ? `${count(alarm.rows)} rows` : duration(alarm.closed - alarm.opened));

function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

function arrange(list, items) {
  items.forEach((item, k) => {
    if (list.children[k] !== item) list.insertBefore(item, list.children[k] ?? null);
  });
  while (list.children.length > items.length) list.lastChild.remove();
}
