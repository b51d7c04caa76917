// Hold: the gates of a run in the laboratory, which the page closes, steps and opens.
import { html } from "orrery/htm-preact.js";
import { text } from "orrery/text.js";

const inInformer = ["G2", "G4"], inQueue = ["G5", "G7"];

// Gates are the gates as the server told last, with what the page can ask for. control is null without gates.
export class Gates {
  constructor(control, view, send) {
    this.control = control;
    this.view = view;
    this.send = send;
  }

  get closed() { return this.control?.gates.filter(g => g.closed) ?? []; }

  // toggle closes or opens a gate: of the informer or the queue that is shown, if there are several.
  toggle(name) {
    const gate = this.control?.gates.find(g => g.name === name);
    if (!gate?.wired) return;
    if (gate.closed) { this.send({ do: "open", gate: name }); return; }
    const { state, informerName, queueName } = this.view;
    const only = (names, shown) => Object.keys(names).length > 1 && shown ? shown : "";
    const resource = inInformer.includes(name) ? only(state.informers, informerName) : inQueue.includes(name) ? only(state.queues, queueName) : "";
    this.send({ do: "close", gate: name, resource });
  }

  // first is the gate that hold closes: before the pop or before the pass.
  get first() { return this.control?.gates.find(g => g.wired && ["G2", "G5"].includes(g.name)); }

  // holds reports whether something waits at a gate, or would at the first one. Another gate that a scene has closed may hold nothing yet.
  get holds() { return Boolean(this.first?.closed || this.control?.gates.some(g => g.closed && g.waiting > 0)); }

  // hold closes the first gate, or opens all that are closed.
  hold() {
    if (this.holds) this.send({ do: "release" }); else if (this.first) this.toggle(this.first.name);
  }

  step() { this.send({ do: "step" }); }
}

// held says at which gate how many items wait; "" if none does.
export function held(state) {
  const waiting = Object.entries(state.lab.held);
  if (waiting.length === 0) return "";
  const most = waiting.sort().map(([gate, keys]) => text(keys.length === 1 ? "held-one" : "held-many", { gate, n: keys.length }));
  return text("held", { what: most.join(", ") });
}

// GateBar has a button for each gate, and what moves the items.
export function GateBar({ gates }) {
  if (!gates.control) return null;
  const { control } = gates, any = gates.closed.length > 0;
  return html`<span class="gates" role="group" aria-label=${text("gates")}>
    <button class="hold" aria-pressed=${gates.holds} title="h" onClick=${() => gates.hold()}>${text(gates.holds ? "release" : "hold")}</button>
    ${control.gates.map(g => html`<button class="gate" data-gate=${g.name} aria-pressed=${g.closed} disabled=${!g.wired} aria-label=${`${g.name}: ${text("gate-" + g.name)}`}
      title=${`${g.name}: ${text(g.wired ? "gate-" + g.name : "gate-none")}${g.where ? "\n" + g.where : ""}`} onClick=${() => gates.toggle(g.name)}>${g.name}${g.waiting ? html`<b> ${g.waiting}</b>` : ""}</button>`)}
    <button class="step" disabled=${!any} title="n" onClick=${() => gates.step()}>${text("step")}</button></span>`;
}
