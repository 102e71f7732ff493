// The operators that equations may contain, in groups.
import { h, tick } from "../dom.js";

/** Return the ticks; `chosen` is a Set of names, changed in place. */
export function operatorsPart(groups, chosen) {
  const boxes = [];
  const change = (name) => (isOn) => {
    if (isOn) chosen.add(name);
    else chosen.delete(name);
  };
  const setAll = (items, isOn) => () => {
    for (const { name } of items) {
      if (isOn) chosen.add(name);
      else chosen.delete(name);
    }
    for (const [name, box] of boxes) box.checked = chosen.has(name);
  };
  const group = ({ group: title, items }) => h("fieldset", { class: "operator-group" },
    h("legend", { class: "legend" }, title),
    h("div", { class: "ticks" }, items.map(({ name, label }) => {
      const made = tick(label, chosen.has(name), change(name));
      boxes.push([name, made.querySelector("input")]);
      return made;
    })),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "quiet slim", "aria-label": `${title}: all`, onclick: setAll(items, true) }, "all"),
      h("button", { type: "button", class: "quiet slim", "aria-label": `${title}: none`, onclick: setAll(items, false) }, "none")));
  return h("div", { class: "operators" }, groups.map(group));
}
