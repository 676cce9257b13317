// The story: twelve friends, five screens. Every number comes from the library, none is computed here.

import { bar, find, make, makeSvg } from "/shared/dom.js";
import { percent, short } from "/shared/numbers.js";
import { startTheme } from "/shared/theme.js";
import { disc } from "./discs.js";

const SCREENS = 5;
const START = 7; // votes for pizza on the first screens
let known = null;

const fill = (dish) => known.colors[known.dishes.indexOf(dish)];
const bold = (text) => make("b", {}, text);
const swatch = (color) => makeSvg("svg", { class: "swatch", "aria-hidden": "true" },
  makeSvg("rect", { width: "100%", height: "100%", rx: 3, fill: color }));

/** The chances of a table, the true answer first, with their colors. */
function bandsOf(pizza, table) {
  const first = known.answers[table];
  const second = known.dishes.find((dish) => dish !== first);
  const row = first === "pizza" ? [pizza, 1 - pizza] : [1 - pizza, pizza];
  return [row, [fill(first), fill(second)]];
}

const toVotes = (table) => `${Math.max(table, 12 - table)} to ${Math.min(table, 12 - table)}`;

// The screens, one at a time, by button, key or address.

function startTurning() {
  const screens = [...find("screens").children];
  find("steps").append(...screens.map((screen, at) => make("li", {},
    make("a", { href: `#${at + 1}`, "aria-label": `Screen ${at + 1}: ${screen.querySelector("h2").textContent}` }))));
  const current = () => {
    const asked = Number(location.hash.slice(1));
    return Number.isInteger(asked) && asked >= 1 && asked <= SCREENS ? asked : 1;
  };
  const show = (moved) => {
    const at = current();
    screens.forEach((screen, number) => { screen.hidden = number + 1 !== at; });
    [...find("steps").children].forEach((step, number) => {
      step.toggleAttribute("data-done", number + 1 < at);
      if (number + 1 === at) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    find("where").textContent = `${at} of ${SCREENS}`;
    find("back").hidden = at === 1;
    find("next").hidden = at === SCREENS;
    if (!moved) return;
    scrollTo(0, 0);
    screens[at - 1].querySelector("h2").focus({ preventScroll: true });
  };
  const turn = (way) => {
    const next = Math.min(SCREENS, Math.max(1, current() + way));
    if (next !== current()) location.hash = String(next);
  };
  find("back").addEventListener("click", () => turn(-1));
  find("next").addEventListener("click", () => turn(1));
  addEventListener("hashchange", () => show(true));
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("input, select, textarea")) return;
    if (event.key === "ArrowRight" || event.key === "PageDown") turn(1);
    else if (event.key === "ArrowLeft" || event.key === "PageUp") turn(-1);
    else return;
    event.preventDefault();
  });
  show(false);
}

// 1 and 2: the friends.

function person(color) {
  return makeSvg("svg", { viewBox: "0 0 40 46", "aria-hidden": "true" },
    makeSvg("circle", { cx: 20, cy: 12, r: 9, fill: color, class: "body" }),
    makeSvg("path", { d: "M4 45 a16 19 0 0 1 32 0 Z", fill: color, class: "body" }));
}

function startFriends() {
  const votes = known.friends.map((_, at) => (at < START - 1 || at === known.friends.length - 1 ? "pizza" : "noodles"));
  const box = find("friends");
  known.friends.forEach((name, at) => {
    const button = make("button", { type: "button" });
    button.addEventListener("click", () => { votes[at] = votes[at] === "pizza" ? "noodles" : "pizza"; draw(); });
    box.append(button);
  });
  const draw = () => {
    [...box.children].forEach((button, at) => {
      button.setAttribute("aria-label", `${known.friends[at]} votes ${votes[at]}; press to change`);
      button.replaceChildren(person(fill(votes[at])), known.friends[at], make("span", { class: "vote" }, votes[at]));
    });
    const pizza = votes.filter((vote) => vote === "pizza").length;
    const rows = ["pizza", "noodles"].flatMap((dish) => {
      const many = dish === "pizza" ? pizza : votes.length - pizza;
      return [make("span", {}, dish), bar(many / votes.length, fill(dish)), make("output", {}, String(many))];
    });
    const tie = 2 * pizza === votes.length ? " (a tie goes to noodles, they agreed)" : "";
    find("tally").replaceChildren(...rows, make("p", { class: "answer", role: "status", "data-answer": known.answers[pizza] },
      "The answer is ", bold(known.answers[pizza]), `${tie}.`));
  };
  draw();
}

function startZoe() {
  const last = known.friends.length - 1;
  const draw = () => {
    const vote = document.querySelector('[name="zoe"]:checked').value;
    const table = START - (vote === "pizza" ? 0 : 1);
    find("eleven").replaceChildren(...known.friends.map((name, at) => {
      const own = at === last ? vote : at < START - 1 ? "pizza" : "noodles";
      return make("span", { class: at === last ? "secret" : "" }, person(fill(own)), name, make("span", { class: "vote" }, own));
    }));
    const counted = `${table} pizza, ${12 - table} noodles`;
    find("announced").replaceChildren(make("span", {}, counted), bold(`“${known.answers[table]}!”`));
    find("announced").dataset.answer = known.answers[table];
    find("overheard").replaceChildren(make("span", {}, "The snoop, who knows the eleven others:"),
      bold(`“So Zoe voted ${vote}.”`), make("span", {}, "Certain, from one word."));
  };
  find("zoe").addEventListener("change", draw);
  draw();
}

// 3: two neighbors.

function startDoors() {
  const dial = find("share");
  const most = known.most[known.shown];
  find("most").textContent = most.toFixed(2);
  const steps = known.waver;
  Object.assign(dial, { min: 0, max: steps.length - 1, step: 1, value: steps.findIndex(({ share }) => share === 0.95) });
  const draw = () => {
    const { share, times, private: fine } = steps[dial.value];
    const words = times === null ? "never said there" : `${times.toFixed(times < 10 ? 2 : 0)} times as likely`;
    const side = (x, table, pizza) => {
      const [row, fills] = bandsOf(pizza, table);
      return [disc(x, 88, 52, row, fills), text(x, 20, `${table} pizza, ${12 - table} noodles`),
        text(x, 164, `says pizza ${percent(pizza)}`), text(x, 183, `says noodles ${percent(1 - pizza)}`)];
    };
    find("doors").replaceChildren(
      makeSvg("line", { x1: 152, x2: 348, y1: 88, y2: 88, class: "join border" }),
      ...side(100, START, share), ...side(400, START - 1, 1 - share),
      text(250, 74, words, "times"), text(250, 108, "one vote apart", "soft"));
    find("share-shown").textContent = percent(share);
    dial.setAttribute("aria-valuetext", percent(share));
    const verdict = find("verdict");
    verdict.dataset.private = fine;
    verdict.replaceChildren(bold(fine ? "Private enough. " : "Too much. "), fine
      ? `“Pizza” is ${words} at 7 to 5 as next door, within ${most.toFixed(2)}. From one word, nobody can be sure about Zoe.`
      : `“Pizza” is ${words === "never said there" ? words : `${words} at 7 to 5 as next door`}: more than ${most.toFixed(2)} times. Waver more.`);
  };
  dial.addEventListener("input", draw);
  draw();
}

const text = (x, y, words, kind) => makeSvg("text", { x, y, class: kind }, words);

// 4: all thirteen tables, on the arc of a rainbow.

const angle = (table) => Math.PI * (0.97 - 0.94 * table / 12);
const spot = (table) => [Math.cos(angle(table)), -0.82 * Math.sin(angle(table))];

function startArc() {
  const dial = find("walk");
  const draw = () => {
    const at = Number(dial.value);
    const parts = [];
    for (let table = 0; table < 12; table += 1) {
      const [[x1, y1], [x2, y2]] = [spot(table), spot(table + 1)];
      parts.push(makeSvg("line", { x1, y1, x2, y2, class: known.answers[table] === known.answers[table + 1] ? "join" : "join border" }));
    }
    for (let table = 0; table <= 12; table += 1) {
      const [x, y] = spot(table);
      const [row, fills] = bandsOf(known.pizza[known.shown][table], table);
      const drawn = disc(x, y, 0.086, row, fills);
      drawn.dataset.table = table;
      parts.push(drawn, makeSvg("text", { x: 1.17 * x, y: 1.2 * y + 0.02 }, String(table)));
      if (table === at) parts.push(makeSvg("circle", { cx: x, cy: y, r: 0.108, class: "chosen" }));
    }
    const pizza = known.pizza[known.shown][at];
    const truth = known.answers[at];
    const chance = truth === "pizza" ? pizza : 1 - pizza;
    parts.push(text(-0.62, 0.04, "noodles win", "soft"), text(0.62, 0.04, "pizza wins", "soft"), text(0, -0.64, "tie", "soft"),
      text(0, -0.22, percent(chance), "large"), text(0, -0.09, `says ${truth}`));
    find("arc").replaceChildren(...parts);
    const steps = known.margins[at];
    find("walk-shown").textContent = String(at);
    find("here").dataset.chance = chance;
    find("here").replaceChildren(`${at} pizza, ${12 - at} noodles: ${steps} ${steps === 1 ? "vote" : "votes"} from another answer. It says `,
      bold(truth), " with a chance of ", bold(percent(chance)), ".");
  };
  dial.addEventListener("input", draw);
  find("arc").addEventListener("click", (event) => {
    const found = event.target.closest("[data-table]");
    if (!found) return;
    dial.value = found.dataset.table;
    draw();
  });
  draw();
}

// 5: ε and its two dials.

function gauge(id, chance, label) {
  const path = "M 24 104 A 76 76 0 0 1 176 104";
  const svg = find(id);
  svg.setAttribute("aria-label", `${label}: ${percent(chance)}`);
  svg.dataset.chance = chance;
  if (!svg.childElementCount) {
    svg.append(makeSvg("path", { d: path, class: "track" }), makeSvg("path", { d: path, class: "value", pathLength: 100, "stroke-dasharray": "100 100" }),
      text(100, 96, ""), text(24, 119, "50 %", "end"), text(172, 119, "100 %", "end"));
  }
  svg.querySelector(".value").setAttribute("stroke-dashoffset", 100 - 200 * (chance - 0.5));
  svg.querySelector("text").textContent = percent(chance);
}

function startDials() {
  const dial = find("epsilon");
  Object.assign(dial, { min: 0, max: known.epsilons.length - 1, step: 1, value: known.shown });
  const draw = () => {
    const table = Number(document.querySelector('[name="votes"]:checked').value);
    const at = Number(dial.value);
    gauge("sure", known.pizza[at][table], "How sure the answer is");
    gauge("guess", known.snoop[at], "How often the snoop guesses right");
    find("sure-note").textContent = `${toVotes(table)} says pizza, the truth, so often.`;
    find("epsilon-shown").textContent = known.epsilons[at];
    dial.setAttribute("aria-valuetext", `${known.epsilons[at]}: no answer more than ${short(known.most[at])} times as likely next door`);
  };
  dial.addEventListener("input", draw);
  find("votes").addEventListener("change", draw);
  draw();
}

function drawTriangle() {
  const { answers, colors, orders, tables, edges } = known.triangle;
  const svg = find("triangle");
  const at = ({ x, y }) => [100 * x, 90 * y];
  svg.setAttribute("viewBox", "-108 -98 216 176");
  for (const [a, b] of edges) {
    const [[x1, y1], [x2, y2]] = [at(tables[a]), at(tables[b])];
    svg.append(makeSvg("line", { x1, y1, x2, y2, class: tables[a].region === tables[b].region ? "join" : "join border" }));
  }
  for (const table of tables) {
    svg.append(disc(...at(table), 5.6, table.row, orders[table.region].map((answer) => colors[answer])));
  }
  find("dishes").append(...answers.map((answer, number) => make("li", {}, swatch(colors[number]), answer)));
}

async function startStory() {
  startTheme(() => {});
  const held = find("numbers");
  known = held ? JSON.parse(held.textContent) : await (await fetch("/api/story")).json();
  startFriends();
  startZoe();
  startDoors();
  startArc();
  startDials();
  drawTriangle();
  startTurning();
  document.documentElement.dataset.ready = "story";
}

startStory();
