// Several questions, priced together against what is left, and paid for in one entry.

import { find, make } from "../shared/dom.js";
import { latestOnly } from "../shared/latest.js";
import { inSymbols, shareOf } from "./amounts.js";
import * as api from "./api.js";
import { labeled, number, typed, Unfinished } from "./fields.js";
import { KINDS } from "./kinds.js";

const PAUSE = 250; // milliseconds of rest before a price is asked for
const SYMBOLS = { dp: ["epsilon", "ε"], gaussian: ["mu", "μ"], "zero-concentrated": ["rho", "ρ"] };

/** The plan; `ask` is given its body and a key, and `mayAsk` says whether this person may. */
export function startPlan({ ask, mayAsk, left }) {
  const state = { rows: [], dataset: null, made: 0, sent: null, key: null };
  let rest = null;
  let total = null;

  find("plan").addEventListener("submit", (event) => event.preventDefault());
  find("plan").addEventListener("input", () => changed());
  find("plan-clear").addEventListener("click", () => { clear(); find("add").focus(); });
  find("ask-plan").addEventListener("click", async () => {
    const { sent } = state;
    if (!sent || JSON.stringify(shownNow()) !== sent.shown) { changed(); return; }
    state.key ??= api.newKey();
    find("ask-plan").disabled = true;
    try {
      if (await ask(sent.body, state.key, (words) => { find("asking-plan").textContent = words; })) state.key = null;
    } finally {
      find("ask-plan").disabled = state.sent !== sent;
    }
  });

  function clear() {
    clearTimeout(rest);
    Object.assign(state, { rows: [], made: 0, sent: null, key: null });
    find("plan-rows").replaceChildren();
    find("planned").replaceChildren();
    find("asking-plan").textContent = "";
    find("plan").hidden = true;
  }

  function add(question) {
    state.made += 1;
    const name = typed({ value: `question ${state.made}` });
    const importance = typed({ value: "1", inputmode: "decimal", size: 6 });
    const away = make("button", { type: "button", class: "small" }, "Remove");
    away.setAttribute("aria-label", `Remove question ${state.made} from the plan`);
    const shown = make("li", {},
      make("p", { class: "asked" }, summary(question)),
      make("div", { class: "planning" }, labeled("Called", name), labeled("Importance", importance), away));
    const row = { question, name, importance, shown };
    away.addEventListener("click", () => {
      state.rows = state.rows.filter((one) => one !== row);
      shown.remove();
      if (state.rows.length) changed(); else clear();
      (find("plan").hidden ? find("add") : find("ask-plan")).focus();
    });
    state.rows.push(row);
    find("plan-rows").append(shown);
    find("plan").hidden = false;
    changed();
  }

  function shownNow() {
    const questions = {};
    for (const { question, name, importance } of state.rows) {
      const called = name.value.trim();
      if (!called) throw new Unfinished("Give each question of the plan a name.");
      if (called in questions) throw new Unfinished(`Two questions are called ${called}. Call one of them otherwise.`);
      questions[called] = { question, weight: number(importance, "an importance") };
    }
    const [key, symbol] = SYMBOLS[state.dataset.currency];
    return total.value.trim() ? { questions, total: { [key]: number(total, symbol) } } : { questions };
  }

  function changed() {
    clearTimeout(rest);
    Object.assign(state, { sent: null, key: null });
    find("ask-plan").disabled = true;
    find("ask-plan").textContent = "Ask all";
    let wanted;
    try {
      wanted = shownNow();
    } catch (error) {
      if (!(error instanceof Unfinished)) throw error;
      planned(make("p", { class: "empty" }, error.message));
      return;
    }
    find("planned").setAttribute("aria-busy", "true");
    find("asking-plan").textContent = "Dividing the total…";
    rest = setTimeout(() => price(wanted), PAUSE);
  }

  const price = latestOnly(async (wanted) => {
    const { dataset } = state;
    if (!dataset || !state.rows.length) return;
    const now = () => state.dataset === dataset && state.rows.length && JSON.stringify(shownNow()) === JSON.stringify(wanted);
    try {
      const said = await api.plan(dataset.name, wanted);
      if (!now()) return;
      const { kind, ...numbers } = said.total;
      const body = { plan: { ...wanted, total: numbers, currency: said.currency } };
      state.sent = { shown: JSON.stringify(wanted), body };
      const fits = shareOf(said.cost, left() ?? said.left) <= 1;
      planned(...priced(said, fits));
      find("ask-plan").disabled = !(mayAsk() && fits);
      find("ask-plan").textContent = `${dataset.approval ? "Request" : "Ask"} all for ${inSymbols(said.cost)}`;
    } catch (error) {
      if (!(error instanceof api.Refused)) throw error;
      if (now()) planned(make("p", { class: "refused" }, error.message));
    }
  });

  return {
    add,
    show(dataset) {
      state.dataset = dataset;
      clear();
      const [, symbol] = SYMBOLS[dataset.currency];
      total = typed({ inputmode: "decimal", placeholder: "all that is left", size: 10 });
      find("plan-total").replaceChildren(labeled(`All answers together, in ${symbol}`, total));
    },
    leave: clear,
  };
}

function planned(...shown) {
  find("planned").replaceChildren(...shown);
  find("planned").setAttribute("aria-busy", "false");
  find("asking-plan").textContent = "";
}

function summary({ kind, column, where, weight, by }) {
  const more = [where ? `where ${where}` : "", weight ? `weighed by ${weight.column}` : "", by ? `in each group of ${by.column}` : ""];
  return [`${KINDS[kind].title} (${column})`, ...more.filter(Boolean)].join(", ");
}

function priced(said, fits) {
  const rows = said.questions.map(({ name, guarantee: { kind, ...numbers }, bought }) => make("tr", {},
    make("th", { scope: "row" }, name),
    make("td", {}, inSymbols(numbers)),
    make("td", {}, bought.in_words)));
  const head = ["Question", "Gets", "How sure"].map((text) => make("th", { scope: "col" }, text));
  const table = make("table", {}, make("caption", { class: "hidden" }, "What each question of the plan gets"),
    make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  const words = fits
    ? make("p", { class: "note" }, `${inSymbols(said.cost)} of the ${inSymbols(said.left)} that is left, in one payment.`)
    : make("p", { class: "refused" }, `This costs ${inSymbols(said.cost)}, and less is left. Take a smaller total.`);
  return [table, words];
}
