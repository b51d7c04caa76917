// The boxes: each draws its part of the state at one moment. It shows as many rows as it has room for and says how many more.
import { html } from "orrery/htm-preact.js";
import { deltas } from "orrery/sentence.js";
import { get } from "orrery/state.js";
import { colour, count, duration, short, text } from "orrery/text.js";

// Key is the name of an object in its colour. Selecting it fills its story and dims everything else.
export function Key({ k, view, most }) {
  const { selected, select } = view;
  const state = selected === "" ? "" : selected === k ? "selected" : "dim";
  return html`<button class=${"key " + state} style=${{ "--key": colour(k) }} title=${k} aria-pressed=${selected === k}
    onClick=${event => { event.stopPropagation(); select(selected === k ? "" : k); }}><i></i><span>${short(k, most)}</span></button>`;
}

const packages = { workers: ["queue"] }; // whose events a box shows, if they are not those of its name
const folders = { workers: "wait", reflector: "informer/reflector" }; // that have its page, likewise

// isYours reports whether the run has a page of the learner's for a box.
const isYours = (view, name) => (view.header?.yours ?? []).some(file => file.slice(0, file.lastIndexOf("/")) === (folders[name] ?? name));

// waiting are the keys of a map in the order in which they wait.
const waiting = (map, number) => Object.keys(map).sort((a, b) => number(map[a]) - number(map[b]));

// sorted are the entries of a map by name.
const sorted = map => Object.entries(map).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);

// Box is a region with a heading. Enter opens everything that it holds.
function Box({ name, title, note, silent, view, children }) {
  const open = () => view.open(name);
  return html`<section class=${"box " + name + (silent ? " silent" : "")} aria-label=${title} tabindex="0" data-box=${name}
    onKeyDown=${event => { if (event.key === "Enter" && event.target === event.currentTarget) { event.preventDefault(); open(); } }} onDblClick=${open}>
    <header><h2>${title}</h2>${isYours(view, name) && html`<b class="good" data-yours>${text("yours")}</b>`}<span class="note">${note}</span></header>
    <div class="body">${silent ? html`<p>${text(view.mode === "replay" && !(packages[name] ?? [name]).some(gear => view.used[gear]) ? "silent-all" : "silent")}</p>` : children}</div></section>`;
}

// Rows shows the first rows, and the number of the others.
function Rows({ rows, most, total = rows.length, rest = () => "" }) {
  const shown = rows.length > most ? rows.slice(0, most - 1) : rows;
  return html`${shown}${total > shown.length && html`<div class="row more">${text("more", { n: count(total - shown.length) })}${rest(shown.length)}</div>`}`;
}

const since = (view, at) => duration(Math.max(0, view.t - at));
const called = (view, gear) => view.state.gears[gear];

// Deltas is a letter for each delta, oldest first.
export function Deltas({ d = "", n = 0 }) {
  const all = [...d], shown = all.slice(-9), missing = Math.max(n, all.length) - shown.length;
  return html`<span class="deltas">${missing > 0 && html`<span class="quiet">${count(missing)}+</span>`}${shown.map(letter =>
    html`<span class=${"delta " + (letter === "†" ? "D" : letter)} title=${get(deltas, letter) ?? ""}>${letter}</span>`)}</span>`;
}

const fewWatches = 3; // more are one row: the requests are what changes

export function Requests({ view }) {
  const { latest, watches, started, failed } = view.state.requests;
  const row = (request, bar) => {
    const bad = request.err !== "" || request.code >= 400;
    return html`<div class=${"row" + (view.selected && request.k && request.k !== view.selected ? " dim" : "")} title=${request.path + (request.err ? "\n" + request.err : "")}>
      <span style="width:5.4em">${request.verb.toUpperCase().slice(0, 9)}</span>
      <span class="fill">${request.r || request.path}${request.k ? html`<span class="quiet"> ${short(request.k, 16)}</span>` : ""}</span>
      ${bar}<span class=${"num " + (bad ? "bad" : "")}>${bad ? "✖ " : ""}${request.code || (request.err ? text("no-answer") : since(view, request.at))}</span></div>`;
  };
  const bar = html`<span class="bar" style="max-width:3em"><i style="width:100%"></i></span>`, watched = Object.values(watches);
  const open = watched.length <= fewWatches ? watched.map(w => row(w, bar))
    : [html`<div class="row" title=${[...new Set(watched.map(w => w.r))].join("\n")}><span style="width:5.4em">WATCH</span><span class="fill">${text("watches-open", { n: count(watched.length) })}</span>${bar}</div>`];
  const all = Object.values(latest), under = all.filter(r => !r.done).map(r => row(r, html`<span class="quiet">…</span>`)); // in order: the keys are numbers
  const done = all.filter(r => r.done && !get(watches, r.q)).reverse().map(r => row(r));
  return html`<${Box} name="restclient" title="restclient" view=${view} silent=${!called(view, "restclient") && view.started}
    note=${html`${text("requests", { n: count(started) })}${failed ? html`, <span class="bad">✖ ${count(failed)}</span>` : ""}`}>
    <${Rows} rows=${[...open, ...under, ...done]} most=${view.rows}/></${Box}>`;
}

export function Reflector({ view }) {
  const r = view.informer?.reflector;
  const bad = r?.phase === "BackingOff";
  return html`<${Box} name="reflector" title="reflector" view=${view} silent=${!called(view, "reflector") && view.started}
    note=${html`${view.informerName}`}>
    ${r && html`
      <div class="row"><b class=${"fill " + (bad ? "bad" : r.open ? "good" : "")}>${bad ? "✖ " : ""}${r.phase || "Idle"}</b><span class="num">${since(view, r.phaseAt)}</span></div>
      <div class="row"><span class="label">${text("position")}</span><span class="fill">${r.rv || "–"}</span></div>
      <div class="row"><span class="label">${text("lists")}</span><span class="fill">${count(r.lists)}${r.expired ? html` <span class="warn">410 ×${count(r.expired)}</span>` : ""}</span></div>
      <div class="row"><span class="label">${text("watches")}</span><span class="fill">${count(r.watches)}</span></div>
      <div class="row"><span class="label">${text("events")}</span><span class="fill">${count(r.events)}</span></div>
      <div class="row"><span class="label">${text("back-off")}</span><span class="fill">${r.backOff ? html`<span class="bad">${duration(r.backOff)}, ${text("failure", { n: r.failures })}</span>` : "–"}</span></div>
      ${r.err && html`<div class="row bad" title=${r.err}><span class="fill">${r.err}</span></div>`}`}</${Box}>`;
}

export function FIFO({ view }) {
  const fifo = view.informer?.fifo;
  const keys = fifo ? waiting(fifo.slots, slot => slot.s) : [];
  const slot = k => html`<div class=${"row" + (view.selected && view.selected !== k ? " dim" : "")}><span class="fill"><${Key} k=${k} view=${view}/></span><${Deltas} d=${fifo.slots[k].d} n=${fifo.slots[k].n}/></div>`;
  const tombstones = shown => {
    const n = keys.slice(shown).filter(k => fifo.slots[k].d?.includes("†")).length;
    return n > 0 && html` <b>† ${count(n)}</b>`;
  };
  return html`<${Box} name="deltafifo" title="deltafifo" view=${view} silent=${!called(view, "deltafifo") && view.started}
    note=${html`${text("keys", { n: count(fifo?.total) })}`}>
    ${fifo && html`
      <${Rows} rows=${keys.slice(0, view.rows).map(slot)} most=${view.rows - 2} total=${fifo.total} rest=${tombstones}/>
      ${fifo.total === 0 && html`<div class="row empty">${text("fifo-empty")}</div>`}
      <div class="row"><span class="label">${text("in-flight")}</span>${fifo.inFlight ? html`<span class="fill"><${Key} k=${fifo.inFlight.k} view=${view} most=${14}/></span><${Deltas} d=${fifo.inFlight.d} n=${fifo.inFlight.n}/>` : html`<span class="quiet">${text("none")}</span>`}</div>
      <div class="row"><span class="label">${text("popped")}</span><span class="fill">${count(fifo.popped)}<span class="quiet"> / ${text("deltas", { n: count(fifo.queued) })}</span></span></div>`}</${Box}>`;
}

export function Indexer({ view }) {
  const store = view.informer?.store;
  const objects = store ? sorted(store.objects).slice(0, view.rows + 1) : [];
  const marks = { added: "+", updated: "↻", deleted: "−", replaced: "⇄" };
  return html`<${Box} name="indexer" title="indexer" view=${view} silent=${!called(view, "indexer") && view.started}
    note=${html`${text("objects", { n: count(store?.total) })}`}>
    ${store && html`
      ${store.kind && html`<div class="row"><b title=${store.kind}>${get(marks, store.kind) ?? ""} ${store.kind}</b>${store.k && html`<span class="fill"><${Key} k=${store.k} view=${view} most=${16}/></span>`}</div>
        <div class="row quiet"><span class="fill">${store.from || "–"} → ${store.to || "–"}</span></div>`}
      <${Rows} rows=${objects.map(([k, rv]) => html`<div class="row"><span class="fill"><${Key} k=${k} view=${view} most=${16}/></span><span class="num">${rv}</span></div>`)} most=${view.rows - 2} total=${store.total}/>
      ${store.total === 0 && html`<div class="row empty">${text("store-empty")}</div>`}`}</${Box}>`;
}

const lagMark = 1024; // a backlog of this length is shown as late

export function Listeners({ view }) {
  const handlers = sorted(view.informer?.handlers ?? {});
  const pending = handlers.reduce((sum, [, h]) => sum + Math.max(0, h.pending), 0);
  const row = ([name, h]) => {
    const late = h.pending >= lagMark, scale = Math.max(lagMark, h.peak);
    return html`<div class="row" title=${name}><span style="width:7.5em;overflow:hidden;text-overflow:ellipsis">${name.split("#")[0]}</span>
        <span class=${"bar" + (late ? " late" : "")} role="meter" aria-label=${name} aria-valuenow=${h.pending} aria-valuemax=${scale}><i style=${{ width: `${Math.min(100, 100 * Math.sqrt(Math.max(0, h.pending) / scale))}%` }}></i></span>
        <span class=${"num" + (late ? " bad" : "")}>${text("wait", { n: count(h.pending) })}</span></div>
      <div class="row quiet">${h.call ? html`<span>${h.call.kind}</span><span class="fill"><${Key} k=${h.call.k} view=${view} most=${14}/></span><span>${since(view, h.call.at)}</span>`
        : html`<span class="fill">${text("handled", { n: count(h.handled) })}${h.merged ? ", " + text("merged", { n: count(h.merged) }) : ""}${h.panics ? html`, <span class="bad">panic ×${h.panics}</span>` : ""}</span><span>${text("peak", { n: count(h.peak) })}</span>`}</div>`;
  };
  return html`<${Box} name="informer" title="informer" view=${view} silent=${!called(view, "informer") && view.started}
    note=${html`${text("wait", { n: count(pending) })}`}>
    <${Rows} rows=${handlers.map(row)} most=${Math.floor(view.rows / 2)}/>
    ${handlers.length === 0 && html`<div class="row empty">${text("no-handlers")}</div>`}</${Box}>`;
}

export function Queue({ view }) {
  const queue = view.queue, name = view.queueName;
  if (!queue) return html`<${Box} name="queue" title=${text("queue")} view=${view} silent=${view.started}/>`;
  const processing = Object.entries(queue.processing).sort((a, b) => a[1].at - b[1].at);
  const queued = waiting(queue.queue, seq => seq);
  const again = processing.filter(([, p]) => p.dirty).map(([k]) => k);
  const delayed = Object.entries(queue.delayed).sort((a, b) => a[1].at + a[1].us - b[1].at - b[1].us);
  const line = (label, keys, total = keys.length, mark = {}) => html`<div class="row set" data-set=${label} style="height:23px"><span class="label" style="font-family:var(--mono)">${label}</span>
    <span class="num" style="width:2.6em">${count(total)}</span><span class="keys">${keys.slice(0, 12).map(k => html`<span style="display:inline-flex"><${Key} k=${k} view=${view} most=${16}/>${get(mark, k) ?? ""}</span>`)}</span></div>`;
  const note = view.answered ? text("dirty-again") : text("dirty-now"); // what follows is the question
  const bullet = Object.fromEntries(again.map(k => [k, html`<b class="warn" title=${note}>●</b>`]));
  return html`<${Box} name="queue" title=${`${text("queue")} ${name ? `"${name}"` : ""}`} view=${view}
    note=${html`${text("queue-note", { added: count(queue.added + queue.coalesced), coalesced: count(queue.coalesced) })}`}>
    ${line("queue", queued, queue.total)}
    ${line("dirty", [...queued, ...again], queue.total + again.length, bullet)}
    ${line("processing", processing.map(([k]) => k))}
    ${line("delayed", [], queue.delayedTotal)}
    <${Rows} rows=${delayed.slice(0, view.rows).map(([k, d]) => html`<div class="row"><span class="fill" style="padding-left:1.2em"><${Key} k=${k} view=${view}/></span>
      <span class="num">${duration(Math.max(0, d.at + d.us - view.t))}${get(queue.failures, k) ? html`, <span class="bad">${text("failure", { n: queue.failures[k] })}</span>` : ""}</span></div>`)} most=${view.rows - (again.length ? 6 : 5)} total=${queue.delayedTotal}/>
    ${again.length > 0 && html`<div class="row warn"><span class="fill">● ${note}</span></div>`}
    ${queue.shuttingDown && html`<div class="row warn">${text(queue.draining ? "draining" : "shutting-down")}</div>`}</${Box}>`;
}

export function Workers({ view }) {
  const queue = view.queue, held = sorted(queue?.processing ?? {}), busy = held.length;
  const all = Array.from({ length: Math.max(queue?.workers ?? 0, view.header?.workers ?? 0) }, (_, i) => held.find(([, p]) => p.slot === i)?.[0] ?? "");
  const row = (k, i) => {
    const holds = k && get(queue.processing, k), passing = k && get(view.state.namespaces, k);
    return html`<div class="row" data-worker=${i + 1}><span class="quiet" style="width:2.2em">w${i + 1}</span>
      <span class="fill">${k ? html`<${Key} k=${k} view=${view}/>` : html`<span class="empty">${text("idle")}</span>`}
      ${passing?.running && passing.phase ? html`<span class="quiet"> ${passing.phase}</span>` : ""}</span>
      ${holds?.dirty && html`<b class="warn" title=${text(view.answered ? "dirty-again" : "dirty-now")}>●</b>`}
      ${k && get(queue.failures, k) ? html`<span class="bad">✖ ${text("failure", { n: queue.failures[k] })}</span>` : ""}
      <span class="num">${holds ? since(view, holds.at) : ""}</span></div>`;
  };
  return html`<${Box} name="workers" title=${text("workers")} view=${view} silent=${!queue && view.started}
    note=${queue ? text("busy", { n: busy, of: all.length }) : ""}>
    <${Rows} rows=${all.map(row)} most=${view.rows}/>
    ${all.length === 0 && html`<div class="row empty">${text("no-workers")}</div>`}</${Box}>`;
}

// The sign of a condition: False means that nothing is wrong. What remains is waited for.
const signs = { False: ["✔", "good"], True: ["✖", "bad"], Unknown: ["?", "warn"] };
const waits = /Remaining$/;
const phases = ["grace", "waiting", "reading", "discovery", "emptiness_check", "pods", "content", "report", "finalization"]; // in the order of a pass

export function Namespace({ view }) {
  const all = view.state.namespaces;
  const name = get(all, view.selected) ? view.selected
    : Object.keys(all).find(k => all[k].running) ?? Object.keys(all).sort((a, b) => all[b].passAt - all[a].passAt)[0];
  const n = get(all, name), deleting = Object.values(all).filter(x => !x.gone).length;
  const remaining = n ? Object.entries(n.remaining) : [], tight = view.rows < 8; // room for the conditions and one line
  return html`<${Box} name="nsctl" title=${n ? html`nsctl · ${short(name, 28)}` : "nsctl"} view=${view} silent=${!called(view, "nsctl") && view.started}
    note=${html`${n ? text(n.gone ? "gone" : "terminating") : ""}${deleting > 1 ? ` · ${text("deleting", { n: count(deleting) })}` : ""}`}>
    ${n && html`
      ${!tight && html`<div class="phases">${Object.entries(n.phases).sort(([a], [b]) => phases.indexOf(a) - phases.indexOf(b)).map(([phase, us], i) => html`${i > 0 && html`<span class="quiet">▸</span>`}<span class=${phase === n.phase ? "warn" : ""}>${phase} <span class="quiet">${duration(us)}</span></span>`)}
        ${n.phase && get(n.phases, n.phase) === undefined && html`<span class="warn">▸ ${n.phase} …</span>`}</div>`}
      <div class="sub">${text("pass", { n: count(n.passes) })}${n.p ? " · " + n.p : ""}${n.running ? html` · <span class="good">${text("running", { us: since(view, n.passAt) })}</span>`
        : n.due && n.dueAt + n.due > view.t ? ` · ${text("next-look", { us: duration(n.dueAt + n.due - view.t) })}` : ""}</div>
      ${sorted(n.conditions).map(([type, c]) => {
        const [sign, tone] = c.status === "True" && waits.test(type) ? ["…", "warn"] : get(signs, c.status) ?? ["?", "warn"];
        return html`<div class="row" title=${c.message}><b class=${tone} title=${c.status}>${sign}</b><span class="quiet" style="width:4.8em">${c.status}</span><span class="fill">${type.replace(/^Namespace/, "")}${c.status === "True" ? html` <span class="quiet">${c.message || c.reason}</span>` : ""}</span></div>`;
      })}
      ${remaining.length > 0 && !(tight && n.err) && html`<div class="row"><span class="label">${text("left")}</span><span class="fill">${remaining.map(([r, left]) => `${r} ${count(left)}`).join(", ")}</span></div>`}
      ${n.err && html`<div class="row bad" title=${n.err}><span class="fill">✖ ${n.err}</span></div>`}`}</${Box}>`;
}
