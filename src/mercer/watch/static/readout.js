// The values above each chart: at the pointer, or the newest ones.

import {moment, number} from "./format.js";

// `latest` holds the values of the newest row where they are wanted, `cursor` the time of the pointer.
export function showValues(charts, {limits, cursor, latest, variable}) {
  for (const [name, chart] of Object.entries(charts)) {
    const [time, low, high] = chart.data;
    const index = cursor === null ? time.length - 1 : nearest(time, cursor);
    const now = latest?.[name];
    const [least, most] = now === undefined ? [low[index], high[index]] : [now, now];
    const text = index < 0 ? "" : between(least, most);
    const element = document.querySelector(`[data-now="${name}"]`);
    element.textContent = cursor === null || index < 0 ? text : `${text} at ${moment(time[index])}`;
    element.classList.toggle("beyond", isBeyond(name, least, most, limits[name]));
    chart.element.setAttribute("aria-label", describe(name, variable, text, limits[name]));
  }
}

function between(low, high) {
  if (low === null || low === undefined) return "–";
  return number(low) === number(high) ? number(high) : `${number(low)} to ${number(high)}`;
}

function isBeyond(name, low, high, limit) {
  if (limit === null || limit === undefined || low === null || low === undefined) return false;
  return name === "p" ? low < limit : high > limit;
}

function nearest(time, value) {
  let [low, high] = [0, time.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (time[middle] < value) low = middle;
    else high = middle;
  }
  return high < 0 ? -1 : value - time[low] < time[high] - value ? low : high;
}

function describe(name, variable, text, limit) {
  const what = {t2: "T squared", spe: "SPE", p: "p-value"}[name] ?? `Variable ${variable ?? ""}`;
  return `${what} against time; newest value ${text || "not known"}${limit ? `, limit ${number(limit)}` : ""}`;
}
