// The badge: private or not, and how we know.

import { find } from "/shared/dom.js";

const WORDS = {
  busy: "Asking…",
  proving: "Private on every edge; proving exactly…",
  proved: "Private: proved exactly",
  checked: "Private: checked on every edge",
  refused: "Not available here",
};

export function showBadge(state, detail) {
  const badge = find("badge");
  const words = state === "violated" ? "Not private: violated by" : WORDS[state];
  if (badge.dataset.state === state && badge.querySelector(".detail").textContent === detail) return;
  badge.dataset.state = state;
  badge.querySelector("strong").textContent = words;
  badge.querySelector(".detail").textContent = detail;
}
