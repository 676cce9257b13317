// Small hands for the document: find, make, fill.

export const find = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

export function make(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function bar(share, fill) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  const drawn = makeSvg("rect", { width, height: "100%", rx: 2 });
  if (fill) drawn.setAttribute("fill", fill);
  return makeSvg("svg", { class: "bar", "aria-hidden": "true", preserveAspectRatio: "none" }, drawn);
}
