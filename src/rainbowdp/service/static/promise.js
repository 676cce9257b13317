// The guarantee: in the currencies that the dataset's ledger can pay for.

import { find, make } from "../shared/dom.js";
import { labeled, number, typed, Unfinished } from "./fields.js";

const PROMISES = {
  dp: { title: "ε alone", fields: [["epsilon", "ε", "0.5"]] },
  approximate: { title: "ε and δ", fields: [["epsilon", "ε", "0.5"], ["delta", "δ", "1e-6"]] },
  gaussian: { title: "μ, Gaussian", fields: [["mu", "μ", "0.3"]] },
  "zero-concentrated": { title: "ρ, concentrated", fields: [["rho", "ρ", "0.02"]] },
};
const PAID = {
  dp: ["dp", "approximate"],
  gaussian: ["gaussian", "dp", "approximate"],
  "zero-concentrated": ["zero-concentrated", "gaussian", "dp", "approximate"],
};

export function startPromise() {
  let controls = [];
  const draw = (chosen) => {
    controls = PROMISES[chosen].fields.map(([name, symbol, usual]) =>
      ({ name, symbol, control: typed({ value: usual, inputmode: "decimal", size: 8 }) }));
    find("numbers").replaceChildren(...controls.map(({ symbol, control }) => labeled(symbol, control)));
  };
  return {
    show(currency) {
      const offered = PAID[currency];
      find("currencies").replaceChildren(...offered.map((name, place) => {
        const button = make("input", { type: "radio", name: "promise", value: name, checked: place === 0 });
        button.addEventListener("input", () => draw(name));
        return make("label", {}, button, make("span", {}, PROMISES[name].title));
      }));
      draw(offered[0]);
    },
    guarantee() {
      const given = controls.map(({ name, symbol, control }) => [name, number(control, symbol)]);
      if (!given.length) throw new Unfinished("Choose a guarantee.");
      return Object.fromEntries(given);
    },
  };
}
