// Trying numbers: sliders for the constants of an equation and for the values of the columns.
import { h, facts, message, latest, select, newId, put } from "../dom.js";
import { get, post, ofRun } from "../api.js";
import { number } from "../numbers.js";
import { fitChart } from "../charts/fit.js";

const STEPS = 400;

function slider(label, low, high, value, onChange) {
  const id = newId("slider");
  const shown = h("output", { for: id, class: "number" }, number(value, 5));
  const at = (place) => low + ((high - low) * place) / STEPS;
  const placeOf = (each) => Math.round(((each - low) / (high - low || 1)) * STEPS);
  const input = h("input", { id, type: "range", min: 0, max: STEPS, step: 1, oninput: () => {
    const now = at(Number(input.value));
    shown.textContent = number(now, 5);
    input.setAttribute("aria-valuetext", number(now, 5));
    onChange(now);
  } });
  input.value = placeOf(value);
  input.setAttribute("aria-valuetext", number(value, 5));
  const element = h("div", { class: "slider" }, h("label", { for: id, class: "name" }, label), shown, input);
  return { element, set: (each) => {
    input.value = placeOf(each);
    shown.textContent = number(each, 5);
    input.setAttribute("aria-valuetext", number(each, 5));
  } };
}

function reach({ value, standard_error: error }) {
  const wide = Math.max(5 * (error ?? 0), Math.abs(value) * 0.5, 1e-12);
  return [value - wide, value + wide];
}

function build(runId, point, target, columns, constants, first) {
  const own = constants.map((each) => each.value);
  const middle = { ...first.curve.at, [columns[0]]: (first.curve.data_from + first.curve.data_to) / 2 };
  let values = { ...middle };
  let numbers = [...own];
  let x = columns[0];
  let measured = first.measured;
  let drawnBefore = first.curve;
  const chart = fitChart(280);
  const told = h("div");
  const result = h("div", { "aria-live": "off" });

  const update = latest(async () => {
    try {
      const answer = await post(ofRun(runId, "/try"), { equation: Number(point.key), constants: numbers, values, x });
      put(told);
      put(result, facts([[`${target} here`, answer.value === null ? "no value" : number(answer.value, 5)], ["±", answer.standard_deviation === null ? null : number(answer.standard_deviation, 3), "Standard deviation of the prediction"], ["typical error with these constants", number(answer.rmse, 3)]]));
      const isMoved = numbers.some((each, i) => each !== own[i]);
      chart.show({ measured, xName: x, yName: target, from: drawnBefore.data_from, to: drawnBefore.data_to,
        curves: [{ ...answer.curve, name: isMoved ? "with your constants" : "equation" }] });
    } catch (error) {
      put(told, message("bad", error.message));
    }
  });

  async function across(name) {
    x = name;
    try {
      const answer = await post(ofRun(runId, "/fit"), { equation: Number(point.key), x });
      measured = answer.measured;
      drawnBefore = answer.curve;
    } catch (error) {
      put(told, message("bad", error.message));
    }
    update();
  }

  const ofConstants = constants.map((each, i) => slider(each.label, ...reach(each), each.value, (now) => {
    numbers[i] = now;
    update();
  }));
  const ofColumns = columns.map((name) => {
    const { low, high } = first.ranges[name];
    return slider(name, low, high, values[name] ?? (low + high) / 2, (now) => {
      values[name] = now;
      update();
    });
  });
  const reset = h("button", { type: "button", onclick: () => {
    numbers = [...own];
    values = { ...middle };
    ofConstants.forEach((each, i) => each.set(own[i]));
    ofColumns.forEach((each, i) => each.set(values[columns[i]]));
    update();
  } }, "Back to the fitted values");
  update();
  return h("div", { class: "two try" },
    h("div", { class: "stack" },
      h("section", { class: "stack-small" }, h("h3", null, "Values"), ofColumns.map((each) => each.element)),
      constants.length ? h("section", { class: "stack-small" }, h("h3", null, "Constants"), ofConstants.map((each) => each.element)) : null, reset),
    h("div", { class: "stack-small" }, result, told, columns.length > 1 ? h("label", { class: "tick small" }, "against", select(columns.map((each) => [each, each]), x, across)) : null, chart.element));
}

/** Return the panel of an equation. */
export function tryPanel(runId, point, target, columns) {
  const place = h("div", null, h("p", { class: "quietly" }, "Reading…"));
  const which = { equation: Number(point.key) };
  Promise.all([get(ofRun(runId, `/equations/${point.key}`)), ...columns.map((x) => post(ofRun(runId, "/fit"), { ...which, x }))]).then(([{ constants }, ...fits]) => {
    const ranges = Object.fromEntries(columns.map((name, i) => {
      const { data_from: low, data_to: high } = fits[i].curve;
      return [name, { low: low - 0.3 * (high - low), high: high + 0.3 * (high - low) }];
    }));
    put(place, build(runId, point, target, columns, constants, { ...fits[0], ranges }));
  }).catch((error) => put(place, message("bad", error.message)));
  return place;
}
