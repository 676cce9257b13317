// The page: one state, one request for what it shows, and who redraws what.

import { get, post, upload } from "./api.js";
import { latestOnly } from "/shared/latest.js";
import { showBadge } from "./badge.js";
import { startBeside } from "./beside.js";
import { refusePromise, setBoundary, setPromise, startControls } from "./controls.js";
import { startCurves } from "./curves.js";
import { listDatasets, showDataset, startDataset } from "./dataset.js";
import { find, make, makeSvg } from "/shared/dom.js";
import { startEditing } from "./editing.js";
import { showRecipe, startExports } from "./exports.js";
import { startGraph } from "./graph.js";
import { chooseMechanism, showMechanisms, startMechanisms } from "./mechanisms.js";
import { packed, unpacked } from "./link.js";
import { percent, short } from "/shared/numbers.js";
import { color, paintWith } from "./palette.js";
import { startTheme } from "/shared/theme.js";

const PAUSE = 120; // milliseconds of rest before costs and proof are asked for
const LONGEST_LINK = 60_000; // characters of a graph that fit into an address
const REST = 700; // and before what takes longest, so that it is never in the way of a moving slider

const state = { world: null, settings: null, answer: null, shown: null, costs: [], best: null, matches: null };
const graph = startGraph((dataset) => change({ dataset }));
const second = startGraph((dataset) => change({ dataset }), "graph-b");
const beside = startBeside(second, { state, offer, listed }, () => graph.restyle());
const editing = startEditing(graph, { current: () => state, redraw, choose: (dataset) => change({ dataset }) });
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
  if ("dataset" in patch) editing.turned();
  remember();
  ask({ world: state.world, settings: state.settings });
}

/** The address restores the page: an example by its name, and a graph of one's own by its text. */
function remember() {
  const { name, title, text } = state.world;
  const own = name.startsWith("loaded-") && text && text.length <= LONGEST_LINK ? { title, text } : { world: name };
  history.replaceState(null, "", `#${packed({ ...own, ...state.settings })}`);
}

const ask = latestOnly(async ({ world, settings }) => {
  stopSlow();
  try {
    const path = settings.mechanism === "best" ? "/api/best-answer" : "/api/answer"; // which takes longer
    const answer = await post(path, { world: world.name, ...settings });
    if (state.world !== world) return;
    state.answer = answer;
    refusePromise(false);
    state.shown = settings;
    showAnswer();
    showVerdict();
    slowly(world, settings);
  } catch (error) {
    if (state.world !== world) return;
    refusePromise(error.status === 422 && error.field === "guarantee", error.message);
    showBadge("refused", error.message);
  }
});

function showAnswer() {
  const { world, answer, shown: settings } = state;
  const { rows, verdict } = answer;
  graph.paint(rows, verdict);
  const found = answer.dataset ?? null;
  graph.mark(settings.dataset ?? null, found?.worst?.neighbor);
  showDataset(world, settings.dataset ?? null, rows?.[settings.dataset], found);
  curves.growth(world, answer.curves, world.datasets[settings.dataset]?.depth);
  showRecipe(answer, offer(settings.mechanism).releasable, world.text);
  beside.show();
  document.documentElement.dataset.answered = JSON.stringify({ world: world.title, ...settings });
}

/** Before the proof: what comes after it must not be taken back by a change of colors. */
function showVerdict() {
  const { answer: { verdict }, shown: settings } = state;
  const proving = verdict.state === "checked" && offer(settings.mechanism).releasable;
  showBadge(proving ? "proving" : verdict.state, verdict.text);
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
  const quietly = (error) => { if (error.name !== "AbortError") trouble(error.message); };
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
  beside.learn();
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

let opening = 0; // the world that was asked for last, whichever comes last

async function open(fetchWorld, asked = {}) {
  opening += 1;
  const own = opening;
  stopSlow();
  find("graph").setAttribute("aria-busy", "true");
  try {
    const world = await fetchWorld();
    if (own !== opening) return;
    beside.letGo();
    Object.assign(state, { world, answer: null, costs: [], best: null, matches: null });
    showMechanisms([], null, null); // those of another world are no choice here
    // What rb.best takes needs seconds on a graph: there it is first in the list, and chosen by hand.
    const first = world.mechanisms.find(({ name }) => name !== "best" || world.kind === "question");
    state.settings = { mechanism: first.name, boundary: null, dataset: null, ...world.start, ...asked };
    trouble("");
    setPromise(state.settings.guarantee);
    showWorld();
    editing.begin();
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

/** The same page for a changed graph: all settings stay, and numbers stay until the new ones are here. */
async function redraw(world, patch) {
  opening += 1;
  stopSlow();
  beside.letGo();
  const { name: mechanism } = world.mechanisms.find(({ name }) => name === state.settings.mechanism) ?? world.mechanisms.find(({ name }) => name !== "best");
  Object.assign(state, { world, answer: null, settings: { ...state.settings, ...patch, mechanism } });
  find("world").querySelector("[data-edited]")?.remove();
  addWorld(world.name, world.title);
  find("world").lastElementChild.dataset.edited = "true";
  find("world").value = world.name;
  trouble("");
  showWorld(true);
  editing.turned();
  await ask({ world, settings: state.settings });
}

function showWorld(edited = false) {
  const { world, settings } = state;
  showWorst(null);
  remember();
  paintWith(world.colors);
  graph.show(world, edited);
  listDatasets(world);
  showLegend(world);
  setBoundary(settings.boundary, offer().boundary);
  find("graph-note").textContent = world.note;
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
  startTheme(() => { graph.restyle(); second.restyle(); if (state.answer) { showAnswer(); showCosts(); } });
  startControls((guarantee) => change({ guarantee }), (row) => {
    if (row === "hand" && !state.answer) setBoundary(null, true); // nothing to start from yet
    else change({ boundary: row === "hand" ? state.answer.equal_shares : row });
  });
  startMechanisms((mechanism) => change({ mechanism }));
  startDataset((dataset) => change({ dataset }));
  startExports(() => state, trouble);
  find("trouble").querySelector("button").addEventListener("click", () => trouble(""));
  find("world").addEventListener("change", (event) => open(() => get(`/api/world/${event.target.value}`)));
  for (const [id, factor] of [["nearer", 1.4], ["farther", 1 / 1.4], ["whole", 0]]) {
    find(id).addEventListener("click", () => { graph.zoom(factor); second.zoom(factor); });
  }
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", async (event) => {
    if (event.target.files.length) await openFile(event.target.files[0]);
    event.target.value = "";
  });
  addEventListener("hashchange", () => { // a link pasted over this one; "#graph" is a place on the page
    if (Object.keys(unpacked(location.hash.slice(1))).length) location.reload();
  });
  const { world: wanted, text, title, ...asked } = unpacked(location.hash.slice(1));
  let lost = "";
  await open(async () => {
    const { examples, opened, most_bytes: mostBytes } = await get("/api/examples");
    state.mostBytes = mostBytes;
    for (const { name, title: called } of examples) addWorld(name, called);
    if (typeof text === "string") {
      const world = await upload(new File([text], String(title ?? "graph.txt")), mostBytes).catch((error) => { lost = error.message; });
      if (world) addWorld(world.name, world.title);
      if (world) return world;
    }
    const linked = examples.some(({ name }) => name === wanted) ? wanted : null;
    if (!linked) for (const name of Object.keys(asked)) delete asked[name];
    if (wanted && !linked && !opened) lost = "The file of this link is no longer open in the studio; open it again.";
    const world = await get(`/api/world/${linked ?? opened ?? examples[0].name}`);
    if (opened && !linked) addWorld(opened, world.title);
    return world;
  }, asked);
  if (lost) trouble(lost);
}

start();
