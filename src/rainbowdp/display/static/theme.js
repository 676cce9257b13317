// Light, dark, or as the system has it. Nothing is remembered: nothing is written to disk.

import { find } from "./dom.js";

const STATES = [
  { theme: null, sign: "◐", label: "Colors: as the system" },
  { theme: "light", sign: "☀", label: "Colors: light" },
  { theme: "dark", sign: "☾", label: "Colors: dark" },
];

export function startTheme(changed) {
  let state = 0;
  const button = find("theme");
  button.addEventListener("click", () => {
    state = (state + 1) % STATES.length;
    const { theme, sign, label } = STATES[state];
    if (theme) document.documentElement.dataset.theme = theme;
    else delete document.documentElement.dataset.theme;
    button.textContent = sign;
    button.setAttribute("aria-label", label);
    changed();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
}
