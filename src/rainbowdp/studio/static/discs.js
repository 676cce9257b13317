// A dataset as a disc with a band for each answer; the area of a band is the chance of its answer.

import { makeSvg } from "/shared/dom.js";

/** How far down a disc a band ends, from 0 to 1, if so much of the area lies above its end. */
export function depthOfArea(share) {
  if (share <= 0) return 0;
  if (share >= 1) return 1;
  let [low, high] = [0, Math.PI]; // half the angle that the cap above the end spans
  for (let round = 0; round < 50; round += 1) {
    const middle = (low + high) / 2;
    if (middle - Math.sin(2 * middle) / 2 < share * Math.PI) low = middle;
    else high = middle;
  }
  return (1 - Math.cos((low + high) / 2)) / 2;
}

/** Where the bands of a row end, from 0 at the top to 1 at the bottom. */
export function bandEnds(row) {
  let sum = 0;
  return row.map((share, place) => {
    sum += share;
    return place === row.length - 1 ? 1 : depthOfArea(sum);
  });
}

/** The part of a disc around 0, 0 between two heights, counted from its top. */
export function slice(radius, from, to) {
  const half = (share) => radius * Math.sqrt(Math.max(0, 1 - (2 * share - 1) ** 2));
  const y = (share) => radius * (2 * share - 1);
  const n = (value) => value.toFixed(3);
  const arc = `A ${radius} ${radius} 0 0`;
  return `M ${n(-half(from))} ${n(y(from))} L ${n(half(from))} ${n(y(from))} ${arc} 1 ${n(half(to))} ${n(y(to))} `
    + `L ${n(-half(to))} ${n(y(to))} ${arc} 1 ${n(-half(from))} ${n(y(from))} Z`;
}

/** A disc at a place, with bands in these colors from the top and a thin rim. */
export function disc(x, y, radius, row, fills, ...more) {
  const group = makeSvg("g", { transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})` }, ...more);
  let above = 0;
  bandEnds(row).forEach((end, place) => {
    if (end > above) group.append(makeSvg("path", { d: slice(radius, above, end), fill: fills[place] }));
    above = Math.max(above, end);
  });
  group.append(makeSvg("circle", { r: radius, fill: "none", class: "rim" }));
  return group;
}
