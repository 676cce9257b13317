// From what the curator allows to a question: the controls, and the JSON that they make.

import { find, make } from "../shared/dom.js";
import { choice, labeled, number, oneOf, several, typed, Unfinished } from "./fields.js";
import { columnsFor, KINDS, kindsOf, WEIGHED } from "./kinds.js";

const PARTS = { answers, among, first, rest, percent, at_least, matching, q, qs, bins, above, records };

/** The form of a dataset; `changed` is called whenever it makes another question. */
export function startBuilder(changed) {
  const state = { dataset: null, parts: [], groups: null, where: null, weight: null, column: null };
  // Controls that make others listen to "input" too: theirs runs first, before it reaches the form.
  find("kind").addEventListener("input", () => draw(state));
  find("question").addEventListener("input", () => changed());
  find("question").addEventListener("submit", (event) => event.preventDefault());

  return {
    show(dataset) {
      state.dataset = dataset;
      const kinds = kindsOf(dataset);
      find("kind").replaceChildren(...kinds.map((kind) => make("option", { value: kind }, KINDS[kind].title)));
      draw(state);
    },
    question: () => made(state),
  };
}

function draw(state) {
  const kind = find("kind").value;
  if (!kind) {
    find("fields").replaceChildren(make("p", { class: "empty" }, "The curator allows no question about this dataset."));
    return;
  }
  const columns = columnsFor(state.dataset, kind);
  const picker = choice(columns.map((column) => [column.name, column.title ? `${column.title} (${column.name})` : column.name]));
  const own = make("div", { class: "own" });
  const fill = () => {
    state.column = columns.find((column) => column.name === picker.value);
    state.apply = state.column.apply.length
      ? oneOf("Function of it", state.column.apply, "none: as it is") : null;
    state.parts = KINDS[kind].parts.map((part) => PARTS[part](state.column)).filter(Boolean);
    own.replaceChildren(...[state.apply, ...state.parts].filter(Boolean).map((part) => part.shown));
  };
  picker.addEventListener("input", fill);
  fill();
  find("fields").replaceChildren(labeled("Column", picker), own);
  drawMore(state, kind);
}

function drawMore(state, kind) {
  const { columns } = state.dataset;
  const filters = columns.filter((column) => column.filter !== "no");
  const grouping = kind === "keys" ? [] : columns.filter((column) => column.groups === "any" || column.groups.length);
  state.where = filters.length ? typed({ placeholder: example(filters[0]) }) : null;
  const weights = WEIGHED.has(kind) ? columns.filter((column) => column.weight !== null) : [];
  state.groups = state.weight = null;
  const shown = [];
  if (state.where) {
    const names = filters.map((column) => column.name + (column.filter === "listed" ? " (listed values)" : ""));
    shown.push(labeled("Only rows where", state.where, `You may use ${names.join(", ")}.`));
  }
  if (weights.length) {
    const by = choice([["", "nothing: each counts once"], ...weights.map((column) => [column.name, column.title ?? column.name])]);
    const inside = make("div", { class: "own" });
    by.addEventListener("input", () => {
      const column = weights.find((one) => one.name === by.value);
      state.weight = column ? weightOf(column) : null;
      inside.replaceChildren(...(state.weight ? [state.weight.shown] : []));
    });
    shown.push(labeled("Weigh rows by", by), inside);
  }
  if (grouping.length) {
    const by = choice([["", "no groups"], ...grouping.map((column) => [column.name, column.title ?? column.name])]);
    const inside = make("div", { class: "own" });
    by.addEventListener("input", () => {
      const column = grouping.find((one) => one.name === by.value);
      state.groups = column ? groupsOf(column) : null;
      inside.replaceChildren(...(state.groups ? state.groups.shown : []));
    });
    shown.push(labeled("In each group of", by), inside);
  }
  find("more").hidden = shown.length === 0;
  find("more-fields").replaceChildren(...shown);
}

/** A condition as one writes it, about a column of this dataset. */
function example({ name, answers, bins, groups }) {
  const [value] = [answers, groups].filter(Array.isArray).flat();
  if (value !== undefined) return `${name} = '${value}'`;
  return Array.isArray(bins) && bins.length ? `${name} >= ${bins[0]}` : `${name} >= 10`;
}

function weightOf(column) {
  const limit = typed({ value: column.weight, inputmode: "decimal" });
  return {
    shown: labeled("Largest weight", limit,
      `A row weighs from 0 to this, ${column.weight} at most: the smaller, the surer the answer. What is larger counts as this.`),
    value: () => ({ weight: { column: column.name, limit: number(limit, "the largest weight") } }),
  };
}

function groupsOf(column) {
  const listed = several("Groups", column.groups, { hint: "north, south" });
  const open = make("input", { type: "checkbox" });
  const tick = make("label", { class: "tick" }, open, make("span", {}, "Everybody knows who is in which group"));
  return {
    shown: [listed.shown, ...(column.groups_are_public ? [tick] : [])],
    value: () => ({ by: { column: column.name, groups: listed.values() }, groups_are_public: open.checked }),
  };
}

function made(state) {
  const kind = find("kind").value;
  if (!kind) throw new Unfinished("There is nothing to ask about this dataset.");
  const question = { kind, column: state.column.name };
  const apply = state.apply?.value();
  if (apply) question.apply = apply;
  for (const part of state.parts) Object.assign(question, part.value());
  const where = state.where?.value.trim();
  if (where) question.where = where;
  return { ...question, ...state.weight?.value(), ...state.groups?.value() };
}

// One part of a question each: what is shown, and the keys that it makes.

function answers(column) {
  const listed = several("Possible answers", column.answers, { least: 2 });
  return { shown: listed.shown, value: () => ({ answers: listed.values() }) };
}

function among(column) {
  const listed = several("Those to rank", column.answers, { least: 2 });
  return { shown: listed.shown, value: () => ({ among: listed.values() }) };
}

function rest(column) {
  const allowed = [["other", "other values", "All other values as one more answer"],
    ["missing", "no value", "Rows without a value as one more answer"]].filter(([key]) => column[key]);
  if (!allowed.length) return null;
  const boxes = allowed.map(([key, name, text]) => [key, name, make("input", { type: "checkbox" }), text]);
  return {
    shown: make("div", { class: "ticks" }, ...boxes.map(([, , box, text]) => make("label", { class: "tick" }, box, make("span", {}, text)))),
    value: () => Object.fromEntries(boxes.filter(([, , box]) => box.checked).map(([key, name]) => [key, name])),
  };
}

function first() {
  const many = typed({ value: "2", inputmode: "numeric" });
  const how = choice([["order", "in order"], ["set", "as a set"]]);
  return {
    shown: make("div", { class: "own" }, labeled("How many", many), labeled("Named", how)),
    value: () => ({ first: number(many, "how many to name", { whole: true }), in_order: how.value === "order" }),
  };
}

const share = (control, what) => {
  const text = number(control, what);
  return text.includes("/") ? text : `${text}e-2`;
};

function percent() {
  const least = typed({ value: "50", inputmode: "decimal" });
  return { shown: labeled("At least, in percent", least), value: () => ({ at_least: share(least, "a percentage") }) };
}

function above() {
  const least = typed({ value: "50", inputmode: "decimal" });
  return { shown: labeled("More than, in percent", least), value: () => ({ above: share(least, "a percentage") }) };
}

function at_least() {
  const least = typed({ inputmode: "numeric", placeholder: "100" });
  return { shown: labeled("At least so many rows", least), value: () => ({ at_least: number(least, "how many rows", { whole: true }) }) };
}

function records() {
  const many = typed({ inputmode: "numeric", placeholder: "1000" });
  return {
    shown: labeled("Rows in the sample", many, "How many there are must be public."),
    value: () => ({ records: number(many, "how many rows there are", { whole: true }) }),
  };
}

function matching(column) {
  const values = column.answers === "any" || column.answers.length;
  const edges = column.bins === "any" || column.bins.length;
  const equals = values ? oneOf("Rows match where it is", column.answers, edges ? "in the range" : undefined) : null;
  const from = edges ? oneOf("From", column.bins, "the least") : null;
  const upTo = edges ? oneOf("Up to", column.bins, "the most") : null;
  const range = edges ? [from.shown, upTo.shown] : [];
  return {
    shown: make("div", { class: "own" }, ...(equals ? [equals.shown] : []), ...range),
    value: () => {
      const found = { equals: equals?.value() ?? null, minimum: from?.value() ?? null, maximum: upTo?.value() ?? null };
      const given = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null));
      if (!Object.keys(given).length) throw new Unfinished("Say which rows match.");
      if (given.equals !== undefined && Object.keys(given).length > 1) {
        throw new Unfinished("Rows match by a value or by a range, not by both.");
      }
      return given;
    },
  };
}

function q() {
  const which = choice([["1/2", "the median"], ["1/4", "the lower quartile"], ["3/4", "the upper quartile"], ["1/10", "the lowest tenth"], ["9/10", "the highest tenth"]]);
  return { shown: labeled("Quantile", which), value: () => ({ q: which.value }) };
}

function qs() {
  const which = typed({ value: "1/4, 1/2, 3/4" });
  return {
    shown: labeled("Quantiles", which, "Separate them by commas."),
    value: () => {
      const found = which.value.split(",").map((part) => part.trim()).filter(Boolean);
      if (found.length < 2) throw new Unfinished("Give at least two quantiles.");
      return { qs: found };
    },
  };
}

function bins(column) {
  const listed = several("Edges of the ranges", column.bins, { least: 1, hint: "20, 40, 60" });
  return { shown: listed.shown, value: () => ({ bins: [null, ...listed.values(), null] }) };
}
