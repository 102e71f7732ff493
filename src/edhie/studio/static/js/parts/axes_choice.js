// The choice of what is drawn across, and of logarithmic axes, which are offered where all values are positive.
import { h, select, tick } from "../dom.js";
import { logarithmicIsBest } from "../charts/scale.js";

/**
 * Return the choice of [value, label] pairs. `onChange()` follows each change. `log(...lists)` says whether axes
 * should be logarithmic for these values: as ticked, or as is best where nothing was ticked yet.
 */
export function axesChoice(pairs, label, onChange) {
  const state = { x: pairs[0]?.[0] ?? null, wanted: null };
  const control = select(pairs, state.x, (name) => {
    state.x = name;
    state.wanted = null;
    onChange();
  }, { "aria-label": label });
  const logarithmic = tick("logarithmic axes", false, (isOn) => {
    state.wanted = isOn;
    onChange();
  });
  logarithmic.hidden = true;
  const element = h("div", { class: "buttons axes small" },
    pairs.length > 1 ? h("label", { class: "tick" }, "against", control) : null, logarithmic);

  function log(...lists) {
    const found = lists.map(logarithmicIsBest);
    const isPossible = found.every((each) => each.isPossible);
    const isOn = isPossible && (state.wanted ?? found.every((each) => each.isBest));
    logarithmic.hidden = !isPossible;
    logarithmic.querySelector("input").checked = isOn;
    return isOn;
  }

  return { element, log, x: () => state.x, set: (name) => {
    state.x = name;
    control.value = name;
  } };
}
