// Sentences of the page, and the form of durations, counts and keys. Identifiers are never translated.
import en from "orrery/strings.en.json" with { type: "json" };
import zh from "orrery/strings.zh-CN.json" with { type: "json" };

const languages = { en, "zh-CN": zh };
let chosen = "en";

// language returns the name of the page's language.
export const language = () => chosen;

// setLanguage selects the sentences; an unknown language is English.
export function setLanguage(name) {
  chosen = /^zh/i.test(name ?? "") ? "zh-CN" : "en";
  document.documentElement.lang = chosen;
  return chosen;
}

// text returns the sentence of that name, with {placeholders} replaced. [s] is the plural's of {n}.
export function text(name, values = {}) {
  const sentence = languages[chosen][name] ?? en[name] ?? name;
  return sentence.replaceAll("[s]", String(values.n) === "1" ? "" : "s").replace(/\{(\w+)\}/g, (all, key) => key in values ? values[key] : all);
}

// known reports whether there is a sentence of that name.
export const known = name => Object.hasOwn(en, name);

// count returns a whole number with separators of thousands.
export const count = n => Math.round(n ?? 0).toString().replace(/\B(?=(\d{3})+$)/g, ",");

// duration returns microseconds as a short time, such as 640 ms, 1.2 s or 4m 12s.
export function duration(us) {
  const sign = us < 0 ? "-" : "";
  us = Math.abs(us);
  if (us < 1000) return `${sign}${Math.round(us)} µs`;
  if (us < 1e6) return `${sign}${us < 1e4 ? (us / 1e3).toFixed(1) : Math.round(us / 1e3)} ms`;
  if (us < 6e7) return `${sign}${(us / 1e6).toFixed(us < 1e7 ? 1 : 0)} s`;
  const seconds = Math.round(us / 1e6);
  if (seconds < 3600) return `${sign}${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`;
  return `${sign}${Math.floor(seconds / 3600)}h ${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}m`;
}

// clock returns microseconds since the start as mm:ss.mmm, or h:mm:ss.mmm.
export function clock(us) {
  const ms = Math.floor((us ?? 0) / 1000), s = Math.floor(ms / 1000), h = Math.floor(s / 3600);
  const two = n => String(n).padStart(2, "0");
  return `${h ? h + ":" : ""}${two(Math.floor(s / 60) % 60)}:${two(s % 60)}.${String(ms % 1000).padStart(3, "0")}`;
}

// short returns a key's short name: the middle of a long one is left out.
export const short = (key, most = 22) =>
  key.length <= most ? key : key.slice(0, Math.ceil(most * 0.6) - 1) + "…" + key.slice(-Math.floor(most * 0.4));

// The palette of Okabe and Ito, which most people with a colour vision deficiency can tell apart.
const palette = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"];
const colours = new Map();

// Scenes name keys by colours: these have them.
const named = { red: "#D55E00", blue: "#0072B2", green: "#009E73", grey: "#8A8A8A", orange: "#E69F00", yellow: "#F0E442" };

// colour returns a key's colour, the same on the whole page for as long as it is open.
export function colour(key) {
  const name = key.slice(key.indexOf("/") + 1);
  if (Object.hasOwn(named, name)) return named[name];
  if (!colours.has(key)) colours.set(key, palette[colours.size % palette.length]);
  return colours.get(key);
}
