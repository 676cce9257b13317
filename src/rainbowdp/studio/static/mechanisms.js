// The mechanisms side by side: choose one, and see what each costs.

import { bar, find, make } from "/shared/dom.js";
import { percent, short } from "/shared/numbers.js";

export function startMechanisms(choose) {
  find("mechanisms").addEventListener("change", (event) => choose(event.target.value));
}

/** Drawn anew only when the offer changes, so that the keyboard keeps its place. */
export function showMechanisms(costs, chosen, matches) {
  const box = find("mechanisms");
  const offer = costs.map(({ name }) => name).join();
  if (box.dataset.offer !== offer) {
    box.dataset.offer = offer;
    box.replaceChildren(...costs.map(entry));
  }
  for (const cost of costs) {
    const label = box.querySelector(`label[data-name="${cost.name}"]`);
    const missing = "missing" in cost || Boolean(cost.pending);
    label.dataset.missing = missing;
    label.querySelector("input").checked = cost.name === chosen;
    const shown = label.querySelector(".cost");
    shown.textContent = cost.pending ? "…" : missing ? "–" : percent(cost.mean_error);
    if (missing) delete shown.dataset.error;
    else shown.dataset.error = cost.mean_error;
    label.querySelector(".bar").replaceWith(bar(missing ? 0 : cost.mean_error));
    label.querySelector(".worst").textContent = missing ? "" : `at worst ${percent(cost.worst)}`;
    label.querySelector(".about").textContent = cost.pending ? cost.about : missing ? `Not available: ${cost.missing}.` : about(cost, matches, costs.find(({ reference }) => reference)?.name);
  }
}

export function chooseMechanism(name) {
  for (const input of find("mechanisms").querySelectorAll("input")) input.checked = input.value === name;
}

function entry({ name, title }) {
  return make("label", { "data-name": name },
    make("input", { type: "radio", name: "mechanism", value: name }),
    make("span", { class: "name" }, title), make("span", { class: "cost" }), bar(0), make("span", { class: "worst" }),
    make("span", { class: "about" }));
}

function about(cost, matches, reference) {
  const epsilon = matches?.[cost.name];
  const asGood = cost.name === reference || cost.name === "file" || epsilon === undefined ? ""
    : epsilon === null ? `; never as good as ${reference}` : `; as good as ${reference} at ε = ${short(epsilon)}`;
  const which = cost.name === "best" && cost.kind !== "best" ? `; here ${cost.kind}${cost.how ? `, ${cost.how}` : ""}` : "";
  return cost.about + which + asGood;
}
