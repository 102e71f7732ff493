// The frame of a chart: an SVG as wide as its box, with axes, that is drawn again when the box changes.
import { h, s, put } from "../dom.js";
import { linear, logarithmic } from "./scale.js";
import { hideLeftTooltip } from "./tooltip.js";

const FOOT = 46;
const TOP = 10;
const RIGHT = 14;
const LETTER = 6.8; // pixels, about

const clipped = (text, width) => (text.length * LETTER > width ? `${text.slice(0, Math.max(3, Math.floor(width / LETTER) - 1))}…` : text);

/** Return the scale across, with as many ticks as have room for their labels. */
function withRoom({ domain, log, isWhole }, range) {
  for (let wanted = Math.max(3, Math.floor((range[1] - range[0]) / 80)); ; wanted -= 1) {
    const scale = log ? logarithmic(domain, range, { wanted }) : linear(domain, range, { wanted, isWhole });
    const isRoomy = scale.ticks.every((tick, i) => i === 0 || tick.at - scale.ticks[i - 1].at > (LETTER * (tick.label.length + scale.ticks[i - 1].label.length)) / 2 + 8);
    if (isRoomy || wanted <= 1) return scale;
  }
}

function axes(width, height, left, x, y, labels) {
  const foot = height - FOOT;
  return s("g", { "aria-hidden": "true" },
    y.ticks.map((tick) => [
      s("path", { class: "grid", d: `M${left},${tick.at}H${width - RIGHT}` }),
      s("text", { x: left - 7, y: tick.at, dy: "0.35em", "text-anchor": "end" }, tick.label),
    ]),
    s("path", { class: "axis", d: `M${left},${foot}H${width - RIGHT}` }),
    x.ticks.map((tick) => [
      s("path", { class: "axis", d: `M${tick.at},${foot}v4` }),
      s("text", { x: tick.at, y: foot + 18, "text-anchor": "middle" }, tick.label),
    ]),
    s("text", { class: "axis-title", x: (left + width - RIGHT) / 2, y: height - 8, "text-anchor": "middle" },
      clipped(labels.x, width - left)),
    s("text",
      { class: "axis-title", x: 0, y: 0, "text-anchor": "middle", transform: `translate(12 ${(TOP + foot) / 2}) rotate(-90)` },
      clipped(labels.y, foot - TOP)));
}

/**
 * Return a chart's box with `show(model)`. A model has `label`, `x` and `y` ({domain, label, log?, isWhole?, hasZero?}),
 * and `draw(x, y, area)`, which returns SVG elements.
 */
export function chart(height = 300) {
  const element = h("div", { class: "chart" });
  let model = null;
  let drawn = 0;

  function draw() {
    const width = Math.floor(element.clientWidth);
    if (!model || width < 40) return;
    drawn = width;
    const top = TOP;
    const foot = height - FOOT;
    const y = (model.y.log ? logarithmic : linear)(model.y.domain, [foot, top],
      { wanted: height > 200 ? 5 : 3, hasZero: model.y.hasZero });
    const left = 30 + LETTER * Math.max(...y.ticks.map((tick) => tick.label.length), 2);
    const x = withRoom(model.x, [left + 6, width - RIGHT - 6]);
    const area = { left, right: width - RIGHT, top, foot };
    const svg = s("svg", { role: "group", "aria-label": model.label, viewBox: `0 0 ${width} ${height}`, height },
      axes(width, height, left, x, y, { x: model.x.label, y: model.y.label }), model.draw(x, y, area));
    const hadFocus = element.contains(document.activeElement);
    put(element, svg);
    hideLeftTooltip();
    if (hadFocus) svg.querySelector('[tabindex="0"]')?.focus();
  }

  new ResizeObserver(() => {
    if (Math.floor(element.clientWidth) !== drawn) draw();
  }).observe(element);
  return { element, show: (next) => {
    model = next;
    draw();
  } };
}
