// The guide of a scene: its story, its question and its answer.
import { html } from "orrery/htm-preact.js";
import { get } from "orrery/state.js";
import { known, text } from "orrery/text.js";
import { Key } from "orrery/boxes.js";

// about is the informer that a guided scene is about, if it is not the controller's.
export const about = { "expired-watch": "configmaps", "slow-handler": "configmaps" };

// keys are the objects that a guided scene is about. The guide has them when no box has them any more.
const keys = {
  "slow-consumer": ["shop/red"], "store-decides": ["shop/pear", "shop/kiwi"], "one-key": ["shop/red"], "back-off": ["shop/web"],
};

// The choices of a question are in one field of its event.
const separator = " | ";

// Guide shows the chapter of the scene. From the question on it has a button for each choice, and the answer when the reader has
// chosen and the recording has got there.
export function Guide({ view, chosen, choose }) {
  const { lab } = view.state, { scene } = view.header;
  const choices = lab.choices ? lab.choices.split(separator) : [];
  const answer = chosen || lab.answer ? view.answer : "";
  const over = view.state.ended && (lab.answer || !lab.choices); // not of a run that was cut before its answer
  const chapter = over && known(`guide-${scene}-end`) ? "end" : lab.chapter;
  const asks = choices.length > 0 && !chosen && !answer;
  return html`<section class=${"box guide" + (asks ? " asks" : "")} aria-label=${text("guide")} tabindex="0" data-box="guide">
    <div class="told"><h2>${text("guide")} ${scene} ${(get(keys, scene) ?? []).map(k => html`<${Key} k=${k} view=${view}/>`)}</h2><p role="status">${text(chapter ? `guide-${scene}-${chapter}` : "guide-start")}</p></div>
    <div class="asked">${choices.length === 0 ? html`<p class="quiet">${text("guide-wait")}</p>` : html`
      <h3 id="question">${text(`guide-${scene}-question`)}</h3>
      <div class="choices" role="group" aria-labelledby="question">${choices.map(choice => html`<button class=${sign(choice, chosen, answer)[1]} aria-pressed=${chosen === choice}
        disabled=${chosen !== "" || answer !== ""} onClick=${() => choose(choice)}>${sign(choice, chosen, answer)[0]}${choice}</button>`)}</div>
      <p role="alert" class=${"verdict" + (answer && chosen && chosen !== answer ? " wrong" : "")}>${verdict(view.header, chosen, answer)}</p>`}</div></section>`;
}

// sign is what a button shows before its choice, and its class.
function sign(choice, chosen, answer) {
  if (answer === choice) return ["✔ ", "right"];
  return answer && chosen === choice ? ["✖ ", "wrong"] : ["", ""];
}

function verdict({ scene, yours }, chosen, answer) {
  if (!answer) return chosen && text("guide-chosen", { choice: chosen });
  const name = !chosen ? "guide-answer" : chosen === answer ? "guide-right" : "guide-wrong";
  return html`<b>${text(name, { answer, choice: chosen })}</b> ${text(`guide-${scene}-why`)} ${yours?.length ? text("guide-yours") : ""}`;
}
