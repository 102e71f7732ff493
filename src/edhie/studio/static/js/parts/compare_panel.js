// Two equations side by side: where they differ, drawn on trees and in curves.
import { h, facts, select, message, latest, field, put } from "../dom.js";
import { get, post, ofRun } from "../api.js";
import { formula } from "../mathml.js";
import { assigned, number } from "../numbers.js";
import { fitChart } from "../charts/fit.js";
import { axesChoice } from "./axes_choice.js";
import { treeView, treeKey } from "../charts/tree.js";

const clipped = (text) => (text.length > 60 ? `${text.slice(0, 59)}…` : text);
const nameOf = (point) => `${point.isChosen ? "★ " : ""}${number(point.size)}: ${clipped(point.text)}`;

/** Return the panel; `points` are all equations, `point` the selected one. */
export function comparePanel(runId, point, points, target, columns) {
  if (points.length < 2) return h("p", { class: "quietly" }, "There is only one equation, so there is nothing to compare it with.");
  const sorted = [...points].sort((a, b) => a.size - b.size);
  const at = sorted.findIndex((each) => each.key === point.key);
  const other = points.find((each) => each.isChosen && each.key !== point.key) ?? sorted[at + 1] ?? sorted[at - 1];
  const state = { a: point.key, b: other.key };
  const axes = axesChoice(columns.map((name) => [name, name]), "What is drawn across", () => update());
  const [treeA, treeB] = [treeView(), treeView()];
  const [mathA, mathB] = [h("div"), h("div")];
  const curves = fitChart(280);
  const told = h("div");
  const note = h("p", { class: "hint" });
  const words = h("div", { class: "stack-small" });

  const update = latest(async () => {
    try {
      const x = axes.x();
      const fit = await post(ofRun(runId, "/fit"), { equation: Number(state.a), x });
      const log = axes.log(fit.measured.map((row) => row.x), fit.measured.map((row) => row.y));
      const answer = await get(ofRun(runId, `/compare?${new URLSearchParams({ ...state, x, ...(log ? { log: 1 } : {}) })}`));
      put(told);
      put(mathA, formula(answer.a.mathml, { target, kind: "little" }));
      put(mathB, formula(answer.b.mathml, { target, kind: "little" }));
      treeA.show(answer.a.tree, "Tree of the first equation");
      treeB.show(answer.b.tree, "Tree of the second equation");
      const { curves: drawn, largest_difference: largest } = answer;
      // with several columns, points have values of their own and would not lie on either curve
      const measured = columns.length > 1 ? [] : fit.measured.map((row) => ({ x: row.x, y: row.y, held_out: row.held_out }));
      const others = assigned(drawn.at ?? {});
      note.textContent = others && `Drawn for typical values of the other columns: ${others}.`;
      curves.show({ measured, xName: x, yName: target, from: drawn.data_from, to: drawn.data_to, log,
        curves: [{ x: drawn.x, y: drawn.a, name: "first" }, { x: drawn.x, y: drawn.b, kind: "second", name: "second" }] });
      put(words, h("p", null, answer.changes ? `From the first to the second: ${answer.changes}` : "They have the same form."),
        largest ? facts([
          ["largest difference, over your rows", number(largest.value, 3)],
          ["where", assigned(largest.at)],
        ]) : "");
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
    h("div", { class: "two" }, h("div", { class: "stack-small" }, pick("First", "a"), mathA, treeA.element),
      h("div", { class: "stack-small" }, pick("Second", "b"), mathB, treeB.element)),
    treeKey(), words, told,
    axes.element, curves.element, note);
}
