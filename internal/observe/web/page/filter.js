// Filters of events: key gear event verb resource handler code deltas failures gate, == != ~ < >, joined by && and ||.

import { get } from "orrery/state.js";

// What a name means for an event. "gear" is the package, "event" the hook or the whole name.
const fields = {
  key: e => e.k, gear: e => e.e.split(".")[0], event: e => e.e, verb: e => e.verb, resource: e => e.r, handler: e => e.h, code: e => e.code,
  deltas: e => e.d, failures: e => e.e === "queue.retried" ? e.n : undefined, gate: e => e.gate,
};
const form = /^\s*(\w+)\s*(==|!=|~|<|>)\s*("[^"]*"|[^\s&|]+)\s*(&&|\|\||$)/;

// parseFilter returns a function from an event to whether it passes. It throws an Error with a sentence for a reader.
export function parseFilter(source) {
  if (source.trim() === "") return () => true;
  const alternatives = [[]];
  let rest = source;
  while (rest.trim() !== "") {
    const match = form.exec(rest);
    if (!match) throw new Error(`after "${source.slice(0, source.length - rest.length)}": NAME == VALUE is expected`);
    const [all, name, operator, quoted, joint] = match;
    if (!get(fields, name)) throw new Error(`"${name}" is not one of ${Object.keys(fields).join(", ")}`);
    rest = rest.slice(all.length);
    if (joint !== "" && rest.trim() === "") throw new Error(`nothing follows ${joint}`);
    alternatives.at(-1).push(comparison(name, operator, quoted.replace(/^"|"$/g, "")));
    if (joint === "||") alternatives.push([]);
  }
  return event => alternatives.some(all => all.every(holds => holds(event)));
}

function comparison(name, operator, value) {
  const read = fields[name];
  return event => {
    const found = read(event);
    switch (operator) {
      case "==": return equal(name, found, value);
      case "!=": return !equal(name, found, value);
      case "~": return found !== undefined && String(found).includes(value);
      case "<": return Number(found) < Number(value);
      default: return Number(found) > Number(value);
    }
  };
}

// equal compares text; an event may be named by its hook alone, and a namespaced key by its name.
function equal(name, found, value) {
  const text = String(found ?? "");
  return text === value || (name === "event" && text.split(".")[1] === value) || (name === "key" && text.endsWith("/" + value));
}
