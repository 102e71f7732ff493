// Curves with gaps, bands, and the parts of a chart beyond the data.
import { s } from "../dom.js";

/** Return the path of a curve; values that are null or leave the chart far behind make a gap. */
export function line(xs, ys, x, y, kind = "") {
  let d = "";
  let isDrawing = false;
  xs.forEach((value, i) => {
    const isKnown = y.has(ys[i]) && x.has(value);
    if (isKnown) d += `${isDrawing ? "L" : "M"}${x.at(value).toFixed(1)},${y.at(ys[i]).toFixed(1)}`;
    isDrawing = isKnown;
  });
  return s("path", { class: `line ${kind}`, d });
}

/** Return the band between two curves around a third, in pieces where that one has gaps. */
export function band(xs, ys, lows, highs, x, y) {
  const [foot, top] = y.domain;
  const within = (value) => y.at(Math.min(Math.max(value, foot), top)).toFixed(1);
  const isKnown = (i) => lows[i] !== null && highs[i] !== null && x.has(xs[i]) && y.has(ys[i]);
  const pieces = [[]];
  xs.forEach((_, i) => {
    if (isKnown(i)) pieces.at(-1).push(i);
    else if (pieces.at(-1).length) pieces.push([]);
  });
  const outline = (piece) => {
    const there = piece.map((i) => `${x.at(xs[i]).toFixed(1)},${within(highs[i])}`);
    const back = [...piece].reverse().map((i) => `${x.at(xs[i]).toFixed(1)},${within(lows[i])}`);
    return `M${[...there, ...back].join("L")}Z`;
  };
  return s("path", { class: "band", d: pieces.filter((piece) => piece.length > 1).map(outline).join("") });
}

/** Return the shaded parts left and right of the data, and a word that says what they are. */
export function outside(from, to, x, area) {
  const [left, right] = [x.at(from), x.at(to)];
  const part = (start, end) => (end - start > 1 ? s("rect",
    { class: "outside", x: start, y: area.top, width: end - start, height: area.foot - area.top }) : null);
  const word = (middle, room) => (room > 86 ? s("text",
    { class: "outside-label", x: middle, y: area.top + 12, "text-anchor": "middle" }, "beyond the data") : null);
  return s("g", { "aria-hidden": "true" }, part(area.left, left), part(right, area.right),
    word((area.left + left) / 2, left - area.left), word((right + area.right) / 2, area.right - right));
}

/** Return the clip that keeps curves within the chart, and its id. */
export function clip(id, area) {
  return s("clipPath", { id },
    s("rect",
      {
        x: area.left, y: area.top - 2, width: Math.max(0, area.right - area.left), height: Math.max(0, area.foot - area.top + 2),
      }));
}
