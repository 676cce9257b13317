// What is left: of the dataset's budget, and of what the asker may spend.

import { bar, find, make } from "../shared/dom.js";
import { inSymbols, shareOf } from "./amounts.js";

export function showBudget(balance) {
  const parts = [part("The dataset", balance), ...balance.yours.map((limit) => part(limit.shared ? "All together" : "You", limit))];
  if (balance.closed) {
    parts.unshift(make("p", { class: "note" }, `The ledger was closed on ${balance.closed.slice(0, 10)}: nothing more can be asked.`));
  }
  const asked = `${balance.entries.toLocaleString("en")} question${balance.entries === 1 ? "" : "s"} so far, by all.`;
  find("budget").replaceChildren(...parts, make("p", { class: "note" }, asked));
}

function part(who, { total, spent, left, per }) {
  return make("div", { class: "part" },
    make("div", { class: "title" },
      make("span", {}, per ? `${who}, per ${per}` : who),
      make("strong", {}, `${inSymbols(left)} left`)),
    bar(shareOf(spent, total)),
    make("p", { class: "note" }, `${inSymbols(spent)} spent of ${inSymbols(total)}`));
}
