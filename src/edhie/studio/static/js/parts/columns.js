// The columns of a table: what to explain, and what it may depend on.
import { h, scrollable } from "../dom.js";
import { number, counted } from "../numbers.js";
import { histogram } from "../charts/histogram.js";

const MANY = 12;

function kindWords(column) {
  if (column.kind === "text") return "text";
  if (column.kind === "empty") return "empty";
  return column.is_constant ? "number, always the same" : "number";
}

function gaps(column) {
  if (column.kind !== "number") return "–";
  const found = [];
  if (column.n_missing) found.push(`${counted(column.n_missing, "cell")} missing`);
  if (column.n_other) found.push(`${counted(column.n_other, "cell")} no number`);
  return found.join(", ") || "none";
}

const canExplain = (column) => column.kind === "number" && !column.is_constant;

/**
 * Return the table of columns. `question` has target, features (a Set) and sigma, and is changed in place;
 * `onChange()` is called after each change.
 */
export function columnsPart(summary, question, onChange) {
  const ticks = new Map();

  function mark() {
    for (const [name, box] of ticks) {
      const isTaken = name === question.target || name === question.sigma;
      box.disabled = isTaken;
      box.checked = !isTaken && question.features.has(name);
    }
  }

  function row(column) {
    const canBeUsed = canExplain(column);
    const radio = h("input", { type: "radio", name: "target", disabled: !canBeUsed, checked: column.name === question.target, "aria-label": `Explain ${column.name}`, onchange: () => {
      if (question.target) question.features.add(question.target);
      question.target = column.name;
      question.features.delete(column.name);
      if (question.sigma === column.name) question.sigma = null;
      mark();
      onChange();
    } });
    const box = h("input", { type: "checkbox", disabled: !canBeUsed, "aria-label": `Use ${column.name}`, onchange: () => {
      if (box.checked) question.features.add(column.name);
      else question.features.delete(column.name);
      onChange();
    } });
    if (canBeUsed) ticks.set(column.name, box);
    const isNumber = column.kind === "number";
    return h("tr", { class: canBeUsed ? null : "unusable" },
      h("td", { "data-label": "Explain" }, radio), h("td", { "data-label": "Use" }, box),
      h("th", { scope: "row", class: "name" }, column.name),
      h("td", { "data-label": "Type" }, kindWords(column)),
      h("td", { class: "range", "data-label": "Range" },
        isNumber && column.min !== null ? `${number(column.min)} to ${number(column.max)}` : "–"),
      h("td", { "data-label": "Missing" }, gaps(column)),
      h("td", { class: "picture" }, histogram(column)));
  }

  const usable = summary.columns.filter(canExplain);
  const all = (isOn) => () => {
    question.features = new Set(isOn ? usable.map((each) => each.name).filter((name) => name !== question.target && name !== question.sigma) : []);
    mark();
    onChange();
  };
  const table = h("table", { class: "columns" },
    h("caption", null, "“Explain” marks the column that the equation should predict; “use” those it may contain."),
    h("thead", null,
      h("tr", null,
        ["Explain", "Use", "Column", "Type", "Range", "Missing", "Distribution"].map((each) => h("th", { scope: "col" }, each)))),
    h("tbody", null, summary.columns.map(row)));
  mark();
  const box = scrollable("Columns of the table", table);
  if (summary.columns.length > MANY) box.classList.add("tall");
  return {
    element: h("div", { class: "stack-small" }, box,
      usable.length > 3 ? h("div", { class: "buttons" },
        h("button", { type: "button", class: "slim", onclick: all(true) }, "Use all"),
        h("button", { type: "button", class: "slim", onclick: all(false) }, "Use none")) : null),
    mark,
  };
}
