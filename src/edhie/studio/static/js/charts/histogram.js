// A small histogram of one column.
import { s } from "../dom.js";
import { number } from "../numbers.js";

const [WIDTH, HEIGHT] = [112, 30];

/** Return the histogram, or null where the column has none. */
export function histogram(column) {
  const { histogram: given } = column;
  if (!given || !given.counts.length) return null;
  const most = Math.max(...given.counts, 1);
  const wide = WIDTH / given.counts.length;
  const bars = given.counts.map((each, i) => {
    const high = each ? Math.max(1.5, (each / most) * (HEIGHT - 2)) : 0;
    return `M${(i * wide + 0.5).toFixed(2)},${HEIGHT}v${(-high).toFixed(2)}h${(wide - 1).toFixed(2)}v${high.toFixed(2)}z`;
  });
  return s("svg", {
    class: "histogram", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `Histogram from ${number(column.min)} to ${number(column.max)}`,
  },
    s("path", { d: bars.join("") }), s("path", { class: "ground", d: `M0,${HEIGHT}h${WIDTH}` }));
}
