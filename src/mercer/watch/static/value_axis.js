// Axes of values: linear, linear up to the limit and logarithmic beyond it, or logarithmic with small values at the top.
//
// Faults are often ten or a hundred times the limit. On a linear axis normal rows are then a flat line at the bottom; on
// the axis of a limit both can be seen.

import {number, power} from "./format.js";

const SMALLEST_P = 1e-6; // what is smaller is drawn there; its value is written in digits
const APART = 21; // pixels between two marks, at least

export const linear = {
  scale: () => ({distr: 1}),
  span: (low, high, limit) => (limit === null ? trendSpan(low, high) : [0, 1.12 * Math.max(high ?? 0, 1.35 * limit)]),
  marks: null, // as the library chooses them
  word: (value) => number(value),
  drawn: (value) => value,
};

export const limited = {
  scale: (limit) => ({distr: 100, fwd: (value) => Math.asinh(value / limit()), bwd: (value) => limit() * Math.sinh(value)}),
  span: (low, high, limit) => [0, 1.2 * Math.max(high ?? 0, 1.5 * (limit ?? 1))],
  marks: (low, high, limit, pixels) => {
    const place = (value) => (pixels * Math.asinh(value / limit)) / Math.asinh(high / limit);
    return spread([0, ...roundNumbers(limit / 10, high)], place);
  },
  word: (value) => number(value),
  drawn: (value) => value,
};

export const probability = {
  scale: () => ({distr: 3, log: 10, dir: -1}),
  span: (low, high, limit) => [0.7 * Math.max(SMALLEST_P, Math.min(low ?? 1, (limit ?? 1) / 4)), 1],
  marks: (low, high, limit, pixels) => {
    const decades = Math.floor(-Math.log10(low));
    const step = Math.max(1, Math.ceil((APART * -Math.log10(low)) / pixels));
    return Array.from({length: Math.floor(decades / step) + 1}, (_, k) => Number(`1e-${k * step}`)).reverse();
  },
  word: (value) => (value >= 1e-3 ? number(value) : power(Math.round(Math.log10(value)))),
  drawn: (value) => (value === null || value === undefined ? null : Math.max(value, SMALLEST_P)),
};

function trendSpan(low, high) {
  if (low === null || high === null || low === undefined || high === undefined) return [0, 1];
  const room = 0.08 * (high - low) || 0.05 * Math.abs(high) || 1;
  return [low - room, high + room];
}

// 1, 2, 5, 10, 20, 50, ... between two values.
export function roundNumbers(low, high) {
  const found = [];
  for (let exponent = Math.floor(Math.log10(low)); 10 ** exponent <= high; exponent += 1) {
    for (const digit of [1, 2, 5]) {
      const value = Number(`${digit}e${exponent}`);
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found;
}

// The values, from the first one on, that are far enough from each other.
export function spread(values, place, apart = APART) {
  const kept = [];
  for (const value of values) {
    if (!kept.length || place(value) - place(kept.at(-1)) >= apart) kept.push(value);
  }
  return kept;
}
