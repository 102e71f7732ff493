// The learned space: a way between two formulas, and the neighbours of one.
import { h, field, select, message, latest, debounced, put } from "../dom.js";
import { post, setup } from "../api.js";
import { formula } from "../mathml.js";
import { formulaField } from "../parts/formula_field.js";
import { treeView } from "../charts/tree.js";
import { counted } from "../numbers.js";

const STEPS = 41;
const MOST = 20; // neighbours that are shown
const TRIES = 60; // points around a formula that are looked at
const DISTANCES = [[1.5, "near"], [2, "further away"], [3, "far away"]]; // times the spread of the formula in the space
const EXAMPLES = { 1: ["c*sin(x)", "x^2 + x"], 2: ["c*x*exp(-t)", "x/(t + c)"] };

function betweenPart(model) {
  const [first, second] = EXAMPLES[Math.min(model.variables.length, 2)];
  const told = h("div", { "aria-live": "polite" });
  const shown = h("div");
  const tree = treeView();
  const where = h("output", { class: "quietly" });
  const slider = h("input",
    {
      type: "range", min: 0, max: STEPS - 1, value: 0, "aria-label": "Place between the two formulas",
      oninput: () => show(Number(slider.value)),
    });
  const stage = h("div", { class: "stack-small", hidden: true },
    h("div", { class: "ends" }, h("span", null, "first"), slider, h("span", null, "second")), where, shown, tree.element);
  let steps = [];

  function show(at) {
    const step = steps[at];
    const share = Math.round(100 * step.alpha);
    where.textContent = `${share} % of the way`;
    slider.setAttribute("aria-valuetext", `${share} % of the way: ${step.text ?? "no formula"}`);
    if (step.text === null) return void put(shown, h("p", { class: "quietly" }, "Here the model has no complete formula."));
    put(shown, formula(step.mathml, { text: step.text }));
    tree.show(step.tree, `Tree of ${step.text}`);
  }

  const load = latest(async () => {
    if (fields.some((each) => each.isEmpty())) return;
    try {
      const answer = await post("/api/space/between",
        { first: fields[0].value(), second: fields[1].value(), steps: STEPS, model: model.id });
      put(told);
      steps = answer.steps;
      slider.max = steps.length - 1;
      stage.hidden = false;
      show(Math.min(Number(slider.value), steps.length - 1));
    } catch (error) {
      stage.hidden = true;
      put(told, message("bad", error.message));
    }
  });
  const soon = debounced(load, 300);
  const make = (label, value) => formulaField({ label, value, variables: () => [], hint: "", onResult: (answer) => {
    if (answer?.ok) soon();
  } });
  const fields = [make("First formula", first), make("Second formula", second)];
  return h("section", { class: "card stack" }, h("h2", null, "From one formula to another"),
    h("p", { class: "hint" },
      `Move the slider: each place between the two is a formula as well. Use up to ${counted(model.variables.length, "name")} for quantities; c is any number.`),
    h("div", { class: "two" }, fields.map((each) => each.element)), told, stage);
}

function neighboursPart(model) {
  const [example] = EXAMPLES[Math.min(model.variables.length, 2)];
  const told = h("div", { "aria-live": "polite" });
  const list = h("ul", { class: "neighbours" });
  const tree = treeView();
  const chosen = h("div", { class: "stack-small" });
  let [[radius]] = DISTANCES;

  function pick(each, button) {
    for (const other of list.querySelectorAll("button")) other.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    put(chosen, formula(each.mathml, { text: each.text }), tree.element);
    tree.show(each.tree, `Tree of ${each.text}`);
  }

  function entry(each) {
    const button = h("button", { type: "button", class: "neighbour", onclick: () => pick(each, button) },
      h("span", { class: "mono name" }, each.text), h("span", { class: "hint" },
        `${counted(each.distance, "symbol")} different, met ${counted(each.count, "time")} in ${TRIES} tries`));
    return h("li", null, button);
  }

  const load = latest(async () => {
    if (own.isEmpty()) return;
    try {
      const answer = await post("/api/space/neighbours", { formula: own.value(), count: TRIES, radius, model: model.id });
      const neighbours = answer.neighbours.filter((each) => each.distance > 0).slice(0, MOST);
      put(told, ...(neighbours.length ? [] : [message("", "No other formula so close. Look further away.")]));
      put(list, ...neighbours.map(entry));
      if (neighbours.length) pick(neighbours[0], list.querySelector("button"));
      else put(chosen);
    } catch (error) {
      put(list);
      put(chosen);
      put(told, message("bad", error.message));
    }
  });
  const own = formulaField({ label: "Formula", value: example, variables: () => [], hint: "", onResult: (answer) => {
    if (answer?.ok) load();
  } });
  return h("section", { class: "card stack" }, h("h2", null, "Neighbours of a formula"),
    h("p", { class: "hint" }, "Formulas that the model thinks of as similar. The search moves along such steps."),
    h("div", { class: "two" }, own.element, field("How far away", select(DISTANCES, radius, (value) => {
      radius = Number(value);
      load();
    }))), told, h("div", { class: "two" }, list, chosen));
}

/** Show the learned space. */
export async function showSpace(place) {
  document.title = "Between formulas · edhie studio";
  const { models } = await setup();
  const parts = h("div", { class: "stack" });
  const usual = models.find((each) => each.variables.length === 2) ?? models[0];
  const show = (id) => {
    const model = models.find((each) => each.id === id);
    put(parts, betweenPart(model), neighboursPart(model));
  };
  place.append(h("div", { class: "stack" },
    h("div", { class: "stack-small" }, h("h1", null, "Between formulas"),
      h("p", { class: "quietly lead" },
        "edhie has read many thousands of formulas and arranged them in a space in which similar ones lie close together. Here you can walk in it."),
      models.length > 1 ? h("label", { class: "tick" }, "Model",
        select(models.map((each) => [each.id, `${each.name} (${counted(each.variables.length, "variable")})`]), usual.id, show)) : null), parts));
  show(usual.id);
}
