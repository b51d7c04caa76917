// The worker of the page. It holds a run as lines in chunks, each behind a whole state, and answers with what the page shows at
// one event. A live run grows at its end; a recording is read once.
import { factsOf, next } from "./state.js";
import { Summary } from "./summary.js";

const mostText = 256 << 20; // characters of a live run that are kept
const mostParsed = 50; // chunks whose events are kept parsed
const tick = 200; // ms between two pictures of a live run in which nothing happens
const recentEvents = 300, storyEvents = 120, storyChunks = 40;
const schema = "orrery.trace/2";

// Run is everything that was read.
export class Run {
  header = null;
  chunks = []; // {from, s, t, state, lines, size, events}: the line of the state after event s, and those of the events from, from+1, …
  problem = null; // {line, reason}: why nothing was read from this line on
  newest = null; // the state after the last event
  summary = new Summary();
  count = 0; // events read, those that were forgotten included
  skipped = 0;
  finished = false; // a recording that was read to its end
  end = 0; // time of the last event
  merged = 0; // differences that stateAt has applied
  #rest = "";
  #line = 0;
  #size = 0;
  #cursor = { chunk: null, n: 0, state: null };
  #parsed = []; // the chunks with events, the latest first

  // append reads more text, up to the last whole line.
  append(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) {
      if (this.problem) return;
      this.#line++;
      if (!this.header) { this.header = headerOf(line); continue; }
      try { this.#read(line); } catch (error) { this.stopsAt(error.message, this.#line); }
    }
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
    if (!this.newest) throw new Error(this.problem?.reason ?? "empty");
  }

  // #read reads the line of an event or of a state.
  #read(line) {
    const entry = JSON.parse(line);
    if (entry.state) {
      if (this.newest) this.skipped += entry.s - this.newest.s;
      this.newest = wholeOf(entry);
      this.chunks.push({ from: this.count, s: entry.s, t: entry.t, state: line, lines: [], size: line.length, events: null });
      this.summary.follow(this.newest);
    } else {
      if (typeof entry.e !== "string") throw new Error("not an event");
      if (!this.newest) throw new Error("no state is before it");
      if (entry.s !== this.newest.s + 1) throw new Error(`event ${entry.s} follows event ${this.newest.s}`);
      next(this.newest, entry);
      this.count++;
      const chunk = this.chunks.at(-1);
      chunk.lines.push(line);
      chunk.events?.push(entry);
      chunk.size += line.length;
      this.summary.add(entry, this.newest);
    }
    this.end = Math.max(this.end, entry.t ?? 0);
    this.#size += line.length;
    while (this.#size > mostText && this.chunks.length > 1) this.#size -= this.chunks.shift().size;
  }

  // stopsAt notes why nothing is read from a line on.
  stopsAt(reason, line = this.#line + 1) { this.problem = { line, reason }; }

  // first is the earliest event that can be shown.
  get first() { return this.chunks[0]?.from ?? 0; }

  // start is the time of that event.
  get start() { return this.chunks[0]?.t ?? this.end; }

  // #chunkOf returns the place of the chunk with event n.
  #chunkOf(n) {
    let low = 0, high = this.chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.chunks[middle].from < n) low = middle; else high = middle - 1;
    }
    return low;
  }

  // #events returns the first events of a chunk, up to event n of the run.
  #events(chunk, n = Infinity) {
    if (!chunk.events) {
      chunk.events = chunk.lines.map(line => JSON.parse(line));
      this.#parsed.unshift(chunk);
      if (this.#parsed.length > mostParsed) this.#parsed.pop().events = null;
    }
    return chunk.events.slice(0, Math.max(0, n - chunk.from));
  }

  // stateAt returns the state after n events. The caller must not change it.
  stateAt(n) {
    if (n >= this.count) return this.newest;
    n = Math.max(n, this.first);
    const chunk = this.chunks[this.#chunkOf(n)];
    let { chunk: before, n: from, state } = this.#cursor;
    if (before !== chunk || from > n) { state = wholeOf(JSON.parse(chunk.state)); from = chunk.from; }
    for (const event of this.#events(chunk, n).slice(from - chunk.from)) {
      next(state, event);
      this.merged++;
    }
    this.#cursor = { chunk, n, state };
    return state;
  }

  // recent returns up to most events that end with event n, oldest first.
  recent(n, most = recentEvents) {
    const found = [];
    for (let at = this.#chunkOf(n); at >= 0 && this.chunks.length && found.length < most; at--) {
      found.unshift(...this.#events(this.chunks[at], n).slice(-(most - found.length)));
    }
    return found;
  }

  // numberAt returns how many events had happened at time t.
  numberAt(t) {
    const chunk = this.chunks.findLast(chunk => chunk.t <= t);
    if (!chunk) return this.first;
    return chunk.from + this.#events(chunk).filter(e => (e.t ?? 0) <= t).length;
  }

  // numberOf returns how many events had happened when the event with that sequence number had.
  numberOf(sequence) {
    const chunk = this.chunks.findLast(chunk => chunk.s < sequence);
    return chunk && sequence - chunk.s <= chunk.lines.length ? chunk.from + sequence - chunk.s : -1;
  }

  // story returns the last events before n that are about key: those that name it, those of passes over it, and those of the
  // requests of these passes. earlier reports whether there may be more before them.
  story(key, n) {
    if (!key || this.chunks.length === 0) return { story: [], earlier: false };
    const last = this.#chunkOf(n), from = Math.max(0, last - storyChunks + 1), passes = new Set(), requests = new Set(), found = [];
    for (let at = from; at <= last; at++) {
      for (const e of this.#events(this.chunks[at], n)) {
        const about = e.k === key || (e.k === undefined || e.q) && (e.p ? passes.has(e.p) : requests.has(e.q));
        if (!about) continue;
        if (e.k === key && e.p) passes.add(e.p);
        if (e.q) requests.add(e.q);
        found.push(e);
      }
    }
    const all = folded(found);
    return { story: all.slice(-storyEvents), earlier: from > 0 || all.length > storyEvents };
  }
}

// folded makes one event of neighbours that say the same: the last of them, with their number in times.
function folded(events) {
  const out = [];
  for (const e of events) {
    const last = out.at(-1);
    if (last?.e === "deltafifo.deduplicated" && e.e === "deltafifo.queued" && last.k === e.k && last.d === e.d) out[out.length - 1] = { ...last, s: e.s }; // the queue has dropped it
    else if (last && said(last) === said(e)) out[out.length - 1] = { ...e, times: (last.times ?? 1) + 1 };
    else out.push(e);
  }
  return out;
}

// said is what an event says, without its number, time and duration. Requests and passes are never the same.
const said = e => JSON.stringify([e.e, e.i, e.k, e.h, e.d, e.rv, e.kind, e.type, e.n, e.num, e.p, e.q, e.r, e.phase, e.status, e.err]);

// wholeOf returns the state of its line.
const wholeOf = ({ s, t, state }) => ({ ...state, s, t });

// headerOf returns the header of a recording, its first line.
function headerOf(line) {
  let header = null;
  try { header = JSON.parse(line); } catch { /* it is none */ }
  const form = /^orrery\.trace\/(\d+)$/.exec(header?.schema ?? "");
  if (!header?.h || !form) throw new Error("format " + line.slice(0, 40));
  if (header.schema !== schema) throw new Error((Number(form[1]) > Number(schema.split("/")[1]) ? "newer " : "older ") + header.schema);
  return header;
}

// serve answers the messages of the page.
function serve(port) {
  let run = new Run(), position = null, time = null, key = "", due = false, live = false; // position null: follow the end
  let zero = Infinity; // when a live run began, by the worker's clock: no later than the fastest batch says

  const clock = () => performance.now() * 1000;
  const ticks = () => live && position === null && run.newest?.s > 0 && run.header.clock !== "virtual" && !run.newest.ended;
  const present = () => ticks() ? clock() - zero : run.end;
  const answer = () => {
    due = false;
    if (!run.newest) return; // a live run that has not begun
    const n = position ?? run.count, recent = run.recent(n), t = time ?? (n >= run.count ? present() : recent.at(-1)?.t ?? run.start);
    const last = recent.at(-1), facts = last && factsOf(last, run.stateAt(n - 1)); // the next call changes that state
    port.postMessage({
      kind: "view", facts, header: run.header, n, count: run.count, first: run.first, start: run.start, t,
      end: Math.max(run.end, t), following: position === null, state: run.stateAt(n), recent, ...run.story(key, n),
      summary: run.summary.plain(), problem: run.problem, skipped: run.skipped, cut: run.finished && !run.problem && !run.newest.ended, reason: run.newest.ended,
      used: run.newest.gears,
      guided: Boolean(run.newest.lab.chapter), answer: run.newest.lab.answer ?? "",
    });
  };
  const soon = () => {
    if (!due) { due = true; setTimeout(answer, 30); }
  };
  const failed = error => port.postMessage({ kind: "failed", reason: error.message });

  async function open({ blob, address }) {
    const opened = new Run();
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
        if (part.done) break;
        opened.append(part.value);
      }
      opened.finish();
    } catch (error) {
      if (opened.count === 0) { failed(error); return; }
      opened.stopsAt(error.message);
    }
    run = opened;
    position = 0;
    port.postMessage({ kind: "opened" });
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

// saved returns the chunks as the lines of a recording behind its header.
export const saved = run => run.chunks.map(chunk => [chunk.state, ...chunk.lines, ""].join("\n"));

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) serve(self);
