// The front: size (or distance) against error. Points are radio buttons, so arrow keys choose among them.
import { s } from "../dom.js";
import { chart } from "./frame.js";
import { withTooltip } from "./tooltip.js";

function domainOf(errors) {
  const positive = errors.filter((each) => each > 0);
  if (!positive.length) return [0.1, 1];
  return [Math.min(...positive), Math.max(...positive)];
}

/**
 * Return a front with `show({points, selected, across, label, isRelative})`; a point has key, size, error, isChosen and words.
 * Errors that are relative are shown in per cent.
 * `onSelect(key)` is called when one is chosen.
 */
export function front(onSelect) {
  const { element, show } = chart(matchMedia("(min-width: 56rem)").matches ? 400 : 290);

  function select(key) {
    for (const each of element.querySelectorAll(".pick")) {
      const isIt = each.dataset.key === key;
      each.setAttribute("aria-checked", String(isIt));
      each.setAttribute("tabindex", isIt ? 0 : -1);
    }
    onSelect(key);
  }

  function point({ key, size, error, isChosen, words }, x, y, isSelected, isStop) {
    const [cx, cy] = [x.at(size), y.at(error)];
    const star = isChosen ? s("path",
      {
        class: "star", d: `M${cx},${cy - 17}l2,4 4.4,.6 -3.2,3 .8,4.4 -4,-2.1 -4,2.1 .8,-4.4 -3.2,-3 4.4,-.6z`,
        "aria-hidden": "true",
      }) : null;
    const mark = s("g", {
      class: `pick ${isChosen ? "chosen" : ""}`, role: "radio", "aria-checked": String(isSelected), tabindex: isStop ? 0 : -1,
      "aria-label": words, "data-key": key, onclick: () => select(key),
    },
      s("circle", { class: "reach", cx, cy, r: 11 }), s("circle", { class: "dot", cx, cy, r: 5 }), star);
    return withTooltip(mark, words);
  }

  element.addEventListener("keydown", (event) => {
    const marks = [...element.querySelectorAll(".pick")];
    const at = marks.indexOf(event.target.closest?.(".pick"));
    if (at < 0) return;
    const moves = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length - 1 };
    if (event.key === " " || event.key === "Enter") select(marks[at].dataset.key);
    else if (event.key in moves) {
      const next = marks[Math.min(Math.max(0, moves[event.key]), marks.length - 1)];
      select(next.dataset.key);
      next.focus();
    } else return;
    event.preventDefault();
  });

  return { element, show({ points, selected, across, label, isRelative = false }) {
    const sorted = points.map((each) => ({ ...each, error: isRelative ? 100 * each.error : each.error }));
    sorted.sort((a, b) => a.size - b.size);
    const line = sorted.filter((each, i) => sorted.slice(0, i).every((other) => other.error > each.error));
    const sizes = sorted.map((each) => each.size);
    const stop = sorted.some((each) => each.key === selected) ? selected : sorted[0]?.key;
    show({
      label,
      x: { domain: sizes.length ? [Math.min(...sizes) - 1, Math.max(...sizes) + 1] : [0, 10], label: across, isWhole: true },
      y: {
        domain: domainOf(sorted.map((each) => each.error)), log: true,
        label: isRelative ? "typical error (% of the value)" : "typical error",
        hasZero: sorted.some((each) => each.error === 0),
      },
      draw: (x, y) => [
        s("path",
          {
            class: "steps", "aria-hidden": "true",
            d: line.map((each, i) => (i ? `H${x.at(each.size)}V${y.at(each.error)}` : `M${x.at(each.size)},${y.at(each.error)}`)).join(""),
          }),
        s("g", { role: "radiogroup", "aria-label": "Equations" },
          sorted.map((each) => point(each, x, y, each.key === selected, each.key === stop))),
      ],
    });
  } };
}
