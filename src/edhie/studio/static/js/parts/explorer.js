// The front and the equation that is selected in it. It grows while the search goes on; the selection stays.
import { h, facts, scrollable, put } from "../dom.js";
import { front, wordsOf } from "../charts/front.js";
import { formula } from "../mathml.js";
import { number, share, counted } from "../numbers.js";

/**
 * Return the front with the equation beside it. `onSelect(point)` is called when another is selected.
 * A point has key, size, error, text, mathml, isChosen and, once known, r2, r2Validation and confidence.
 */
export function explorer(onSelect) {
  const chart = front((key) => choose(key, true));
  const hero = h("div", { class: "hero-box" });
  const heading = h("h2");
  const rows = h("tbody");
  const across = h("th", { scope: "col", class: "number" });
  const table = h("details", null, h("summary", null, "All as a list"), scrollable("All equations",
    h("table", { class: "list" }, h("thead", null, h("tr", null, across, h("th", { scope: "col", class: "number" }, "typical error"), h("th", { scope: "col" }, "equation"))), rows)));
  let points = [];
  let selected = null;
  let isOwnChoice = false;
  let settings = { target: "", across: "complexity", unit: "symbol" };
  let shown = "";

  const current = () => points.find((each) => each.key === selected) ?? null;

  function choose(key, isOwn) {
    selected = key;
    isOwnChoice = isOwn;
    draw();
    onSelect(current());
  }

  function drawHero() {
    const point = current();
    const now = JSON.stringify([point, settings]);
    if (now === shown) return;
    shown = now;
    if (!point) return void put(hero, h("p", { class: "quietly" }, "No equation yet."));
    const { text, mathml, error, size, r2, r2Validation, confidence, isChosen, changes } = point;
    heading.textContent = isChosen ? settings.chosenTitle : settings.otherTitle;
    put(hero, formula(mathml, { text, target: settings.target, kind: "hero" }),
      changes ? h("p", null, `What changed: ${changes}`) : null,
      facts([
        ["typical error", number(error, 3), "Root of the mean squared difference between measured and computed values"],
        ["R²", share(r2), "Share of the variation that the equation explains; 1 is all of it"],
        ["R² on rows kept aside", share(r2Validation), "The same on rows that the search did not see"],
        [settings.across, settings.unit ? counted(size, settings.unit) : number(size), settings.acrossHint],
        ["confidence", confidence || null, "How sure edhie is of this equation, against the others that it found"],
      ]));
  }

  function drawList() {
    across.textContent = settings.across;
    const isFocused = rows.contains(document.activeElement);
    put(rows, ...[...points].sort((a, b) => a.size - b.size).map((point) => h("tr", { "aria-current": point.key === selected ? "true" : null },
      h("td", { class: "number" }, number(point.size)), h("td", { class: "number" }, number(point.error, 3)),
      h("td", { class: "name" }, h("button", { type: "button", class: "link mono", onclick: () => choose(point.key, true) }, point.text), point.isChosen ? h("span", { class: "mark" }, " ★ recommended") : null))));
    if (isFocused) rows.querySelector('[aria-current] button')?.focus();
  }

  function draw() {
    drawHero();
    drawList();
    chart.show({
      label: `${settings.across} against typical error of ${counted(points.length, "equation")}`, across: settings.acrossTitle, selected,
      points: points.map((point) => ({ ...point, words: `${point.isChosen ? "Recommended. " : ""}${wordsOf(settings.across, point.size, point.error, point.text)}` })),
    });
  }

  function show(given, options) {
    points = given;
    settings = { ...settings, ...options };
    const chosen = points.find((each) => each.isChosen) ?? points.at(-1) ?? null;
    const isStillThere = points.some((each) => each.key === selected);
    const before = selected;
    if (!isOwnChoice || !isStillThere) {
      selected = chosen?.key ?? null;
      isOwnChoice = isOwnChoice && isStillThere;
    }
    draw();
    if (selected !== before) onSelect(current());
  }

  const element = h("div", { class: "explorer" },
    h("section", { class: "card stack-small selected" }, heading, hero),
    h("section", { class: "card stack-small" }, h("h2", null, "Simple or accurate"),
      h("p", { class: "hint" }, "Each point is an equation; further right it is longer, further down it errs less. ★ is the one edhie recommends. Click a point, or use the arrow keys."), chart.element, table));
  return { element, show, current, choose: (key) => choose(key, true) };
}
