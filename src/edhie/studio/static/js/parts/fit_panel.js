// How well an equation fits: the measured values against it or along a column, and the residuals below.
import { h, facts, message, latest, put } from "../dom.js";
import { post, ofRun } from "../api.js";
import { assigned, errorWords, share } from "../numbers.js";
import { fitChart, residualChart } from "../charts/fit.js";
import { axesChoice } from "./axes_choice.js";

const EQUATION = "\u0000equation"; // no column has this name

/** Return the panel, with `show(which)`: {equation: K} or {expression: text}; `columns` may be drawn across. */
export function fitPanel(runId, target, columns) {
  const fit = fitChart();
  const residuals = residualChart();
  const told = h("div");
  const measures = h("div");
  const note = h("p", { class: "hint" });
  const left = h("p", { class: "hint" });
  const pairs = columns.map((name) => [name, name]);
  const axes = axesChoice(columns.length > 1 ? [[EQUATION, "what the equation says"], ...pairs] : pairs, "What is drawn across",
    () => load());
  let which = null;

  function againstEquation({ measured }, log) {
    const rows = measured.filter((each) => each.predicted !== null).map((each) => ({ ...each, x: each.predicted }));
    const ends = rows.flatMap((each) => [each.x, each.y]);
    const line = ends.length ? [Math.min(...ends), Math.max(...ends)] : [];
    const xName = `${target} by the equation`;
    fit.show({
      measured: rows, curves: [{ x: line, y: line, name: "exact agreement" }], xName, yName: `${target}, measured`, log,
    });
    residuals.show({ measured: rows, xName, log });
    note.textContent = "Each point is a row of your table. The closer to the line, the better.";
  }

  function alongColumn({ measured, curve }, log) {
    const x = axes.x();
    fit.show({
      measured, curves: [{ ...curve, name: "equation" }], xName: x, yName: target, from: curve.data_from, to: curve.data_to, log,
    });
    residuals.show({ measured, xName: x, log });
    const others = assigned(curve.at ?? {});
    note.textContent = others
      && `The curve is drawn for typical values of the other columns: ${others}. The points have values of their own, so they need not lie on it.`;
  }

  const load = latest(async () => {
    if (which === null) return;
    const isWhole = axes.x() === EQUATION;
    const asked = { ...which, x: isWhole ? columns[0] : axes.x() };
    try {
      let answer = await post(ofRun(runId, "/fit"), asked);
      const log = axes.log(answer.measured.map((each) => (isWhole ? each.predicted : each.x)),
        answer.measured.map((each) => each.y));
      if (log && !isWhole) answer = await post(ofRun(runId, "/fit"), { ...asked, log }); // with points of the curve for such an axis
      put(told);
      put(measures, facts([["typical error", errorWords(answer.error, answer.is_relative)], ["R²", share(answer.r2)]]));
      const isScaled = answer.measured.some((each) => each.scaled !== undefined);
      left.textContent = `Measured minus equation${isScaled ? ", divided by how far a row is expected to scatter" : ""}. ${
        isScaled ? "Most points are between −2 and 2. " : ""}A good equation leaves only scatter, without a pattern.`;
      if (isWhole) againstEquation(answer, log);
      else alongColumn(answer, log);
    } catch (error) {
      put(told, message("bad", error.message));
    }
  });

  const element = h("div", { class: "stack-small" },
    h("div", { class: "head" }, measures, axes.element), told, fit.element, note, h("h3", null, "What is left over"),
    left, residuals.element);
  return { element, show: (given) => {
    which = given;
    load();
  } };
}
