// Fork: a new run from the recording that the page shows, by the laboratory that serves the page.
import { html, useState } from "orrery/htm-preact.js";
import { count, text } from "orrery/text.js";
import { Dialog } from "orrery/dialogs.js";

// Forks are the inputs of the recording, with what the page can do with them. known is what the server has said; null without a
// laboratory.
export class Forks {
  constructor(known, view) {
    this.known = known;
    this.seq = view.state.s;
  }

  // input is the last one up to the moment that is shown.
  get input() { return this.known?.inputs?.findLast(input => input.s <= this.seq); }

  // refused says why there is no fork from here; "" if there is one.
  get refused() {
    if (!this.known) return text("fork-refused-page");
    const reason = this.known.refused ?? (this.input ? this.input.refused : { code: "early" });
    return reason ? text("fork-refused-" + reason.code, reason.args) : "";
  }
}

// nameOf shows an input.
const nameOf = input => `${input.n} ${input.name} ${input.args ?? ""}`.trim();

// ForkButton can be reached when there is no fork, too; it says why then.
export function ForkButton({ forks, ask }) {
  const { refused } = forks;
  return html`<button class="fork" aria-disabled=${refused !== ""} aria-describedby="fork-refused" title=${refused || nameOf(forks.input)} onClick=${ask}>${text("fork")}</button>
    ${refused && html`<span id="fork-refused" class="quiet cut" title=${refused}>${refused}</span>`}`;
}

// original is the address of the page that has started this fork; null if there is none. Only a page of this machine is one.
const original = (() => {
  const from = URL.parse(new URLSearchParams(location.search).get("from"));
  return from?.protocol === "http:" && from.hostname === location.hostname ? from.href : null;
})();

// ToOriginal leads back from a fork to its recording.
export const ToOriginal = () => original && html`<a class="original" href=${original}>${text("fork-original")}</a>`;

// ForkResult says how far a fork has got and, when it is at rest, how it compares with the recording.
export function ForkResult({ lab, close }) {
  return html`<div class=${"notice forked " + lab.fork} role="status">${text("fork-" + lab.fork)} ${lab.forkText && html`<pre class="mono">${lab.forkText}</pre>`}
    ${lab.fork !== "running" && html`<button class="plain" onClick=${close}>${text("close")}</button>`}</div>`;
}

// ForkDialog asks which input to leave out, and starts the fork.
export function ForkDialog({ forks, start, close }) {
  const [without, setWithout] = useState(0);
  const [starting, setStarting] = useState(false);
  const { input } = forks, inputs = forks.known.inputs.filter(i => i.n <= input.n), before = inputs.slice(0, -1);
  const begin = () => { setStarting(true); start(input.n, without).then(started => started || close()); };
  return html`<${Dialog} title=${text("fork")} close=${close}>
    <p>${text("fork-about", { n: count(input.n) })}</p>
    <ol class="inputs mono">${inputs.map(i => html`<li class=${i.n === without ? "left-out" : ""}>${i.name} ${i.args}</li>`)}</ol>
    <p><label>${text("fork-without")} <select id="fork-without" value=${without} onChange=${event => setWithout(Number(event.target.value))}>
      <option value="0">${text("none")}</option>${before.map(i => html`<option value=${i.n}>${nameOf(i)}</option>`)}</select></label></p>
    <button class="start" disabled=${starting} onClick=${begin}>${text(starting ? "fork-starting" : "fork-start")}</button></${Dialog}>`;
}
