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

/** What waits for a curator, as the service knows it: a curator decides, an asker sees what became of it. */
export function showRequests(requests, person, { answer, decide }) {
  const decides = (one) => one.status === "waiting" && one.person !== person.name && person.roles.includes("curator");
  const own = requests.filter((one) => one.person === person.name && !one.answered);
  find("waiting").replaceChildren(
    ...titled("To decide", requests.filter(decides).map((one) => undecided(one, decide))),
    ...titled("Your requests", own.map((one) => ({ waiting, approved, refused })[one.status](one, answer))));
}

const titled = (title, shown) => (shown.length ? [make("h3", {}, title), ...shown] : []);

const badge = (state, title, detail, ...more) => make("div", { class: "badge", "data-state": state },
  make("span", { class: "mark", "aria-hidden": "true" }),
  make("strong", {}, title), make("span", { class: "detail" }, detail), ...more);

const about = (one, more = "") => `${one.dataset}, for ${one.price}: ${one.words} ${more}`;
const waiting = (one) => badge("waiting", "Waiting for a curator", about(one));
const refused = (one) => badge("refused", `Refused by ${one.decided_by}`, about(one, one.reason ?? ""));

function approved(one, answer) {
  const title = `Approved by ${one.decided_by}`;
  if (one.question.kind === "plan" && !one.plan) { // of an earlier release, which did not keep how it was asked for
    return badge("checked", title, about(one, `Ask the same plan again with the key ${one.key}.`));
  }
  const button = make("button", { type: "button", class: "small" }, "Get the answer");
  button.setAttribute("aria-label", `Get the answer: ${one.words}`);
  button.addEventListener("click", () => answer(one));
  return badge("checked", title, about(one), button);
}

function undecided(one, decide) {
  const reason = make("input", { type: "text", placeholder: "Reason", "aria-label": `Reason about the question of ${one.person}` });
  const buttons = [["approve", "Approve"], ["refuse", "Refuse"]].map(([verdict, text]) => {
    const button = make("button", { type: "button", class: "small" }, text);
    button.addEventListener("click", () => decide(one, verdict, reason.value.trim()));
    return button;
  });
  return badge("waiting", `${one.person} asks, for ${one.price}`, `${one.dataset}: ${one.words} ${one.certainty ?? ""}`,
    make("div", { class: "deciding" }, reason, ...buttons));
}
