// Measured points, drawn as one path, and a cursor with which pointer and arrow keys read them one by one.
import { s } from "../dom.js";
import { showTooltip, hideTooltip } from "./tooltip.js";

const NEAR = 24; // pixels within which the pointer finds a point

/** Return a path of small circles at [x, y] pixel pairs. */
export function dots(places, radius = 3, kind = "") {
  const circle = (at) => `M${at[0] - radius},${at[1]}a${radius},${radius} 0 1 0 ${2 * radius},0a${radius},${radius} 0 1 0 ${-2 * radius},0`;
  return s("path", { class: `dots ${kind}`, d: places.map(circle).join("") });
}

/**
 * Return the cursor over points. `places` are pixel pairs, `words(i)` says the i-th; arrow keys go by x.
 * It is a slider for assistive technology: its value is the point.
 */
export function cursor(places, words, label, area) {
  const order = places.map((_, i) => i).sort((a, b) => places[a][0] - places[b][0]);
  const ring = s("circle", { r: 7, cx: -20, cy: -20 });
  const catcher = s("rect",
    {
      x: area.left, y: area.top, width: Math.max(0, area.right - area.left), height: Math.max(0, area.foot - area.top),
      fill: "transparent",
    });
  const group = s("g",
    {
      class: "cursor", tabindex: 0, role: "slider", "aria-label": label, "aria-valuemin": 1, "aria-valuemax": order.length,
      "aria-valuenow": 1, "aria-valuetext": words(order[0]),
    },
    catcher, ring);
  let rank = 0;

  function go(to) {
    rank = Math.min(Math.max(0, to), order.length - 1);
    const i = order[rank];
    ring.setAttribute("cx", places[i][0]);
    ring.setAttribute("cy", places[i][1]);
    group.setAttribute("aria-valuenow", rank + 1);
    group.setAttribute("aria-valuetext", words(i));
    showTooltip(ring, words(i));
  }

  group.addEventListener("keydown", (event) => {
    const moves = {
      ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    go(rank + moves[event.key]);
  });
  group.addEventListener("focus", () => {
    if (group.matches(":focus-visible")) go(rank);
  });
  group.addEventListener("blur", hideTooltip);
  group.addEventListener("mousemove", (event) => {
    const box = catcher.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left + area.left, event.clientY - box.top + area.top];
    let [best, least] = [-1, NEAR];
    for (let k = 0; k < order.length; k += 1) {
      const far = Math.hypot(places[order[k]][0] - x, places[order[k]][1] - y);
      if (far < least) [best, least] = [k, far];
    }
    group.classList.toggle("on", best >= 0);
    if (best >= 0) go(best);
    else hideTooltip();
  });
  group.addEventListener("mouseleave", () => {
    group.classList.remove("on");
    hideTooltip();
  });
  return group;
}
