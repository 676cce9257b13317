// An answer, what it proves, and what it cost.

import { find, make } from "../shared/dom.js";
import { inSymbols } from "./amounts.js";
import { exportCertificate } from "./certificate.js";

const facts = (named) => make("dl", { class: "facts" }, ...Object.entries(named).flatMap(([name, value]) =>
  [make("dt", {}, name), make("dd", {}, value)]));

export function inWords(answer) {
  if (Array.isArray(answer)) return answer.join(", ") || "none";
  if (typeof answer === "number") return answer.toLocaleString("en");
  if (answer !== null && typeof answer === "object") {
    return Object.entries(answer).map(([name, one]) => `${name}: ${inWords(one)}`).join("; ");
  }
  return String(answer);
}

/** The answer of an entry, which a ledger keeps as text. */
export function recorded(entry) {
  if (entry.answer === null) return "none: interrupted";
  if (!entry.question.by && !["keys", "plan"].includes(entry.question.kind)) return entry.answer;
  const found = JSON.parse(entry.answer);
  if (entry.question.kind === "plan") { // each answer is text again
    return entry.question.questions.map(({ name, question }) =>
      `${name}: ${recorded({ answer: found[name], question })}`).join("; ");
  }
  return inWords(found);
}

export function showAnswer(dataset, said) {
  const { answer, entry, proves } = said;
  const grouped = answer !== null && typeof answer === "object" && !Array.isArray(answer);
  const what = entry.question.kind === "plan" ? "Question" : "Group";
  const spoken = grouped
    ? make("table", {}, make("caption", { class: "hidden" }, `The answer of each ${what.toLowerCase()}`),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, what), make("th", { scope: "col" }, "Answer"))),
      make("tbody", {}, ...Object.entries(answer).map(([group, one]) =>
        make("tr", {}, make("th", { scope: "row" }, group), make("td", {}, inWords(one))))))
    : make("p", { class: "spoken" }, inWords(answer));
  const taken = make("span", { class: "note", role: "status" });
  const button = make("button", { type: "button" }, "Export with its certificate");
  button.addEventListener("click", () => { taken.textContent = exportCertificate(dataset, entry, proves); });
  const named = {};
  if (proves?.in_words) named["It proves"] = proves.in_words;
  if (said.proof) named["The proof"] = said.proof;
  named["Cost"] = said.recalled ? "nothing: this is the recorded answer" : inSymbols(entry.cost);
  named["Left"] = inSymbols(said.left);
  named["Entry"] = `${entry.number}, ${moment(entry.time)}`;
  named["Head"] = make("code", {}, shortHead(entry.head));
  find("answer-body").replaceChildren(
    make("p", { class: "asked" }, entry.words ?? ""),
    spoken,
    facts(named),
    make("div", { class: "buttons" }, button, taken));
  reveal();
}

export function showWaiting(request, again) {
  const button = make("button", { type: "button" }, "Ask for the answer again");
  button.addEventListener("click", again);
  find("answer-body").replaceChildren(
    make("div", { class: "badge", "data-state": "waiting" },
      make("span", { class: "mark", "aria-hidden": "true" }),
      make("strong", {}, "A curator has to approve this question."),
      make("span", { class: "detail" }, `Request ${request}. Nothing is paid before it is answered.`)),
    make("div", { class: "buttons" }, button));
  reveal();
}

function reveal() {
  find("answer").hidden = false;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  find("answer").scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
}

export const shortHead = (head) => head.replace(/^([0-9]+:[0-9a-f]{16}).*$/, "$1…");

export function moment(text) {
  const when = new Date(text);
  return `${when.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
