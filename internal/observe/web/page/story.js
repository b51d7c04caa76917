// The story of one key: a chain of events, each with the names of its gear and what it carried.
import { html, useEffect, useRef } from "orrery/htm-preact.js";
import { get } from "orrery/state.js";
import { count, duration, short, text } from "orrery/text.js";
import { Key } from "orrery/boxes.js";
import { sentenceOf } from "orrery/sentence.js";

// details are what a chip says after the name of an event.
const details = {
  "reflector.event": e => `${e.type ?? ""} ${e.rv ?? ""}`,
  "deltafifo.queued": e => e.d, "deltafifo.popped": e => e.d, "deltafifo.deduplicated": e => e.d,
  "informer.applied": e => e.kind, "informer.distributed": e => `${e.kind ?? ""} ×${e.n ?? 0}`,
  "informer.handlerCalled": e => `${short((e.h ?? "").split("#")[0], 14)} ${e.kind ?? ""}`,
  "informer.handled": e => duration(e.us ?? 0),
  "queue.delayed": e => duration(e.us ?? 0), "queue.retried": e => `${text("failure", { n: e.n ?? 0 })}, ${duration(e.us ?? 0)}`,
  "queue.got": e => duration(e.us ?? 0), "queue.done": e => duration(e.us ?? 0),
  "nsctl.phaseStarted": e => e.phase, "nsctl.phaseDone": e => `${e.phase} ${duration(e.us ?? 0)}`,
  "nsctl.typeDeleted": e => `${e.r} ${e.n ?? 0}`, "nsctl.passDone": e => duration(e.us ?? 0),
  "nsctl.conditionsUpdated": e => `${e.type} ${e.status}`,
  "restclient.requestStart": e => `${(e.verb ?? "").toUpperCase()} ${e.r ?? ""}`,
  "restclient.requestDone": e => `${e.code ?? ""} ${duration(e.us ?? 0)}`,
  "lab.held": e => e.gate, "lab.stepped": e => e.gate, "lab.released": e => e.gate, "lab.input": e => e.name, "lab.chapter": e => e.name, "lab.question": e => e.args, "lab.answer": e => e.text,
};

// about is what an event carried, in a few words.
export function about(e) {
  const own = get(details, e.e)?.(e);
  return [own ?? [e.d, e.kind, e.rv, e.r, e.n].filter(x => x !== undefined && x !== "").join(" "), e.err ? "✖ " + e.err : ""].filter(x => x).join(" ");
}

// Chip is one event. Selecting it goes to its moment.
function Chip({ e, view, now }) {
  const [gear, hook] = e.e.split(".");
  return html`<button class=${"chip" + (now ? " now" : "")} aria-current=${now} title=${`${e.e}\ns ${e.s}${e.err ? "\n" + e.err : ""}`}
    onClick=${() => view.toEvent(e.s)}><small>${gear} </small>${hook}${e.times > 1 ? html` <b class="times">×${count(e.times)}</b>` : ""}${about(e) ? html` <b>${short(about(e), 34)}</b>` : ""}</button>`;
}

export function Story({ view }) {
  const { selected, story, earlier } = view, chain = useRef();
  const passing = story.filter(view.passes);
  const last = passing.at(-1)?.s;
  useEffect(() => { if (chain.current) chain.current.scrollLeft = chain.current.scrollWidth; }, [last, selected]);
  return html`<section class="box story" aria-label=${text("story")} tabindex="0" data-box="story">
    <header><h2>${selected ? html`${text("story")}:${" "}` : text("story")}</h2>${selected && html`<${Key} k=${selected} view=${view} most=${60}/>`}
      <span class="says">${view.facts ? sentenceOf(view.recent.at(-1), view.facts) : ""}</span>
      <span class="note">${selected && passing.length ? text(earlier ? "story-last" : "story-events", { n: count(passing.reduce((sum, e) => sum + (e.times ?? 1), 0)) }) : ""}</span></header>
    <div class="body">${story.length > 0 && passing.length === 0 ? html`<p class="empty">${text("story-filtered")}</p>` : selected
      ? html`<div class="chain" ref=${chain}>${passing.map((e, i) => html`${i > 0 && html`<span class="arrow" aria-hidden="true">▸</span>`}<${Chip} e=${e} view=${view} now=${e.s === last}/>`)}</div>`
      : html`<p class="empty">${text("story-none")}</p>`}</div></section>`;
}
