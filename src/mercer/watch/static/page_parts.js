// Elements of the page. Text from data becomes text: nothing here makes elements out of strings.

export const part = (id) => document.getElementById(id);

export function say(id, text) {
  const element = part(id);
  if (element.textContent !== text) element.textContent = text;
}

export function make(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

// Scrolls where it is needed, as on a phone; does nothing where all is in view.
export function bringIntoView(id) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  part(id).scrollIntoView({block: "nearest", behavior: calm ? "auto" : "smooth"});
}

const probe = make("span");
probe.hidden = true;

// A colour of the style sheet as the browser shows it now: charts are drawn, and drawings do not know style sheets.
export function colour(name) {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

let saidTimer = 0;

// A short notice at the bottom of the page.
export function notice(text, bad = false) {
  const element = part("said");
  element.textContent = text;
  element.classList.toggle("bad", bad);
  element.classList.add("visible");
  clearTimeout(saidTimer);
  saidTimer = setTimeout(() => element.classList.remove("visible"), bad ? 8000 : 4000);
}

export function remembered(key, otherwise) {
  try {
    return localStorage.getItem(`mercer-watch-${key}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(`mercer-watch-${key}`, value);
  } catch {
    // a browser that keeps nothing shows the page all the same
  }
}
