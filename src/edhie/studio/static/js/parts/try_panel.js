// Trying numbers: sliders for the constants of an equation and for the values of the columns.
import { h, facts, message, latest, newId, put } from "../dom.js";
import { get, post, ofRun } from "../api.js";
import { errorWords, number, readings } from "../numbers.js";
import { fitChart } from "../charts/fit.js";
import { axesChoice } from "./axes_choice.js";

const STEPS = 400;
const MOST_DIGITS = 15; // of a number that was typed
const BEYOND = 0.3; // of the range of the data, to either side

/** Return a slider with a field for a number; `data` are the ends of the data of a column, beyond which it says so. */
function slider(label, low, high, value, onChange, data = null) {
  const id = newId("slider");
  const typed = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", class: "typed",
    "aria-label": `${label}, typed`, "aria-describedby": `${id}-told` });
  const told = h("div", { id: `${id}-told`, class: "told small", "aria-live": "polite" });
  const show = (each, digits = 5) => {
    typed.value = Number(each.toPrecision(digits));
    typed.removeAttribute("aria-invalid");
    input.setAttribute("aria-valuetext", number(each, 5));
    const isBeyond = data && (each < data[0] || each > data[1]);
    put(told, isBeyond ? h("p", { class: "beyond" }, `beyond the data, which go from ${number(data[0])} to ${number(data[1])}`) : null);
  };
  const at = (place) => low + ((high - low) * place) / STEPS;
  const placeOf = (each) => Math.round(((each - low) / (high - low || 1)) * STEPS);
  const input = h("input", { id, type: "range", min: 0, max: STEPS, step: 1, oninput: () => {
    const now = at(Number(input.value));
    show(now);
    onChange(now);
  } });
  const set = (each) => {
    input.value = placeOf(each);
    show(each);
  };
  const take = (each) => {
    input.value = placeOf(each); // at its end, if the number is beyond
    show(each, MOST_DIGITS); // as it was understood
    onChange(each);
  };
  typed.onchange = () => {
    const meanings = readings(typed.value);
    if (meanings.length === 1) return void take(meanings[0]);
    typed.setAttribute("aria-invalid", "true");
    put(told, h("p", { class: "error-text" }, meanings.length ? `${typed.value} can mean two numbers:` : "This is no number."),
      meanings.map((each) => h("button", { type: "button", class: "slim", onclick: () => {
        typed.focus();
        take(each);
      } }, String(each))));
  };
  set(value);
  const element = h("div", { class: "slider" }, h("label", { for: id, class: "name" }, label), typed, told, input);
  return { element, set };
}

function reach({ value, standard_error: error }) {
  const wide = Math.max(5 * (error ?? 0), Math.abs(value) * 0.5, 1e-12);
  return [value - wide, value + wide];
}

function build(runId, point, target, columns, constants, fits) {
  const [first] = fits;
  const own = constants.map((each) => each.value);
  const middle = { ...first.curve.at, [columns[0]]: (first.curve.data_from + first.curve.data_to) / 2 };
  let values = { ...middle };
  let numbers = [...own];
  const axes = axesChoice(columns.map((name) => [name, name]), "What is drawn across", () => update());
  const chart = fitChart(280);
  const told = h("div");
  const result = h("div", { "aria-live": "off" });

  const update = latest(async () => {
    try {
      const isMoved = numbers.some((each, i) => each !== own[i]);
      const { measured, curve } = fits[columns.indexOf(axes.x())];
      const log = axes.log(measured.map((each) => each.x), measured.map((each) => each.y));
      const answer = await post(ofRun(runId, "/try"),
        { equation: Number(point.key), constants: isMoved ? numbers : undefined, values, x: axes.x(), log });
      put(told);
      put(result,
        facts([
          [`${target} here`, answer.value === null ? "no value" : number(answer.value, 5)],
          ["± standard deviation of the equation", answer.standard_deviation === null ? null : number(answer.standard_deviation, 3)],
          ["typical error with these constants", errorWords(answer.error, answer.is_relative)],
        ]));
      chart.show({ measured: columns.length > 1 ? [] : measured, xName: axes.x(), yName: target, from: curve.data_from, to: curve.data_to,
        log, curves: [{ ...answer.curve, name: isMoved ? "with your constants" : "equation" }] });
    } catch (error) {
      put(told, message("bad", error.message));
    }
  });

  const ofConstants = constants.map((each, i) => slider(each.label, ...reach(each), each.value, (now) => {
    numbers[i] = now;
    update();
  }));
  const ofColumns = columns.map((name) => {
    const { data_from: from, data_to: to } = fits[columns.indexOf(name)].curve;
    const [low, high] = [from - BEYOND * (to - from), to + BEYOND * (to - from)];
    return slider(name, low, high, values[name] ?? (low + high) / 2, (now) => {
      values[name] = now;
      update();
    }, [from, to]);
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
      constants.length ? h("section", { class: "stack-small" }, h("h3", null, "Constants"),
        ofConstants.map((each) => each.element)) : null, reset),
    h("div", { class: "stack-small" }, result, told, axes.element, chart.element));
}

/** Return the panel of an equation. */
export function tryPanel(runId, point, target, columns) {
  const place = h("div", null, h("p", { class: "quietly" }, "Reading…"));
  const which = { equation: Number(point.key) };
  Promise.all([
    get(ofRun(runId, `/equations/${point.key}`)), ...columns.map((x) => post(ofRun(runId, "/fit"), { ...which, x })),
  ]).then(([{ constants }, ...fits]) => {
    put(place, build(runId, point, target, columns, constants, fits));
  }).catch((error) => put(place, message("bad", error.message)));
  return place;
}
