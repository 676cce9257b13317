// Controls for one part of a question each. A control says its value, or throws what is missing.

import { make } from "../shared/dom.js";

export class Unfinished extends Error {}

let numbered = 0;
const fresh = () => `field-${numbered += 1}`;

export function labeled(text, control, note) {
  control.id ||= fresh();
  const shown = make("label", { class: "field", for: control.id }, text, control);
  if (note) {
    const id = fresh();
    control.setAttribute("aria-describedby", id);
    return make("div", { class: "field" }, shown, make("span", { class: "note", id }, note));
  }
  return shown;
}

export function choice(options) {
  return make("select", {}, ...options.map(([value, text]) => make("option", { value }, text)));
}

export const typed = (attributes = {}) =>
  make("input", { type: "text", spellcheck: "false", autocapitalize: "off", ...attributes });

/** A number as it is written, so that 0.1 stays exactly a tenth. */
export function number(control, what, { whole = false } = {}) {
  const text = control.value.trim().replace(",", ".");
  const good = whole ? /^[0-9]{1,15}$/ : /^[0-9]{1,15}(\.[0-9]{1,15})?([eE]-?[0-9]{1,3})?$|^[0-9]{1,9}\/[1-9][0-9]{0,8}$/;
  const fine = good.test(text);
  control.setAttribute("aria-invalid", String(text !== "" && !fine));
  if (!fine) throw new Unfinished(text === "" ? `Give ${what}.` : `${what[0].toUpperCase()}${what.slice(1)} must be a number.`);
  return whole ? Number(text) : text;
}

/** Boxes to tick for values that the curator lists; a line of text where any value is allowed. */
export function several(title, listed, { least = 1, ticked = true, hint = "red, green, blue" } = {}) {
  if (listed === "any") {
    const line = typed({ placeholder: hint });
    const read = () => line.value.split(",").map((value) => value.trim()).filter(Boolean);
    return {
      shown: labeled(title, line, "Separate them by commas."),
      values: () => enough([...new Set(read())], least, title),
    };
  }
  const boxes = listed.map((value) => make("input", { type: "checkbox", value, checked: ticked }));
  const labels = boxes.map((box) => make("label", { class: "tick" }, box, make("span", {}, box.value)));
  return {
    shown: make("fieldset", { class: "ticks" }, make("legend", {}, title), make("div", {}, ...labels)),
    values: () => enough(boxes.filter((box) => box.checked).map((box) => box.value), least, title),
  };
}

function enough(values, least, title) {
  if (values.length < least) {
    throw new Unfinished(`${title}: choose at least ${least}.`);
  }
  return values;
}

/** A value of a list, or any text. */
export function oneOf(title, listed, none) {
  const control = listed === "any"
    ? typed({ placeholder: none ?? "" })
    : choice([...(none ? [["", none]] : []), ...listed.map((value) => [value, value])]);
  return { shown: labeled(title, control), value: () => control.value.trim() || null };
}
