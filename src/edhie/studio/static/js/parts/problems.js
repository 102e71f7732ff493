// What is wrong with a table, cell by cell, and the remedies to press.
import { h, message } from "../dom.js";

const FEW = 4;

/** Return the problems; `onRemedy(options, label)` is called with what was pressed. */
export function problemsPart(summary, onRemedy) {
  const one = (problem) => {
    const remedies = (problem.remedies ?? []).map((each) => h("button",
      { type: "button", class: "slim", onclick: () => onRemedy(each.options, each.label) }, each.label));
    return message("warn", problem.message, remedies.length ? h("div", { class: "buttons" }, remedies) : null);
  };
  const [first, rest] = [summary.problems.slice(0, FEW), summary.problems.slice(FEW)];
  return h("div", { class: "stack-small" }, first.map(one),
    rest.length ? h("details", null, h("summary", null, `${rest.length} more`), h("div", { class: "stack-small" }, rest.map(one))) : null,
    (summary.notes ?? []).map((note) => h("p", { class: "hint" }, note)));
}
