// The graph: a disc for each dataset, banded by its distribution, most preferred on top.

import cytoscape from "./vendor/cytoscape/cytoscape.esm.min.mjs";
import { find } from "/shared/dom.js";
import { themed } from "./palette.js";
import { startPicture } from "./picture.js";

const SPACING = 60; // between the nearest datasets, in the picture's own units
const [PADDING, ROOM] = [22, 70]; // around it, in pixels; more where datasets are added
const FEW = 12; // datasets, whose names may be longer
const LABELLED = 40; // datasets; beyond it names would cover the picture

export function startGraph(choose, id = "graph") {
  const box = find(id);
  const cy = cytoscape({
    container: box,
    style: [],
    userZoomingEnabled: false, // the wheel scrolls the page; with Ctrl it zooms
    userPanningEnabled: false,
    boxSelectionEnabled: false,
    autoungrabify: true,
    selectionType: "single",
    maxZoom: 6,
  });
  const picture = startPicture(box, cy);
  let fitted = 1; // the zoom at which all is shown
  let world = null;
  let tapped = () => false; // whoever edits the graph hears of a tap first
  let padding = PADDING;
  let styled = ""; // the sheet in use

  cy.on("tap", (event) => {
    if (!world) return;
    if (tapped(touched(event))) return;
    const found = closest(scaled(world), event.position); // a finger is wider than a disc on a phone
    if (found !== null) choose(found);
  });
  cy.on("mouseover", "node", (event) => { box.title = world.datasets[Number(event.target.id())].name; });
  cy.on("mouseout", "node", () => { box.removeAttribute("title"); });
  box.addEventListener("keydown", (event) => {
    const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const way = ways[event.key];
    if (!way || !world) return;
    event.preventDefault();
    const next = nearest(world, scaled(world), chosen() ?? 0, way);
    if (next !== null) choose(next);
  });
  /** Where a tap was, in the world's own units, and what is there. */
  function touched({ position: { x, y }, target }) {
    const scale = scaleOf(world);
    const place = [x / scale, y / scale].map((value) => Number(value.toFixed(4)));
    const near = closest(scaled(world), { x, y }, SPACING / 2);
    if (target === cy) return { place, dataset: near, edge: null };
    if (target.isNode()) return { place, dataset: Number(target.id()), edge: null };
    return { place, dataset: near, edge: [Number(target.data("source")), Number(target.data("target"))] };
  }

  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    const { left, top } = box.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY / 300), { x: event.clientX - left, y: event.clientY - top });
  }, { passive: false });
  new ResizeObserver(restyle).observe(box);

  /** Nearer or farther, around a point of the box or its middle; dragging moves what is larger than the box. */
  function zoom(factor, at = { x: box.clientWidth / 2, y: box.clientHeight / 2 }) {
    if (!world) return;
    const level = Math.min(6, Math.max(fitted, cy.zoom() * factor));
    if (level <= fitted * 1.001) return restyle();
    cy.zoom({ level, renderedPosition: at });
    cy.userPanningEnabled(true);
    box.classList.add("near");
    style();
  }

  /** Anew only where it differs: every element is styled again. */
  function style() {
    const pixel = 1 / cy.zoom();
    const wanted = sheet(pixel);
    const text = JSON.stringify(wanted);
    picture.look({ edge: themed("--edge"), soft: themed("--soft"), width: roadWidth(pixel) });
    if (text !== styled) cy.style(wanted);
    styled = text;
  }

  const chosen = () => (cy.$("node.chosen").nonempty() ? Number(cy.$("node.chosen").id()) : null);

  /** Draw a world; after an edit, only what changed. */
  function show(next, edited = false) {
    world = next;
    const places = scaled(world);
    const labels = labeled(world);
    const sizes = weighted(world).map((wide) => wide * size(world));
    const wanted = [
      ...world.datasets.map((dataset, number) => ({
        data: { id: String(number), label: labels[number], size: sizes[number] },
        position: { x: places[number][0], y: places[number][1] },
        classes: dataset.sign ? "sign" : "",
      })),
      ...world.edges.map(([a, b]) => ({
        data: { id: `${a}-${b}`, source: String(a), target: String(b) },
      })),
    ];
    cy.batch(() => {
      const ids = new Set(wanted.map(({ data }) => data.id));
      cy.elements().filter((element) => !edited || !ids.has(element.id())).remove();
      wanted.forEach(update);
      cy.add(wanted.filter(({ data }) => cy.$id(data.id).empty()));
    });
    picture.set(world, places, sizes, edited);
    restyle();
  }

  function update({ data, position, classes }) {
    const drawn = cy.$id(data.id);
    if (drawn.empty()) return;
    if (!position) return;
    drawn.toggleClass("sign", classes !== "");
    const { x, y } = drawn.position();
    if (drawn.data("label") !== data.label || drawn.data("size") !== data.size) drawn.data({ label: data.label, size: data.size });
    if (x !== position.x || y !== position.y) drawn.position(position);
  }

  function paint(rows, verdict) {
    picture.fill(world, rows ?? null);
    const [edge, regions] = [verdict?.edge ?? [], verdict?.regions ?? []];
    const blamed = world.datasets.flatMap(({ region }, number) => (regions.includes(region) || edge.includes(number) ? [String(number)] : []));
    classify({ worst: edge.length ? [between(...edge)] : [], blamed, faded: rows ? [] : world.datasets.map((_, number) => String(number)) });
  }

  function mark(number, neighbor) {
    const two = number !== null && neighbor !== null && neighbor !== undefined;
    classify({
      chosen: number === null ? [] : [String(number)],
      beside: two ? [String(neighbor)] : [],
      looked: two ? [between(number, neighbor)] : [],
    });
  }

  /** Which elements have which class; only what differs is styled and drawn again. */
  function classify(wanted) {
    const sets = Object.entries(wanted).map(([name, ids]) => [name, new Set(ids)]);
    cy.batch(() => {
      for (const element of cy.elements()) {
        for (const [name, ids] of sets) {
          const has = ids.has(element.id());
          if (has !== element.hasClass(name)) element.toggleClass(name, has);
        }
      }
    });
  }

  function restyle() {
    if (!world) return;
    cy.resize();
    cy.maxZoom(1.5);
    cy.fit(undefined, padding);
    cy.maxZoom(6);
    fitted = cy.zoom();
    cy.userPanningEnabled(false);
    box.classList.remove("near");
    style();
  }

  const whenTapped = (hear) => { tapped = hear; };

  /** Room around the picture for what is to be added. */
  function makeRoom(wanted) {
    padding = wanted ? Math.max(PADDING, Math.min(ROOM, box.clientWidth / 8, box.clientHeight / 8)) : PADDING;
    restyle();
  }

  return { show, paint, mark, restyle, zoom, whenTapped, makeRoom, cy };
}

/** The name of the line between two datasets. */
const between = (a, b) => `${Math.min(a, b)}-${Math.max(a, b)}`;

const roadWidth = (pixel) => Math.max(2, 1.2 * pixel);

/** How many of the picture's own units one of the world's is: nearest neighbors are about SPACING apart. */
function scaleOf(world) {
  const lengths = world.edges.map(([a, b]) => {
    const [one, two] = [world.datasets[a], world.datasets[b]];
    return Math.hypot(one.x - two.x, one.y - two.y);
  }).sort((x, y) => x - y);
  const typical = lengths.length ? lengths[Math.floor(lengths.length * 0.2)] : 0.5;
  return SPACING / Math.max(typical, 0.01);
}

/** Places in the picture's own units. */
export function scaled(world) {
  const scale = scaleOf(world);
  return world.datasets.map(({ x, y }) => [x * scale, y * scale]);
}

const size = (world) => (world.datasets.length <= LABELLED ? 38 : 31);

/** How wide each disc is, as a multiple of the usual: its area is its weight, within what can be seen. */
export function weighted(world) {
  const total = world.datasets.reduce((sum, { weight }) => sum + (weight ?? 1), 0);
  const usual = total / world.datasets.length || 1;
  return world.datasets.map(({ weight }) => (weight === null ? 1 : Math.min(1.4, Math.max(0.55, Math.sqrt(weight / usual)))));
}

/** What is written beside each dataset: its sign, or in a small world its name. */
export function labeled(world) {
  const few = world.datasets.length <= FEW;
  const named = world.datasets.length <= LABELLED && world.datasets.every(({ name }) => name.length <= (few ? 14 : 4));
  return world.datasets.map(({ name, sign }) => sign ?? (named ? name : ""));
}

/** The dataset at a point or nearly so, or null. */
function closest(places, { x, y }, within = SPACING) {
  const away = places.map(([left, top]) => Math.hypot(left - x, top - y));
  const least = Math.min(...away);
  return least < within ? away.indexOf(least) : null;
}

/** The dataset that lies best in the direction `way`, or null. */
export function nearest(world, places, from, [dx, dy]) {
  let best = null;
  let least = Infinity;
  places.forEach(([x, y], number) => {
    const along = (x - places[from][0]) * dx + (y - places[from][1]) * dy;
    const aside = Math.abs((x - places[from][0]) * dy) + Math.abs((y - places[from][1]) * dx);
    if (number === from || along <= 1e-6) return;
    const cost = along + 2.5 * aside;
    if (cost < least) [best, least] = [number, cost];
  });
  return best;
}

/** How names, rings and marked lines look; `pixel` is how much of the picture a pixel shows, so that a map keeps its roads and signs. */
function sheet(pixel) {
  const sign = Math.max(22, 15 * pixel);
  const [ink, card] = ["--ink", "--card"].map(themed);
  const [accent, bad] = ["--accent", "--bad"].map(themed);
  return [
    { selector: "node", style: {
      width: "data(size)", height: "data(size)", "border-width": 0, "background-opacity": 0,
      label: "data(label)", color: ink, "font-size": 13, "text-valign": "bottom", "text-margin-y": 3,
      "text-outline-color": card, "text-outline-width": 2.5, "outline-width": 0, "z-index": 1,
      "overlay-opacity": 0,
    } },
    { selector: "edge", style: {
      width: roadWidth(pixel), opacity: 0, "curve-style": "straight", "overlay-opacity": 0,
    } },
    { selector: "node.sign", style: { "font-size": sign, "font-weight": "bold", "text-outline-width": sign / 7, "z-index": 3 } },
    { selector: "node.faded", style: { opacity: 0.35 } },
    { selector: 'node[label = ""]', style: { opacity: 0 } }, // nothing to draw, but to click
    { selector: "edge.looked", style: { "line-color": accent, opacity: 1, width: 5 } },
    { selector: "node.beside", style: { opacity: 1, "outline-color": accent, "outline-width": 3, "outline-offset": 2, "text-margin-y": 8 } },
    { selector: "node.chosen", style: {
      opacity: 1, "outline-color": ink, "outline-width": Math.max(4, 2 * pixel), "outline-offset": 3, "z-index": 2,
      "text-margin-y": 11,
    } },
    { selector: "node.blamed", style: { "outline-color": bad, "outline-width": 4, "outline-offset": 2, opacity: 1, "text-margin-y": 9 } },
    { selector: "edge.worst", style: { "line-color": bad, opacity: 1, width: 6 } },
  ];
}
