// The fitted constants of an equation with their standard errors, and its tree.
import { h, message, scrollable, put } from "../dom.js";
import { get, ofRun } from "../api.js";
import { formula } from "../mathml.js";
import { number, written } from "../numbers.js";
import { treeView } from "../charts/tree.js";

function table(constants) {
  const error = (each) => (each.is_held ? "given" : each.standard_error === null ? "not determined" : number(each.standard_error, 2));
  const cells = (each) => h("tr", null, h("th", { scope: "row", class: "constant-label" }, each.label), h("td",
    { class: "number" }, written(each.text.split(" ± ")[0])),
    h("td", { class: "number" }, error(each)), h("td", { class: "number" },
      each.low === null ? "–" : `${number(each.low)} to ${number(each.high)}`));
  return scrollable("Constants", h("table", { class: "compact" },
    h("caption", null,
      "Standard error: how far off the number may typically be. The interval holds the true value in 95 of 100 cases, if the equation is right."),
    h("thead", null,
      h("tr", null, h("th", { scope: "col" }, "constant"),
        ["value", "± standard error", "95 % interval"].map((each) => h("th", { scope: "col", class: "number" }, each)))),
    h("tbody", null, constants.map(cells))));
}

/** Return the panel of an equation, filled when its details are there. */
export function constantsPanel(runId, point, target) {
  const place = h("div", { class: "stack" }, h("p", { class: "quietly" }, "Reading…"));
  get(ofRun(runId, `/equations/${point.key}`)).then(({ constants, numbered_mathml: numbered, tree, note }) => {
    const drawn = treeView();
    drawn.show(tree, `Tree of ${point.text}`);
    put(place,
      ...(constants.length ? [
        formula(numbered, { text: point.text, target }), table(constants), note ? message("warn", note) : null,
      ] : [h("p", null, "This equation has no fitted constants.")]),
      h("section", { class: "stack-small" }, h("h3", null, "How it is built"), drawn.element));
  }).catch((error) => put(place, message("bad", error.message)));
  return place;
}
