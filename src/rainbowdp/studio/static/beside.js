// Two settings side by side: one is kept in a second picture, and a table compares them.

import { find, make } from "/shared/dom.js";
import { percent } from "/shared/numbers.js";

/** `picture` draws the kept setting; `known` tells the state, the offers and their costs. */
export function startBeside(picture, known, redraw) {
  let kept = null;

  const named = (settings, answer) => `${known.offer(settings.mechanism).title ?? settings.mechanism}, ${answer.guarantee.text}${settings.boundary ? ", boundary by hand" : ""}`;
  const costOf = ({ mechanism }) => known.listed().find(({ name }) => name === mechanism);

  function keep() {
    const { answer, settings, world } = known.state;
    if (!answer?.rows) return;
    kept = { settings: { ...settings }, answer, cost: costOf(settings) };
    find("pair").hidden = false;
    document.documentElement.dataset.pair = "true";
    picture.show(world);
    redraw();
    show();
  }

  function letGo() {
    if (!kept) return;
    kept = null;
    find("pair").hidden = true;
    delete document.documentElement.dataset.pair;
    redraw();
  }

  /** Costs that were not known yet when a setting was kept. */
  function learn() {
    if (!kept) return;
    const bare = (settings) => JSON.stringify({ ...settings, dataset: 0 });
    if (bare(kept.settings) === bare(known.state.settings)) kept.cost = costOf(kept.settings);
    if (known.state.answer) show();
  }

  function show() {
    const { world, answer, settings } = known.state;
    if (!kept) return;
    picture.paint(kept.answer.rows, kept.answer.verdict);
    picture.mark(settings.dataset ?? null, null);
    const at = settings.dataset ?? 0;
    const line = (head, a, b) => make("tr", {}, make("th", { scope: "row" }, head), make("td", {}, a), make("td", {}, b));
    const first = (rows) => (rows ? percent(rows[at][0]) : "–");
    const error = (found, name) => (found && name in found ? percent(found[name]) : "–");
    const cost = costOf(settings);
    find("pair-table").replaceChildren(
      make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col" }, named(kept.settings, kept.answer)), make("th", { scope: "col" }, named(settings, answer)))),
      make("tbody", {},
        line(`${world.datasets[at].name} says its first choice`, first(kept.answer.rows), first(answer.rows)),
        line("missed on average", error(kept.cost, "mean_error"), error(cost, "mean_error")),
        line("missed at worst", error(kept.cost, "worst"), error(cost, "worst"))));
    find("pair-label").textContent = `Kept: ${named(kept.settings, kept.answer)}`;
  }

  find("keep").addEventListener("click", keep);
  find("let-go").addEventListener("click", letGo);
  return { show, letGo, learn };
}
