// What teaches: the terms of a box, and the function that acted last.
import { html, useEffect, useState } from "orrery/htm-preact.js";
import glossary from "orrery/glossary.json" with { type: "json" };
import { get } from "orrery/state.js";
import { count, language, text } from "orrery/text.js";
import { boxNames, Dialog, packagesOf } from "orrery/dialogs.js";

// termsOf returns the terms of a box in the language of the page: what the box is, then what it shows.
export const termsOf = box => (glossary[box] ?? []).map(term => term[language()]);

// coded shows what is between backquotes as code.
const coded = (sentence = "") => sentence.split("`").map((part, i) => i % 2 ? html`<code>${part}</code>` : part);

// Explain has the terms of one box, or what each box is.
export function Explain({ name, close }) {
  const terms = name ? termsOf(name) : boxNames.map(box => [box, termsOf(box)[0]?.[1]]);
  return html`<${Dialog} title=${name ?? text("explain")} close=${close}>
    <dl class="terms">${terms.map(([term, meaning]) => html`<dt>${term}</dt><dd>${coded(meaning)}</dd>`)}</dl></${Dialog}>`;
}

// actedLast returns the last event of a box, or of all, for which a function is known, and that function.
export function actedLast(name, view, functions) {
  const packages = name === "story" ? null : packagesOf(name), events = name === "story" ? view.story : view.recent;
  for (let at = events.length - 1; at >= 0; at--) {
    const e = events[at];
    if (packages && !packages.includes(e.e.split(".")[0])) continue;
    const place = get(functions, `${e.e}/${e.phase}`) ?? get(functions, e.e);
    if (place) return { e, place };
  }
  return null;
}

// Code shows the function that acted last, in the form that runs.
export function Code({ name, view, close }) {
  const [functions, setFunctions] = useState(null);
  useEffect(() => { view.functions().then(setFunctions); }, []);
  const found = functions && actedLast(name, view, functions);
  const title = name ? `${text("code")} · ${name}` : text("code");
  if (!found) return html`<${Dialog} title=${title} close=${close}><p>${functions && text(Object.keys(functions).length ? "code-none" : "code-absent")}</p></${Dialog}>`;
  const { e, place } = found, lines = place.text.split("\n"), first = place.line - lines.findIndex(line => line.startsWith("func"));
  return html`<${Dialog} title=${title} close=${close}>
    <p class="mono" data-code="place">${place.file}:${place.line} <b>${place.name}</b>${place.yours && html` <span class="good">${text("yours")}</span>`}</p>
    <p>${text("code-event", { s: count(e.s), name: e.e })} ${e.k ?? ""}</p>
    <pre class="source" tabindex="0">${lines.map((line, i) => html`<span class=${i + first === place.line ? "at" : ""}><i>${i + first}</i>${line}${"\n"}</span>`)}</pre></${Dialog}>`;
}
