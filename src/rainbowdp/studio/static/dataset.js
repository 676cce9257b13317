// One dataset: its distribution, depth, worst neighbor, and how much of the promise that uses.

import { bar, find, make } from "/shared/dom.js";
import { percent, short } from "/shared/numbers.js";
import { color } from "./palette.js";

export function startDataset(choose) {
  find("dataset-choice").addEventListener("change", (event) => choose(Number(event.target.value)));
}

/** Anew only where names differ: most changes of a graph leave them alone. */
export function listDatasets(world) {
  const list = find("dataset-choice");
  const names = world.datasets.map(({ name }) => name);
  if (list.length === names.length && names.every((name, number) => list.options[number].text === name)) return;
  list.replaceChildren(...names.map((name, number) => make("option", { value: number }, name)));
}

export function showDataset(world, number, row, found) {
  find("dataset-choice").value = String(number ?? 0);
  const box = find("dataset");
  const open = box.querySelector("details")?.open;
  if (number === null) return box.replaceChildren(make("p", { class: "empty" }, "Pick a dataset in the graph or above."));
  if (!row) return box.replaceChildren(make("p", { class: "empty" }, "There is no mechanism to look at with these settings."));
  const dataset = world.datasets[number];
  const { rainbow } = world.regions[dataset.region];
  const prefers = rainbow.map((answer) => world.answers[answer]).join(" > ");
  const bars = make("dl", { class: "bars" });
  rainbow.forEach((answer, place) => {
    bars.append(make("dt", {}, world.answers[answer]), bar(row[place], color(answer)),
      make("dd", { "data-probability": row[place] }, percent(row[place])));
  });
  box.replaceChildren(bars, make("dl", { class: "facts" }, ...facts(world, dataset, prefers, found)), ...attack(world, dataset, found?.attack));
  if (open && box.querySelector("details")) box.querySelector("details").open = true;
}

/** What somebody learns who holds this dataset and its worst neighbor for equally likely. */
function attack(world, dataset, seen) {
  if (!seen) return [];
  const there = world.datasets[seen.neighbor].name;
  const head = make("tr", {}, ...["if it says", "here", "there", "then they think: here"].map((word) => make("th", {}, word)));
  const rows = seen.answers.map(({ answer, here, there: beside, belief }) => make("tr", {},
    make("td", {}, answer), make("td", {}, percent(here)), make("td", {}, percent(beside)), make("td", { "data-belief": belief }, percent(belief))));
  return [make("details", { class: "attack" },
    make("summary", {}, "An attacker’s view"),
    make("p", { class: "note" }, `Somebody who knows all but whether it is ${dataset.name} or ${there}, and holds both for equally likely, `
      + "guesses right ", make("b", { "data-guess": seen.guess }, percent(seen.guess)), " of the time after one answer."),
    make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)))];
}

function facts(world, dataset, prefers, found) {
  const depth = dataset.depth === null ? "no border in reach: the first choice is certain"
    : dataset.depth === 0 ? "0: on the border" : `${dataset.depth} from the border`;
  const pairs = [["prefers", prefers], ["depth", depth]];
  const worst = found?.worst;
  if (worst) {
    const set = `{${worst.answers.join(", ")}}`;
    const [more, less] = worst.here ? ["here", "there"] : ["there", "here"];
    pairs.push(["worst neighbor", world.datasets[worst.neighbor].name]);
    pairs.push(["because of", `${set}: ${percent(worst.likely)} ${more}, ${percent(worst.beside)} ${less}`]);
    if ("most" in worst) {
      const ratio = worst.ratio === null ? "∞" : short(worst.ratio);
      pairs.push(["ratio", `${ratio} of at most e^ε = ${short(worst.most)}`]);
    } else {
      pairs.push(["allowed", `up to ${percent(worst.allowed)} ${more}`]);
    }
  } else if (found) {
    pairs.push(["worst neighbor", "it has none"]);
  }
  return pairs.flatMap(([term, value]) => {
    const shown = make("dd", {}, value);
    if (term === "ratio") shown.id = "ratio";
    return [make("dt", {}, term), shown];
  });
}
