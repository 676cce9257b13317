// The promise and the boundary: sliders over round values, and a box for any exact number.

import { find, make } from "/shared/dom.js";

const steps = (from, to, by) =>
  Array.from({ length: Math.round((to - from) / by) + 1 }, (_, n) => String(Number((from + n * by).toFixed(4))));

const EPSILONS = [...steps(0.05, 0.95, 0.05), ...steps(1, 2.9, 0.1), ...steps(3, 8, 0.25)];
const DELTAS = ["0", "1e-9", "1e-8", "1e-7", "1e-6", "1e-5", "1e-4", "2e-4", "5e-4", "0.001", "0.002", "0.005",
  "0.01", "0.02", "0.05", "0.1", "0.2", "0.3"];
const MUS = [...steps(0.05, 0.95, 0.05), ...steps(1, 4, 0.1)];
const DIALS = { epsilon: EPSILONS, delta: DELTAS, mu: MUS };

export function startControls(promise, bound) {
  for (const [name, values] of Object.entries(DIALS)) {
    const dial = find(name);
    Object.assign(dial, { min: 0, max: values.length - 1, step: 1 });
    dial.addEventListener("input", () => {
      find(`${name}-text`).value = values[dial.value];
      dial.setAttribute("aria-valuetext", values[dial.value]);
      promise(read(name, values[dial.value]));
    });
    find(`${name}-text`).addEventListener("change", (event) => {
      setDial(name, event.target.value.trim());
      promise(read(name, event.target.value.trim()));
    });
  }
  for (const input of document.getElementsByName("kind")) {
    input.addEventListener("change", () => { showKind(input.value); promise(read()); });
  }
  for (const input of document.getElementsByName("boundary")) {
    input.addEventListener("change", () => bound(input.value === "hand" ? "hand" : null));
  }
  find("shares").addEventListener("input", (event) => bound(moved(Number(event.target.dataset.place), Number(event.target.value))));
}

let ratio = null; // a promise given as e^ε, until its ε is moved

function read(changed, value) {
  if (document.querySelector('[name="kind"]:checked').value === "gaussian") {
    return { kind: "gaussian", mu: find("mu-text").value.trim() };
  }
  if (changed === "epsilon") ratio = null;
  const delta = changed === "delta" ? value : find("delta-text").value.trim();
  return ratio ? { kind: "dp", ratio, delta } : { kind: "dp", epsilon: find("epsilon-text").value.trim(), delta };
}

function showKind(kind) {
  find("dp").hidden = kind !== "dp";
  find("gaussian").hidden = kind !== "gaussian";
}

function setDial(name, text) {
  const size = Number(text.includes("/") ? text.split("/").reduce((a, b) => a / b) : text);
  const gaps = DIALS[name].map((value) => Math.abs(Number(value) - size));
  find(name).value = String(gaps.indexOf(Math.min(...gaps)));
  find(name).setAttribute("aria-valuetext", text);
}

/** Put the controls where `guarantee` is; a kind they do not have leaves them as they are. */
export function setPromise(guarantee) {
  const kind = guarantee.kind === "gaussian" ? "gaussian" : "dp";
  document.querySelector(`[name="kind"][value="${kind}"]`).checked = true;
  showKind(kind);
  ratio = guarantee.ratio ?? null;
  const texts = kind === "gaussian" ? { mu: guarantee.mu }
    : { epsilon: guarantee.epsilon ?? (ratio ? Math.log(fraction(ratio)).toFixed(4) : "1"), delta: plain(guarantee.delta ?? "0") };
  for (const [name, text] of Object.entries({ epsilon: "1", delta: "0", mu: "1", ...texts })) {
    find(`${name}-text`).value = text;
    setDial(name, text);
  }
}

const fraction = (text) => text.split("/").map(Number).reduce((a, b) => a / b);
const plain = (text) => (text.includes("/") ? String(fraction(text)) : text);

export function refusePromise(refused, message = "") {
  find("promise-message").textContent = refused ? message : "";
  for (const name of Object.keys(DIALS)) find(`${name}-text`).setAttribute("aria-invalid", String(refused));
}

// The boundary by hand: a share for each place of a rainbow, all of them together 1.

let shares = null;
let origin = null; // where the slider that moves now started, so that small steps do not add up their rounding

function moved(place, value) {
  if (origin?.place !== place || origin.last !== shares) origin = { place, row: shares };
  const rest = 1 - origin.row[place];
  const kept = origin.row.map((share, at) => {
    if (at === place) return value;
    return rest > 1e-9 ? share * (1 - value) / rest : (1 - value) / (shares.length - 1);
  });
  origin.last = rounded(kept);
  return origin.last;
}

/** Four digits that sum to one exactly as decimals do, the last place taking the rest. */
function rounded(row) {
  const units = row.map((share) => Math.round(share * 1e4));
  units[units.length - 1] += 1e4 - units.reduce((a, b) => a + b, 0);
  if (units.at(-1) < 0) {
    const most = units.indexOf(Math.max(...units));
    units[most] += units.at(-1);
    units[units.length - 1] = 0;
  }
  return units.map((unit) => unit / 1e4);
}

export function setBoundary(row, possible) {
  shares = row;
  for (const input of document.getElementsByName("boundary")) {
    input.disabled = !possible;
    input.checked = (input.value === "hand") === (row !== null);
  }
  const box = find("shares");
  box.hidden = row === null;
  find("boundary-note").textContent = !possible ? "This mechanism has no boundary to set."
    : row === null ? "One row for the border of each region, designed for the worst case." : "The same row, in order of preference, for every region.";
  if (row === null) return;
  if (box.childElementCount !== 3 * row.length) {
    box.replaceChildren(...row.flatMap((_, place) => [
      make("label", { for: `share-${place}` }, `${place + 1}.`),
      make("input", { type: "range", id: `share-${place}`, "data-place": place, min: 0, max: 1, step: 0.0001,
        "aria-label": `share of choice ${place + 1}` }),
      make("output", { for: `share-${place}` }),
    ]));
  }
  row.forEach((share, place) => {
    find(`share-${place}`).value = share;
    box.querySelectorAll("output")[place].textContent = `${(100 * share).toFixed(2)} %`;
  });
}
