// Two charts: how firmness grows with depth, and how the mechanisms compare.

import { find, make, makeSvg } from "/shared/dom.js";
import { percent } from "/shared/numbers.js";
import { lineColor, themed } from "./palette.js";

const HEIGHT = 230;
const DASHES = [[], [9, 4], [10, 3, 2, 3], [2, 3], [6, 2, 1, 2], [4, 4], [1, 5], [14, 3]]; // by place in the list

export function startCurves() {
  const charts = { growth: null, against: null };
  const [shown, looks] = [{}, {}];
  const widths = {}; // as they were measured last: to ask while the page changes lays it out once more
  const resized = new ResizeObserver(() => {
    for (const [id, chart] of Object.entries(charts)) {
      widths[id] = Math.max(200, find(id).clientWidth);
      chart?.setSize({ width: widths[id], height: HEIGHT });
    }
  });
  for (const id of Object.keys(charts)) resized.observe(find(id));

  /** A chart with its key, which tells the values at `rest` until the pointer is somewhere. A chart that looks alike gets new values. */
  function draw(id, label, x, lines, rest, mark = () => {}) {
    const look = JSON.stringify([label, shared(label), lines.map(({ values, ...style }) => style)]);
    shown[id] = { x, lines, rest, mark };
    const data = [x, ...lines.map(({ values }) => values)];
    if (charts[id] && looks[id] === look) {
      charts[id].setData(data);
      return tell(id, label, rest);
    }
    looks[id] = look;
    charts[id]?.destroy();
    find(id).replaceChildren();
    charts[id] = new uPlot({
      width: widths[id] ?? Math.max(200, find(id).clientWidth), height: HEIGHT, ...shared(label),
      series: [{}, ...lines.map(({ values, name, ...style }) => style)],
      hooks: { drawAxes: [(u) => shown[id].mark(u)], setCursor: [(u) => tell(id, label, u.cursor.idx ?? shown[id].rest)] },
    }, data, find(id));
    find(id).append(keyOf(label, lines));
    tell(id, label, rest);
  }

  function tell(id, label, place) {
    const key = find(id).querySelector(".key");
    if (!key) return; // the chart is being made
    const { x, lines } = shown[id];
    key.querySelector(".at").textContent = `${label} ${x[place]}`;
    key.querySelectorAll("output").forEach((output, number) => {
      output.textContent = percent(lines[number].values[place]);
      output.dataset.value = lines[number].values[place];
    });
  }

  function empty(id, note, text) {
    charts[id]?.destroy();
    charts[id] = null;
    find(id).replaceChildren();
    find(note).textContent = text;
  }

  function growth(world, curves, depth) {
    if (!curves?.depths.length) {
      return empty("growth", "growth-note", curves ? "No border can be reached from here, so there is nothing to grow from."
        : "There is no mechanism to draw with these settings.");
    }
    const region = world.regions[curves.region];
    if (curves.depths.length === 1) {
      return empty("growth", "growth-note", `The region ${region.name} is all border: nothing in it is deeper.`);
    }
    const turns = curves.turns.some((turn) => turn > 0 && turn <= curves.depths.at(-1));
    find("growth-note").textContent = `How often each answer is given by depth, in the region ${region.name}.`
      + (curves.depths.length - 1 > curves.deepest ? ` This graph ends at depth ${curves.deepest}.` : "")
      + (turns ? " ▾ Growth turns into saturation." : "");
    const lines = region.rainbow.map((answer, place) => ({
      name: world.answers[answer], values: curves.rows.map((row) => row[place]), stroke: lineColor(answer), width: 2.2,
      points: { show: curves.depths.length < 16, size: 6, fill: lineColor(answer) },
    }));
    const rest = Math.min(depth ?? 0, curves.depths.length - 1);
    draw("growth", "depth", curves.depths, lines, rest, (u) => marks(u, curves, depth));
  }

  function against(costs, chosen) {
    const shown = costs.filter((cost) => cost.by_margin?.length);
    if (!shown.length) return empty("against", "against-note", "All datasets want the same answer first, so there is nothing to compare.");
    find("against-note").textContent = "The least P(first choice) by margin: the steps to the nearest dataset that prefers another answer.";
    const [ink, accent] = ["--ink", "--accent"].map(themed);
    const margins = shown[0].by_margin.map(([margin]) => margin);
    const lines = shown.map(({ name, title, by_margin: values }) => ({
      name: title, values: values.map(([, p]) => p), stroke: name === chosen ? accent : ink,
      width: name === chosen ? 3 : 1.6, dash: DASHES[costs.findIndex((cost) => cost.name === name) % DASHES.length], points: { show: margins.length < 3, size: 6 },
    }));
    draw("against", "margin", margins, lines, margins.length - 1);
  }

  return { growth, against };
}

function keyOf(label, lines) {
  return make("ul", { class: "key" }, make("li", { class: "at" }), ...lines.map(({ name, stroke, width: thick, dash }) => {
    const line = makeSvg("line", { x1: 1, x2: 26, y1: 6, y2: 6, stroke, "stroke-width": thick, "stroke-dasharray": dash?.join(" ") });
    return make("li", {}, makeSvg("svg", { viewBox: "0 0 27 12", "aria-hidden": "true" }, line), name, make("output"));
  }));
}

function shared(label) {
  const [soft, line] = ["--soft", "--line"].map(themed);
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 }, font: "12px system-ui, sans-serif" };
  return {
    scales: { x: { time: false }, y: { range: [0, 1] } },
    axes: [
      { ...axis, label, size: 30, labelSize: 20, labelGap: 0, labelFont: axis.font, incrs: [1, 2, 5, 10, 20, 50] },
      { ...axis, size: 58, values: (_, ticks) => ticks.map((tick) => `${Math.round(tick * 100)} %`) },
    ],
    cursor: { drag: { x: false, y: false } },
    legend: { show: false },
  };
}

/** Where the chosen dataset is, where the graph ends, and where prefixes turn. */
function marks(u, curves, depth) {
  const { ctx } = u;
  const { left, top, width: wide, height: high } = u.bbox;
  const x = (value) => u.valToPos(value, "x", true);
  ctx.save();
  if (curves.depths.length - 1 > curves.deepest) {
    ctx.fillStyle = themed("--line");
    ctx.globalAlpha = 0.35;
    ctx.fillRect(x(curves.deepest), top, left + wide - x(curves.deepest), high);
    ctx.globalAlpha = 1;
  }
  ctx.lineWidth = 2 * devicePixelRatio;
  if (depth !== null && depth !== undefined) {
    ctx.strokeStyle = themed("--accent");
    ctx.beginPath();
    ctx.moveTo(x(depth), top);
    ctx.lineTo(x(depth), top + high);
    ctx.stroke();
  }
  ctx.fillStyle = themed("--soft");
  for (const turn of curves.turns) {
    if (turn === null || turn === 0 || turn > curves.depths.at(-1)) continue;
    const size = 5 * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x(turn) - size, top);
    ctx.lineTo(x(turn) + size, top);
    ctx.lineTo(x(turn), top + 1.5 * size);
    ctx.fill();
  }
  ctx.restore();
}
