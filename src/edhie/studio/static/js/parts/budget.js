// The time budget: a few usual lengths, or one's own.
import { h, choices } from "../dom.js";
import { duration, readings } from "../numbers.js";

const USUAL = [10, 60, 300, 1800];

/** Return the choice of a time; `value()` is in seconds. */
export function budgetPart(initial) {
  const times = [...new Set([...USUAL, initial])].sort((a, b) => a - b);
  const own = h("input",
    {
      type: "text", inputmode: "decimal", size: 6, value: Math.max(1, Math.round(initial / 60)), "aria-label": "Minutes",
      onchange: () => { own.value = minutes(); },
    });
  const minutes = () => readings(own.value).find((each) => each > 0) ?? 1;
  const ownField = h("label", { class: "tick", hidden: true }, own, "minutes");
  let seconds = initial;
  const element = h("div", { class: "stack-small" },
    choices("How long may it search?", [...times.map((each) => [each, duration(each)]), ["own", "other"]], initial, (each) => {
      ownField.hidden = each !== "own";
      seconds = each;
      if (each === "own") own.focus();
    }, "It stops earlier when nothing better can be found, and you can give more time later."), ownField);
  return { element, value: () => (seconds === "own" ? Math.max(1, 60 * minutes()) : seconds) };
}
