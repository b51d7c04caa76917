// The worker of the page. It holds a run as text in chunks, with the state before each, and answers with what the page shows
// at one event. A live run grows at its end; a recording is read once.
import { apply, empty } from "./fold.js";
import { Summary } from "./summary.js";

const chunkSize = 1 << 20; // characters: about 10,000 events
const mostText = 256 << 20; // characters of a live run that are kept
const tick = 200; // ms between two pictures of a live run in which nothing happens
const recentEvents = 300, storyEvents = 120, storyChunks = 4;
const schema = "orrery.trace/1";

// Run is everything that was read.
export class Run {
  header = null;
  chunks = []; // {from, count, t, text, state}: events from, from+1, …; state is the one before them, as JSON
  problems = []; // {line, reason}
  gaps = []; // {from, to}: after a broken line the content is uncertain, up to the next state; see uncertainAt
  newest = empty();
  summary = new Summary();
  count = 0; // events read, those that were forgotten included
  skipped = 0;
  missing = 0; // events whose numbers the recording jumps over
  finished = false; // a recording that was read to its end
  end = 0; // time of the last event
  #rest = "";
  #line = 0;
  #size = 0;
  #cursor = { n: -1, state: null };
  #parsed = []; // the chunks read last, parsed: [chunk, events]

  // append reads more text, up to the last whole line.
  append(text) {
    text = this.#rest + text;
    let at = 0;
    while (text.length - at > chunkSize) {
      const end = text.indexOf("\n", at + chunkSize);
      if (end < 0) break;
      this.#chunk(text.slice(at, end));
      at = end + 1;
    }
    const end = text.lastIndexOf("\n");
    if (end >= at) {
      this.#chunk(text.slice(at, end));
      at = end + 1;
    }
    this.#rest = text.slice(at);
  }

  // finish is the end of a recording: a last line without an end was cut off and is normal.
  finish() {
    const rest = this.#rest;
    this.finished = true;
    try {
      JSON.parse(rest);
      this.append("\n");
    } catch { this.#rest = ""; }
    if (!this.header) throw new Error(rest.trim() === "" ? "empty" : "format " + rest.slice(0, 40));
  }

  #chunk(text) {
    const broken = []; // how many events of this text come before each broken line
    const { events, lines } = parseLines(text, (line, reason, before) => { this.#problem(this.#line + line, reason); broken.push(before); }, true);
    this.#line += lines;
    if (!this.header) checkHeader(this.problems[0]?.line === 1 ? null : events[0], text);
    if (!this.header || events[0]?.schema) { // or the header again, after a rotation or a new connection
      const header = events.shift();
      this.header ??= header;
      text = text.slice(text.indexOf("\n") + 1); // what is saved has one header
      broken.forEach((before, i) => { broken[i] = before - 1; });
      if (this.count === 0 && events[0]?.skipped !== undefined) { // a live run begins with its state so far, which is no event
        this.newest = apply(this.newest, events.shift());
        this.summary.begin(this.newest);
        this.end = this.newest.t;
        text = text.slice(text.indexOf("\n") + 1);
        broken.forEach((before, i) => { broken[i] = before - 1; });
      }
    }
    if (events.length > 0) this.#keep(text, events);
    const from = this.count;
    let lost = 0; // broken lines up to here
    for (const event of events) {
      for (; from + broken[lost] === this.count; lost++) this.#lineLost();
      if (this.count > 0 && event.s > this.newest.s + 1 && !event.state) {
        if (this.gaps.at(-1)?.to !== Infinity) this.missing += event.s - this.newest.s - 1; // otherwise a broken line has said so
        this.#lineLost();
      }
      this.newest = apply(this.newest, event);
      this.summary.add(event, this.newest);
      this.count++;
      if (event.t > this.end) this.end = event.t;
      if (event.state) this.#stateRead(event);
    }
    if (lost < broken.length) this.#lineLost();
  }

  // #keep keeps the text of events that come next.
  #keep(text, events) {
    const last = this.chunks.at(-1);
    if (last && last.text.length + text.length < chunkSize) { // small batches of a live run share a chunk
      last.text += "\n" + text;
      last.count += events.length;
      this.#parsed = this.#parsed.filter(([chunk]) => chunk !== last);
    } else {
      this.chunks.push({ from: this.count, count: events.length, t: events[0].t ?? this.end, text, state: JSON.stringify(this.newest) });
    }
    this.#size += text.length;
    while (this.#size > mostText && this.chunks.length > 1) this.#size -= this.chunks.shift().text.length;
  }

  // #lineLost notes that the content is uncertain from here on.
  #lineLost() {
    if (this.gaps.at(-1)?.to !== Infinity) this.gaps.push({ from: this.count, to: Infinity });
  }

  // #stateRead notes that the content is certain again after the event read last, a state.
  #stateRead(event) {
    this.skipped += event.skipped ?? 0;
    const gap = this.gaps.at(-1);
    if (gap?.to === Infinity && gap.from < this.count) gap.to = this.count;
  }

  // stopsAt notes why nothing could be read after the last line.
  stopsAt(reason) { this.#problem(this.#line + 1, reason); }

  #problem(line, reason) {
    if (this.problems.length < 100) this.problems.push({ line, reason });
  }

  // uncertainAt reports whether a broken line may have changed the content after n events.
  uncertainAt(n) { return this.gaps.some(gap => gap.from < n && n < gap.to); }

  // first is the earliest event that can be shown.
  get first() { return this.chunks[0]?.from ?? 0; }

  // start is the time of that event.
  get start() { return this.chunks[0]?.t ?? this.end; }

  #chunkOf(n) {
    let low = 0, high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].from < n) low = middle; else high = middle - 1;
    }
    return low;
  }

  #events(at) {
    const chunk = this.chunks[at], known = this.#parsed.find(([c]) => c === chunk);
    if (known) return known[1];
    const { events } = parseLines(chunk.text, () => {});
    this.#parsed = [[chunk, events], ...this.#parsed].slice(0, storyChunks + 1);
    return events;
  }

  // stateAt returns the state after n events. The caller must not change it.
  stateAt(n) {
    if (n >= this.count) return this.newest;
    if (this.chunks.length === 0) return this.newest;
    n = Math.max(n, this.first);
    const at = this.#chunkOf(n), chunk = this.chunks[at];
    let { state, n: from } = this.#cursor;
    if (!(from >= chunk.from && from <= n)) { state = JSON.parse(chunk.state); from = chunk.from; }
    for (const event of this.#events(at).slice(from - chunk.from, n - chunk.from)) state = apply(state, event);
    this.#cursor = { n, state };
    return state;
  }

  // recent returns up to most events that end with event n, oldest first.
  recent(n, most = recentEvents) {
    const found = [];
    for (let at = this.#chunkOf(n); at >= 0 && this.chunks.length && found.length < most; at--) {
      const part = this.#events(at).slice(0, Math.max(0, n - this.chunks[at].from));
      found.unshift(...part.slice(-(most - found.length)));
    }
    return found;
  }

  // numberAt returns how many events had happened at time t.
  numberAt(t) {
    if (this.chunks.length === 0) return 0;
    let at = this.chunks.findLastIndex(chunk => chunk.t <= t);
    if (at < 0) return this.first;
    const events = this.#events(at);
    let low = 0, high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((events[middle].t ?? 0) <= t) low = middle + 1; else high = middle;
    }
    return this.chunks[at].from + low;
  }

  // numberOf returns how many events had happened when the event with that sequence number had.
  numberOf(sequence) {
    for (let at = this.chunks.length - 1; at >= 0; at--) {
      const found = this.#events(at).findIndex(e => e.s === sequence);
      if (found >= 0) return this.chunks[at].from + found + 1;
    }
    return -1;
  }

  // story returns the last events before n that are about key: those that name it, those of passes over it, and those that
  // one of these caused. earlier reports whether there may be more before them.
  story(key, n) {
    if (!key || this.chunks.length === 0) return { story: [], earlier: false };
    const last = this.#chunkOf(n), from = Math.max(0, last - storyChunks + 1), passes = new Set(), numbers = new Set(), found = [];
    for (let at = from; at <= last; at++) {
      for (const e of this.#events(at).slice(0, Math.max(0, n - this.chunks[at].from))) {
        const caused = e.c?.some(c => numbers.has(c.s ?? c));
        const about = e.k === key || (e.k === undefined || e.q) && (e.p ? passes.has(e.p) : caused);
        if (!about) continue;
        if (e.k === key && e.p) passes.add(e.p);
        numbers.add(e.s);
        found.push(e);
      }
    }
    const all = folded(found);
    return { story: all.slice(-storyEvents), earlier: from > 0 || all.length > storyEvents };
  }
}

// folded makes one event of neighbours that say the same: the last of them, with their number in times. from is the
// sequence number of the first one, and the causes are its causes.
function folded(events) {
  const out = [];
  for (const e of events) {
    const last = out.at(-1);
    if (last?.e === "deltafifo.deduplicated" && e.e === "deltafifo.queued" && last.k === e.k && last.d === e.d) out[out.length - 1] = { ...last, from: last.s, s: e.s }; // the queue has dropped it
    else if (last && said(last) === said(e)) out[out.length - 1] = { ...e, c: last.c, maybe: last.maybe, from: last.from ?? last.s, times: (last.times ?? 1) + 1 };
    else out.push(e);
  }
  return out;
}

// said is what an event says, without its number, time, causes and duration. Requests and passes are never the same.
const said = e => JSON.stringify([e.e, e.i, e.k, e.h, e.d, e.rv, e.kind, e.type, e.n, e.num, e.p, e.q, e.r, e.phase, e.status, e.err]);

// isEvent reports whether the program takes a line for an event. A run begins with the state 0.
const isEvent = e => typeof e?.e === "string" && e.e !== "" && (e.s > 0 || e.e === "trace.state") &&
  is(e.s, "number") && is(e.t, "number") && is(e.i, "string") && is(e.k, "string") && is(e.d, "string");
const is = (value, type) => value === undefined || value === null || typeof value === type;

// parseLines returns the events of a text and how many lines it has. It parses all lines at once, and one by one if that fails:
// a broken line is reported and left out. headed allows a header in the first line.
function parseLines(text, broken, headed = false) {
  const right = (entry, i) => isEvent(entry) || headed && i === 0 && Boolean(entry?.schema);
  try {
    const events = JSON.parse("[" + text.replaceAll("\n", ",") + "]");
    if (events.every(right)) return { events, lines: events.length };
  } catch { /* one of them is broken */ }
  const events = [], all = text.split("\n");
  all.forEach((line, i) => {
    if (line.trim() === "") return;
    try {
      const event = JSON.parse(line);
      if (!right(event, i)) throw new Error("not an event");
      events.push(event);
    } catch (error) { broken(i + 1, error.message, events.length); }
  });
  return { events, lines: all.length };
}

function checkHeader(header, text) {
  const form = /^orrery\.trace\/(\d+)$/.exec(header?.schema ?? "");
  if (!header?.h || !form) throw new Error("format " + text.slice(0, 40));
  if (Number(form[1]) > Number(schema.split("/")[1])) throw new Error("newer " + header.schema);
}

// serve answers the messages of the page.
function serve(port) {
  let run = new Run(), position = null, time = null, key = "", due = false, generation = 0, live = false; // position null: follow the end
  let zero = Infinity; // when a live run began, by the worker's clock: no later than the fastest batch says

  const clock = () => performance.now() * 1000;
  const ticks = () => live && position === null && run.newest.s > 0 && run.header.clock !== "virtual" && !run.newest.ended;
  const present = () => ticks() ? clock() - zero : run.end;
  const answer = () => {
    due = false;
    const n = position ?? run.count, recent = run.recent(n), t = time ?? (n >= run.count ? present() : recent.at(-1)?.t ?? run.start);
    port.postMessage({
      kind: "view", header: run.header, n, count: run.count, first: run.first, start: run.start, t,
      end: Math.max(run.end, t), following: position === null, state: run.stateAt(n), recent, ...run.story(key, n),
      summary: run.summary.plain(), problems: run.problems, uncertain: run.uncertainAt(n), unknown: run.summary.unknown, skipped: run.skipped, missing: run.missing, cut: run.finished && !run.newest.ended, reason: run.newest.ended,
      used: run.newest.events,
      guided: Boolean(run.newest.lab.chapter), answer: run.newest.lab.answer ?? "",
    });
  };
  const soon = () => {
    if (!due) { due = true; setTimeout(answer, 30); }
  };
  const failed = error => port.postMessage({ kind: "failed", reason: error.message });

  async function open({ blob, address }) {
    const next = new Run(), mine = ++generation;
    let stream = blob?.stream();
    if (address) {
      try {
        const response = await fetch(address);
        if (!response.ok) { port.postMessage({ kind: "refused", reason: await response.text() }); return; }
        stream = response.body;
      } catch { port.postMessage({ kind: "disconnected" }); return; }
    }
    try {
      const reader = await textOf(stream);
      for (;;) {
        const part = await reader.read();
        if (mine !== generation) return; // another one was asked for
        if (part.done) break;
        next.append(part.value);
      }
      next.finish();
    } catch (error) {
      if (mine !== generation) return;
      if (next.count === 0) { failed(error); return; } // the page keeps what it showed
      next.stopsAt(error.message);
    }
    run = next;
    live = false; // what is still on its way is of the run before
    position = 0;
    time = null;
    key = "";
    port.postMessage({ kind: "opened", served: Boolean(address) });
    answer();
  }

  setInterval(() => { if (ticks()) soon(); }, tick); // what waits or runs gets older while nothing happens

  port.onmessage = ({ data }) => {
    if (!["text", "key", "save", "open"].includes(data.op)) time = null;
    switch (data.op) {
      case "open": open(data); return;
      case "begin": run = new Run(); position = null; live = true; zero = Infinity; return;
      case "text":
        if (!live) return;
        try { run.append(data.text); } catch (error) { failed(error); }
        zero = Math.min(zero, clock() - run.end);
        break;
      case "closed": // after all that came before it
        if (!live) return;
        if (position === null) time = present();
        live = false;
        answer();
        port.postMessage({ kind: "disconnected", ended: run.newest.ended });
        return;
      case "follow": position = null; break;
      case "stop":
        if (position !== null) break;
        time = present();
        position = run.count;
        break;
      case "seek": position = Math.max(run.first, Math.min(run.count, data.n)); break;
      case "move": position = Math.max(run.first, Math.min(run.count, (position ?? run.count) + data.by)); break;
      case "time": position = run.numberAt(data.t); time = data.t; break; // which may be between two events
      case "event": position = Math.max(run.first, run.numberOf(data.s)); break;
      case "key": key = data.key; break;
      case "save":
        port.postMessage({ kind: "saved", blob: new Blob([JSON.stringify(run.header) + "\n", ...saved(run)]) });
        return;
    }
    if (data.op === "text" || data.op === "move") soon(); else answer(); // keys that are held down are one picture
  };
}

// textOf returns a reader of the text in a stream, which may be compressed. The text is read while the stream arrives.
async function textOf(stream) {
  const [copy, whole] = stream.tee(), head = copy.getReader(), { value } = await head.read();
  head.cancel();
  const compressed = value?.[0] === 0x1f && value[1] === 0x8b;
  if (!compressed) return whole.pipeThrough(new TextDecoderStream()).getReader();
  // An error drops the chunks that were not read yet. The end may be an error, so it waits until all chunks before it were read.
  const late = new TransformStream({ flush: () => new Promise(resolve => setTimeout(resolve)) });
  const reader = whole.pipeThrough(late).pipeThrough(new DecompressionStream("gzip")).pipeThrough(new TextDecoderStream()).getReader();
  return { read: () => reader.read().catch(error => { if (cut.test(error.message)) return { done: true }; throw error; }) };
}

// cut matches the browsers' errors for a compressed stream without an end, which is as normal as a last line without one.
const cut = /\b(truncated|unexpected end|ended without)\b/i;

// saved returns the chunks as the lines of a recording. If events before them are unknown, it begins with the state after those.
export function saved(run) {
  const first = run.chunks[0];
  if (!first) return [];
  const { s, t } = JSON.parse(first.state);
  const before = s > 0 ? [`{"s":${s},"t":${t},"e":"trace.state","state":${first.state}}\n`] : [];
  return before.concat(run.chunks.map(chunk => chunk.text + "\n"));
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) serve(self);
