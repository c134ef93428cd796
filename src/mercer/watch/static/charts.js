// The charts above each other, with one axis of time: T², SPE, p and one variable.

import {Buckets, NAMES, withGaps} from "./buckets.js";
import {Chart} from "./chart.js";
import {makeControls, showAxes, showWindow} from "./controls.js";
import {bringIntoView, notice, part, remember, remembered} from "./page_parts.js";
import {showValues} from "./readout.js";
import {get} from "./server.js";
import {limited, linear, probability} from "./value_axis.js";
import {TimeView, WINDOWS, windowOfSpan} from "./time_view.js";

const DRAW_EVERY = 200; // milliseconds
const TREND_EVERY = 1500;
const [FEW, LAST_REVIEW] = [50, 1000]; // rows
const ENOUGH = 350; // points in a chart
const FAST = 100; // rows per second
const NONE = {time: [], low: [], high: []};

export class Charts {
  // `alarms()` gives what is shaded.
  constructor(alarms) {
    this.view = new TimeView(() => this.#viewChanged());
    this.alarms = alarms;
    this.limits = {};
    this.buckets = new Buckets(this.view.window);
    this.still = null; // what the server gave for a paused view
    this.arrived = null; // rows that came while history was asked for
    this.trend = {variable: null, ...NONE};
    this.latest = null; // values of the newest row
    this.cursor = null;
    Object.assign(this, {changed: true, urgent: true, drawnAt: 0}); // urgent: a person waits for it
    Object.assign(this, {rows: 0, rate: 0}); // judged, and per second
    this.reviewAt = FEW; // rows after which the window is chosen anew
    this.asked = {history: 0, trend: 0};
    this.linear = remembered("axes", "limited") === "linear";
    this.charts = Object.fromEntries([...NAMES, "trend"].map((name) => [name, this.#chart(name)]));
    makeControls(this);
    showWindow(this.view);
    showAxes(this.linear);
    setInterval(() => this.#draw(), DRAW_EVERY);
    setInterval(() => this.#followTrend(), TREND_EVERY);
  }

  #chart(name) {
    const element = document.querySelector(`[data-chart="${name}"] .plot`);
    return new Chart(element, {
      axis: this.#axis(name),
      marks: name === "trend",
      limit: () => this.limits[name] ?? null,
      alarms: this.alarms,
      range: () => this.view.range(),
      onZoom: (start, end) => this.view.show(start, end),
      onReset: () => this.view.follow(),
      onCursor: (index) => this.#pointed(name, index),
    });
  }

  // All that was kept until now, after a connection or for another window of time.
  async load() {
    const mine = ++this.asked.history;
    this.arrived = [];
    try {
      await this.#findWindow();
      const [start, end] = this.view.range();
      const history = await get("history", {start, end: end + 1, points: 1000});
      if (mine !== this.asked.history) return;
      this.buckets = new Buckets(this.view.window);
      this.buckets.addHistory(history);
      this.arrived.forEach((rows) => this.buckets.addRows(rows));
      this.view.advance(this.buckets.last);
      this.#drawSoon();
    } catch (error) {
      notice(`The history could not be loaded. ${error.message}`, true);
    } finally {
      if (mine === this.asked.history) this.arrived = null;
    }
  }

  // The shortest window with enough to see, or all that there is.
  async #findWindow() {
    const last = this.view.newest;
    if (this.view.chosen || this.rows < FEW || last === null) return;
    let fitting = WINDOWS[0].seconds;
    for (const {seconds} of WINDOWS) {
      const {time} = await get("history", {start: last - seconds, end: last + 1, points: 1000});
      fitting = time.length >= ENOUGH ? seconds : windowOfSpan(time.length ? last - time[0] : 0);
      if (time.length >= ENOUGH) break;
    }
    if (this.view.chosen) return;
    this.view.window = fitting;
    showWindow(this.view);
  }

  rowsArrived(rows) {
    this.arrived?.push(rows);
    this.buckets.addRows(rows);
    // at high speed the server sends least and largest values, of which none is the newest
    this.latest = this.rate > FAST ? null : Object.fromEntries(NAMES.map((name) => [name, rows[name].at(-1)]));
    this.changed = true;
    if (this.view.setBack(rows.time.at(-1))) this.load();
    else this.view.advance(this.buckets.last);
  }

  statusArrived(status) {
    Object.assign(this, {rows: status.counts.judged, rate: status.rows_per_second});
    if (this.rows > 0) this.view.advance(status.last_time);
    if (this.reviewAt <= LAST_REVIEW && this.rows >= this.reviewAt) this.#review();
    const fresh = {t2: status.limits.t2, spe: status.limits.spe, p: status.limits.p};
    if (JSON.stringify(fresh) !== JSON.stringify(this.limits)) {
      this.limits = fresh;
      this.changed = true;
    }
    this.#offer(status.variables);
  }

  // At the start there are few rows, and what shows them best changes.
  #review() {
    while (this.reviewAt <= this.rows) this.reviewAt *= 4;
    if (!this.view.chosen && this.view.live) this.load();
  }

  alarmsChanged(another) {
    this.changed = true;
    this.urgent ||= another;
  }

  coloursChanged() {
    Object.values(this.charts).forEach((chart) => chart.rebuild());
    this.#drawSoon();
  }

  showVariable(name) {
    if (this.trend.variable !== name) this.trend = {variable: name, ...NONE};
    part("variable").value = name;
    this.#loadTrend();
  }

  // An alarm with some time before and after it.
  showTime({opened, closed}) {
    const end = closed ?? this.view.newest ?? opened;
    const room = Math.max(0.75 * (end - opened), 20);
    this.view.show(opened - room, end + room);
    bringIntoView("charts-title");
  }

  #offer(variables) {
    const select = part("variable");
    const names = JSON.stringify(variables);
    if (select.dataset.names === names) return;
    select.dataset.names = names;
    select.replaceChildren(...variables.map((name) => new Option(name, name)));
    const keep = variables.includes(this.trend.variable) ? this.trend.variable : variables[0];
    if (keep !== undefined) this.showVariable(keep);
  }

  // One question at a time: a server that is slow would be asked again and again, and no answer would be the newest.
  async #followTrend() {
    if (!this.view.live || document.hidden || this.following) return;
    this.following = true;
    await this.#loadTrend();
    this.following = false;
  }

  async #loadTrend() {
    const {variable} = this.trend;
    if (variable === null || this.rows === 0) return;
    const mine = ++this.asked.trend;
    const another = this.trend.time.length === 0;
    const [start, end] = this.view.range();
    try {
      const found = await get("trend", {variable, start, end, points: this.#pixels()});
      if (mine !== this.asked.trend) return;
      this.trend = {variable, time: found.time, low: found.low, high: found.high};
      this.changed = true;
      this.urgent ||= another;
    } catch {
      // the next one comes soon, and the page says when there is no connection
    }
  }

  async #loadStill() {
    const mine = ++this.asked.history;
    const [start, end] = this.view.range();
    try {
      const found = await get("history", {start, end, points: this.#pixels()});
      if (mine !== this.asked.history || this.view.live) return;
      this.still = {time: found.time, low: {}, high: {}};
      for (const name of NAMES) {
        this.still.low[name] = found[name].low;
        this.still.high[name] = found[name].high;
      }
      this.changed = true;
    } catch (error) {
      notice(`The history could not be loaded. ${error.message}`, true);
    }
  }

  #pixels() {
    return Math.max(200, Math.min(1600, Math.round(this.charts.t2.element.clientWidth)));
  }

  #viewChanged() {
    this.#drawSoon();
    showWindow(this.view);
    if (this.view.live) {
      this.still = null;
      if (this.buckets.span !== this.view.window) this.load();
    } else {
      clearTimeout(this.stillTimer);
      this.stillTimer = setTimeout(() => this.#loadStill(), 120);
    }
    this.#loadTrend();
  }

  #draw() {
    if (!this.changed || document.hidden) return;
    if (this.view.live) this.#showValues();
    // a chart of an hour moves by less than a pixel in a second
    const due = Math.min(1000, 500 * (this.view.window / 1000));
    if (this.view.live && !this.urgent && performance.now() - this.drawnAt < due) return;
    Object.assign(this, {changed: false, urgent: false, drawnAt: performance.now()});
    const shown = this.still ?? this.buckets;
    for (const name of NAMES) {
      this.charts[name].set(withGaps(shown.time, [shown.low[name], shown.high[name]]));
    }
    this.charts.trend.set(withGaps(this.trend.time, [this.trend.low, this.trend.high]));
    this.#showValues();
  }

  // What a person waits for is drawn at once.
  #drawSoon() {
    Object.assign(this, {changed: true, urgent: true});
  }

  #pointed(name, index) {
    const time = index === null ? null : this.charts[name].data[0][index] ?? null;
    this.cursor = time;
    this.#showValues();
  }

  #showValues() {
    const {limits, cursor, latest, trend} = this;
    showValues(this.charts, {limits, cursor, latest: this.view.live && cursor === null ? latest : null, variable: trend.variable});
  }

  #axis(name) {
    if (name === "p") return probability;
    return this.linear || name === "trend" ? linear : limited;
  }

  changeAxes() {
    this.linear = !this.linear;
    remember("axes", this.linear ? "linear" : "limited");
    for (const name of ["t2", "spe"]) {
      this.charts[name].options.axis = this.#axis(name);
      this.charts[name].rebuild();
    }
    showAxes(this.linear);
    this.#drawSoon();
  }
}
