// The figure as SVG, from the same numbers that the page shows.

import { makeSvg } from "/shared/dom.js";
import { disc } from "./discs.js";
import { labeled, scaled, weighted } from "./graph.js";
import { color } from "./palette.js";

const INK = "#1d2230";
const RADIUS = 19;
const WIDEST = 900; // a larger picture is drawn smaller, so that the words beside it can be read

export function figure(state) {
  const { world, answer } = state;
  const places = scaled(world);
  const xs = places.map(([x]) => x);
  const ys = places.map(([, y]) => y);
  const [left, top] = [Math.min(...xs) - 40, Math.min(...ys) - 40];
  const across = Math.max(...xs) - left + 40;
  const scale = Math.min(1, WIDEST / across);
  const wide = Math.max(scale * across, 420);
  const high = scale * (Math.max(...ys) - top + 40);
  const curves = curveGroup(world, answer.curves, wide);
  const total = high + 44 + (curves ? 250 : 0);
  const svg = makeSvg("svg", {
    xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${total}`, width: wide, height: total,
    "font-family": "Helvetica, Arial, sans-serif", fill: INK,
  }, makeSvg("title", {}, `${world.title}, ${answer.guarantee.text}`),
  makeSvg("rect", { width: wide, height: total, fill: "#ffffff" }));
  const picture = makeSvg("g", { transform: `scale(${scale}) translate(${-left} ${-top})` });
  for (const [a, b] of world.edges) {
    const crosses = world.datasets[a].region !== world.datasets[b].region;
    picture.append(makeSvg("line", {
      x1: places[a][0], y1: places[a][1], x2: places[b][0], y2: places[b][1], "stroke-width": 2,
      stroke: crosses ? "#5b6375" : "#cfd3dc", "stroke-dasharray": crosses ? "6 4" : null,
    }));
  }
  const sizes = weighted(world);
  places.forEach(([x, y], number) => picture.append(drawn(world, answer.rows, number, x, y, sizes[number])));
  labeled(world).forEach((label, number) => {
    if (label) picture.append(words(label, 14 / scale, ...places[number]));
  });
  svg.append(picture, legend(world, high + 20));
  if (curves) curves.setAttribute("transform", `translate(0 ${high + 44})`);
  if (curves) svg.append(curves);
  return svg;
}

function drawn(world, rows, number, x, y, size) {
  const { rainbow } = world.regions[world.datasets[number].region];
  const row = rows ? rows[number] : rainbow.map(() => 1 / rainbow.length);
  const named = disc(x, y, size * RADIUS, row, rainbow.map(color), makeSvg("title", {}, world.datasets[number].name));
  const rim = named.querySelector(".rim");
  rim.setAttribute("stroke", INK);
  rim.setAttribute("stroke-width", 0.8);
  return named;
}

function words(label, size, x, y) {
  return makeSvg("text", {
    x, y: y + RADIUS + size, "font-size": size, "text-anchor": "middle", stroke: "#ffffff", "stroke-width": size / 5, "paint-order": "stroke",
  }, label);
}

function legend(world, y) {
  const group = makeSvg("g", { "font-size": 13 });
  let x = 20;
  world.answers.forEach((answer, number) => {
    group.append(makeSvg("rect", { x, y: y - 10, width: 12, height: 12, fill: color(number) }),
      makeSvg("text", { x: x + 18, y }, answer));
    x += 40 + 8 * answer.length;
  });
  return group;
}

function curveGroup(world, curves, wide) {
  if (!curves?.depths.length) return null;
  const [left, top, high] = [50, 20, 180];
  const across = wide - left - 20;
  const last = Math.max(curves.depths.at(-1), 1);
  const x = (depth) => left + across * depth / last;
  const y = (p) => top + high * (1 - p);
  const group = makeSvg("g", { "font-size": 12 });
  for (const p of [0, 0.25, 0.5, 0.75, 1]) {
    group.append(makeSvg("line", { x1: left, x2: left + across, y1: y(p), y2: y(p), stroke: "#dfe1e7" }),
      makeSvg("text", { x: left - 6, y: y(p) + 4, "text-anchor": "end" }, `${100 * p} %`));
  }
  const every = Math.max(1, Math.ceil(last / 10));
  for (let depth = 0; depth <= last; depth += every) {
    group.append(makeSvg("text", { x: x(depth), y: top + high + 18, "text-anchor": "middle" }, String(depth)));
  }
  group.append(makeSvg("text", { x: left + across / 2, y: top + high + 36, "text-anchor": "middle" },
    `depth, in the region ${world.regions[curves.region].name}`));
  world.regions[curves.region].rainbow.forEach((answer, place) => {
    const points = curves.rows.map((row, at) => `${x(curves.depths[at]).toFixed(2)},${y(row[place]).toFixed(2)}`);
    group.append(makeSvg("polyline", { points: points.join(" "), fill: "none", stroke: color(answer), "stroke-width": 2.5 }));
  });
  return group;
}
