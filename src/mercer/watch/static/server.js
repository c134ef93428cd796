// What the page asks the server, and the events that the server sends.

const SILENT = 5000; // the server says its state every second: after this many milliseconds without a word, ask anew
const WAITS = [500, 1000, 2000, 3000];

// The server is there and wants to know who asks.
export class Refused extends Error {}

async function answer(response) {
  let body = null;
  try {
    body = await response.json();
  } catch {
    // said below
  }
  if (response.ok && body !== null) return body;
  if (response.status === 401) throw new Refused("The server asks for a token: open the address that it printed, which ends in /?token=…");
  throw new Error(body?.error ?? `The server answered with status ${response.status}.`);
}

export async function get(path, query = {}) {
  const text = new URLSearchParams(query).toString();
  return answer(await fetch(text ? `api/${path}?${text}` : `api/${path}`, {cache: "no-store"}));
}

export async function post(path, body) {
  const headers = {"Content-Type": "application/json"};
  return answer(await fetch(`api/${path}`, {method: "POST", headers, body: JSON.stringify(body)}));
}

// The stream of events, opened again for as long as the page is there.
export class Events {
  constructor(handlers, {onOpen, onLost}) {
    Object.assign(this, {handlers, onOpen, onLost, failures: 0, source: null, timer: 0, heard: 0, doubt: false});
    setInterval(() => this.#watch(), 1000);
  }

  open() {
    clearTimeout(this.timer);
    this.source?.close();
    const source = new EventSource("api/events");
    this.source = source;
    this.heard = performance.now();
    source.onopen = () => this.#opened();
    source.onerror = () => source === this.source && this.#lost();
    for (const [kind, handle] of Object.entries(this.handlers)) {
      source.addEventListener(kind, (event) => {
        this.heard = performance.now();
        handle(JSON.parse(event.data));
      });
    }
  }

  #opened() {
    this.failures = 0;
    this.heard = performance.now();
    this.onOpen();
  }

  #lost() {
    this.source?.close();
    this.source = null;
    this.onLost();
    const wait = WAITS[Math.min(this.failures, WAITS.length - 1)];
    this.failures += 1;
    this.timer = setTimeout(() => this.open(), wait);
  }

  // Two looks in a row: after a moment in which the whole page stood still, messages wait behind the first one.
  #watch() {
    const silent = this.source !== null && performance.now() - this.heard > SILENT;
    if (silent && this.doubt) this.#lost();
    this.doubt = silent;
  }
}
