// What changes with every control: lines and banded discs on a canvas of our own below Cytoscape's,
// which keeps names, rings and clicks. Drawing all of it takes a millisecond or two; restyling does not.

import { bandEnds } from "./discs.js";
import { make } from "/shared/dom.js";
import { color } from "./palette.js";

const FAINT = 0.35; // discs without a mechanism
const DASHES = [6, 3];
const UNDER = 0.03; // of a disc's height, by which a band reaches below the next

/** `cy` tells what part of the picture is shown. */
export function startPicture(box, cy) {
  const canvas = make("canvas", { class: "picture", "aria-hidden": "true" });
  box.prepend(canvas);
  let discs = [];
  let lines = [];
  let inks = null;
  let filled = null; // the rows whose bands are drawn
  cy.on("render", draw);

  /** Places and diameters of the world's discs; lines end at their rims. After an edit, bands stay until the new ones are here. */
  function set(world, places, sizes, edited) {
    const before = edited ? discs : [];
    filled = null;
    discs = places.map(([x, y], number) => ({ x, y, radius: sizes[number] / 2, bands: before[number]?.bands ?? equal(world, number) }));
    lines = world.edges.map(([a, b]) => {
      const [one, two] = [discs[a], discs[b]];
      const [dx, dy] = [two.x - one.x, two.y - one.y];
      const length = Math.hypot(dx, dy);
      if (length <= one.radius + two.radius) return null;
      const [from, to] = [one.radius / length, 1 - two.radius / length];
      const border = world.datasets[a].region !== world.datasets[b].region;
      return { border, from: [one.x + from * dx, one.y + from * dy], to: [one.x + to * dx, one.y + to * dy] };
    }).filter(Boolean);
  }

  /** The bands of every disc; without rows, equal ones. */
  function fill(world, rows) {
    if (rows && filled && rows.every((row, number) => row.every((share, place) => share === filled[number][place]))) return;
    filled = rows;
    discs.forEach((disc, number) => { disc.bands = rows ? bandsOf(world, number, rows[number]) : equal(world, number); });
    draw();
  }

  /** The colors and the width of lines. */
  function look(next) {
    inks = next;
  }

  function draw() {
    if (!inks || !discs.length) return;
    const context = canvas.getContext("2d");
    const ratio = devicePixelRatio;
    const [wide, high] = [cy.width(), cy.height()].map((size) => Math.round(size * ratio));
    if (canvas.width !== wide || canvas.height !== high) Object.assign(canvas, { width: wide, height: high });
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, wide, high);
    const [zoom, { x, y }] = [cy.zoom() * ratio, cy.pan()];
    context.setTransform(zoom, 0, 0, zoom, x * ratio, y * ratio);
    stroke(context, lines.filter(({ border }) => !border), inks.edge, inks.width, []);
    stroke(context, lines.filter(({ border }) => border), inks.soft, 0.8 * inks.width, DASHES);
    for (const disc of discs) banded(context, disc);
    context.globalAlpha = 1;
  }

  return { set, fill, look };
}

function bandsOf(world, number, row, alpha = 1) {
  const { rainbow } = world.regions[world.datasets[number].region];
  return bandEnds(row).map((end, place) => ({ end, fill: color(rainbow[place]), alpha }));
}

const equal = (world, number) => bandsOf(world, number, world.answers.map(() => 1 / world.answers.length), FAINT);

function stroke(context, lines, ink, width, dashes) {
  context.beginPath();
  for (const { from, to } of lines) {
    context.moveTo(...from);
    context.lineTo(...to);
  }
  context.setLineDash(dashes);
  context.lineWidth = width;
  context.strokeStyle = ink;
  context.stroke();
}

/** From the lowest band up; one that covers reaches a little below the next, so that no seam shows. */
function banded(context, { x, y, radius, bands }) {
  context.globalAlpha = bands[0].alpha;
  for (let place = bands.length - 1; place >= 0; place -= 1) {
    const { end, fill, alpha } = bands[place];
    const above = place ? bands[place - 1].end : 0;
    if (end <= above) continue;
    const [low, top] = [Math.asin(2 * end - 1), Math.asin(2 * Math.max(0, alpha < 1 ? above : above - UNDER) - 1)];
    context.beginPath();
    context.arc(x, y, radius, Math.PI - low, Math.PI - top);
    context.arc(x, y, radius, top, low);
    context.fillStyle = fill;
    context.fill();
  }
}
