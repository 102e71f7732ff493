// How well an equation fits: the curve with the measured points, and the residuals below.
import { h, facts, select, message, latest, put } from "../dom.js";
import { post, ofRun } from "../api.js";
import { number, share } from "../numbers.js";
import { fitChart, residualChart } from "../charts/fit.js";

/** Return the panel, with `show(which)`: {equation: K} or {expression: text}; `columns` may be used across. */
export function fitPanel(runId, target, columns) {
  const fit = fitChart();
  const residuals = residualChart();
  const told = h("div");
  const measures = h("div");
  const others = h("p", { class: "hint" });
  let x = columns[0];
  let which = null;

  const load = latest(async () => {
    if (which === null) return;
    try {
      const answer = await post(ofRun(runId, "/fit"), { ...which, x });
      put(told);
      const { curve } = answer;
      fit.show({ measured: answer.measured, curves: [{ ...curve, name: "equation" }], xName: x, yName: target, from: curve.data_from, to: curve.data_to });
      residuals.show({ measured: answer.measured, xName: x });
      const held = Object.entries(curve.at ?? {});
      others.textContent = held.length ? `The curve is drawn for typical values of the other columns: ${held.map(([name, value]) => `${name} = ${number(value)}`).join(", ")}. Points have their own values, so they need not lie on it.` : "";
      put(measures, facts([["typical error", number(answer.rmse, 3)], ["R²", share(answer.r2)]]));
    } catch (error) {
      put(told, message("bad", error.message));
    }
  });

  const control = select(columns.map((name) => [name, name]), x, (name) => {
    x = name;
    load();
  });
  const element = h("div", { class: "stack-small" },
    h("div", { class: "head" }, measures, columns.length > 1 ? h("label", { class: "tick" }, "against", control) : null), told,
    fit.element, others, h("h3", null, "What is left over"),
    h("p", { class: "hint" }, "Measured minus equation. A good equation leaves only scatter, without a pattern."), residuals.element);
  return { element, show: (given) => {
    which = given;
    load();
  } };
}
