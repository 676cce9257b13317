// Editing a graph by clicking in its picture or by the fields below it, with undo.
// Each change is made on the server, which sends the changed graph; its text is what undo goes back to.

import { post, upload } from "./api.js";
import { find, make } from "/shared/dom.js";

const MOST_STEPS = 100; // back
const FIELDS = ["name", "rainbow", "weight", "join", "answers", "text"]; // with a message of their own
const HINTS = {
  look: "Click a dataset to choose it.",
  add: "Click an empty place: a dataset appears there, joined to the chosen one and with the same rainbow.",
  join: "Click two datasets, one after the other: they are joined, or parted if they were.",
  remove: "Click a dataset or a line to remove it.",
};

/** `current` gives world and settings, `redraw` shows a changed world, `choose` chooses a dataset. */
export function startEditing(graph, { current, redraw, choose }) {
  const [back, forth] = [[], []]; // texts of the graph, the latest last
  let from = null; // the first of two that are being joined
  let own = null; // the edited world, which the next one replaces

  const mode = () => document.querySelector('[name="click"]:checked').value;
  const editing = () => find("edit").open && !find("edit").hidden;
  const at = () => current().settings.dataset ?? 0;

  function say(field, text) {
    for (const name of FIELDS) find(`edit-${name}-message`).textContent = name === field ? text : "";
    find("edit-message").textContent = FIELDS.includes(field) ? "" : text;
    for (const name of ["name", "weight", "answers", "text"]) find(`edit-${name}`).setAttribute("aria-invalid", String(name === field && Boolean(text)));
  }

  const fileName = () => current().world.title.replace(/(-edited)?(\.[a-z]+)?$/i, "").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase();

  let turn = Promise.resolve(); // one change after the other, however fast people click

  const now = () => ({ text: current().world.text, dataset: current().settings.dataset });

  function done(before) {
    back.push(before);
    if (back.length > MOST_STEPS) back.shift();
    forth.length = 0;
  }

  /** Make a change, show what came of it, and remember how to go back. */
  function apply(edit, patch = () => ({})) {
    const seen = current().world;
    turn = turn.then(async () => {
      if (current().world !== seen) return; // a click on a picture that is gone by now
      const before = now();
      try {
        const world = await post("/api/edit", { world: current().world.name, edit, called: `${fileName() || "graph"}-edited.txt`, instead: own });
        done(before);
        await shown(world, patch(world));
      } catch (error) {
        say(error.field ?? "edit", error.message);
      }
    });
    return turn;
  }

  async function shown(world, patch) {
    own = world.name;
    await redraw(world, { dataset: Math.min(at(), world.datasets.length - 1), ...patch });
  }

  /** Go to the step that was left last in one of the two directions. */
  function step(steps, others) {
    turn = turn.then(async () => {
      const [to, here] = [steps.at(-1), now()];
      if (!to) return;
      try {
        const world = await upload(new File([to.text], `${fileName()}-edited.txt`), Infinity, own);
        steps.pop();
        others.push(here);
        await shown(world, { dataset: to.dataset, boundary: null });
      } catch (error) {
        say("edit", error.message);
      }
    });
    return turn;
  }
  const undo = () => step(back, forth);
  const redo = () => step(forth, back);

  // Clicks in the picture.

  function joinOrPart(a, b) {
    const { edges } = current().world;
    const joined = edges.some(([x, y]) => (x === a && y === b) || (x === b && y === a));
    apply({ do: joined ? "part" : "join", dataset: a, other: b });
  }

  graph.whenTapped(({ place, dataset, edge }) => {
    if (!editing() || mode() === "look") return false;
    if (mode() === "add") {
      if (dataset !== null) choose(dataset);
      else apply({ do: "add", dataset: at(), place }, last);
    } else if (mode() === "remove") {
      if (edge) apply({ do: "part", dataset: edge[0], other: edge[1] });
      else if (dataset !== null) remove(dataset);
    } else if (dataset !== null) {
      if (from === null) { from = dataset; choose(dataset); hint(); } else {
        const first = from;
        from = null;
        hint();
        if (first !== dataset) joinOrPart(first, dataset);
      }
    }
    return true;
  });

  const last = (world) => ({ dataset: world.datasets.length - 1 });
  const remove = (dataset) => apply({ do: "remove", dataset }, () => ({ dataset: Math.max(0, at() - (dataset <= at() ? 1 : 0)) }));

  function hint() {
    const { world } = current();
    find("edit-hint").textContent = from !== null && mode() === "join" ? `${world.datasets[from].name}: now click the other one.` : HINTS[mode()];
  }

  // The fields, which do the same by keyboard.

  /** A place near the chosen dataset where nothing is drawn yet. */
  function free() {
    const { datasets, edges } = current().world;
    const here = datasets[at()];
    const lengths = edges.map(([a, b]) => Math.hypot(datasets[a].x - datasets[b].x, datasets[a].y - datasets[b].y)).sort((a, b) => a - b);
    const reach = Math.max(0.05, lengths[Math.floor(lengths.length / 2)] ?? 0.5);
    const tries = Array.from({ length: 16 }, (_, n) => [here.x + reach * Math.cos(n * Math.PI / 8), here.y + reach * Math.sin(n * Math.PI / 8)]);
    const room = ([x, y]) => Math.min(...datasets.filter((other) => other !== here).map((other) => Math.hypot(other.x - x, other.y - y)), Infinity);
    return tries.reduce((best, next) => (room(next) > room(best) + 1e-9 ? next : best));
  }

  function fill() {
    const { world } = current();
    find("edit").hidden = !world.text;
    find("edit-none").hidden = Boolean(world.text);
    if (!editing()) return;
    const dataset = world.datasets[at()];
    const order = world.regions[dataset.region].rainbow.map((answer) => world.answers[answer]);
    find("edit-title").textContent = `Dataset ${dataset.name}`;
    find("edit-name").value = dataset.name;
    find("edit-weight").value = dataset.weight ?? 1;
    find("edit-alike").disabled = dataset.weight === null;
    find("edit-answers").value = world.answers.join(", ");
    if (find("edit-text").dataset.world !== world.name) { // what somebody is typing stays
      find("edit-text").value = world.text;
      find("edit-text").dataset.world = world.name;
    }
    find("undo").disabled = !back.length;
    find("redo").disabled = !forth.length;
    const others = find("edit-other").value;
    find("edit-other").replaceChildren(...world.datasets.flatMap(({ name }, number) => (number === at() ? [] : [make("option", { value: number }, name)])));
    if ([...find("edit-other").options].some(({ value }) => value === others)) find("edit-other").value = others;
    showJoin();
    showOrder(order);
    hint();
  }

  function showJoin() {
    const other = Number(find("edit-other").value);
    const joined = current().world.edges.some(([a, b]) => (a === at() && b === other) || (a === other && b === at()));
    find("edit-join").textContent = joined ? "Part" : "Join";
    find("edit-join").disabled = current().world.datasets.length < 2;
  }

  /** The rainbow as a list whose answers move up; the keyboard stays on the answer that it moved. */
  function showOrder(order) {
    const box = find("edit-rainbow");
    const held = box.contains(document.activeElement) ? document.activeElement.dataset.answer : null;
    box.replaceChildren(...order.map((answer, place) => {
      const up = make("button", { type: "button", class: "quiet", "data-answer": answer, "aria-label": `Prefer ${answer} more`, disabled: place === 0 }, "↑");
      up.addEventListener("click", () => {
        const moved = [...order];
        [moved[place - 1], moved[place]] = [moved[place], moved[place - 1]];
        apply({ do: "prefer", dataset: at(), rainbow: moved, region: find("edit-region").checked });
      });
      return make("li", {}, make("span", {}, answer), up);
    }));
    if (held === null) return;
    const again = [...box.querySelectorAll("button")].find((button) => button.dataset.answer === held);
    (again?.disabled ? box.querySelectorAll("button")[1] : again)?.focus();
  }

  const on = (id, event, act) => find(id).addEventListener(event, act);
  on("edit", "toggle", () => { from = null; graph.makeRoom(editing()); if (editing()) fill(); });
  for (const input of document.getElementsByName("click")) input.addEventListener("change", () => { from = null; hint(); });
  on("edit-add", "click", () => apply({ do: "add", dataset: at(), place: free() }, last));
  on("edit-remove", "click", () => remove(at()));
  on("edit-join", "click", () => joinOrPart(at(), Number(find("edit-other").value)));
  on("edit-other", "change", showJoin);
  on("edit-name", "change", (event) => apply({ do: "rename", dataset: at(), name: event.target.value.trim() }));
  on("edit-weight", "change", (event) => apply({ do: "weigh", dataset: at(), weight: event.target.value }));
  on("edit-alike", "click", () => apply({ do: "alike" }));
  on("edit-answers", "change", (event) => apply({ do: "answers", answers: event.target.value }, () => ({ boundary: null })));
  on("undo", "click", undo);
  on("redo", "click", redo);
  on("apply", "click", async () => {
    const before = now();
    try {
      const world = await upload(new File([find("edit-text").value], `${fileName()}-edited.txt`), current().mostBytes, own);
      done(before);
      await shown(world, { boundary: null });
    } catch (error) {
      say("text", error.message);
    }
  });
  on("graph", "keydown", (event) => {
    if (!editing()) return;
    const command = event.ctrlKey || event.metaKey;
    if (event.key === "Delete") remove(at());
    else if (command && event.key.toLowerCase() === "z") (event.shiftKey ? redo : undo)();
    else if (command && event.key.toLowerCase() === "y") redo();
    else return;
    event.preventDefault();
  });

  /** Another world was opened: there is nothing to go back to. */
  function begin() {
    [back.length, forth.length, from, own] = [0, 0, null, null];
    turned();
  }

  /** Another dataset was chosen, or the graph is another one. */
  function turned() {
    say("", "");
    fill();
  }

  return { begin, turned };
}
