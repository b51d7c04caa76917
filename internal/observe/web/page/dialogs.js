// What opens over the page: help, the explanation of a box, and tables of everything.
import { html, useLayoutEffect, useRef } from "orrery/htm-preact.js";
import { clock, text } from "orrery/text.js";
import { Key } from "orrery/boxes.js";
import { about } from "orrery/story.js";
import { termsOf } from "orrery/learn.js";

// Dialog is modal; Escape and its button close it.
export function Dialog({ title, close, children }) {
  const ref = useRef();
  useLayoutEffect(() => { // at once: Escape closes what can be seen
    ref.current.showModal();
    ref.current.focus(); // not its button, which the Enter that has opened it would press
  }, []);
  return html`<dialog ref=${ref} tabindex="-1" onClose=${close} aria-label=${title} onClick=${event => event.target === ref.current && close()}>
    <div style="display:flex;gap:24px"><h2 style="flex:1">${title}</h2><button class="plain" onClick=${close}>${text("close")}</button></div>${children}</dialog>`;
}

const keys = [
  ["Space", "key-freeze"], ["p", "key-play"], ["[  ]", "key-seek"], ["n", "key-step"], ["h", "key-hold"], ["2 4 5 7", "key-gate"], ["Home End", "key-home"], ["/", "key-filter"],
  ["e", "key-explain"], ["c", "key-code"], ["t", "key-tables"], ["q", "key-question"], ["?", "key-help"], ["Tab", "key-tab"], ["Enter", "key-enter"], ["Esc", "key-escape"],
];

export const boxNames = ["restclient", "reflector", "deltafifo", "indexer", "informer", "queue", "workers", "nsctl"];

export const Help = ({ close }) => html`<${Dialog} title=${text("help-title")} close=${close}>
  <table>${keys.map(([key, name]) => html`<tr><td><kbd>${key}</kbd></td><td style="font-family:var(--text)">${text(name)}</td></tr>`)}</table>
  <h3>${text("signs-title")}</h3><p>${text("signs")}</p><h3>${text("limits-title")}</h3><p>${text("limits")}</p></${Dialog}>`;

// stateOf is the part of the state that a box draws.
function stateOf(name, view) {
  const { informer, queue, state } = view;
  return {
    restclient: state.requests, reflector: informer?.reflector, deltafifo: informer?.fifo, indexer: informer?.store,
    informer: informer?.handlers, queue, workers: queue?.processing, nsctl: state.namespaces,
  }[name];
}

const gears = { informer: ["informer"], workers: ["queue", "nsctl"], restclient: ["restclient", "discovery"] };

// packagesOf returns the packages whose events are about a box; null: those of all.
export const packagesOf = name => boxNames.includes(name) ? gears[name] ?? [name] : null;

// Tables has the last events of a box, or of all, newest first, and its whole state.
export function Tables({ name, view, close }) {
  const packages = packagesOf(name);
  const events = view.recent.filter(e => (!packages || packages.includes(e.e.split(".")[0])) && view.passes(e)).reverse();
  return html`<${Dialog} title=${name ?? text("tables")} close=${close}>
    ${name && html`<p>${termsOf(name)[0]?.[1]}</p>`}
    <h3>${text("table-events")}</h3>
    <table><tr>${["number", "time", "event"].map(c => html`<th>${text("column-" + c)}</th>`)}<th>k</th><th>${text("column-about")}</th></tr>
      ${events.slice(0, 100).map(e => html`<tr onClick=${() => { view.toEvent(e.s); close(); }}><td>${e.s}</td><td>${clock(e.t)}</td><td>${e.e}</td><td>${e.k ? html`<${Key} k=${e.k} view=${view}/>` : ""}</td><td>${about(e)}</td></tr>`)}</table>
    ${name && html`<h3>${text("table-state")}</h3><pre class="mono">${JSON.stringify(stateOf(name, view) ?? null, null, 2).slice(0, 20000)}</pre>`}</${Dialog}>`;
}
