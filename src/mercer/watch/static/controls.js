// Buttons that choose what the charts show.

import {moment} from "./format.js";
import {part, say} from "./page_parts.js";
import {WINDOWS} from "./time_view.js";

export function makeControls(charts) {
  const {view} = charts;
  part("windows").replaceChildren(...WINDOWS.map((one, k) => windowButton(view, one, k + 1)));
  part("live").onclick = () => view.follow();
  part("earlier").onclick = () => view.move(-0.5);
  part("later").onclick = () => view.move(0.5);
  part("zoom-in").onclick = () => view.zoom(0.5);
  part("zoom-out").onclick = () => view.zoom(2);
  part("variable").onchange = (event) => charts.showVariable(event.target.value);
  part("axes").onclick = () => charts.changeAxes();
}

function windowButton(view, {seconds, name}, key) {
  const button = document.createElement("button");
  Object.assign(button, {type: "button", textContent: name, onclick: () => view.follow(seconds)});
  button.dataset.seconds = seconds;
  button.setAttribute("aria-keyshortcuts", String(key));
  return button;
}

export function showWindow(view) {
  const [start, end] = view.range();
  say("shown", view.live ? "" : `Paused: ${moment(start)} to ${moment(end)}`);
  part("live").setAttribute("aria-pressed", String(view.live));
  document.documentElement.classList.toggle("paused", !view.live);
  for (const button of part("windows").children) {
    button.setAttribute("aria-pressed", String(view.live && Number(button.dataset.seconds) === view.window));
  }
}

export function showAxes(linear) {
  part("axes").setAttribute("aria-pressed", String(linear));
}
