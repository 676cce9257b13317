// The page: one state, one request for what it shows, and who redraws what.

import { get, post, upload } from "./api.js";
import { latestOnly } from "/shared/latest.js";
import { showBadge } from "./badge.js";
import { refusePromise, setBoundary, setPromise, startControls } from "./controls.js";
import { startCurves } from "./curves.js";
import { listDatasets, showDataset, startDataset } from "./dataset.js";
import { find, make, makeSvg } from "/shared/dom.js";
import { showRecipe, startExports } from "./exports.js";
import { startGraph } from "./graph.js";
import { chooseMechanism, showMechanisms, startMechanisms } from "./mechanisms.js";
import { packed, unpacked } from "./link.js";
import { percent, short } from "/shared/numbers.js";
import { color, paintWith } from "./palette.js";
import { startTheme } from "/shared/theme.js";

const PAUSE = 120; // milliseconds of rest before costs and proof are asked for
const REST = 700; // and before what takes longest, so that it is never in the way of a moving slider

const state = { world: null, settings: null, answer: null, costs: [], best: null, matches: null, kept: null };
const graph = startGraph((dataset) => change({ dataset }));
const beside = startGraph((dataset) => change({ dataset }), "graph-b");
window.studioGraph = graph.cy; // for the console, and for tests that click a disc
const curves = startCurves();

/** What the server says of a mechanism that it offers for this world. */
function offer(name = state.settings.mechanism) {
  return state.world.mechanisms.find((known) => known.name === name) ?? {};
}

function change(patch) {
  if (!state.world) return;
  state.settings = { ...state.settings, ...patch };
  if ("mechanism" in patch) chooseMechanism(patch.mechanism);
  if ("boundary" in patch || "mechanism" in patch) setBoundary(state.settings.boundary, offer().boundary);
  remember();
  ask({ world: state.world, settings: state.settings });
}

function remember() {
  history.replaceState(null, "", `#${packed({ world: state.world.name, ...state.settings })}`);
}

const ask = latestOnly(async ({ world, settings }) => {
  stopSlow();
  try {
    const path = settings.mechanism === "best" ? "/api/best-answer" : "/api/answer"; // which takes longer
    const answer = await post(path, { world: world.name, ...settings });
    if (state.world !== world) return;
    state.answer = answer;
    refusePromise(false);
    showAnswer(settings);
    slowly(world, settings);
  } catch (error) {
    if (state.world !== world) return;
    if (error.status === 409) return;
    refusePromise(error.status === 422 && error.field === "guarantee", error.message);
    showBadge("refused", error.message);
  }
});

function showAnswer(settings) {
  const { world, answer } = state;
  const { rows, verdict } = answer;
  graph.paint(rows, verdict);
  const found = answer.dataset ?? null;
  graph.mark(settings.dataset ?? null, found?.worst?.neighbor);
  showDataset(world, settings.dataset ?? null, rows?.[settings.dataset], found);
  curves.growth(world, answer.curves, world.datasets[settings.dataset]?.depth);
  showRecipe(answer, offer(settings.mechanism).releasable);
  const proving = verdict.state === "checked" && offer(settings.mechanism).releasable;
  showBadge(proving ? "proving" : verdict.state, verdict.text);
  showBeside();
  document.documentElement.dataset.answered = JSON.stringify({ world: world.title, ...settings });
}

let timers = [];
let slow = new AbortController();

function stopSlow() {
  timers.forEach(clearTimeout);
  slow.abort();
  slow = new AbortController();
}

/** Costs and proof when the controls pause, and the ε to match when they rest. */
function slowly(world, settings) {
  const content = { world: world.name, ...settings };
  const { signal } = slow;
  const { state: verdict } = state.answer.verdict;
  const quietly = (error) => { if (error.name !== "AbortError" && error.status !== 409) trouble(error.message); };
  const costs = () => post("/api/costs", content, signal).then((found) => {
    Object.assign(state, { costs: found.costs, matches: null });
    if (settings.mechanism !== "best") showWorst(found.worst);
    showCosts();
  }).catch(quietly);
  const best = () => offer("best").name && post("/api/best-cost", content, signal).then((found) => {
    state.best = found.cost;
    if (settings.mechanism === "best") showWorst(found.worst);
    showCosts();
  }).catch(quietly);
  const match = () => post("/api/match", content, signal).then((matches) => {
    state.matches = matches;
    showMechanisms(listed(), state.settings.mechanism, matches);
  }).catch(quietly);
  if (!state.costs.length) costs();
  state.best = null;
  timers = [setTimeout(match, REST), setTimeout(best, settings.mechanism === "best" ? PAUSE : REST), setTimeout(() => {
    if (state.costs.length) costs();
    if (verdict === "checked" && offer(settings.mechanism).releasable) {
      post("/api/proof", content, signal).then((proof) => showBadge(proof.state, proof.text))
        .catch((error) => { if (error.status === 422) showBadge("checked", `no exact proof: ${error.message}`); else quietly(error); });
    }
  }, PAUSE)];
}

/** All that is offered, what rb.best takes first: it takes longer, so it may still be awaited. */
function listed() {
  if (!offer("best").name) return state.costs;
  return [state.best ?? { ...offer("best"), pending: true }, ...state.costs];
}

function showCosts() {
  const { kept, settings } = state;
  const same = kept && JSON.stringify({ ...kept.settings, dataset: 0 }) === JSON.stringify({ ...settings, dataset: 0 });
  if (same) kept.cost = listed().find(({ name }) => name === settings.mechanism); // it may not have been known yet
  if (state.answer) showBeside();
  showMechanisms(listed(), state.settings.mechanism, state.matches);
  curves.against(listed(), state.settings.mechanism);
}

/** The neighbors at which most of the promise is used. */
function showWorst(found) {
  const box = find("worst-pair");
  box.replaceChildren();
  if (!found) return;
  const { datasets } = state.world;
  const used = "most" in found ? `${found.ratio === null ? "∞" : short(found.ratio)} of at most e^ε = ${short(found.most)}` : `${percent(found.likely)} of at most ${percent(found.allowed)}`;
  const button = make("button", { type: "button", class: "quiet" }, "Show them");
  button.addEventListener("click", () => change({ dataset: found.more }));
  box.dataset.use = found.use;
  box.append(make("b", {}, "Worst pair: "), `${datasets[found.more].name} beside ${datasets[found.less].name}, by {${found.answers.join(", ")}}: ${used}. `, button);
}

// Two settings side by side.

const named = (settings, answer) => `${offer(settings.mechanism).title ?? settings.mechanism}, ${answer.guarantee.text}${settings.boundary ? ", boundary by hand" : ""}`;

function keep() {
  if (!state.answer?.rows) return;
  const cost = listed().find(({ name }) => name === state.settings.mechanism);
  state.kept = { settings: { ...state.settings }, answer: state.answer, cost };
  find("pair").hidden = false;
  document.documentElement.dataset.pair = "true";
  beside.show(state.world);
  graph.restyle();
  showBeside();
}

function letGo() {
  state.kept = null;
  find("pair").hidden = true;
  delete document.documentElement.dataset.pair;
  graph.restyle();
}

function showBeside() {
  const { kept, world, answer, settings } = state;
  if (!kept) return;
  beside.paint(kept.answer.rows, kept.answer.verdict);
  beside.mark(settings.dataset ?? null, null);
  const at = settings.dataset ?? 0;
  const line = (head, a, b) => make("tr", {}, make("th", { scope: "row" }, head), make("td", {}, a), make("td", {}, b));
  const first = (rows) => (rows ? percent(rows[at][0]) : "–");
  const cost = listed().find(({ name }) => name === settings.mechanism);
  const error = (found, name) => (found && name in found ? percent(found[name]) : "–");
  find("pair-table").replaceChildren(
    make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col" }, named(kept.settings, kept.answer)), make("th", { scope: "col" }, named(settings, answer)))),
    make("tbody", {},
      line(`${world.datasets[at].name} says its first choice`, first(kept.answer.rows), first(answer.rows)),
      line("missed on average", error(kept.cost, "mean_error"), error(cost, "mean_error")),
      line("missed at worst", error(kept.cost, "worst"), error(cost, "worst"))));
  find("pair-label").textContent = `Kept: ${named(kept.settings, kept.answer)}`;
}

// Editing: the graph as lines of text, as a file would have it.

function startEditing() {
  const text = find("edit-text");
  find("edit").addEventListener("toggle", () => {
    if (!find("edit").open || !state.world) return;
    const word = (name) => name.replace(/[\s:>,#]+/g, "_");
    const { datasets, regions, answers, edges } = state.world;
    text.value = [...datasets.map(({ name, region }) => `${word(name)}: ${regions[region].rainbow.map((answer) => word(answers[answer])).join(" > ")}`),
      ...edges.map(([a, b]) => `${word(datasets[a].name)} ${word(datasets[b].name)}`), ""].join("\n");
    find("edit-message").textContent = "";
  });
  find("apply").addEventListener("click", async () => {
    try {
      const { guarantee, mechanism } = state.settings;
      const world = await upload(new File([text.value], "edited.txt"), state.mostBytes);
      world.start = { ...world.start, guarantee, mechanism: (world.mechanisms.find(({ name }) => name === mechanism) ?? world.mechanisms.find(({ name }) => name !== "best")).name };
      addWorld(world.name, world.title);
      find("edit-message").textContent = "";
      await open(async () => world);
    } catch (error) {
      find("edit-message").textContent = error.message;
    }
  });
}

let opening = 0; // the world that was asked for last, whichever comes last

async function open(fetchWorld, asked = {}) {
  opening += 1;
  const own = opening;
  stopSlow();
  find("graph").setAttribute("aria-busy", "true");
  try {
    const world = await fetchWorld();
    if (own !== opening) return;
    letGo();
    Object.assign(state, { world, answer: null, costs: [], best: null, matches: null });
    showMechanisms([], null, null); // those of another world are no choice here
    // What rb.best takes needs seconds on a graph: there it is first in the list, and chosen by hand.
    const first = world.mechanisms.find(({ name }) => name !== "best" || world.kind === "question");
    state.settings = { mechanism: first.name, boundary: null, dataset: null, ...world.start, ...asked };
    trouble("");
    showWorst(null);
    find("edit").hidden = world.kind !== "graph";
    remember();
    paintWith(world.colors);
    graph.show(world);
    listDatasets(world);
    showLegend(world);
    setPromise(state.settings.guarantee);
    setBoundary(state.settings.boundary, offer().boundary);
    find("graph-note").textContent = world.note;
    await ask({ world, settings: state.settings });
  } catch (error) {
    if (own === opening) trouble(error.message);
  } finally {
    if (own === opening) {
      find("graph").setAttribute("aria-busy", "false");
      if (state.world) find("world").value = state.world.name;
    }
  }
}

function showLegend({ answers }) {
  find("legend").replaceChildren(...answers.map((answer, number) => {
    const patch = makeSvg("rect", { width: "100%", height: "100%", rx: 3, fill: color(number) });
    return make("li", {}, makeSvg("svg", { class: "swatch", "aria-hidden": "true" }, patch), answer);
  }));
}

function trouble(text) {
  find("trouble").hidden = !text;
  find("trouble").querySelector("p").textContent = text;
}

async function openFile(file) {
  await open(async () => {
    const world = await upload(file, state.mostBytes);
    addWorld(world.name, world.title);
    return world;
  });
}

function addWorld(name, title) {
  find("world").append(make("option", { value: name }, title));
}

async function start() {
  startTheme(() => { graph.restyle(); beside.restyle(); if (state.answer) { showAnswer(state.settings); showCosts(); } });
  startControls((guarantee) => change({ guarantee }), (row) => {
    if (row === "hand" && !state.answer) setBoundary(null, true); // nothing to start from yet
    else change({ boundary: row === "hand" ? state.answer.equal_shares : row });
  });
  startMechanisms((mechanism) => change({ mechanism }));
  startDataset((dataset) => change({ dataset }));
  startExports(() => state, trouble);
  find("trouble").querySelector("button").addEventListener("click", () => trouble(""));
  find("world").addEventListener("change", (event) => open(() => get(`/api/world/${event.target.value}`)));
  find("keep").addEventListener("click", keep);
  find("let-go").addEventListener("click", letGo);
  for (const [id, factor] of [["nearer", 1.4], ["farther", 1 / 1.4], ["whole", 0]]) {
    find(id).addEventListener("click", () => { graph.zoom(factor); beside.zoom(factor); });
  }
  startEditing();
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", async (event) => {
    if (event.target.files.length) await openFile(event.target.files[0]);
    event.target.value = "";
  });
  const { world: wanted, ...asked } = unpacked(location.hash.slice(1));
  await open(async () => {
    const { examples, opened, most_bytes: mostBytes } = await get("/api/examples");
    state.mostBytes = mostBytes;
    for (const { name, title } of examples) addWorld(name, title);
    const linked = examples.some(({ name }) => name === wanted) ? wanted : null;
    if (!linked) for (const name of Object.keys(asked)) delete asked[name];
    const world = await get(`/api/world/${linked ?? opened ?? examples[0].name}`);
    if (opened && !linked) addWorld(opened, world.title);
    return world;
  }, asked);
}

start();
