// Which piece of time is shown: the newest rows (live), or a piece that stays where it is (paused).

export const WINDOWS = [
  {seconds: 60, name: "1 min"},
  {seconds: 600, name: "10 min"},
  {seconds: 3600, name: "1 h"},
  {seconds: 8 * 3600, name: "8 h"},
  {seconds: 86400, name: "1 d"},
  {seconds: 7 * 86400, name: "7 d"},
];
const SET_BACK = 10; // seconds; less is only a message on its way
const SHORTEST = 1; // seconds

// The shortest of the windows that holds so many seconds.
export function windowOfSpan(span) {
  return (WINDOWS.find(({seconds}) => seconds >= span) ?? WINDOWS.at(-1)).seconds;
}

export class TimeView {
  constructor(onChange) {
    Object.assign(this, {onChange, live: true, window: 600, chosen: false, newest: null, start: 0, end: 1});
  }

  // `chosen` is false for a window that the page found by itself: it gives way to what a person chose.
  follow(seconds = this.window, chosen = true) {
    Object.assign(this, {live: true, window: seconds, chosen: chosen || this.chosen});
    this.onChange();
  }

  // The time of the newest row.
  advance(time) {
    if (time !== null && (this.newest === null || time > this.newest)) this.newest = time;
  }

  // Whether a row says that the clock of the source was set back; then the page goes back with it.
  setBack(time) {
    if (this.newest === null || !(time < this.newest - SET_BACK)) return false;
    this.newest = time;
    return true;
  }

  range() {
    if (!this.live) return [this.start, this.end];
    const end = this.newest ?? Date.now() / 1000;
    return [end - this.window, end];
  }

  show(start, end) {
    const middle = (start + end) / 2;
    const half = Math.max(end - start, SHORTEST) / 2;
    Object.assign(this, {live: false, start: middle - half, end: middle + half});
    this.onChange();
  }

  // Makes the piece of time `factor` times as long; live, the newest row stays at the right.
  zoom(factor) {
    const [start, end] = this.range();
    const grown = ((end - start) * (factor - 1)) / 2;
    if (this.live) this.show(end - (end - start) * factor, end);
    else this.show(start - grown, end + grown);
  }

  // Moves by a share of what is shown; past the newest row the page is live again.
  move(share) {
    const [start, end] = this.range();
    const step = share * (end - start);
    if (this.newest !== null && end + step > this.newest && share > 0) this.follow();
    else this.show(start + step, end + step);
  }
}
