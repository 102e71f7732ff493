// The front and the equation that is selected in it. It grows while the search goes on; the selection stays.
import { h, facts, scrollable, put } from "../dom.js";
import { front } from "../charts/front.js";
import { formula } from "../mathml.js";
import { number, share, counted, errorWords } from "../numbers.js";

const ERROR = "By how much computed and measured values usually differ (the root of the mean squared difference), in the unit of the column.";
const RELATIVE_ERROR = "By how much computed and measured values usually differ, in per cent of the computed value: your measurements scatter in proportion to it.";
const MEANINGS = [
  ["R²", "The share of the variation that the equation explains: 1 is all of it, 0 is no better than the mean."],
  ["R², rows kept aside", "The same for rows that the search did not see. If it is much lower, do not trust the equation."],
  ["confidence", "How sure edhie is of this equation, among all that it found: short ones that leave only noise win."],
];

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
  const isWide = matchMedia("(min-width: 56rem)").matches;
  const table = h("details", { open: isWide, class: "others" }, h("summary", null, "All as a list"), scrollable("All equations",
    h("table", { class: "list" },
      h("thead", null,
        h("tr", null, across, h("th", { scope: "col", class: "number" }, "typical error"), h("th", { scope: "col" }, "equation"))),
      rows)));
  const frontTitle = h("h2");
  const frontHint = h("p", { class: "hint" });
  const meanings = h("details", { class: "small" }, h("summary", null, "What do these numbers mean?"),
    h("dl", { class: "meanings" }));
  let points = [];
  let selected = null;
  let isOwnChoice = false;
  let settings = {};
  let shown = "";
  let drawn = "";
  let listed = null; // the selected one when the list was drawn

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
        ["typical error", errorWords(error, settings.isRelative)], ["R²", share(r2)], ["R², rows kept aside", share(r2Validation)],
        [settings.across, counted(size, settings.unit)], ["confidence", confidence || null],
      ]));
    put(meanings.querySelector("dl"),
      [["typical error", settings.isRelative ? RELATIVE_ERROR : ERROR], ...MEANINGS, [settings.across, settings.acrossHint]].map(([word, meaning]) => [h("dt", null, word), h("dd", null, meaning)]));
  }

  function drawList() {
    across.textContent = settings.across;
    const isFocused = rows.contains(document.activeElement);
    put(rows, ...[...points].sort((a, b) => a.size - b.size).map((point) => h("tr", { "aria-current": point.key === selected ? "true" : null },
      h("td", { class: "number" }, number(point.size)), h("td", { class: "number" }, errorWords(point.error, settings.isRelative)),
      h("td", { class: "name" },
        h("button", { type: "button", class: "link mono", onclick: () => choose(point.key, true) }, point.text),
        point.isChosen ? h("span", { class: "mark" }, " ★ recommended") : null))));
    if (isFocused) rows.querySelector("[aria-current] button")?.focus();
    if (selected !== listed) showRow(rows.querySelector("[aria-current]"));
    listed = selected;
  }

  /** Scroll the list, not the page, so that a row is in sight below the head of the table. */
  function showRow(row) {
    const box = row?.closest(".scroll");
    if (!box || !box.clientHeight) return;
    const [top, room] = [row.offsetTop - rows.offsetTop, box.clientHeight - rows.offsetTop];
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + row.offsetHeight > box.scrollTop + room) box.scrollTop = top + row.offsetHeight - room;
  }

  function wordsOf({ isChosen, size, error, text }) {
    const first = isChosen ? "Recommended. " : "";
    return `${first}${settings.across} ${number(size)}, typical error ${errorWords(error, settings.isRelative)}\n${text}`;
  }

  function draw() {
    frontTitle.textContent = settings.frontTitle;
    frontHint.textContent = settings.frontHint;
    drawHero();
    drawList();
    chart.show({
      label: `${settings.across} against typical error of ${counted(points.length, "equation")}`, across: settings.acrossTitle, selected,
      isRelative: settings.isRelative, points: points.map((point) => ({ ...point, words: wordsOf(point) })),
    });
  }

  function show(given, options) {
    const now = JSON.stringify([given, options]);
    if (now === drawn) return; // drawn again, it would take a press or a tooltip away
    drawn = now;
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
    h("section", { class: "card stack-small selected" }, heading, hero, meanings, table),
    h("section", { class: "card stack-small" }, frontTitle, frontHint, chart.element));
  return { element, show, current };
}
