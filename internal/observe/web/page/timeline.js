// The strip of time: how much happened, who worked when, and where the page stands.
import { html } from "orrery/htm-preact.js";
import { clock, colour, count, text } from "orrery/text.js";

const left = 62, right = 6; // margins of the drawing
const manySlots = 4;
const gravity = ["lost", "panic", "410", "held", "input", "resync"];

// Timeline draws the summary of the run up to its end, with the workers and the depth of the queue that is shown. A click goes to that time.
export function Timeline({ view, width, height }) {
  const { summary, end } = view;
  if (!summary || width === 0) return null;
  const span = Math.max(end, 1), inner = width - left - right;
  const x = t => left + inner * Math.min(1, t / span);
  const passes = summary.passes.filter(p => p.i === view.queueName && p.slot < manySlots), slots = Math.max(0, ...passes.map(p => p.slot + 1));
  const lane = Math.min(13, (height - 34) / (3 + Math.max(1, slots) * 0.75)), bar = lane * 0.75;
  const top = height - 4 - 3 * lane - Math.max(1, slots) * bar;
  const seek = event => {
    const at = event.currentTarget.getBoundingClientRect();
    view.toTime(span * Math.max(0, Math.min(1, (event.clientX - at.left - left) / inner)));
  };
  const used = Math.min(summary.events.length, Math.ceil(span / summary.width));
  const bars = (list, base, most, tone) => {
    const peak = Math.max(1, ...list.slice(0, used));
    let path = "";
    for (let i = 0; i < used; i++) {
      if (!list[i]) continue;
      const from = x(i * summary.width), to = Math.max(from + 0.8, x((i + 1) * summary.width) - 0.2), h = Math.max(1.2, most * Math.sqrt(list[i] / peak));
      path += `M${from.toFixed(1)} ${base.toFixed(1)}V${(base - h).toFixed(1)}H${to.toFixed(1)}V${base.toFixed(1)}Z`;
    }
    return html`<path d=${path} fill=${tone}/>`;
  };
  const label = (name, y) => (lane > 9 || name === "lane-events" || name === "lane-workers") && html`<text x="0" y=${y}>${text(name)}</text>`;
  const line = n => top + n * lane;
  const places = new Map(); // marks that would cover each other: only the gravest is drawn
  for (const m of summary.marks) {
    const place = Math.round(x(m.t) / 10), other = places.get(place);
    if (!other || gravity.indexOf(m.kind) < gravity.indexOf(other.kind)) places.set(place, m);
  }
  const alone = place => !places.has(place - 1) && !places.has(place + 1);
  const marks = { 410: "◆", resync: "◇", lost: "✖", panic: "✖", held: "▮", input: "▾" };
  return html`<svg width=${width} height=${height} viewBox=${`0 0 ${width} ${height}`} role="slider" tabindex="0" aria-label=${text("position-label")}
      aria-valuemin="0" aria-valuemax=${Math.round(span / 1000)} aria-valuenow=${Math.round(view.t / 1000)} aria-valuetext=${clock(view.t)} onClick=${seek}
      onPointerMove=${event => event.buttons === 1 && seek(event)}>
    <line x1=${left} x2=${width - right} y1=${top - 2} y2=${top - 2} stroke="var(--line)"/>
    ${label("lane-events", top - 6)}${bars(summary.events, top - 2, top - 18, "var(--quiet)")}
    ${label("lane-pops", line(0.8))}${bars(summary.pops, line(0.9), lane * 0.7, "var(--accent)")}
    ${label("lane-handlers", line(1.8))}${bars(summary.handlers, line(1.9), lane * 0.7, "var(--accent)")}
    ${label("lane-workers", line(2) + bar)}
    ${passes.map(p => html`<rect x=${x(p.from)} width=${Math.max(1.5, x(p.to ?? span) - x(p.from))} y=${line(2) + p.slot * bar + 1} height=${Math.max(2, bar - 2)}
      rx="1" fill=${colour(p.k)} stroke="var(--panel)" stroke-width=".5" opacity=${view.selected && view.selected !== p.k ? 0.25 : 1}><title>${`w${p.slot + 1} ${p.k}`}</title></rect>`)}
    ${label("lane-depth", height - 5)}${bars(summary.depths.get(view.queueName) ?? [], height - 4, lane * 0.8, "var(--quiet)")}
    ${[...places].map(([place, m]) => html`<text x=${x(m.t)} y="10" text-anchor="middle" style=${m.kind === "lost" || m.kind === "panic" ? "fill:var(--bad)" : ""}>${marks[m.kind]}${m.kind === "410" && alone(place) ? "410" : ""}<title>${m.kind} ${clock(m.t)}</title></text>`)}
    <line x1=${x(view.t)} x2=${x(view.t)} y1="0" y2=${height} stroke="var(--accent)" stroke-width="1.5"/><circle cx=${x(view.t)} cy=${top - 2} r="3.5" fill="var(--accent)"/>
    <title>${count(view.count)} ${text("events")}</title></svg>`;
}
