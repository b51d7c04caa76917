// The state that the page draws: a recording has it whole now and then, and between these how each event changes it.

// get returns an entry of a map; a key may be named "constructor".
export const get = (map, key) => Object.hasOwn(map, key) ? map[key] : undefined;

// set sets an entry of a map; a key may be named "__proto__".
function set(map, key, value) {
  Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
  return value;
}

// next makes the state that after an event.
export function next(state, e) {
  merge(state, e.diff ?? {});
  state.s = e.s;
  state.t = e.t ?? 0;
}

// merge applies a JSON merge patch (RFC 7396).
function merge(into, patch) {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete into[key];
    else if (isMap(value)) merge(isMap(get(into, key)) ? into[key] : set(into, key, {}), value);
    else set(into, key, value);
  }
}

const isMap = value => typeof value === "object" && value !== null && !Array.isArray(value);

// factsOf are what the sentence of an event needs of the state before it: the words in the conditions of sentences.json, and
// values that the event does not have.
export function factsOf(e, state) {
  const queue = get(state.queues, e.i), n = get(state.namespaces, e.k), condition = n && get(n.conditions, e.type);
  const held = queue && get(queue.processing, e.k), delay = queue && get(queue.delayed, e.k);
  const failed = queue ? get(queue.failures, e.k) > 0 : false;
  const same = 20000, later = Boolean(delay) && e.t + e.us > delay.at + delay.us - same; // µs
  return {
    page: true, err: Boolean(e.err), missing: Boolean(e.err?.startsWith("NotFound")), none: !e.n, some: e.m > 0, answered: e.code > 0,
    add: e.kind === "add", update: e.kind === "update", delete: e.kind === "delete", same: Boolean(e.sync || !e.kind),
    last: e.i === "pods" && get(state.informers, "pods")?.store.total === 1,
    held: Boolean(held), dirty: Boolean(held?.dirty), failed, sooner: !failed && e.us > 0 && !later,
    new: !n?.dueAt || n.uid !== e.uid, first: (n?.passes ?? 0) <= 1, failing: n?.failures > 0, again: e.err === n?.err,
    true: e.status === "True", was: condition?.status === "True", changed: condition?.status !== e.status || condition?.message !== e.message,
    others: Object.entries(n?.conditions ?? {}).some(([type, c]) => type !== e.type && c.status === "True"),
    verb: Object.values(state.requests.latest).find(r => r.q === e.q && !r.done)?.verb, type: e.r?.split(".")[0],
    pass: (n?.passes ?? 0) + (e.e === "nsctl.passStarted" ? 1 : 0), deltas: Math.max(e.m ?? 0, [...e.d ?? ""].length),
  };
}
