// The fold: what the boxes show, as the sum of all events. It equals the fold of package trace, whose State documents every
// field; a test compares the two. It imports nothing, and changes the state that it is given.

const limit = 5000; // entries of a list or map; a total beside it counts all

export function empty() {
  return {
    s: 0, t: 0, odd: 0, events: {}, lost: {}, ended: "", informers: {}, queues: {}, namespaces: {},
    requests: { running: {}, watches: {}, recent: [], started: 0, done: 0, failed: 0, retries: 0, throttled: 0, warnings: 0, frames: 0, warning: "" },
    election: { leading: false, identity: "", renewed: 0, err: "" },
    lab: { scene: "", args: "", input: "", held: {}, chapter: "", choices: "", answer: "", requests: 0 },
  };
}

const newInformer = () => ({
  phase: "",
  reflector: {
    phase: "Idle", on: "", phaseAt: 0, rv: "", lists: 0, items: 0, pages: 0, watches: 0, open: false, openAt: 0, events: 0, bookmarks: 0,
    expired: 0, idle: 0, resyncs: 0, storeErrors: 0, backOff: 0, backOffAt: 0, failures: 0, err: "",
  },
  fifo: {
    slots: [], total: 0, inFlight: null, queued: 0, popped: 0, deduplicated: 0, ignored: 0, canceled: 0, requeued: 0, failed: 0, replaces: 0,
    tombstones: 0, peak: 0, synced: false, closed: false,
  },
  store: { objects: {}, total: 0, k: "", kind: "", from: "", to: "", failed: 0 },
  handlers: {}, applied: { num: 0, k: "", kind: "", d: "", n: 0 }, resyncs: 0, errors: 0, err: "", mutated: 0,
});
const newHandler = () => ({
  pending: 0, peak: 0, handled: 0, merged: 0, panics: 0, dropped: 0, lagging: 0, stuck: 0, blocked: 0, synced: false, removed: false, ended: false,
  k: "", kind: "", num: 0, callAt: 0, us: 0,
});
const newQueue = () => ({
  queue: [], total: 0, processing: {}, slots: [], delayed: {}, delayedTotal: 0, failures: {}, added: 0, coalesced: 0, got: 0, done: 0, retried: 0,
  refused: 0, unknown: 0, peak: 0, shuttingDown: false, draining: false,
});
const newNamespace = () => ({
  uid: "", running: false, p: "", passes: 0, passAt: 0, phase: "", phaseAt: 0, phases: {}, dueAt: 0, due: 0, types: 0, remaining: {}, conditions: {},
  conflicts: 0, failures: 0, err: "", stuck: 0, finalized: false, gone: false, us: 0,
});

// Maps are plain objects, so that they are JSON. Their sizes are remembered, since counting keys takes time.
const sizes = new WeakMap();
const has = (map, key) => Object.hasOwn(map, key);
export const get = (map, key) => has(map, key) ? map[key] : undefined; // a key may be named "constructor"

function size(map) {
  if (!sizes.has(map)) sizes.set(map, Object.keys(map).length);
  return sizes.get(map);
}

function put(map, key, value) {
  if (!has(map, key)) sizes.set(map, size(map) + 1);
  map[key] = value;
}

function drop(map, key) {
  if (!has(map, key)) return;
  sizes.set(map, size(map) - 1);
  delete map[key];
}

const add = (map, key, n) => put(map, key, (get(map, key) ?? 0) + n);

function made(map, key, make) {
  if (!has(map, key)) put(map, key, make());
  return map[key];
}

// apply changes state to that after event e, and returns it. It accepts any events in any order. An event that contradicts
// the state is counted in odd, and an unknown one changes only s and t.
export function apply(state, e) {
  const name = e.e ?? "";
  if (name === "trace.state" && e.state) state = structuredClone(e.state);
  state.s = e.s ?? 0;
  state.t = e.t ?? 0;
  const { gear, hook, change } = partsOf(name);
  if (change) {
    state.events[gear] = (state.events[gear] ?? 0) + 1;
    change(state, hook, e);
  }
  return state;
}

const parts = new Map(); // of the names of known gears, which a long recording repeats
function partsOf(name) {
  const known = parts.get(name);
  if (known) return known;
  const dot = (name + ".").indexOf("."), gear = name.slice(0, dot), found = { gear, hook: name.slice(dot + 1), change: get(gears, gear) };
  if (found.change && parts.size < limit) parts.set(name, found);
  return found;
}

const informer = (state, e) => made(state.informers, e.i ?? "", newInformer);

const gears = {
  reflector: (state, hook, e) => reflector(informer(state, e).reflector, hook, e),
  deltafifo: (state, hook, e) => fifo(informer(state, e).fifo, state, hook, e),
  indexer: (state, hook, e) => store(informer(state, e).store, state, hook, e),
  informer: (state, hook, e) => hook.startsWith("handle") ? handler(informer(state, e), state, hook, e) : delivery(informer(state, e), hook, e),
  queue: (state, hook, e) => queue(made(state.queues, e.i ?? "", newQueue), state, hook, e),
  nsctl: namespaces,
  restclient: (state, hook, e) => requests(state.requests, state, hook, e),
  leaderelection: (state, hook, e) => election(state.election, hook, e),
  apiserver: (state, hook) => { if (hook === "requestStarted") state.lab.requests++; },
  lab: (state, hook, e) => laboratory(state.lab, state, hook, e),
  trace: (state, hook, e) => {
    if (hook === "lost") for (const [gear, n] of Object.entries(e.lost ?? {})) add(state.lost, gear, n);
    if (hook === "end") state.ended = e.reason ?? "";
  },
};

function reflector(r, hook, e) {
  if (e.err) r.err = e.err;
  switch (hook) {
    case "stateChanged":
      r.phase = e.to ?? ""; r.on = e.on ?? ""; r.phaseAt = e.t ?? 0;
      if (e.to !== "BackingOff") r.backOff = r.backOffAt = 0;
      break;
    case "pageListed": r.pages = e.page ?? 0; break;
    case "listed": r.lists++; r.rv = e.rv ?? ""; r.items = e.n ?? 0; r.pages = e.pages ?? 0; r.failures = 0; break;
    case "watchStarted": r.watches++; r.open = true; r.openAt = e.t ?? 0; r.failures = 0; break;
    case "watchEnded": r.open = false; break;
    case "event": r.events++; r.failures = 0; if (e.rv) r.rv = e.rv; break;
    case "bookmark": if (!e.initial) r.bookmarks++; if (e.rv) r.rv = e.rv; break;
    case "backOff": r.failures++; r.backOff = e.us ?? 0; r.backOffAt = e.t ?? 0; break;
    case "expired": r.expired++; break;
    case "idleTimeout": case "zombie": r.idle++; break;
    case "resync": r.resyncs++; break;
    case "storeFailed": r.storeErrors++; break;
  }
}

const kept = 20; // letters of a slot, the newest
const tombstone = "†";
const isDeletion = letter => letter === "D" || letter === tombstone;
const deltasOf = e => Math.max(e.m ?? 0, [...e.d ?? ""].length);

function fifo(f, state, hook, e) {
  const key = e.k ?? "", d = e.d ?? "";
  switch (hook) {
    case "queued": f.queued++; append(f, key, d, e.t ?? 0); break;
    case "deduplicated": f.deduplicated++; break;
    case "ignored": f.ignored++; break;
    case "canceled": f.canceled++; take(f, state, key, 1); break;
    case "replaced": f.replaces++; f.tombstones += e.m ?? 0; break;
    case "popped": {
      const n = deltasOf(e);
      f.popped++;
      take(f, state, key, n);
      if (f.slots.length < f.total) f.total = Math.max(e.n ?? 0, f.slots.length); // keys that are only counted may be counted twice
      f.inFlight = { k: key, d, n, at: e.t ?? 0 };
      break;
    }
    case "processed":
      if (e.err) f.failed++;
      if (f.inFlight?.k !== key) state.odd++;
      f.inFlight = null;
      break;
    case "requeued": f.requeued++; putSlot(f, { k: key, d, n: deltasOf(e), at: e.t ?? 0 }); break;
    case "synced": f.synced = true; break;
    case "closed": f.closed = true; break;
  }
}

// append adds a delta to the slot of its key. A deletion behind a deletion does not lengthen it; one that was watched takes
// the place of a tombstone.
function append(f, key, delta, at) {
  const slot = f.slots.find(s => s.k === key);
  if (!slot) { putSlot(f, { k: key, d: delta, n: 1, at }); return; }
  const last = [...slot.d].at(-1);
  if (isDeletion(last) && isDeletion(delta)) {
    if (last === tombstone) slot.d = slot.d.slice(0, -1) + delta;
  } else {
    slot.d = [...slot.d, ...delta].slice(-kept).join("");
    slot.n++;
  }
}

function putSlot(f, slot) {
  const i = f.slots.findIndex(s => s.k === slot.k);
  if (i >= 0) { slot.at = f.slots[i].at; f.slots[i] = slot; return; }
  if (f.slots.length < limit && f.slots.length === f.total) f.slots.push(slot);
  f.total++;
  f.peak = Math.max(f.peak, f.total);
}

// take removes the first n deltas of a key, and the slot with the last one.
function take(f, state, key, n) {
  const i = f.slots.findIndex(s => s.k === key);
  if (i < 0) {
    if (f.slots.length === f.total) state.odd++; else f.total--;
    return;
  }
  const slot = f.slots[i];
  if (n > slot.n) state.odd++;
  if (n >= slot.n) { f.slots.splice(i, 1); f.total--; return; }
  const letters = [...slot.d], older = Math.max(0, slot.n - letters.length); // deltas without a letter
  slot.d = letters.slice(Math.max(0, n - older)).join("");
  slot.n -= n;
}

function store(t, state, hook, e) {
  const key = e.k ?? "", known = has(t.objects, key), complete = size(t.objects) === t.total;
  t.k = key;
  t.kind = hook;
  switch (hook) {
    case "added":
      if (known) { state.odd++; return; }
      if (complete && t.total < limit) put(t.objects, key, "");
      t.total++;
      break;
    case "updated": if (complete && !known) state.odd++; break;
    case "deleted":
      if (complete && !known) { state.odd++; return; }
      drop(t.objects, key);
      t.total--;
      break;
    case "replaced": t.objects = {}; t.total = e.n ?? 0; break;
    case "indexFailed": t.failed++; break;
  }
}

function delivery(i, hook, e) {
  const key = e.k ?? "";
  switch (hook) {
    case "started": case "synced": case "stopped": i.phase = hook; break;
    case "applied":
      i.applied = { num: e.num ?? 0, k: key, kind: e.kind ?? "", d: e.d ?? "", n: 0 };
      i.store.from = get(i.store.objects, key) ?? "";
      i.store.to = "";
      if (e.kind && e.kind !== "delete") {
        i.store.to = e.rv ?? "";
        if (has(i.store.objects, key)) i.store.objects[key] = e.rv ?? "";
      }
      break;
    case "distributed": if (i.applied.num === (e.num ?? 0)) i.applied.n = e.n ?? 0; break;
    case "resyncDue": if (e.n > 0) i.resyncs++; break;
    case "processError": i.errors++; i.err = e.err ?? ""; break;
    case "mutated": i.mutated++; break;
  }
}

function handler(i, state, hook, e) {
  const name = e.h ?? "";
  if (!has(i.handlers, name)) {
    if (size(i.handlers) >= limit) return;
    put(i.handlers, name, newHandler());
  }
  const h = i.handlers[name];
  switch (hook) {
    case "handlerAdded": h.pending += e.n ?? 0; h.peak = Math.max(h.peak, h.pending); break;
    case "handlerQueued":
      h.pending += (e.n ?? 0) - (e.merged ?? 0);
      h.merged += e.merged ?? 0;
      h.peak = Math.max(h.peak, h.pending);
      break;
    case "handlerCalled": Object.assign(h, { k: e.k ?? "", kind: e.kind ?? "", num: e.num ?? 0, callAt: e.t ?? 0, stuck: 0 }); break;
    case "handled":
      if (h.kind === "") state.odd++;
      h.handled++;
      h.pending--;
      Object.assign(h, { k: "", kind: "", num: 0, callAt: 0, stuck: 0, us: e.us ?? 0 });
      break;
    case "handlerPanicked": h.panics++; break;
    case "handlerSynced": h.synced = true; break;
    case "handlerLagging": h.lagging = e.n ?? 0; break;
    case "handlerStuck": h.stuck = e.us ?? 0; break;
    case "handlerBlocked": h.blocked++; break;
    case "handlerRemoved": h.removed = true; break;
    case "handlerEnded": h.ended = true; h.dropped = e.n ?? 0; h.pending = 0; break;
  }
  if (h.removed && h.ended) drop(i.handlers, name);
}

function queue(q, state, hook, e) {
  const key = e.k ?? "";
  switch (hook) {
    case "added": {
      const p = get(q.processing, key);
      q.added++;
      if (!p) { push(q, state, key); break; }
      if (p.dirty) state.odd++;
      p.dirty = true;
      break;
    }
    case "coalesced": q.coalesced++; break;
    case "refused": q.refused++; break;
    case "delayed": if (e.us > 0) delay(q, key, e); break;
    case "delayCanceled": case "delayEnded":
      if (has(q.delayed, key)) { drop(q.delayed, key); q.delayedTotal--; } else if (size(q.delayed) < q.delayedTotal) q.delayedTotal--; else state.odd++;
      break;
    case "got": q.got++; got(q, state, key, e.t ?? 0); break;
    case "done": {
      const p = get(q.processing, key);
      q.done++;
      if (!p) { state.odd++; break; }
      if (p.slot >= 0 && p.slot < q.slots.length) q.slots[p.slot] = "";
      drop(q.processing, key);
      if (p.dirty) push(q, state, key);
      break;
    }
    case "doneUnknown": q.unknown++; break;
    case "retried": q.retried++; if (has(q.failures, key) || size(q.failures) < limit) put(q.failures, key, e.n ?? 0); break;
    case "forgotten": drop(q.failures, key); break;
    case "shuttingDown": q.shuttingDown = true; q.draining = e.drain ?? false; q.delayed = {}; q.delayedTotal = 0; break;
  }
}

function push(q, state, key) {
  if (q.queue.includes(key)) { state.odd++; return; }
  if (q.queue.length < limit && q.queue.length === q.total) q.queue.push(key);
  q.total++;
  q.peak = Math.max(q.peak, q.total);
}

function got(q, state, key, at) {
  const i = q.queue.indexOf(key);
  if (i >= 0) {
    if (i > 0) state.odd++; // the first one comes first
    q.queue.splice(i, 1);
    q.total--;
  } else if (q.queue.length < q.total) q.total--; else state.odd++;
  if (has(q.processing, key)) { state.odd++; return; }
  if (size(q.processing) >= limit) return;
  let slot = q.slots.indexOf("");
  if (slot < 0) slot = q.slots.push("") - 1;
  q.slots[slot] = key;
  put(q.processing, key, { slot, at, dirty: false });
}

// delay sets the deadline of a key. It may be among those that are only counted.
function delay(q, key, e) {
  const known = has(q.delayed, key), kept = size(q.delayed);
  if (known || kept < limit && kept === q.delayedTotal) put(q.delayed, key, { at: e.t ?? 0, us: e.us });
  else if (kept < q.delayedTotal) return;
  if (!known) q.delayedTotal++;
}

function namespaces(state, hook, e) {
  const all = state.namespaces, key = e.k ?? "";
  if (key === "") return;
  const before = get(all, key);
  if (before && hook === "enqueued" && e.uid && before.uid && before.uid !== e.uid) drop(all, key); // another of this name
  if (!has(all, key)) {
    if (size(all) >= limit) for (const name of Object.keys(all)) if (all[name].gone) drop(all, name);
    if (size(all) >= limit) return;
    put(all, key, newNamespace());
  }
  namespace(all[key], state, hook, e);
}

function namespace(n, state, hook, e) {
  switch (hook) {
    case "enqueued": n.uid = e.uid ?? ""; n.dueAt = e.t ?? 0; n.due = e.us ?? 0; break;
    case "gone": n.gone = true; n.us = e.us ?? 0; break;
    case "passContext": n.p = e.p ?? ""; break;
    case "passStarted":
      if (n.running) state.odd++;
      n.running = true; n.passAt = e.t ?? 0; n.remaining = {};
      n.passes++;
      break;
    case "passDone":
      if (!n.running) state.odd++;
      Object.assign(n, { running: false, failures: e.n ?? 0, err: e.err ?? "", stuck: 0, phase: "", phaseAt: 0 });
      break;
    case "passStuck": n.stuck = e.us ?? 0; break;
    case "phaseStarted": n.phase = e.phase ?? ""; n.phaseAt = e.t ?? 0; break;
    case "phaseDone":
      add(n.phases, e.phase ?? "", e.us ?? 0);
      if (n.phase === (e.phase ?? "")) { n.phase = ""; n.phaseAt = 0; }
      break;
    case "discovered": n.types = e.n ?? 0; break;
    case "typeDeleted": case "wouldDelete":
      drop(n.remaining, e.r ?? "");
      if (e.n > 0 && size(n.remaining) < limit) put(n.remaining, e.r ?? "", e.n);
      break;
    case "conflict": n.conflicts++; break;
    case "finalized": n.finalized ||= !e.err; break;
    case "conditionsUpdated":
      if (size(n.conditions) < limit) put(n.conditions, e.type ?? "", { status: e.status ?? "", reason: e.reason ?? "", message: e.message ?? "" });
      break;
  }
}

const recent = 50; // requests that are done

function requests(r, state, hook, e) {
  const id = String(e.q ?? 0);
  const request = () => ({
    q: e.q ?? 0, p: e.p ?? "", verb: e.verb ?? "", r: e.r ?? "", k: e.k ?? "", path: e.path ?? "", attempt: e.attempt ?? 0, at: e.t ?? 0, us: 0, code: 0, err: "",
  });
  switch (hook) {
    case "requestStart": r.started++; if (size(r.running) < limit) put(r.running, id, request()); break;
    case "requestDone": {
      r.done++;
      if (e.err) r.failed++;
      const done = get(r.running, id);
      if (!done) { if (size(r.running) < limit) state.odd++; break; }
      drop(r.running, id);
      r.recent.push({ ...done, us: e.us ?? 0, code: e.code ?? 0, err: e.err ?? "" });
      if (r.recent.length > recent) r.recent.shift();
      break;
    }
    case "retry": r.retries++; break;
    case "throttled": r.throttled++; break;
    case "warning": r.warnings++; r.warning = e.text ?? ""; break;
    case "watchOpened": if (size(r.watches) < limit) put(r.watches, id, request()); break;
    case "watchClosed":
      if (!has(r.watches, id)) state.odd++;
      drop(r.watches, id);
      r.frames += e.n ?? 0;
      break;
  }
}

function election(l, hook, e) {
  switch (hook) {
    case "acquired": l.leading = true; l.identity = e.identity ?? ""; l.err = ""; break;
    case "renewed": l.renewed++; l.err = ""; break;
    case "failed": case "watchFailed": l.err = e.err ?? ""; break;
    case "lost": case "released": l.leading = false; l.err = e.err ?? ""; break;
    case "newLeader": l.identity = e.identity ?? ""; break;
  }
}

function laboratory(l, state, hook, e) {
  const gate = e.gate ?? "", key = e.k ?? "";
  switch (hook) {
    case "scene": l.scene = e.name ?? ""; l.args = e.args ?? ""; break;
    case "input": l.input = e.name ?? ""; break;
    case "held": {
      const held = get(l.held, gate) ?? [];
      if (held.length < limit) put(l.held, gate, [...held, key]);
      break;
    }
    case "stepped": {
      const held = get(l.held, gate) ?? [], i = held.indexOf(key);
      if (i < 0) { state.odd++; break; }
      held.splice(i, 1);
      if (held.length === 0) drop(l.held, gate);
      break;
    }
    case "released": drop(l.held, gate); break;
    case "chapter": l.chapter = e.name ?? ""; break;
    case "question": l.choices = e.args ?? ""; l.answer = ""; break;
    case "answer": l.answer = e.text ?? ""; break;
  }
}
