// What became of a formula of one's own: the verdict, and the change drawn on trees.
import { h } from "../dom.js";
import { formula } from "../mathml.js";
import { treeView, treeKey } from "../charts/tree.js";

/** Return the verdict of a revision. */
export function verdictPart(revision) {
  return h("div", { class: "message verdict" }, h("p", null, h("strong", null, "Verdict: "), revision.verdict));
}

/** Return the panel that shows what changed at one step. */
export function changesPanel(revision, point, target) {
  const step = revision.steps.find((each) => String(each.index) === point.key);
  const [before, after] = [treeView(), treeView()];
  before.show(step.original_tree, "Tree of your formula");
  after.show(step.tree, "Tree of the revised formula");
  return h("div", { class: "stack" }, h("p", null, step.changes ? `What changed: ${step.changes}` : "Nothing but constants."),
    h("div", { class: "two" },
      h("section", { class: "stack-small" }, h("h3", null, "Your formula"),
        formula(revision.original.mathml, { text: revision.original.text, target, kind: "little" }), before.element),
      h("section", { class: "stack-small" }, h("h3", null, "Revised"),
        formula(step.mathml, { text: step.right_side, target, kind: "little" }), after.element)),
    treeKey());
}
