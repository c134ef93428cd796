// The page: what the server says goes to the state, the charts and the alarms.

import {AlarmDetail} from "./alarm_detail.js";
import {AlarmList} from "./alarm_list.js";
import {Charts} from "./charts.js";
import {openHelp, useKeys} from "./keys.js";
import {bringIntoView, notice, part, say} from "./page_parts.js";
import {Events, Refused, get} from "./server.js";
import {showState} from "./state.js";
import {Theme} from "./theme.js";
import {WINDOWS} from "./time_view.js";

let chosenId = null;
const page = {status: null, connected: false, lostSince: null, problem: "", tries: 0};

const charts = new Charts(() => shaded());
const detail = new AlarmDetail({onAlarm: (alarm) => alarmArrived(alarm), onVariable: (name) => variablePressed(name), onTime: (alarm) => charts.showTime(alarm)});
const list = new AlarmList((chosen) => chosenChanged(chosen), () => detail.isBusy());
const theme = new Theme(() => charts.coloursChanged());

function shaded() {
  return [...list.alarms.values()].map(({id, opened, closed}) => ({opened, closed: closed ?? charts.view.newest, chosen: id === list.chosen}));
}

// The variable that moved most is shown with the alarm.
function chosenChanged(chosen) {
  detail.show(chosen);
  charts.alarmsChanged(chosen?.id !== chosenId);
  if (chosen && chosen.id !== chosenId && chosen.contributions.length) charts.showVariable(chosen.contributions[0].variable);
  chosenId = chosen?.id ?? null;
  queueMicrotask(refresh);
}

function variablePressed(name) {
  charts.showVariable(name);
  bringIntoView("trend");
}

function alarmArrived(alarm) {
  const fresh = list.arrived(alarm);
  if (fresh && alarm.closed === null) {
    const first = alarm.contributions[0]?.variable;
    say("urgent", `Alarm ${alarm.id} opened${first ? `; most changed: ${first}` : ""}.`);
  }
}

function statusArrived(status) {
  page.status = status;
  charts.statusArrived(status);
  if (list.loadedAt !== null) list.compare(status.open_alarms);
  refresh();
}

function refresh() {
  const waiting = list.waiting();
  const since = waiting.length ? Math.min(...waiting.map(({opened}) => opened)) : null;
  const counts = {known: list.known().length, waiting: waiting.length, shelved: list.shelved().length, unseen: list.unseen().length};
  showState(page.status, {...page, ...counts, since});
}

// After each connection all is asked anew: something may have happened without the page.
async function connected() {
  const mine = ++page.tries;
  try {
    const status = await get("status");
    await list.load();
    if (mine !== page.tries) return;
    Object.assign(page, {connected: true, problem: ""});
    statusArrived(status);
    await charts.load();
  } catch (error) {
    notice(error.message, true);
  }
}

async function lost() {
  page.tries += 1;
  if (page.connected || page.lostSince === null) page.lostSince = Date.now() / 1000;
  page.connected = false;
  refresh();
  try {
    await get("status");
  } catch (error) {
    page.problem = error instanceof Refused ? error.message : "";
    refresh();
  }
}

const events = new Events(
  {rows: (rows) => charts.rowsArrived(rows), alarm: alarmArrived, status: statusArrived},
  {onOpen: connected, onLost: lost},
);

function focusOn(id) {
  if (list.chosen !== null) part(id).focus();
}

useKeys([
  ["j", "next alarm in the list", () => list.step(1)],
  ["k", "previous alarm", () => list.step(-1)],
  ["a", "acknowledge the selected alarm", () => detail.acknowledge()],
  ["c", "write a comment", () => focusOn("comment")],
  ["z", "show the time of the alarm", () => detail.alarm && charts.showTime(detail.alarm)],
  ["s", "choose how long to shelve", () => focusOn("minutes")],
  ["v", "choose a variable", () => part("variable").focus()],
  ["l", "live: follow the newest rows", () => charts.view.follow()],
  ["ArrowLeft", "earlier", () => charts.view.move(-0.5)],
  ["ArrowRight", "later", () => charts.view.move(0.5)],
  ["+", "zoom in", () => charts.view.zoom(0.5)],
  ["-", "zoom out", () => charts.view.zoom(2)],
  ...WINDOWS.map(({seconds, name}, k) => [String(k + 1), `show the last ${name}`, () => charts.view.follow(seconds)]),
  ["g", "linear axes for T² and SPE, or not", () => charts.changeAxes()],
  ["t", "colours: system, light, dark", () => theme.next()],
  ["?", "this help", openHelp],
  ["Escape", "leave a field", () => document.activeElement?.blur()],
]);

// a token in the address has done its work, and is not to be seen on a screen
if (location.search.includes("token=")) history.replaceState(null, "", location.pathname);
events.open();
