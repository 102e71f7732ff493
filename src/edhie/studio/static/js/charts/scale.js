// Scales from values to pixels, with ticks at round numbers.
import { number, raised } from "../numbers.js";

function step(span, wanted) {
  const rough = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(rough));
  const share = rough / power;
  return power * (share > 7 ? 10 : share > 3.5 ? 5 : share > 1.5 ? 2 : 1);
}

/** Return a linear scale of [low, high] onto [from, to] in pixels; `isWhole`: with ticks at whole numbers only. */
export function linear([low, high], [from, to], { wanted = 5, isWhole = false } = {}) {
  if (!(high > low)) {
    const margin = Math.abs(low) * 0.1 || 1;
    [low, high] = [low - margin, high + margin];
  }
  const at = (value) => from + ((value - low) / (high - low)) * (to - from);
  const each = isWhole ? Math.max(1, step(high - low, wanted)) : step(high - low, wanted);
  const ticks = [];
  for (let i = Math.ceil(low / each - 1e-9); i * each <= high + 1e-9 * each; i += 1) {
    const value = Number((i * each).toPrecision(12));
    ticks.push({ value, at: at(value), label: number(value, 5) });
  }
  const reach = 3 * (high - low);
  return { at, ticks, domain: [low, high], has: (value) => value !== null && value > low - reach && value < high + reach };
}

/**
 * Return a logarithmic scale; values that are not positive lie at its foot, which is called 0 if `hasZero`.
 * `has` says whether a curve may pass through a value.
 */
export function logarithmic([low, high], [from, to], { wanted = 5, hasZero = false } = {}) {
  let [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  if (first === last) last += 1;
  if (hasZero) first -= 1;
  const at = (value) => from + ((Math.max(first, value > 0 ? Math.log10(value) : first) - first) / (last - first)) * (to - from);
  const every = Math.max(1, Math.ceil((last - first) / wanted));
  const ticks = [];
  for (let power = first; power <= last; power += every) {
    ticks.push({
      value: 10 ** power, at: at(10 ** power),
      label: hasZero && power === first ? "0" : power >= -3 && power <= 4 ? String(Number((10 ** power).toPrecision(1))) : `10${raised(power)}`,
    });
  }
  return {
    at, ticks, domain: [10 ** first, 10 ** last],
    has: (value) => value !== null && value > 10 ** (first - 1) && value < 10 ** (last + 1),
  };
}

const WIDE = 200; // ratio of the largest to the least value from which on a logarithmic axis is easier to read

/** Return whether values can be shown on a logarithmic axis, and whether they should be. */
export function logarithmicIsBest(values) {
  const known = values.filter((each) => each !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return { isPossible: known.length > 0 && low > 0, isBest: low > 0 && high / low > WIDE };
}

/** Return least and largest of the finite values and of `always`, widened by a share of their span; with `log`, of positive ones. */
export function extent(values, margin = 0.04, always = [], log = false) {
  let [low, high] = [Infinity, -Infinity];
  for (const list of [values, always]) {
    for (const value of list) {
      if (value === null || !Number.isFinite(value) || (log && value <= 0)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return log ? [0.1, 1] : [0, 1];
  if (log) return [low, high];
  const span = high - low || Math.abs(low) * 0.2 || 1;
  return [low - margin * span, high + margin * span];
}
