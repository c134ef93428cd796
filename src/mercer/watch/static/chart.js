// One chart: the least and the largest value per pixel of time, a limit with its value, and shaded alarms.

import uPlot from "./uPlot.esm.js";
import {number, timeMarks} from "./format.js";
import {colour} from "./page_parts.js";

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const LEFT = 58; // the same for all charts, so that their times stand above each other
const EMPTY = [[], [], []];

// Options of a chart: `axis` (of values), `marks` (whether times are written), `limit()`, `alarms()`, `range()`,
// `onZoom(start, end)`, `onReset()`, `onCursor(index)`. `data` holds times, least and largest values.
export class Chart {
  constructor(element, options) {
    Object.assign(this, {element, options, data: EMPTY, plot: null});
    this.resizing = new ResizeObserver(() => this.#resize());
    this.resizing.observe(element);
    this.rebuild();
  }

  // Draws anew with the colours of now.
  rebuild() {
    this.plot?.destroy();
    this.ink = inks();
    this.plot = new uPlot(this.#describe(), this.#drawn(), this.element);
  }

  set(data) {
    this.data = data;
    this.plot.setData(this.#drawn(), true);
  }

  #drawn() {
    const [time, ...values] = this.data;
    return [time, ...values.map((column) => column.map(this.options.axis.drawn))];
  }

  redraw() {
    this.plot.redraw(false);
  }

  #resize() {
    const {clientWidth: width, clientHeight: height} = this.element;
    if (width > 0 && height > 0) this.plot.setSize({width, height});
  }

  #describe() {
    const {axis, limit} = this.options;
    return {
      width: Math.max(this.element.clientWidth, 100),
      height: Math.max(this.element.clientHeight, 60),
      padding: [9, 8, this.options.marks ? 0 : 4, 0],
      legend: {show: false},
      cursor: this.#cursor(),
      scales: {
        x: {time: true, range: () => this.options.range()},
        y: {...axis.scale(() => limit() ?? 1), range: (_, low, high) => axis.span(low, high, limit())},
      },
      axes: [this.#timeAxis(), this.#valueAxis()],
      series: [{}, this.#series(), this.#series()],
      bands: [{series: [2, 1], fill: (plot) => this.#paint(plot, this.ink.beyondBand, this.ink.band)}],
      hooks: {
        drawClear: [(plot) => shadeAlarms(plot, this.options.alarms(), this.ink)],
        draw: [(plot) => drawLimit(plot, this.options.limit(), this.ink)],
        setSelect: [(plot) => this.#selected(plot)],
        setCursor: [(plot) => this.options.onCursor(plot.cursor.idx ?? null)],
      },
    };
  }

  #series() {
    return {
      stroke: (plot) => this.#paint(plot, this.ink.beyond, this.ink.line),
      width: 1,
      points: {show: false},
      spanGaps: false,
    };
  }

  // One colour up to the limit, another one beyond it. Up is unusual in all charts.
  #paint(plot, beyond, within) {
    const limit = this.options.limit();
    return limit === null || !Number.isFinite(plot.scales.y.min) ? within : twoColours(plot, limit, beyond, within);
  }

  #cursor() {
    const moves = new Set(["mousemove", "mouseleave"]);
    return {
      y: false,
      points: {show: false},
      drag: {x: true, y: false, setScale: false},
      sync: {key: "time", setSeries: false, filters: {pub: (type) => moves.has(type), sub: (type) => moves.has(type)}},
      bind: {dblclick: () => () => (this.options.onReset(), null)},
    };
  }

  #selected(plot) {
    const {left, width} = plot.select;
    if (width < 4) return;
    const [start, end] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
    plot.setSelect({left: 0, top: 0, width: 0, height: 0}, false);
    this.options.onZoom(start, end);
  }

  #timeAxis() {
    return {
      ...this.#axis(),
      space: 64,
      size: (_, marks) => (!this.options.marks ? 6 : marks?.some((mark) => mark.includes("\n")) ? 40 : 24),
      values: (_, splits, __, ___, step) => (this.options.marks ? timeMarks(splits, step) : splits.map(() => "")),
    };
  }

  #valueAxis() {
    const {axis, limit} = this.options;
    const chosen = (plot, _, low, high) => axis.marks(low, high, limit() ?? 1, plot.bbox.height / uPlot.pxRatio);
    return {
      ...this.#axis(),
      space: 28,
      size: LEFT,
      ...(axis.marks ? {splits: chosen, filter: (_, splits) => splits} : {}),
      values: (_, splits) => splits.map(axis.word),
    };
  }

  #axis() {
    return {
      stroke: this.ink.quiet,
      font: FONT,
      gap: 4,
      grid: {stroke: this.ink.grid, width: 1},
      ticks: {show: false},
    };
  }
}

function inks() {
  const names = ["quiet", "grid", "line", "band", "beyond", "beyond-band", "limit", "shade", "shade-chosen", "card"];
  return Object.fromEntries(names.map((name) => [name.replace(/-(.)/, (_, letter) => letter.toUpperCase()), colour(name)]));
}

function twoColours(plot, limit, beyond, within) {
  const {top, height} = plot.bbox;
  const share = (plot.valToPos(limit, "y", true) - top) / height;
  if (!(share > 0)) return within;
  if (share >= 1) return beyond;
  const fill = plot.ctx.createLinearGradient(0, top, 0, top + height);
  fill.addColorStop(0, beyond);
  fill.addColorStop(share, beyond);
  fill.addColorStop(share, within);
  fill.addColorStop(1, within);
  return fill;
}

function drawLimit(plot, limit, ink) {
  if (limit === null) return;
  const {ctx, bbox} = plot;
  const ratio = uPlot.pxRatio;
  const y = Math.round(plot.valToPos(limit, "y", true)) + 0.5;
  ctx.save();
  ctx.strokeStyle = ink.limit;
  ctx.lineWidth = 1.5 * ratio;
  ctx.setLineDash([6 * ratio, 4 * ratio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  drawLabel(ctx, `limit ${number(limit)}`, bbox.left + 6 * ratio, y, ratio, ink);
  ctx.restore();
}

function drawLabel(ctx, text, x, y, ratio, ink) {
  ctx.font = FONT.replace("12px", `600 ${12 * ratio}px`);
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.setLineDash([]);
  ctx.lineJoin = "round";
  ctx.lineWidth = 6 * ratio;
  ctx.strokeStyle = ink.card;
  ctx.strokeText(text, x, y); // a rim that sets the letters off from the lines below them
  ctx.fillStyle = ink.limit;
  ctx.fillText(text, x, y);
}

function shadeAlarms(plot, alarms, ink) {
  const {ctx, bbox} = plot;
  const {min, max} = plot.scales.x;
  if (min === null || min === undefined) return;
  ctx.save();
  for (const {opened, closed, chosen} of alarms) {
    const [start, end] = [Math.max(opened, min), Math.min(closed ?? max, max)];
    if (end < start) continue;
    const left = plot.valToPos(start, "x", true);
    const width = Math.max(plot.valToPos(end, "x", true) - left, 2 * uPlot.pxRatio);
    ctx.fillStyle = chosen ? ink.shadeChosen : ink.shade;
    ctx.fillRect(left, bbox.top, width, bbox.height);
  }
  ctx.restore();
}
