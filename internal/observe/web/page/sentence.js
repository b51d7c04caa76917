// What an event says: a row of sentences.json, from which the terminal's demo has its sentences, too.
import sentences from "orrery/sentences.json" with { type: "json" };
import { get } from "orrery/state.js";
import { duration, language } from "orrery/text.js";

// deltas are the names of the letters of deltas.
export const deltas = { A: "Added", U: "Updated", D: "Deleted", R: "Replaced", S: "Sync", "†": "Deleted (tombstone)" };

const rowOf = (name, facts) => sentences.find(row => row.e === name &&
  (row.if?.split(" ") ?? []).every(word => word.startsWith("!") ? !facts[word.slice(1)] : facts[word]));

// sentenceOf returns the sentence of an event, with the facts before it; "" if there is none.
export function sentenceOf(e, facts) {
  const row = rowOf(e.e, facts);
  if (!row) return "";
  const field = name => {
    switch (name) {
      case "us": return duration(e.us ?? 0);
      case "d": return [...e.d ?? ""].map(letter => get(deltas, letter) ?? letter).join(", ");
      case "err": return e.err?.startsWith("EOF") ? rowOf("EOF")[language()] : e.err;
      default: return e[name] ?? facts[name] ?? 0;
    }
  };
  const text = row[language()].replace(/\{(\w+)\}/g, (_, name) => field(name));
  return text.replace(/(\d+) (\w+)\[s\]/g, (_, n, noun) => `${n} ${noun}${n === "1" ? "" : "s"}`);
}
