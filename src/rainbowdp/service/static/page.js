// The page: who asks, which dataset, one question, its price, its answer.

import { find, make } from "../shared/dom.js";
import { latestOnly } from "../shared/latest.js";
import { startTheme } from "../shared/theme.js";
import { inSymbols } from "./amounts.js";
import { showAnswer, showWaiting } from "./answer.js";
import * as api from "./api.js";
import { showBudget } from "./budget.js";
import { startBuilder } from "./builder.js";
import { Unfinished } from "./fields.js";
import { showHistory, showRequests } from "./history.js";
import { startPlan } from "./plan.js";
import { startPromise } from "./promise.js";

const PAUSE = 250; // milliseconds of rest before a price is asked for

const state = { person: null, dataset: null, asked: null, key: null, price: null, balance: null };
let rest = null;

const builder = startBuilder(changed);
const promise = startPromise();
const plan = startPlan({
  ask: askPlan,
  mayAsk: () => state.person.roles.includes("analyst"),
  left: () => state.balance?.left,
});
startTheme(() => {});

find("enter").addEventListener("submit", enter);
find("leave").addEventListener("click", leave);
find("dataset").addEventListener("input", (event) => {
  event.stopPropagation(); // the form is about the dataset before
  nothingAsked();
  guarded(() => choose(find("dataset").value));
});
find("refresh").addEventListener("click", () => guarded(refresh));
find("ask").addEventListener("click", () => guarded(askWhatIsShown));
find("add").addEventListener("click", () => { if (state.price) plan.add(state.asked.question); });
find("trouble").querySelector("button").addEventListener("click", () => { find("trouble").hidden = true; });

function trouble(words) {
  find("trouble").querySelector("p").textContent = words;
  find("trouble").hidden = false;
}

async function guarded(act) {
  find("trouble").hidden = true;
  try {
    await act();
  } catch (error) {
    if (error instanceof api.Refused && error.status === 401) leave();
    trouble(error instanceof api.Refused ? error.message : "Something went wrong on this page. Reload it and try again.");
    if (!(error instanceof api.Refused)) throw error;
  }
}

async function enter(event) {
  event.preventDefault();
  const given = find("token").value.trim();
  find("token").value = "";
  await guarded(async () => {
    api.remember(given);
    state.person = await api.me();
    const { datasets } = await api.datasets();
    find("who-name").textContent = state.person.name;
    find("who-roles").textContent = state.person.roles.join(", ");
    find("dataset").replaceChildren(...datasets.map(({ name, title }) =>
      make("option", { value: name }, title ? `${title} (${name})` : name)));
    find("who").hidden = find("desk").hidden = false;
    find("entrance").hidden = true;
    await choose(find("dataset").value);
    find("kind").focus();
  });
}

function leave() {
  api.forget();
  plan.leave();
  Object.assign(state, { person: null, dataset: null, asked: null, key: null, price: null, balance: null });
  for (const id of ["who", "desk", "answer"]) find(id).hidden = true;
  for (const id of ["answer-body", "history", "waiting", "budget", "before"]) find(id).replaceChildren();
  find("entrance").hidden = false;
  find("token").focus();
}

async function choose(name) {
  const found = await api.dataset(name);
  const columns = Object.entries(found.columns).map(([column, said]) => ({ name: column, ...said }));
  state.dataset = { ...found, columns };
  const whom = found.unit.kind === "record" ? "record" : "person";
  const how = found.neighbors === "substituted" ? "whatever it says" : "and whether it is there at all";
  const words = `Answers protect every ${whom}, ${whom === "person" ? how.replace("it says", "their rows say").replace("it is", "they are") : how}.`;
  find("about").textContent = found.description ? `${found.description} ${words}` : words;
  find("approval").hidden = !found.approval;
  find("answer").hidden = true;
  builder.show(state.dataset);
  promise.show(found.currency);
  plan.show(state.dataset);
  changed();
  await refresh();
}

async function refresh() {
  const { dataset, person } = state;
  const { name } = dataset;
  const [balance, { entries }] = await Promise.all([api.balance(name), api.history(name)]);
  if (state.person !== person || state.dataset !== dataset) return; // who asked has left meanwhile
  state.balance = balance;
  showBudget(balance);
  showHistory(name, entries);
  const everyone = state.person.roles.some((role) => role !== "analyst");
  find("history-title").textContent = everyone ? "All answers" : "Your answers";
  await showOpenRequests();
}

/** What this person asked of any dataset and has no answer yet: the service knows it, this page need not. */
async function showOpenRequests() {
  const { person } = state;
  if (!person.roles.some((role) => role !== "auditor")) return;
  const { requests } = await api.requests();
  if (state.person !== person) return;
  showRequests(requests, person, {
    answer: ({ dataset, question, guarantee: { kind, ...numbers }, plan: asked, key }) => guarded(async () => {
      const body = asked ? { plan: asked } : { question, guarantee: numbers };
      const { status, said } = await api.ask(dataset, body, key, () => {});
      if (status === 200) showAnswer(dataset, said);
      await refresh();
    }),
    decide: ({ request }, verdict, reason) => guarded(async () => {
      await api.decide(request, verdict, reason);
      await refresh();
    }),
  });
}

// What the question would cost, as it changes.

const shownNow = () => ({ question: builder.question(), guarantee: promise.guarantee() });

function nothingAsked() {
  clearTimeout(rest);
  Object.assign(state, { asked: null, key: null, price: null });
  find("ask").disabled = find("add").disabled = true;
  find("ask").textContent = "Ask";
  find("asking").textContent = "";
}

function changed() {
  nothingAsked();
  try {
    state.asked = shownNow();
  } catch (error) {
    if (!(error instanceof Unfinished)) throw error;
    before(make("p", { class: "empty" }, error.message));
    return;
  }
  find("before").setAttribute("aria-busy", "true");
  find("asking").textContent = "Working out the price and the certainty…";
  rest = setTimeout(() => explain(state.asked), PAUSE);
}

function before(...shown) {
  find("before").replaceChildren(...shown);
  find("before").setAttribute("aria-busy", "false");
  find("asking").textContent = "";
}

const explain = latestOnly(async (asked) => {
  if (!state.dataset) return; // who asked has left meanwhile
  try {
    const said = await api.explain(state.dataset.name, asked);
    if (asked !== state.asked) return;
    state.price = said;
    before(...priced(said));
    const may = state.person.roles.includes("analyst") && said.answers_left !== 0;
    find("ask").disabled = !may;
    find("add").disabled = false;
    find("ask").textContent = state.dataset.approval ? `Request for ${inSymbols(said.cost)}` : `Ask for ${inSymbols(said.cost)}`;
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (error.status === 401) {
      leave();
      trouble(error.message);
    } else if (asked === state.asked) before(make("p", { class: "refused" }, error.message));
  }
});

function priced(said) {
  const left = said.answers_left;
  const many = left === null ? "any number" : left.toLocaleString("en");
  const named = {
    Price: inSymbols(said.cost),
    "Answers left": many,
    Certainty: said.facts.proves,
    Promise: said.facts["in words"],
    Mechanism: said.facts.mechanism,
  };
  const shown = [make("dl", { class: "facts" }, ...Object.entries(named).filter(([, value]) => value).flatMap(([name, value]) =>
    [make("dt", {}, name), make("dd", {}, value)]))];
  if (said.warning) shown.push(make("p", { class: "warning" }, said.warning));
  if (left === 0) shown.push(make("p", { class: "refused" }, "This costs more than is left. Take a smaller number."));
  return shown;
}

/** Ask, if what was priced is what the form shows; nobody pays for a question they do not see. */
async function askWhatIsShown() {
  if (JSON.stringify(shownNow()) === JSON.stringify(state.asked)) await ask();
  else changed();
}

// One question, paid once: the key stays until there is a reply.

async function ask() {
  const { dataset: { name }, asked } = state;
  if (!asked) return;
  state.key ??= api.newKey();
  find("ask").disabled = true;
  find("asking").textContent = "Asking…";
  try {
    const { status, said } = await api.ask(name, asked, state.key, (tried) => {
      find("asking").textContent = `No reply yet; trying again (${tried}). It is paid once.`;
    });
    const { key } = state;
    if (status === 202) {
      showWaiting(said.request, () => guarded(async () => {
        Object.assign(state, { asked, key });
        await ask();
      }));
    } else showAnswer(name, said);
    state.key = status === 202 ? key : null;
    find("asking").textContent = status === 202 ? "Requested." : "Answered.";
    await refresh();
  } catch (error) {
    find("asking").textContent = error.status === 0 ? "Press again when you are connected: it is paid once." : "";
    throw error;
  } finally {
    find("ask").disabled = state.asked !== asked;
  }
}

/** Ask a plan, in one payment; says whether it was answered. */
async function askPlan(body, key, tell) {
  const { name } = state.dataset;
  let answered = false;
  tell("Asking…");
  await guarded(async () => {
    try {
      const { status, said } = await api.ask(name, body, key, (tried) => tell(`No reply yet; trying again (${tried}). It is paid once.`));
      answered = status === 200;
      if (answered) showAnswer(name, said);
      else showWaiting(said.request, () => askPlan(body, key, tell));
      tell(answered ? "Answered." : "Requested.");
      await refresh();
    } catch (error) {
      tell(error.status === 0 ? "Press again when you are connected: it is paid once." : "");
      throw error;
    }
  });
  return answered;
}
