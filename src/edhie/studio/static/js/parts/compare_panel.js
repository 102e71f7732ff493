// Two equations side by side: where they differ, drawn on trees and in curves.
import { h, facts, select, message, latest, field, put } from "../dom.js";
import { get, post, ofRun } from "../api.js";
import { formula } from "../mathml.js";
import { number } from "../numbers.js";
import { fitChart } from "../charts/fit.js";
import { treeView, treeKey } from "../charts/tree.js";

const nameOf = (point) => `${point.isChosen ? "★ " : ""}${number(point.size)}: ${point.text.length > 60 ? `${point.text.slice(0, 59)}…` : point.text}`;

/** Return the panel; `points` are all equations, `point` the selected one. */
export function comparePanel(runId, point, points, target, columns) {
  if (points.length < 2) return h("p", { class: "quietly" }, "There is only one equation, so there is nothing to compare it with.");
  const other = points.find((each) => each.isChosen && each.key !== point.key) ?? points.find((each) => each.key !== point.key);
  const state = { a: point.key, b: other.key, x: columns[0] };
  const [treeA, treeB] = [treeView(), treeView()];
  const [mathA, mathB] = [h("div"), h("div")];
  const curves = fitChart(280);
  const told = h("div");
  const words = h("div", { class: "stack-small" });

  const update = latest(async () => {
    try {
      const [answer, fit] = await Promise.all([get(ofRun(runId, `/compare?${new URLSearchParams(state)}`)), post(ofRun(runId, "/fit"), { equation: Number(state.a), x: state.x })]);
      put(told);
      put(mathA, formula(answer.a.mathml, { target, kind: "little" }));
      put(mathB, formula(answer.b.mathml, { target, kind: "little" }));
      treeA.show(answer.a.tree, "Tree of the first equation");
      treeB.show(answer.b.tree, "Tree of the second equation");
      const { curves: drawn, largest_difference: largest } = answer;
      curves.show({ measured: fit.measured.map(({ x, y, held_out }) => ({ x, y, held_out })), xName: state.x, yName: target, from: drawn.data_from, to: drawn.data_to,
        curves: [{ x: drawn.x, y: drawn.a, name: "first" }, { x: drawn.x, y: drawn.b, kind: "second", name: "second" }] });
      put(words, h("p", null, answer.changes ? `From the first to the second: ${answer.changes}` : "They have the same form."),
        largest ? facts([["largest difference within the data", number(largest.value, 3)], ["there", largest.at ? Object.entries(largest.at).map(([name, value]) => `${name} = ${number(value)}`).join(", ") : largest.x === undefined ? null : `${state.x} = ${number(largest.x)}`]]) : "");
    } catch (error) {
      put(told, message("bad", error.message));
    }
  });

  const pick = (label, key) => field(label, select(points.map((each) => [each.key, nameOf(each)]), state[key], (chosen) => {
    state[key] = chosen;
    update();
  }));
  update();
  return h("div", { class: "stack" },
    h("div", { class: "two" }, h("div", { class: "stack-small" }, pick("First", "a"), mathA, treeA.element), h("div", { class: "stack-small" }, pick("Second", "b"), mathB, treeB.element)),
    treeKey(), words, told,
    columns.length > 1 ? h("label", { class: "tick" }, "against", select(columns.map((each) => [each, each]), state.x, (name) => {
      state.x = name;
      update();
    })) : null, curves.element);
}
