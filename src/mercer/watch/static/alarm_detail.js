// The chosen alarm: which variables moved, and what a person can do about it.

import {isActive, length, stateWord} from "./alarm_list.js";
import {moment, number, percent} from "./format.js";
import {make, notice, part, say} from "./page_parts.js";
import {post} from "./server.js";

export class AlarmDetail {
  // `onAlarm` gets an alarm as the server answers it, `onVariable` the name of a bar that was pressed,
  // `onTime` an alarm whose time is to be seen.
  constructor({onAlarm, onVariable, onTime}) {
    Object.assign(this, {onAlarm, onVariable, alarm: null, bars: ""});
    part("show-time").onclick = () => this.alarm && onTime(this.alarm);
    part("act").onsubmit = (event) => {
      event.preventDefault();
      this.acknowledge();
    };
    part("save-comment").onclick = () => this.#send("comment", {comment: part("comment").value}, "The comment is saved.");
    part("shelve").onclick = () => this.shelve();
  }

  show(alarm) {
    const another = alarm?.id !== this.alarm?.id;
    const before = this.alarm;
    this.alarm = alarm;
    part("detail-body").hidden = alarm === null;
    part("show-time").hidden = alarm === null;
    part("detail-hint").hidden = alarm !== null;
    say("detail-title", alarm === null ? "No alarm selected" : `Alarm ${alarm.id}`);
    if (alarm === null) return;
    // what a person has begun to write is not overwritten by news about the same alarm
    if (another || part("comment").value === before.comment) part("comment").value = alarm.comment;
    say("detail-facts", facts(alarm));
    this.#showBars(alarm.contributions);
    this.#showActions(alarm);
  }

  // Whether a person is about to say something about the alarm that is shown.
  isBusy() {
    if (this.alarm === null) return false;
    const focused = document.activeElement;
    return part("comment").value !== this.alarm.comment || focused === part("comment") || focused === part("minutes");
  }

  acknowledge() {
    if (this.alarm && this.alarm.acknowledged === null) {
      this.#send("acknowledge", {comment: part("comment").value}, `Alarm ${this.alarm.id} is acknowledged.`);
    }
  }

  shelve() {
    if (!this.alarm) return;
    const shelved = this.alarm.state === "shelved";
    const minutes = shelved ? 0 : Number(part("minutes").value);
    this.#send("shelve", {minutes}, `Alarm ${this.alarm.id} is ${shelved ? "no longer " : ""}shelved.`);
  }

  async #send(action, body, done) {
    if (!this.alarm) return;
    const {id} = this.alarm;
    try {
      const alarm = await post(`alarms/${id}/${action}`, body);
      if (this.alarm?.id === id && "comment" in body) this.#saved(alarm.comment);
      this.onAlarm(alarm);
      notice(done);
    } catch (error) {
      notice(`Not done. ${error.message}`, true);
    }
  }

  // The keys of the page work again when a comment has been written.
  #saved(comment) {
    part("comment").value = comment;
    part("comment").blur();
  }

  #showActions(alarm) {
    const known = alarm.acknowledged !== null;
    const shelved = alarm.state === "shelved";
    part("acknowledge").hidden = known;
    part("save-comment").hidden = !known;
    part("shelve").textContent = shelved ? "End shelving" : "Shelve";
    part("minutes").hidden = shelved;
    part("shelve").parentElement.hidden = !isActive(alarm) && !shelved;
  }

  #showBars(contributions) {
    const text = JSON.stringify(contributions);
    if (this.bars === text) return;
    this.bars = text;
    const largest = Math.max(...contributions.map(({share}) => share), 1e-9);
    const focused = document.activeElement?.dataset?.variable;
    part("bars").replaceChildren(...contributions.map((one) => this.#bar(one, largest)));
    if (focused !== undefined) [...part("bars").querySelectorAll("button")].find((b) => b.dataset.variable === focused)?.focus();
  }

  #bar({variable, share, value, expected}, largest) {
    const length = make("span", "length");
    length.style.width = `${(100 * share) / largest}%`;
    const button = make(
      "button",
      "variable",
      make("span", "line", make("span", "name", variable), make("span", "share", percent(share))),
      make("span", "line", make("span", "track", length), make("span", "values", told(value, expected))),
    );
    button.type = "button";
    button.title = "Show this variable";
    button.dataset.variable = variable;
    button.onclick = () => this.onVariable(variable);
    return make("li", "", button);
  }
}

const isNumber = (value) => typeof value === "number";

function told(value, expected) {
  if (!isNumber(value)) return "no value";
  if (!isNumber(expected)) return number(value);
  return `${value > expected ? "▲ " : value < expected ? "▼ " : ""}${number(value)}, expected ${number(expected)}`;
}

function facts(alarm) {
  const times = alarm.closed === null ? `since ${moment(alarm.opened)}` : `${moment(alarm.opened)} to ${moment(alarm.closed)}`;
  const more = [`${stateWord(alarm)}: ${times}`, length(alarm), `smallest p ${number(alarm.least_p, 2)}`];
  if (alarm.acknowledged !== null) more.push(`acknowledged at ${moment(alarm.acknowledged)}`);
  if (alarm.shelved_until !== null && alarm.state === "shelved") more.push(`shelved until ${moment(alarm.shelved_until)}`);
  return more.map((text, k) => (k ? text : text[0].toUpperCase() + text.slice(1))).join(" · ");
}
