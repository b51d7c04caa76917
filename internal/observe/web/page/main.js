// The page: one picture of the run at one event, and the keys and buttons that move it.
import { html, render, useEffect, useLayoutEffect, useRef, useState } from "orrery/htm-preact.js";
import { clock, count, duration, setLanguage, text } from "orrery/text.js";
import { get } from "orrery/state.js";
import { parseFilter } from "orrery/filter.js";
import { Engine } from "orrery/engine.js";
import { FIFO, Indexer, Listeners, Namespace, Queue, Reflector, Requests, Workers } from "orrery/boxes.js";
import { Story } from "orrery/story.js";
import { about, Guide } from "orrery/guide.js";
import { Timeline } from "orrery/timeline.js";
import { GateBar, Gates, held } from "orrery/gates.js";
import { boxNames, Help, Tables } from "orrery/dialogs.js";
import { Code, Explain } from "orrery/learn.js";

const speeds = [0.25, 1, 4, 16];
const tooFast = 2000; // events in a second, above which a picture shows many at once
const tick = 50; // ms between two pictures of a recording that plays

const controlled = "namespaces"; // the informer to show first: that of the controller

// first returns the name to show: the chosen one if it exists, otherwise the first.
const first = (map, chosen) => get(map, chosen) ? chosen : Object.keys(map)[0] ?? "";

function App({ engine, initial }) {
  const [shot, setShot] = useState(null); // the last view of the worker
  const [mode, setMode] = useState(initial.mode); // none, opening, live, freeze, replay, ended
  const [selected, setSelected] = useState("");
  const [informerChosen, setInformer] = useState("");
  const [queueChosen, setQueue] = useState("");
  const [dialog, setDialog] = useState(null); // {kind, name}
  const [notice, setNotice] = useState("");
  const [chosen, setChosen] = useState(""); // the answer to a guided scene's question
  const [filter, setFilter] = useState("");
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(1);
  const [language, setPageLanguage] = useState(initial.language);
  const [theme, setTheme] = useState(initial.theme);
  const [control, setControl] = useState(null); // the gates; null: the run has none
  const size = useWindowSize(shot?.guided);
  const now = useRef({});
  const plays = useRef(false); // is playing at once what playing is with the next picture
  const asked = useRef(""); // the last command
  const playedTo = useRef(0); // the time up to which a recording has been played

  let passes = () => true, wrong = "";
  try { passes = parseFilter(filter); } catch (error) { wrong = error.message; }

  const setPlays = on => { plays.current = on; setPlaying(on); };
  const pause = () => { setPlays(false); setMode(m => m === "live" ? "freeze" : m); };
  const select = key => { setSelected(key); engine.ask("key", { key }); };
  const seek = n => { pause(); engine.ask("seek", { n }); };
  const move = by => { pause(); engine.ask("move", { by }); }; // from where the worker is, which may be ahead of the picture
  const freeze = () => {
    if (mode === "live") { engine.ask("stop"); setMode("freeze"); } else if (mode === "freeze") { engine.ask("follow"); setMode("live"); } else if (mode === "replay") play();
  };
  const play = () => {
    if (mode !== "replay" && mode !== "ended") return;
    const again = shot.n >= shot.count;
    playedTo.current = again ? shot.start : shot.t; // the picture of the start is not there yet
    if (!playing && again) engine.ask("seek", { n: 0 });
    setPlays(!playing);
  };
  const send = values => { setNotice(""); asked.current = values.do; engine.command(values); };
  const answer = choice => { setChosen(choice); send({ do: "answer", choice }); };
  const save = () => engine.ask("save");

  useEffect(() => {
    engine.update = setShot;
    engine.said = message => {
      switch (message.kind) {
        case "opened": setMode("replay"); return;
        case "disconnected":
          setMode(m => m === "live" || m === "freeze" ? "ended" : m);
          setControl(null);
          if (!message.ended) setNotice(text("disconnected"));
          else if (message.ended.startsWith("panic")) setNotice(message.ended);
          return;
        case "refused": setMode("none"); setNotice(message.reason || text("refused")); return;
        case "failed": setMode(m => m === "opening" ? "none" : m); setNotice(readProblem(message.reason)); return;
        case "saved": download(message.blob, now.current.header?.scene); return;
        case "control":
          setControl(message);
          if (message.error) setNotice(message.error);
          if (message.error && asked.current === "answer") setChosen(""); // the server has not taken it
          return;
      }
    };
    engine.begin();
  }, []);

  // A recording that plays moves by its own time.
  useEffect(() => {
    if (!playing) return;
    let before = performance.now();
    const timer = setInterval(() => {
      if (!plays.current) return;
      const time = performance.now();
      const at = playedTo.current += (time - before) * 1000 * speed;
      before = time;
      if (at >= now.current.end) { setPlays(false); engine.ask("seek", { n: Infinity }); } else engine.ask("time", { t: at });
    }, tick);
    return () => clearInterval(timer);
  }, [playing, speed]);
  now.current = shot ?? {};

  // What is held shows the present: hold from freeze catches up first.
  const command = values => {
    if (mode === "freeze") freeze();
    send(values);
  };
  const over = Boolean(shot?.reason); // nothing is left to hold
  const gates = new Gates(over ? null : control, null, command);
  useLayoutEffect(() => { // at once: a key that is pressed when the page can be seen counts
    const onKey = event => keyPressed(event, { mode, over, shot, seek, move, freeze, play, setDialog, dialog, select, selected, gates, setNotice, notice });
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  });

  const changeLanguage = () => setPageLanguage(setLanguage(language === "en" ? "zh-CN" : "en"));
  const changeTheme = () => setTheme(applyTheme(theme === "dark" ? "light" : "dark"));
  const noticeBox = notice && html`<div class="notice" role="alert">${notice} <button class="plain" onClick=${() => setNotice("")}>${text("close")}</button></div>`;
  if (!shot?.header) return html`<${Welcome} mode=${mode}/>${noticeBox}`;

  const { state, header } = shot;
  const informerName = first(state.informers, informerChosen || about[header.scene] || controlled), queueName = first(state.queues, queueChosen || informerName);
  const view = {
    ...shot, state, header, mode, selected, select, passes, informerName, queueName,
    informer: state.informers[informerName], queue: state.queues[queueName],
    started: state.s > 0, rows: size.rows, answered: !shot.guided || chosen !== "" || state.lab.answer !== "",
    toEvent: s => { pause(); engine.ask("event", { s }); }, toTime: t => { pause(); engine.ask("time", { t }); },
    open: name => setDialog({ kind: "tables", name }), functions: () => engine.functions(header.gears),
  };
  gates.view = view;
  const waits = held(state);
  const ran = [header.scene && text("scene", { name: header.scene }), header.gears && text("gears", { name: header.gears }), header.yours?.length && text("yours-files", { files: header.yours.join(", ") }), header.run].filter(Boolean).join(" · ");
  const ended = mode === "ended" || mode === "live" && state.ended !== "";
  const shownMode = ended ? "ended" : mode;
  return html`<main class=${"page" + (shot.guided ? " guided" : "")}>
    <div class="head"><h1>${text("title")}</h1>
      <span class=${"mode " + shownMode} role="status">${text("mode-" + shownMode)}${mode === "freeze" ? " · " + text("behind", { n: count(shot.count - shot.n) }) : ""}</span>
      ${(mode === "live" || mode === "freeze") && !ended
        ? html`<button aria-pressed=${mode === "freeze"} onClick=${freeze}>${text(mode === "freeze" ? "follow" : "freeze")}</button>`
        : html`<button aria-pressed=${playing} onClick=${play}>${text(playing ? "pause" : "play")}</button>`}
      ${waits && html`<span class="mode held" role="status">${waits}</span>`}
      <span class="about" title=${ran}>${ran}</span>
      ${ended && html`<span class="about" title=${shot.reason}>${shot.reason === "the scene has ended" ? text("ended-scene") : shot.reason}</span>`}<span class="grow"></span>
      <${Choice} label=${text("informer")} names=${Object.keys(state.informers)} value=${informerName} choose=${setInformer}/>
      <${Choice} label=${text("queue")} names=${Object.keys(state.queues)} value=${queueName} choose=${setQueue}/>
      <span class="figure">s <b>${count(state.s)}</b></span>
      <${Losses} view=${view}/>
      <span class="figure">${text(header.clock === "virtual" ? "clock-virtual" : "clock-real")}</span>
      <button onClick=${save}>${text("save")}</button>
      <button class="plain" onClick=${changeLanguage}>${text("language")}</button>
      <button class="plain" onClick=${changeTheme} aria-label=${text("theme")} title=${text("theme")}>◐</button>
      <button class="plain" onClick=${() => setDialog({ kind: "help" })} aria-label=${text("help")} title=${text("help")}>?</button></div>
    ${shot.guided && html`<${Guide} view=${view} chosen=${chosen} choose=${answer}/>`}
    <div class="row1"><${Requests} view=${view}/><${Reflector} view=${view}/><${FIFO} view=${view}/><${Indexer} view=${view}/><${Listeners} view=${view}/></div>
    <div class="row2"><${Queue} view=${view}/><${Workers} view=${view}/><${Namespace} view=${view}/></div>
    <${Story} view=${view}/>
    <section class="box time" aria-label=${text("time")} data-box="time"><header>
      <button onClick=${() => move(-1)} aria-label=${text("back")} title="[">‹</button><button onClick=${() => move(1)} aria-label=${text("step")} title="]">›</button>
      <span class="clock">${clock(shot.t)} <span class="quiet">/ ${clock(shot.end)}</span></span>
      <span class="quiet" data-event=${shot.n}>${text("event-number", { n: count(shot.n), of: count(shot.count) })}</span>
      ${(mode === "replay" || ended) && speeds.map(s => html`<button aria-pressed=${speed === s} onClick=${() => setSpeed(s)}>×${s === 0.25 ? "¼" : s}</button>`)}
      ${crowded(shot) > tooFast && html`<span class="warn">${text("rate", { n: count(crowded(shot)) })}</span>`}
      <${GateBar} gates=${gates}/>
      <span class="grow" style="flex:1"></span>
      <input id="filter" class=${wrong ? "wrong" : ""} type="text" spellcheck="false" placeholder=${text("filter")} aria-label=${text("filter-label")} aria-invalid=${wrong !== ""} title=${wrong || text("key-filter")} value=${filter} onInput=${event => setFilter(event.target.value)} onKeyDown=${event => event.key === "Enter" && setNotice(wrong)}/></header>
      <div class="body"><${Timeline} view=${view} width=${size.width - 36} height=${size.timeline}/></div></section>
    ${noticeBox}
    ${dialog?.kind === "help" && html`<${Help} close=${() => setDialog(null)}/>`}
    ${dialog?.kind === "explain" && html`<${Explain} name=${dialog.name} close=${() => setDialog(null)}/>`}
    ${dialog?.kind === "code" && html`<${Code} name=${dialog.name} view=${view} close=${() => setDialog(null)}/>`}
    ${dialog?.kind === "tables" && html`<${Tables} name=${dialog.name} view=${view} close=${() => setDialog(null)}/>`}</main>`;
}

// Losses says what the picture does not contain.
function Losses({ view }) {
  const sum = map => Object.values(map).reduce((sum, n) => sum + n, 0);
  const lost = sum(view.state.lost), { skipped, cut, problem, state } = view;
  return html`<span class=${lost ? "lost" : "figure"} data-lost=${lost}>${text("lost", { n: "" })}<b>${count(lost)}</b></span>
    ${cut && html`<span class="lost" title=${text("cut-about")}>${text("cut")}</span>`}
    ${skipped > 0 && html`<span class="lost">${text("skipped", { n: count(skipped) })}</span>`}
    ${state.odd > 0 && html`<span class="lost">${text("odd", { n: count(state.odd) })}</span>`}
    ${problem && html`<span class="lost" title=${problem.reason}>${text("problem", problem)}</span>`}`;
}

// Choice selects one of several informers or queues.
function Choice({ label, names, value, choose }) {
  if (names.length < 2) return null;
  return html`<label class="quiet">${label} <select value=${value} onChange=${event => choose(event.target.value)}>${names.map(name => html`<option value=${name} selected=${name === value}>${name}</option>`)}</select></label>`;
}

// Welcome is the page without a run.
function Welcome({ mode }) {
  const waits = { live: "connecting", opening: "opening" }[mode], missing = location.protocol === "http:" && !parameters.has("token");
  return html`<main class="welcome"><h1>${text("title")}</h1>${waits && html`<p>${text(waits)}</p>`}${missing && html`<p class="bad">${text("no-token")}</p>`}</main>`;
}

// crowded returns how many events there were in the last second before the moment that is shown. A virtual clock stands still
// while they happen.
function crowded({ recent, t, header }) {
  if (header.clock === "virtual") return 0;
  const inLast = recent.filter(e => e.t > t - 1e6);
  if (inLast.length < recent.length || recent.length < 2) return inLast.length;
  return recent.length * 1e6 / Math.max(1, t - recent[0].t);
}

// readProblem is the sentence for what reader.js could not read.
function readProblem(reason) {
  const [kind, ...rest] = (reason ?? "").split(" ");
  return text(["format", "newer", "older", "empty"].includes(kind) ? "bad-" + kind : "bad-other", { reason: kind === "format" ? JSON.stringify(rest.join(" ")) : rest.join(" ") || reason });
}

function download(blob, scene) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${scene || "orrery"}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// keyPressed moves the picture. Keys of the browser and of fields are left alone.
function keyPressed(event, page) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { shot, seek, move, dialog, setDialog, gates } = page;
  if (event.target.matches?.("input, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (dialog || !shot) return;
  const far = event.shiftKey ? 100 : 1;
  const box = document.activeElement?.closest?.("[data-box]")?.dataset.box;
  const named = names => names.includes(box) ? box : undefined;
  const actions = {
    " ": page.freeze, p: page.play, "[": () => move(-1), "{": () => move(-100), "]": () => move(1), "}": () => move(100),
    ArrowLeft: () => move(-far), ArrowRight: () => move(far), n: () => move(1), Home: () => seek(0), End: () => seek(Infinity),
    "/": () => document.getElementById("filter").focus(), e: () => setDialog({ kind: "explain", name: named([...boxNames, "story", "time"]) }),
    c: () => setDialog({ kind: "code", name: named([...boxNames, "story"]) }), t: () => setDialog({ kind: "tables", name: named(boxNames) }), "?": () => setDialog({ kind: "help" }),
    q: () => document.querySelector(".choices button")?.focus(), Escape: () => page.notice ? page.setNotice("") : page.select(""),
  };
  const live = page.mode === "live" && !page.over;
  if (gates.control) {
    if (live) actions.n = () => gates.closed.length > 0 ? gates.step() : page.setNotice(text("no-gate-closed"));
    actions.h = () => gates.hold();
    for (const gate of gates.control.gates) actions[gate.name.slice(1)] = () => gate.wired ? gates.toggle(gate.name) : page.setNotice(`${gate.name}: ${text("gate-none")}`);
  } else {
    const why = () => page.setNotice(text("no-gates"));
    for (const key of ["h", "1", "2", "3", "4", "5", "6", "7"]) actions[key] = why;
    if (live) actions.n = why;
  }
  if (event.key === " " && event.target.matches?.("button")) return; // the button is pressed
  if (!actions[event.key]) return;
  event.preventDefault();
  if (event.key !== "Escape") page.setNotice(""); // what it was about is over
  actions[event.key]();
}

// useWindowSize returns how many rows a box has room for. The guide takes some of it, as in style.css.
function useWindowSize(guided) {
  const measure = () => {
    const wide = innerWidth >= 1600, row = wide ? 23 : 19, guide = !guided ? 0 : wide ? 146 : 120, less = guided ? 36 : 0;
    const gears = (innerHeight - (wide ? 46 + 88 + 190 : 40 + 76 + 132) + less - guide - 32) / 2;
    return { width: innerWidth, rows: Math.max(3, Math.floor((gears - 40) / row)), timeline: (wide ? 150 : 96) - less };
  };
  const [size, setSize] = useState(measure);
  useLayoutEffect(() => {
    const changed = () => setSize(measure());
    changed();
    addEventListener("resize", changed);
    return () => removeEventListener("resize", changed);
  }, [guided]);
  return size;
}

function applyTheme(name) {
  document.documentElement.dataset.theme = name;
  return name;
}

const parameters = new URLSearchParams(location.search);
const dark = matchMedia("(prefers-color-scheme: dark)").matches;
const engine = new Engine(view => engine.update?.(view), message => engine.said?.(message));
const mode = document.getElementById("recording") || parameters.has("recording") ? "opening" : parameters.has("token") ? "live" : "none";
engine.begin = () => engine.start();
const initial = { mode, language: setLanguage(parameters.get("lang") ?? navigator.language), theme: applyTheme(parameters.get("theme") ?? (dark ? "dark" : "light")) };
render(html`<${App} engine=${engine} initial=${initial}/>`, document.getElementById("app"));
