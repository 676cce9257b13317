// The page: one state, one request for what it shows, and who redraws what.

import { get, latestOnly, post, upload } from "./api.js";
import { showBadge } from "./badge.js";
import { refusePromise, setBoundary, setPromise, startControls } from "./controls.js";
import { startCurves } from "./curves.js";
import { listDatasets, showDataset, startDataset } from "./dataset.js";
import { find, make, makeSvg } from "./dom.js";
import { showRecipe, startExports } from "./exports.js";
import { startGraph } from "./graph.js";
import { chooseMechanism, showMechanisms, startMechanisms } from "./mechanisms.js";
import { color } from "./palette.js";
import { startTheme } from "./theme.js";

const PAUSE = 120; // milliseconds of rest before costs and proof are asked for
const REST = 700; // and before what takes longest, so that it is never in the way of a moving slider

const state = { world: null, settings: null, answer: null, costs: [], matches: null };
const graph = startGraph((dataset) => change({ dataset }));
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
  ask({ world: state.world, settings: state.settings });
}

const ask = latestOnly(async ({ world, settings }) => {
  stopSlow();
  try {
    const answer = await post("/api/answer", { world: world.name, ...settings });
    if (state.world !== world) return;
    state.answer = answer;
    refusePromise(false);
    showAnswer(settings);
    slowly(world, settings);
  } catch (error) {
    if (state.world !== world) return;
    refusePromise(error.status === 422);
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
    showCosts();
  }).catch(quietly);
  const match = () => post("/api/match", content, signal).then((matches) => {
    state.matches = matches;
    showMechanisms(state.costs, state.settings.mechanism, matches);
  }).catch(quietly);
  if (!state.costs.length) costs();
  timers = [setTimeout(match, REST), setTimeout(() => {
    if (state.costs.length) costs();
    if (verdict === "checked" && offer(settings.mechanism).releasable) {
      post("/api/proof", content, signal).then((proof) => showBadge(proof.state, proof.text))
        .catch((error) => { if (error.status === 422) showBadge("checked", `no exact proof: ${error.message}`); else quietly(error); });
    }
  }, PAUSE)];
}

function showCosts() {
  showMechanisms(state.costs, state.settings.mechanism, state.matches);
  curves.against(state.costs, state.settings.mechanism);
}

let opening = 0; // the world that was asked for last, whichever comes last

async function open(fetchWorld) {
  opening += 1;
  const own = opening;
  stopSlow();
  find("graph").setAttribute("aria-busy", "true");
  try {
    const world = await fetchWorld();
    if (own !== opening) return;
    Object.assign(state, { world, answer: null, costs: [], matches: null });
    state.settings = { mechanism: world.mechanisms[0].name, boundary: null, dataset: null, ...world.start };
    trouble("");
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
  startTheme(() => { graph.restyle(); if (state.answer) { showAnswer(state.settings); showCosts(); } });
  startControls((guarantee) => change({ guarantee }), (row) => {
    if (row === "hand" && !state.answer) setBoundary(null, true); // nothing to start from yet
    else change({ boundary: row === "hand" ? state.answer.equal_shares : row });
  });
  startMechanisms((mechanism) => change({ mechanism }));
  startDataset((dataset) => change({ dataset }));
  startExports(() => state, trouble);
  find("trouble").querySelector("button").addEventListener("click", () => trouble(""));
  find("world").addEventListener("change", (event) => open(() => get(`/api/world/${event.target.value}`)));
  find("open").addEventListener("click", () => find("file").click());
  find("file").addEventListener("change", async (event) => {
    if (event.target.files.length) await openFile(event.target.files[0]);
    event.target.value = "";
  });
  await open(async () => {
    const { examples, opened, most_bytes: mostBytes } = await get("/api/examples");
    state.mostBytes = mostBytes;
    for (const { name, title } of examples) addWorld(name, title);
    const world = await get(`/api/world/${opened ?? examples[0].name}`);
    if (opened) addWorld(opened, world.title);
    return world;
  });
}

start();
