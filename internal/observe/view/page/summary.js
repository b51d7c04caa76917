// What the strip of time shows: counts in at most 480 bins, which double in width when a run outgrows them, the passes of
// workers, and marks.

const bins = 480, mostPasses = 4000;

const marks = {
  "reflector.expired": "410", "informer.resyncDue": "resync", "trace.lost": "lost", "informer.handlerPanicked": "panic",
  "nsctl.passPanicked": "panic", "lab.held": "held", "lab.input": "input",
};

// The hooks of every gear that this page knows. A test compares them with those of the program.
const hooks = `
  reflector: stateChanged pageListed listed streamingListAbandoned watchStarted event stale bookmark watchEnded backOff
    expired idleTimeout resync storeFailed
  deltafifo: queued deduplicated ignored canceled replaced resynced popped processed requeued synced closed
  indexer: added updated deleted replaced indexFailed
  informer: started stopped synced handlerAdded handlerRemoved handlerEnded handlerSynced handlerLagging handlerStuck
    handlerPanicked applied distributed handlerQueued handlerCalled handled resyncDue processError mutated
  queue: added coalesced refused delayed delayCanceled delayEnded got done doneUnknown retried forgotten shuttingDown
  nsctl: enqueued gone passContext passStarted passDone passStuck passPanicked phaseStarted phaseDone discovered
    emptinessChecked typeDeleted wouldDelete conflict finalized conditionsUpdated conditionsFailed
  restclient: requestStart requestDone retry throttled finished warning watchOpened watchClosed
  leaderelection: acquired renewed slowPath failed lost released newLeader watchFailed
  apiserver: requestStarted requestDone
  store: committed expired compacted
  lab: scene input held stepped released chapter question answer
  trace: state lost end
`;
const known = new Set();
for (const [, gear, names] of hooks.matchAll(/(\w+): ([^:]*?)(?=\s+\w+:|\s*$)/g)) for (const name of names.split(/\s+/)) known.add(`${gear}.${name}`);
export const knownEvents = [...known];

export class Summary {
  width = 5000; // µs of a bin
  events = new Array(bins).fill(0);
  pops = new Array(bins).fill(0);
  handlers = new Array(bins).fill(0);
  depth = new Array(bins).fill(0); // the most keys that waited in a queue
  passes = []; // {slot, k, from, to}; to is absent while the pass runs
  marks = []; // {t, kind}, at most one of a kind in a bin
  unknown = {}; // events of another version, which the fold ignores, with their number
  #slots = []; // of each worker, the pass that it is in
  #queued = new Set();
  #dirty = new Set();

  add(e) {
    const t = e.t ?? 0;
    while (t >= this.width * bins) this.#double();
    if (!known.has(e.e)) this.unknown[e.e] = (this.unknown[e.e] ?? 0) + 1;
    const bin = Math.floor(t / this.width);
    this.events[bin]++;
    if (marks[e.e]) this.#mark({ t, kind: marks[e.e] });
    switch (e.e) {
      case "deltafifo.popped": this.pops[bin]++; return;
      case "informer.handled": this.handlers[bin]++; return;
      case "queue.added": case "queue.got": case "queue.done": this.#queue(e, t); break;
      default: return;
    }
    this.depth[bin] = Math.max(this.depth[bin], this.#queued.size);
  }

  #mark(mark) {
    const last = this.marks.findLast(m => m.kind === mark.kind), bin = m => Math.floor(m.t / this.width);
    if (!last || bin(last) !== bin(mark)) this.marks.push(mark);
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
    const all = this.marks;
    this.marks = [];
    for (const mark of all) this.#mark(mark);
  }

  plain() {
    const { width, events, pops, handlers, depth, passes, marks } = this;
    return { width, events, pops, handlers, depth, passes, marks, slots: this.#slots.length };
  }
}
