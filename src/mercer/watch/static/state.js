// The state of the process in words, figures and one large mark that can be read from some metres away.

import {count, duration, moment, number, percent} from "./format.js";
import {make, part, say} from "./page_parts.js";

const WORDS = {
  connecting: "Connecting",
  lost: "Connection lost",
  learning: "Learning",
  ok: "Normal",
  alarm: "Alarm",
  acknowledged: "Alarm, acknowledged",
  "no data": "No data",
  stopped: "Stopped",
};
const PROBLEMS = {
  missing: "missing values",
  late: "late rows",
  bad_time: "times that could not be read",
  clock_set_back: "times at which the clock was set back",
  text: "texts instead of numbers",
  unknown_column: "unknown columns",
  duplicate: "doubled rows",
  dropped: "rows dropped because they came too fast",
  malformed: "lines that could not be read",
  not_judged: "rows that could not be judged",
};
const ICON = {
  ok: ["#1f7a6d", "M9 17l5 5 9-11"],
  alarm: ["#c2410c", "M16 7v12M16 24v1"],
  acknowledged: ["#c2410c", "M16 7v12M16 24v1"],
};

// What the page shows: the server's word, unless there is no connection. An alarm that came after that word counts at once,
// and one that a person knows of is calmer. `known` alarms are open and not shelved, `waiting` ones not acknowledged either.
export function levelOf(status, {connected, lostSince, known, waiting}) {
  if (!connected) return status && lostSince !== null ? "lost" : "connecting";
  if (waiting > 0 && status.state === "ok") return "alarm";
  if (status.state === "alarm" && known > 0 && waiting === 0) return "acknowledged";
  return status.state;
}

export function showState(status, {connected, lostSince, problem, known, waiting, shelved, unseen, since}) {
  const level = levelOf(status, {connected, lostSince, known, waiting});
  document.documentElement.dataset.level = level;
  say("state-word", WORDS[level] ?? level);
  say("state-more", (connected ? "" : problem) || sentence(level, status, {lostSince, known, waiting, shelved, unseen, since}));
  say("connection", connected ? "connected" : level === "lost" ? "not connected" : "connecting");
  if (!status) return;
  showFigures(status);
  showLearning(level, status);
  showWarning(status.warning);
  showInput(status);
  showTab(level, status.title, known || status.open_alarms);
}

export function sentence(level, status, {lostSince, known, waiting, shelved, unseen, since}) {
  const many = (n) => (n === 1 ? "1 open alarm" : `${count(n)} open alarms`);
  switch (level) {
    case "connecting":
      return "Waiting for the server.";
    case "lost":
      return `Since ${moment(lostSince)}. What you see is old; the page connects again by itself.`;
    case "learning":
      return status.learn ? `${count(status.learned)} of ${count(status.learn)} rows; then rows are judged.` : "Rows are judged when enough of them are learned.";
    case "ok":
      return `No open alarm${shelved ? `; ${count(shelved)} shelved` : ""}${unseen ? `; ${count(unseen)} closed and not acknowledged` : ""}.`;
    case "alarm":
      return `${many(known || status.open_alarms)}${waiting < known ? `, ${count(waiting)} not acknowledged` : ""}${since ? `, since ${moment(since)}` : ""}.`;
    case "acknowledged":
      return `${many(known)}, ${known === 1 ? "" : "all "}known to a person.`;
    case "no data":
      return status.last_time ? `No row since ${moment(status.last_time)}.` : "No row came so far.";
    case "stopped":
      return "The source has ended.";
    default:
      return "";
  }
}

function showFigures(status) {
  const {counts} = status;
  say("title", status.title ?? "");
  say("source", status.source === status.title ? "" : status.source ?? "");
  say("fig-open", count(status.open_alarms));
  say("fig-rate", number(status.rows_per_second));
  say("fig-judged", count(counts.judged));
  say("fig-alarm-rate", counts.judged ? percent(counts.alarm_rows / counts.judged) : "–");
  say("fig-nominal", `expected ${percent(status.alpha)}`);
  say("fig-last", moment(status.last_time));
}

function showLearning(level, status) {
  const bar = part("learning");
  bar.hidden = level !== "learning" || !status.learn;
  if (!bar.hidden) bar.value = status.learned / status.learn;
}

function showWarning(text) {
  part("warning").hidden = !text;
  say("warning", text ?? "");
}

export const problemsIn = (counts) => Object.keys(PROBLEMS).reduce((sum, name) => sum + (counts[name] ?? 0), 0);

function showInput(status) {
  const bad = problemsIn(status.counts);
  say("input-brief", bad ? `${count(bad)} times something was wrong with the input` : "nothing was wrong with the input");
  const lines = [
    ["source", status.source],
    ["alarm opens after", `${status.persist[0]} of ${status.persist[1]} rows beyond the limit`],
    ["limit of p (alpha)", number(status.alpha)],
    ["follows slow drift", status.adapt ? "yes" : "no"],
    ["variables", count(status.variables.length)],
    ["delay from source to page", duration(status.lag_seconds)],
    ...Object.entries(status.counts).map(([name, value]) => [PROBLEMS[name] ?? name.replaceAll("_", " "), count(value)]),
    ["version", status.version],
  ];
  const list = part("counts");
  const text = JSON.stringify(lines);
  if (list.dataset.text === text) return;
  list.dataset.text = text;
  list.replaceChildren(...lines.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", String(value)))));
}

function showTab(level, name, open) {
  const mark = level === "alarm" ? `(${open}) ALARM · ` : level === "ok" ? "" : `${WORDS[level] ?? level} · `;
  const title = `${mark}${name || "mercer watch"}`;
  if (document.title !== title) document.title = title;
  const [fill, path] = ICON[level] ?? ["#5b6472", "M10 16h12"];
  const shape = level === "alarm" || level === "acknowledged" ? "<path d='M16 1 31 30H1Z'/>" : "<circle cx='16' cy='16' r='15'/>";
  const drawing = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><g fill='${fill}'>${shape}</g><path d='${path}' fill='none' stroke='#fff' stroke-width='3.5'/></svg>`;
  const href = `data:image/svg+xml,${encodeURIComponent(drawing)}`;
  if (part("icon").href !== href) part("icon").href = href;
}
