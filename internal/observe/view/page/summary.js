// What the strip of time shows: counts in at most 480 bins, which double in width when a run outgrows them, the passes of
// workers, and marks.

const bins = 480, mostPasses = 4000, mostMarks = 400;

const marks = {
  "reflector.expired": "410", "informer.resyncDue": "resync", "trace.lost": "lost", "informer.handlerPanicked": "panic",
  "nsctl.passPanicked": "panic", "lab.held": "held", "lab.input": "input",
};

export class Summary {
  width = 5000; // µs of a bin
  events = new Array(bins).fill(0);
  pops = new Array(bins).fill(0);
  handlers = new Array(bins).fill(0);
  depth = new Array(bins).fill(0); // the most keys that waited in a queue
  passes = []; // {slot, k, from, to}; to is absent while the pass runs
  marks = []; // {t, kind}
  #slots = []; // of each worker, the pass that it is in
  #queued = new Set();
  #dirty = new Set();

  add(e) {
    const t = e.t ?? 0;
    while (t >= this.width * bins) this.#double();
    const bin = Math.floor(t / this.width);
    this.events[bin]++;
    if (marks[e.e] && this.marks.length < mostMarks) this.marks.push({ t, kind: marks[e.e] });
    switch (e.e) {
      case "deltafifo.popped": this.pops[bin]++; return;
      case "informer.handled": this.handlers[bin]++; return;
      case "queue.added": case "queue.got": case "queue.done": this.#queue(e, t); break;
      default: return;
    }
    this.depth[bin] = Math.max(this.depth[bin], this.#queued.size);
  }

  // #queue follows the keys that wait and those that are with a worker. A key has the lowest free slot.
  #queue(e, t) {
    const name = `${e.i ?? ""} ${e.k}`, slot = this.#slots.findIndex(pass => pass?.name === name);
    if (e.e === "queue.added") {
      (slot >= 0 ? this.#dirty : this.#queued).add(name);
    } else if (e.e === "queue.got") {
      this.#queued.delete(name);
      let free = this.#slots.findIndex(pass => !pass);
      if (free < 0) free = this.#slots.length;
      const pass = { slot: free, k: e.k, from: t };
      this.#slots[free] = { name, pass };
      this.passes.push(pass);
      if (this.passes.length > mostPasses) this.passes.shift();
    } else if (slot >= 0) {
      this.#slots[slot].pass.to = t;
      this.#slots[slot] = null;
      if (this.#dirty.delete(name)) this.#queued.add(name);
    }
  }

  #double() {
    const half = (list, join) => list.map((_, i) => i < bins / 2 ? join(list[2 * i], list[2 * i + 1]) : 0);
    this.width *= 2;
    this.events = half(this.events, (a, b) => a + b);
    this.pops = half(this.pops, (a, b) => a + b);
    this.handlers = half(this.handlers, (a, b) => a + b);
    this.depth = half(this.depth, Math.max);
  }

  plain() {
    const { width, events, pops, handlers, depth, passes, marks } = this;
    return { width, events, pops, handlers, depth, passes, marks, slots: this.#slots.length };
  }
}
