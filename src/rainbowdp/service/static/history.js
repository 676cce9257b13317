// What was asked before, and what waits for a curator.

import { find, make } from "../shared/dom.js";
import { inSymbols } from "./amounts.js";
import { moment, recorded } from "./answer.js";
import { exportCertificate } from "./certificate.js";

const MOST = 80; // characters of an answer with many groups

export function showHistory(dataset, entries) {
  if (!entries.length) {
    find("history").replaceChildren(make("p", { class: "empty" }, "Nothing yet: what you ask appears here, and looking at it is free."));
    return;
  }
  const rows = [...entries].reverse().map((entry) => {
    const button = make("button", { type: "button", class: "small" }, "Export");
    button.setAttribute("aria-label", `Export entry ${entry.number} with its certificate`);
    button.addEventListener("click", () => exportCertificate(dataset, entry));
    return make("tr", {},
      make("td", { "data-name": "Entry" }, String(entry.number)),
      make("td", { "data-name": "Question" }, make("span", {}, entry.words ?? entry.question.kind),
        " ", make("span", { class: "note when" }, moment(entry.time))),
      make("td", { "data-name": "Answer" }, make("strong", {}, cut(recorded(entry)))),
      make("td", { "data-name": "Cost" }, inSymbols(entry.cost)),
      make("td", {}, button));
  });
  const head = ["Entry", "Question", "Answer", "Cost", ""].map((name) => name
    ? make("th", { scope: "col" }, name)
    : make("th", { scope: "col" }, make("span", { class: "hidden" }, "Certificate")));
  find("history").replaceChildren(make("table", { class: "entries" },
    make("caption", { class: "hidden" }, "Answers, the latest first"),
    make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows)));
}

const cut = (text) => (text.length > MOST ? `${text.slice(0, MOST)}…` : text);

/** What waits for a curator: an asker sees what became of it, a curator decides. */
export function showRequests(requests, entries, person, { answer, decide }) {
  const answered = new Set(entries.map((entry) => entry.name));
  const open = requests.filter((one) => !answered.has(`${one.person}/${one.key}`));
  const shown = open.map((one) => {
    if (one.status === "waiting" && person.roles.includes("curator")) return undecided(one, decide);
    if (one.person !== person.name) return null;
    return { waiting, approved, refused }[one.status](one, answer);
  });
  find("waiting").replaceChildren(...shown.filter(Boolean));
}

const badge = (state, title, detail, ...more) => make("div", { class: "badge", "data-state": state },
  make("span", { class: "mark", "aria-hidden": "true" }),
  make("strong", {}, title), make("span", { class: "detail" }, detail), ...more);

const waiting = (one) => badge("waiting", "Waiting for a curator", one.words);
const refused = (one) => badge("refused", `Refused by ${one.decided_by}`, `${one.words} ${one.reason ?? ""}`);

function approved(one, answer) {
  if (one.question.kind === "plan") { // its importances are known where it was made
    return badge("checked", `Approved by ${one.decided_by}`, `${one.words} Ask for the answer where you made the plan.`);
  }
  const button = make("button", { type: "button", class: "small" }, "Get the answer");
  button.addEventListener("click", () => answer(one));
  return badge("checked", `Approved by ${one.decided_by}`, one.words, button);
}

function undecided(one, decide) {
  const reason = make("input", { type: "text", placeholder: "Reason", "aria-label": `Reason about the question of ${one.person}` });
  const buttons = [["approve", "Approve"], ["refuse", "Refuse"]].map(([verdict, text]) => {
    const button = make("button", { type: "button", class: "small" }, text);
    button.addEventListener("click", () => decide(one, verdict, reason.value.trim()));
    return button;
  });
  return badge("waiting", `${one.person} asks, for ${one.price}`, `${one.words} ${one.certainty ?? ""}`,
    make("div", { class: "deciding" }, reason, ...buttons));
}
