// Numbers and times as a reader expects them.

const clock = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23"});
const minute = new Intl.DateTimeFormat(undefined, {hour: "2-digit", minute: "2-digit", hourCycle: "h23"});
const day = new Intl.DateTimeFormat(undefined, {day: "numeric", month: "short"});
const whole = new Intl.NumberFormat(undefined, {maximumFractionDigits: 0});
const plain = new Intl.NumberFormat("en", {maximumSignificantDigits: 15, useGrouping: false});
const SUPERSCRIPT = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};

const known = (value) => typeof value === "number" && Number.isFinite(value);

export function power(exponent) {
  return "10" + String(exponent).replace(/./g, (digit) => SUPERSCRIPT[digit] ?? digit);
}

// Three digits that count; powers of ten only where plain digits would be long.
export function number(value, digits = 3) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e-5 && size < 1e6) {
    return plain.format(size >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits))).replace("-", "−");
  }
  const [factor, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e");
  return `${plain.format(Number(factor)).replace("-", "−")}\u00a0×\u00a0${power(Number(exponent))}`;
}

export const count = (value) => (known(value) ? whole.format(value) : "–");

export const percent = (share) => (known(share) ? `${number(100 * share, 2)}\u00a0%` : "–");

export const date = (seconds) => new Date(1000 * seconds);

const isToday = (when) => when.toDateString() === new Date().toDateString();

// The time of day, with the day where it is not today.
export function moment(seconds) {
  if (!known(seconds)) return "–";
  const when = date(seconds);
  return isToday(when) ? clock.format(when) : `${day.format(when)}, ${clock.format(when)}`;
}

export function duration(seconds) {
  if (!known(seconds)) return "–";
  const rounded = Math.max(0, Math.round(seconds));
  if (rounded < 60) return `${rounded} s`;
  if (rounded < 3600) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
  if (rounded < 86400) return `${Math.floor(rounded / 3600)} h ${Math.floor((rounded % 3600) / 60)} min`;
  return `${Math.floor(rounded / 86400)} d ${Math.floor((rounded % 86400) / 3600)} h`;
}

// Marks of the time axis: seconds only where marks are closer than a minute, the day where it changes.
export function timeMarks(values, step) {
  let before = null;
  return values.map((seconds) => {
    const when = date(seconds);
    const today = day.format(when);
    const fresh = before !== null && before !== today;
    const first = before === null && !isToday(when);
    before = today;
    if (step >= 86400) return today;
    const time = (step < 60 ? clock : minute).format(when);
    return fresh || first ? `${time}\n${today}` : time;
  });
}
