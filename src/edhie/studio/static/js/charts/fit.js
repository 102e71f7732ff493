// The fit: measured points, the curve through them and beyond them, and the residuals below.
import { s, h, newId, put } from "../dom.js";
import { chart } from "./frame.js";
import { dots, cursor } from "./dots.js";
import { line, band, outside, clip } from "./lines.js";
import { extent } from "./scale.js";
import { number } from "../numbers.js";

const RADIUS = (n) => (n > 400 ? 2 : 3.2);

function legend(entries) {
  return h("ul", { class: "legend-line" },
    entries.map(([kind, text]) => h("li", null, h("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), text)));
}

function measuredDots(measured, places) {
  const of = (heldOut) => places.filter((_, i) => Boolean(measured[i].held_out) === heldOut);
  return [dots(of(false), RADIUS(places.length)), dots(of(true), RADIUS(places.length), "held-out")];
}

function wordsOf({ x, y, predicted = null, held_out: heldOut }, xName) {
  const computed = predicted === null ? "" : `, equation ${number(predicted)}`;
  return `${xName} ${number(x)}\nmeasured ${number(y)}${computed}${heldOut ? "\nnot used in the search" : ""}`;
}

/**
 * Return the chart of measured points and curves, with `show({measured, curves, xName, yName, from, to, log})`.
 * The data reach from `from` to `to`.
 */
export function fitChart(height = 320) {
  const { element, show } = chart(height);
  const key = h("div");
  const box = h("div", null, element, key);
  return { element: box, show({ measured, curves, xName, yName, from = null, to = null, log = false }) {
    const ys = measured.map((each) => each.y);
    const within = curves.flatMap((curve) => curve.y.filter((_, i) => from === null || (curve.x[i] >= from && curve.x[i] <= to)));
    const xs = curves[0]?.x ?? measured.map((each) => each.x);
    const id = newId("clip");
    show({
      label: `${yName} against ${xName}: ${measured.length} measured points and ${curves.length === 1 ? "the equation" : "the equations"}`,
      x: { domain: extent(xs, from === null ? 0.04 : 0, measured.map((each) => each.x), log), label: xName, log },
      y: { domain: extent(ys, 0.12, within, log), label: yName, log },
      draw: (x, y, area) => {
        const places = measured.map((each) => [x.at(each.x), y.at(each.y)]);
        const words = (i) => wordsOf(measured[i], xName);
        return [
          clip(id, area), from === null ? null : outside(from, to, x, area),
          s("g", { "aria-hidden": "true", "clip-path": `url(#${id})` }, measuredDots(measured, places),
            curves.map((curve) => [
              curve.low && curve.high ? band(curve.x, curve.y, curve.low, curve.high, x, y) : null,
              line(curve.x, curve.y, x, y, curve.kind),
            ])),
          places.length ? cursor(places, words, "Measured points; arrow keys move along them", area) : null,
        ];
      },
    });
    put(key, legend([
      ...(measured.length ? [["point", "measured"]] : []), ...(measured.some((each) => each.held_out) ? [["ring", "measured, kept out of the search"]] : []),
      ...curves.map((curve) => [`curve ${curve.kind ?? ""}`, curve.name]),
      ...(curves.some((curve) => curve.low) ? [["band", "likely range of the curve (95 %)"]] : []),
      ...(from === null ? [] : [["outside", "beyond the data: a guess"]]),
    ]));
  } };
}

/** Return the chart of residuals, with `show({measured, xName, log})`; over the expected scatter where that differs between rows. */
export function residualChart() {
  const { element, show } = chart(190);
  return { element, show({ measured, xName, log = false }) {
    const isScaled = measured.some((each) => each.scaled !== undefined);
    const known = measured.map((each) => ({ ...each, left: isScaled ? each.scaled : each.residual })).filter((each) => each.left !== null);
    const expected = (each) => (isScaled ? `\n${number(each.left, 2)} times the expected scatter` : "");
    show({
      label: isScaled ? "Residuals: measured minus equation, over the expected scatter" : "Residuals: measured minus equation",
      x: { domain: extent(known.map((each) => each.x), 0.02, [], log), label: xName, log },
      y: { domain: extent(known.map((each) => each.left), 0.1, [0]), label: isScaled ? "÷ expected scatter" : "measured − equation" },
      draw: (x, y, area) => {
        const places = known.map((each) => [x.at(each.x), y.at(each.left)]);
        return [
          s("g", { "aria-hidden": "true" }, s("path", { class: "zero", d: `M${area.left},${y.at(0)}H${area.right}` }),
            measuredDots(known, places)),
          places.length ? cursor(places,
            (i) => `${xName} ${number(known[i].x)}\nmeasured − equation ${number(known[i].residual, 3)}${expected(known[i])}`,
            "Residuals; arrow keys move along them", area) : null,
        ];
      },
    });
  } };
}

/** Return a scatter of two columns, with `show({x, y, xName, yName, log})`. */
export function scatterChart() {
  const { element, show } = chart(280);
  return { element, show({ x: xs, y: ys, xName, yName, log = false }) {
    show({
      label: `${yName} against ${xName}`,
      x: { domain: extent(xs, 0.04, [], log), label: xName, log },
      y: { domain: extent(ys, 0.06, [], log), label: yName, log },
      draw: (x, y, area) => {
        const places = xs.map((each, i) => [x.at(each), y.at(ys[i])]);
        return [s("g", { "aria-hidden": "true" }, dots(places, RADIUS(xs.length))),
          places.length ? cursor(places, (i) => `${xName} ${number(xs[i])}, ${yName} ${number(ys[i])}`,
            "Rows; arrow keys move along them", area) : null];
      },
    });
  } };
}
