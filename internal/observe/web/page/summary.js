// What the strip of time shows: counts in at most 480 bins, which double in width when a run outgrows them, the passes of
// workers, and marks.

import { get } from "./state.js";

const bins = 480, mostPasses = 4000;

const marks = {
  "reflector.expired": "410", "informer.resyncDue": "resync", "trace.lost": "lost", "informer.handlerPanicked": "panic",
  "nsctl.passPanicked": "panic", "lab.held": "held", "lab.input": "input",
};

export class Summary {
  width = 5000; // µs of a bin
  events = new Array(bins).fill(0);
  pops = new Array(bins).fill(0);
  handlers = new Array(bins).fill(0);
  depths = new Map(); // by queue, the most keys that waited in it
  passes = []; // {i, slot, k, from, to}: i is the queue; to is absent while the pass runs
  marks = []; // {t, kind}, at most one of a kind in a bin
  #running = new Map(); // the passes without an end, by queue, then by key

  // add counts an event. state is the one after it.
  add(e, state) {
    const t = e.t ?? 0;
    while (t >= this.width * bins) this.#double();
    const bin = Math.floor(t / this.width), kind = get(marks, e.e), i = e.i ?? "", k = e.k ?? "";
    this.events[bin]++;
    if (kind) this.#mark({ t, kind });
    switch (e.e) {
      case "deltafifo.popped": this.pops[bin]++; break;
      case "informer.handled": this.handlers[bin]++; break;
      case "queue.added": this.#waits(i, state, bin); break;
      case "queue.got": {
        const held = get(state.queues[i]?.processing ?? {}, k);
        this.#ends(i, k, t); // its end was lost
        if (held) this.#begins(i, k, held.slot, t);
        this.#waits(i, state, bin);
        break;
      }
      case "queue.done": this.#ends(i, k, t); this.#waits(i, state, bin); break;
    }
  }

  #mark(mark) {
    const last = this.marks.findLast(m => m.kind === mark.kind), bin = m => Math.floor(m.t / this.width);
    if (!last || bin(last) !== bin(mark)) this.marks.push(mark);
  }

  #begins(i, k, slot, from) {
    const pass = { i, slot, k, from };
    this.#runningIn(i).set(k, pass);
    this.passes.push(pass);
    if (this.passes.length === 2 * mostPasses) this.passes.splice(0, mostPasses);
  }

  #ends(i, k, to) {
    const running = this.#runningIn(i), pass = running.get(k);
    if (!pass) return;
    pass.to = to;
    running.delete(k);
  }

  #runningIn(i) {
    if (!this.#running.has(i)) this.#running.set(i, new Map());
    return this.#running.get(i);
  }

  #waits(i, state, bin) {
    let depth = this.depths.get(i);
    if (!depth) this.depths.set(i, depth = new Array(bins).fill(0));
    depth[bin] = Math.max(depth[bin], state.queues[i]?.total ?? 0);
  }

  // follow takes over a whole state of the run. It differs from what the events before it say if some were skipped.
  follow(state) {
    const { t } = state;
    while (t >= this.width * bins) this.#double();
    for (const running of this.#running.values()) {
      for (const { i, k, slot } of running.values()) if (get(get(state.queues, i)?.processing ?? {}, k)?.slot !== slot) this.#ends(i, k, t);
    }
    for (const [i, queue] of Object.entries(state.queues)) {
      for (const [k, { slot, at }] of Object.entries(queue.processing)) if (!this.#runningIn(i).has(k)) this.#begins(i, k, slot, at);
      this.#waits(i, state, Math.floor(t / this.width));
    }
  }

  #double() {
    const half = (list, join) => list.map((_, i) => i < bins / 2 ? join(list[2 * i], list[2 * i + 1]) : 0);
    this.width *= 2;
    this.events = half(this.events, (a, b) => a + b);
    this.pops = half(this.pops, (a, b) => a + b);
    this.handlers = half(this.handlers, (a, b) => a + b);
    for (const [i, depth] of this.depths) this.depths.set(i, half(depth, Math.max));
    const all = this.marks;
    this.marks = [];
    for (const mark of all) this.#mark(mark);
  }

  plain() {
    const { width, events, pops, handlers, depths, passes, marks } = this;
    return { width, events, pops, handlers, depths, passes: passes.slice(-mostPasses), marks };
  }
}
