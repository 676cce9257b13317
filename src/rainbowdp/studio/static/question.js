// A question of one's own: one state, in the address too, and the library's answer to it.

import { post, postForText } from "./api.js";
import { packed, unpacked } from "./link.js";
import { bar, find, make, makeSvg } from "/shared/dom.js";
import { latestOnly } from "/shared/latest.js";
import { percent, uncertain } from "/shared/numbers.js";
import { save } from "/shared/saving.js";
import { startTheme } from "/shared/theme.js";

const START = {
  kind: "winner", options: ["noodles", "pizza", "salad"], first: 2, at_least: "1/2", equals: "yes",
  bins: ["0", "20", "50", "100"], q: "1/2", relation: "substituted", ties: "first listed",
  counts: [9, 5, 4], by: "epsilon", epsilon: "1", delta: "0", sure: "0.99", margin: 5, plan: [], total: "2",
};
const OWN_COUNTS = { share: [12, 8], threshold: [12], winner: [9, 5, 4], ranking: [9, 5, 4], quantile: [4, 11, 5] };
const USUAL = { share: "1/2", threshold: "10" };
const FIRST = "Add a question first."; // beside a button that cannot be pressed yet
const TEXTS = ["at_least", "q", "epsilon", "delta", "sure", "total"];

let state = { ...START };
let told = null;

// The address: all of the state, so that a link restores the page.

function restored() {
  const found = unpacked(location.hash.slice(1));
  const kept = Object.entries(START).filter(([name, usual]) => name in found
    && typeof found[name] === typeof usual && Array.isArray(found[name]) === Array.isArray(usual));
  return { ...START, ...Object.fromEntries(kept.map(([name]) => [name, found[name]])) };
}
const remember = () => history.replaceState(null, "", `#${packed(state)}`);

// The form.

function groups() {
  if (state.kind === "winner" || state.kind === "ranking") return state.options;
  if (state.kind === "share") return ["matching", "others"];
  if (state.kind === "threshold") return ["matching"];
  const { bins } = state;
  const names = bins.slice(1).map((end, at) => `[${bins[at]}, ${end})`); // as the answers are called
  return names.map((name, at) => (at === 0 ? `< ${bins[1]}` : at === names.length - 1 ? `≥ ${bins[at]}` : name));
}

function asked() {
  const { plan, total, ...question } = state;
  return question;
}

function fillForm() {
  for (const field of document.querySelectorAll("[data-for]")) field.hidden = !field.dataset.for.split(" ").includes(state.kind);
  find("kind").value = state.kind;
  find("options").value = state.options.join("\n");
  find("bins").value = state.bins.join(", ");
  find("first").value = state.first;
  find("margin").value = state.margin;
  find("relation").value = state.relation;
  find("ties").value = state.ties;
  for (const name of TEXTS) find(name).value = state[name];
  find("at_least-label").textContent = state.kind === "share" ? "At least this share matches" : "At least so many match";
  document.querySelector(`[name="by"][value="${state.by}"]`).checked = true;
  showPromise();
  fillCounts();
  showPlanned();
}

function showPromise() {
  find("by-epsilon").hidden = state.by !== "epsilon";
  find("by-target").hidden = state.by === "epsilon";
}

function fillCounts() {
  const names = groups();
  const counts = names.map((_, at) => state.counts[at] ?? 3);
  state.counts = counts;
  const box = find("counts");
  const most = Math.max(20, ...counts.map((n) => Math.ceil(1.5 * n)));
  if (box.dataset.names !== JSON.stringify(names)) {
    box.dataset.names = JSON.stringify(names);
    box.replaceChildren(...names.flatMap((name, at) => [
      make("label", { for: `count-${at}` }, name),
      make("input", { type: "range", id: `slide-${at}`, "data-at": at, "aria-label": `${name}, by slider`, min: 0, step: 1 }),
      make("input", { type: "text", id: `count-${at}`, "data-at": at, inputmode: "numeric" }),
    ]));
  }
  counts.forEach((count, at) => {
    const slide = find(`slide-${at}`);
    if (document.activeElement !== slide) slide.max = most; // the range keeps still while it is held
    slide.value = count;
    find(`count-${at}`).value = count;
  });
  find("people").textContent = counts.reduce((a, b) => a + b, 0).toLocaleString("en");
}

const whole = (text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text.trim()) : text.trim());

function change(patch) {
  state = { ...state, ...patch };
  remember();
  forgetDraws();
  ask(asked());
}

/** Answers to another question are gone, and nothing below them jumps. */
function forgetDraws() {
  const box = find("drawn");
  if (!box.childElementCount) return;
  box.style.minHeight = `${box.offsetHeight}px`;
  box.replaceChildren();
  find("drawn-note").textContent = "";
}

// What the library says.

const ask = latestOnly(async (question) => {
  find("result").setAttribute("aria-busy", "true");
  try {
    told = await post("/api/question", question);
    complain(null);
    show();
  } catch (error) {
    complain(error);
    badge("refused", "");
  } finally {
    find("result").setAttribute("aria-busy", "false");
    document.documentElement.dataset.answered = JSON.stringify(question);
  }
});

function badge(kind, detail) {
  const words = { proved: "Private: proved exactly", refused: "Not yet: see the field in red", busy: "Computing…" };
  find("badge").dataset.state = kind;
  find("badge").querySelector("strong").textContent = words[kind];
  find("badge").querySelector(".detail").textContent = detail;
}

/** The message under the field that it is about, or above the page if it is about none. */
function complain(error) {
  for (const field of document.querySelectorAll("[data-field]")) {
    const own = error?.field === field.dataset.field;
    field.querySelector(".wrong").textContent = own ? error.message : "";
    for (const input of field.querySelectorAll("input, select, textarea")) input.setAttribute("aria-invalid", String(own));
  }
  const known = error && document.querySelector(`[data-field="${error.field}"]`);
  trouble(error && !known ? error.message : "");
}

function trouble(text) {
  find("trouble").hidden = !text;
  find("trouble").querySelector("p").textContent = text;
}

function show() {
  badge("proved", told.proof);
  const first = told.chances[0];
  find("headline").replaceChildren(`With ${told.guarantee}, these counts give `, make("b", {}, first.answer), " with a chance of ",
    make("b", { id: "chance", "data-chance": first.chance }, percent(first.chance)), ".");
  find("chances").replaceChildren(...told.chances.slice(0, 12).flatMap(({ answer, chance, color }) => [
    make("dt", {}, answer), bar(chance, color), make("dd", { "data-probability": chance }, percent(chance))]));
  const facts = {
    mechanism: [told.mechanism, told.claim].filter(Boolean).join(", "),
    "true answer": `${told.truth}; ${told.margin ?? "no"} ${told.margin === 1 ? "record" : "records"} would have to change for another`,
    "99 % sure": told.sure_from === null ? "at no margin" : `from a margin of ${told.sure_from.toLocaleString("en")}`,
    "in words": told.in_words,
    "an answer proves": told.proves,
  };
  find("facts").replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
  find("by-margin").replaceChildren(...told.by_margin.flatMap(({ margin, least }) => [
    make("dt", {}, `margin ${margin}`), bar(least), make("dd", { "data-least": least }, uncertain(least))]));
  find("recipe").textContent = told.python;
  find("command").textContent = told.command;
}

async function draw(draws) {
  try {
    const drawn = await post("/api/draw", { ...asked(), draws });
    find("drawn").replaceChildren(...drawn.answers.map(({ answer, color }) => make("li", {},
      makeSvg("svg", { class: "swatch", "aria-hidden": "true" }, makeSvg("rect", { width: "100%", height: "100%", rx: 3, fill: color })), answer)));
    const tally = Object.entries(drawn.tally).map(([answer, many]) => `${many} × ${answer}`).join(", ");
    find("drawn-note").textContent = draws === 1
      ? `Had this been asked of real data, it would prove this, ${drawn.proves}.`
      : `${tally}. Each of them would have to be paid for: here nothing is.`;
  } catch (error) {
    complain(error);
  }
}

// The plan.

function showPlanned() {
  find("planned").replaceChildren(...state.plan.map(({ name, kind, weight }, at) => {
    const button = make("button", { type: "button", "aria-label": `Remove ${name}` }, "Remove");
    button.addEventListener("click", () => { change({ plan: state.plan.filter((_, other) => other !== at) }); showPlanned(); });
    return make("li", {}, make("b", {}, name), `${kind}, weight ${weight}`, button);
  }));
  find("divide").disabled = !state.plan.length;
  const note = find("plan-note");
  if (!state.plan.length) note.textContent = FIRST;
  else if (note.textContent === FIRST) note.textContent = "";
}

function addToPlan() {
  const name = find("name").value.trim() || `${state.kind} ${state.plan.length + 1}`;
  state.plan = [...state.plan, { ...asked(), name, weight: find("weight").value.trim() }];
  find("name").value = "";
  remember();
  showPlanned();
}

async function divide() {
  find("plan-note").textContent = "Planning…";
  try {
    const made = await post("/api/plan", { questions: state.plan, epsilon: state.total });
    complain(null);
    const line = (cells, kind = "td") => make("tr", {}, ...cells.map((cell) => make(kind, {}, cell)));
    find("plan").replaceChildren(
      make("thead", {}, line(["question", "gets", "mechanism", "buys"], "th")),
      make("tbody", {}, ...made.questions.map((each) => line([each.name, each.guarantee, each.mechanism, each.buys]))));
    find("plan-note").textContent = `${made.total} in total, paid by ${made.way} (${made.way_in_words}). Nothing was spent.`;
  } catch (error) {
    find("plan").replaceChildren();
    find("plan-note").textContent = "";
    complain(error);
  }
}

// What people take with them.

async function copied(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    find("taken").textContent = "Copied";
  } catch {
    if (shown) getSelection().selectAllChildren(shown);
    find("taken").textContent = shown ? "Selected: press Ctrl+C" : text;
  }
}

/** The chances by answer and by margin, with a caption that says what they are. */
function figure() {
  const ink = "#1d2230";
  const svg = makeSvg("svg", { xmlns: "http://www.w3.org/2000/svg", "font-family": "Helvetica, Arial, sans-serif", "font-size": 14, fill: ink });
  const rows = [...told.chances.slice(0, 12).map(({ answer, chance, color }) => [answer, chance, color]), null,
    ...told.by_margin.map(({ margin, least }) => [`margin ${margin}`, Math.min(least, 1 - 2 ** -53), "#5a45c9"])];
  const wide = 640;
  let y = 52;
  svg.append(makeSvg("text", { x: 20, y: 28, "font-size": 17, "font-weight": 600 }, `${state.kind}: ${told.guarantee}, ${told.mechanism}`));
  for (const row of rows) {
    if (!row) {
      svg.append(makeSvg("text", { x: 20, y: y + 20, fill: "#5b6375" }, "least chance of the true answer, whatever the table"));
      y += 34;
      continue;
    }
    const [name, chance, color] = row;
    svg.append(makeSvg("text", { x: 20, y: y + 13 }, name.slice(0, 18)),
      makeSvg("rect", { x: 160, y, width: 380, height: 16, fill: "#eef0f4" }), makeSvg("rect", { x: 160, y, width: 380 * chance, height: 16, fill: color }),
      makeSvg("text", { x: wide - 20, y: y + 13, "text-anchor": "end" }, percent(chance)));
    y += 24;
  }
  const caption = `Chances of the answers to made-up counts (${groups().map((name, at) => `${name} ${state.counts[at]}`).join(", ")}). `
    + `Under ${told.guarantee}, ${told.in_words}. What an answer proves, ${told.proves}. Made with rainbowdp, mechanism ${told.mechanism}.`;
  let line = "";
  y += 22;
  for (const word of [...caption.split(" "), null]) {
    if (word === null || line.length + word.length > 84) {
      svg.append(makeSvg("text", { x: 20, y, "font-size": 12.5, fill: "#5b6375" }, line));
      y += 17;
      line = "";
    }
    line += line ? ` ${word}` : word;
  }
  svg.setAttribute("viewBox", `0 0 ${wide} ${y}`);
  svg.setAttribute("width", wide);
  svg.setAttribute("height", y);
  svg.prepend(makeSvg("rect", { width: wide, height: y, fill: "#ffffff" }));
  return new XMLSerializer().serializeToString(svg);
}

async function start() {
  startTheme(() => {});
  state = restored();
  fillForm();
  find("kind").addEventListener("change", (event) => {
    const kind = event.target.value;
    const patch = { kind, counts: OWN_COUNTS[kind] };
    if (kind in USUAL) patch.at_least = USUAL[kind];
    state = { ...state, ...patch };
    fillForm();
    change({});
  });
  const lines = (text, split) => text.split(split).map((part) => part.trim()).filter(Boolean);
  find("options").addEventListener("change", (event) => { change({ options: lines(event.target.value, "\n") }); fillCounts(); change({}); });
  find("bins").addEventListener("change", (event) => { change({ bins: lines(event.target.value, /[,;\s]+/) }); fillCounts(); change({}); });
  for (const name of ["relation", "ties"]) find(name).addEventListener("change", (event) => change({ [name]: event.target.value }));
  for (const name of ["first", "margin"]) find(name).addEventListener("change", (event) => change({ [name]: whole(event.target.value) }));
  for (const name of TEXTS) find(name).addEventListener("change", (event) => change({ [name]: event.target.value.trim() }));
  for (const input of document.getElementsByName("by")) input.addEventListener("change", () => { state.by = input.value; showPromise(); change({}); });
  find("counts").addEventListener("input", (event) => {
    if (event.target.type !== "range") return;
    const counts = state.counts.with(Number(event.target.dataset.at), Number(event.target.value));
    change({ counts });
    fillCounts();
  });
  find("counts").addEventListener("change", (event) => {
    if (event.target.type === "range") return fillCounts();
    change({ counts: state.counts.with(Number(event.target.dataset.at), whole(event.target.value)) });
    if (state.counts.every(Number.isInteger)) fillCounts();
  });
  const scale = (factor) => { change({ counts: state.counts.map((n) => Math.round(Number(n) * factor)) }); fillCounts(); };
  find("halve").addEventListener("click", () => scale(0.5));
  find("double").addEventListener("click", () => scale(2));
  find("form").addEventListener("submit", (event) => event.preventDefault());
  find("trouble").querySelector("button").addEventListener("click", () => trouble(""));
  find("draw-1").addEventListener("click", () => draw(1));
  find("draw-20").addEventListener("click", () => draw(20));
  find("add").addEventListener("click", addToPlan);
  find("divide").addEventListener("click", divide);
  find("copy").addEventListener("click", () => copied(told.python, find("recipe")));
  find("copy-command").addEventListener("click", () => copied(told.command, find("command")));
  find("copy-link").addEventListener("click", () => { remember(); copied(location.href); });
  find("save-svg").addEventListener("click", () => { find("taken").textContent = save(`${state.kind}.svg`, new Blob([figure()], { type: "image/svg+xml" })); });
  find("save-file").addEventListener("click", async () => {
    try {
      const text = await postForText("/api/question-file", asked());
      find("taken").textContent = save(`${state.kind}.json`, new Blob([text], { type: "application/json" }));
    } catch (error) {
      complain(error);
    }
  });
  addEventListener("hashchange", () => { state = restored(); fillForm(); ask(asked()); });
  await ask(asked());
}

start();
