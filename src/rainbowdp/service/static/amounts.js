// Amounts of privacy: exact fractions from the service, short decimals for people.

import { short } from "../shared/numbers.js";

const SYMBOLS = { epsilon: "ε", delta: "δ", mu_squared: "μ", mu: "μ", rho: "ρ" };

export function fraction(text) {
  const [above, below = "1"] = text.split("/");
  return Number(above) / Number(below);
}

const shown = (name, text) => short(name === "mu_squared" ? Math.sqrt(fraction(text)) : fraction(text));

/** ε 0.5, δ 1e-6; a δ of 0 goes without saying. */
export function inSymbols(amounts) {
  return Object.entries(amounts)
    .filter(([name, text]) => name !== "delta" || text !== "0")
    .map(([name, text]) => `${SYMBOLS[name] ?? name} ${shown(name, text)}`)
    .join(", ") || "nothing";
}

/** How much of a total an amount is, by the part that runs out first. */
export function shareOf(amounts, total) {
  const shares = Object.keys(total)
    .filter((name) => fraction(total[name]) > 0)
    .map((name) => fraction(amounts[name]) / fraction(total[name]));
  return Math.max(0, ...shares);
}
