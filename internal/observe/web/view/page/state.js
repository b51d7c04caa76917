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
