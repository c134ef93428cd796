// A bounded memory of what came: the least and the largest value of each short piece of time.
//
// A piece is about as wide as a pixel, so a chart drawn from it looks as one that was drawn from all rows,
// and the page needs the same memory after a week as after a minute.

export const NAMES = ["t2", "spe", "p"];

export class Buckets {
  // `span` seconds are kept, in at most about 1.25 * `pieces` buckets.
  constructor(span, pieces = 1000) {
    this.span = span;
    this.width = span / pieces;
    this.most = Math.ceil(1.25 * pieces);
    this.index = [];
    this.time = [];
    this.low = Object.fromEntries(NAMES.map((name) => [name, []]));
    this.high = Object.fromEntries(NAMES.map((name) => [name, []]));
  }

  get length() {
    return this.index.length;
  }

  get last() {
    return this.time.at(-1) ?? null;
  }

  // `low` and `high` give one value per name; null stands for a value that is not known.
  add(time, low, high) {
    const index = Math.floor(time / this.width);
    const place = this.#place(index);
    if (place === null) return;
    this.time[place] = Math.max(this.time[place], time);
    NAMES.forEach((name, k) => {
      this.low[name][place] = least(this.low[name][place], low[k]);
      this.high[name][place] = largest(this.high[name][place], high[k]);
    });
    if (this.length > this.most) this.#forget();
  }

  addRows(rows) {
    rows.time.forEach((time, k) => {
      const values = NAMES.map((name) => rows[name][k]);
      this.add(time, values, values);
    });
  }

  addHistory(history) {
    history.time.forEach((time, k) => {
      this.add(time, NAMES.map((name) => history[name].low[k]), NAMES.map((name) => history[name].high[k]));
    });
  }

  // The bucket for an index; a late row goes where it belongs, and one that is too late for all of them nowhere.
  #place(index) {
    let place = this.length - 1;
    while (place >= 0 && this.index[place] > index) place -= 1;
    if (place >= 0 && this.index[place] === index) return place;
    if (place < 0 && this.length === this.most) return null;
    const at = place + 1;
    this.index.splice(at, 0, index);
    this.time.splice(at, 0, index * this.width);
    for (const name of NAMES) {
      this.low[name].splice(at, 0, null);
      this.high[name].splice(at, 0, null);
    }
    return at;
  }

  #forget() {
    const oldest = this.index.at(-1) - Math.ceil(this.span / this.width);
    let drop = this.index.findIndex((index) => index >= oldest);
    drop = Math.max(drop, this.length - this.most, 1);
    for (const array of [this.index, this.time, ...NAMES.map((n) => this.low[n]), ...NAMES.map((n) => this.high[n])]) {
      array.splice(0, drop);
    }
  }
}

export function least(a, b) {
  if (a === null || a === undefined) return b ?? null;
  return b === null || b === undefined ? a : Math.min(a, b);
}

export function largest(a, b) {
  if (a === null || a === undefined) return b ?? null;
  return b === null || b === undefined ? a : Math.max(a, b);
}

// Where rows are missing for long, the line has a gap: a point without a value after the last one.
export function withGaps(time, columns) {
  const steps = time.slice(1).map((value, k) => value - time[k]).sort((a, b) => a - b);
  const usual = steps.length ? steps[Math.floor(steps.length / 2)] : 0;
  const wide = 12 * usual;
  const out = [[], ...columns.map(() => [])];
  time.forEach((value, k) => {
    if (k > 0 && usual > 0 && value - time[k - 1] > wide) {
      out[0].push(time[k - 1] + usual);
      columns.forEach((_, c) => out[c + 1].push(null));
    }
    out[0].push(value);
    columns.forEach((column, c) => out[c + 1].push(column[k]));
  });
  return out;
}
