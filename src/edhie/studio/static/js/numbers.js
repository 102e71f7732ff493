// Numbers, times and sizes as people read them.

const MINUS = "−";
const SUPERSCRIPTS = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

/** Return a whole exponent in raised digits. */
export function raised(exponent) {
  return [...String(exponent)].map((each) => SUPERSCRIPTS[each]).join("");
}

/** Return a number with so many significant digits; far from 1 with a power of ten. */
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
    const short = String(Number(mantissa)).replace("-", MINUS);
    return `${short} × 10${raised(Number(exponent))}`;
  }
  const short = Number(value.toPrecision(digits));
  const options = { maximumFractionDigits: 12, maximumSignificantDigits: digits, useGrouping: size >= 10000 };
  return short.toLocaleString("en", options).replace("-", MINUS);
}

/**
 * Return the numbers that a typed text can mean: none, one, or two for a text such as 1,234. As in tables, commas are
 * decimal (2,5) or between thousands (1,234,567); a single point is decimal, since the page writes numbers so.
 */
export function readings(text) {
  const plain = text.trim().replace(MINUS, "-").replace(/(?<=\d)[\s'’](?=\d{3}(?!\d))/g, "");
  const [mantissa, exponent = ""] = plain.split(/(?=e)/i);
  const asNumber = (digits) => (/^[-+]?(\d+\.?\d*|\.\d+)$/.test(digits) && /^(e[-+]?\d+)?$/i.test(exponent)
    ? [Number(digits + exponent)].filter(Number.isFinite) : []);
  const without = (mark) => mantissa.replaceAll(mark, "");
  if (/^[-+]?[1-9]\d{0,2},\d{3}$/.test(mantissa)) return [mantissa.replace(",", "."), without(",")].flatMap(asNumber);
  if (/^[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/.test(mantissa)) return asNumber(without(","));
  if (/^[-+]?[1-9]\d{0,2}(\.\d{3})+,\d*$|^[-+]?[1-9]\d{0,2}(\.\d{3}){2,}$/.test(mantissa)) return asNumber(without(".").replace(",", "."));
  return asNumber(mantissa.replace(",", "."));
}

/** Return a number that is written as text, such as 1.20e-05, with all its digits, as `number` writes it. */
export function written(text) {
  const [mantissa, exponent] = text.replace("-", MINUS).split("e");
  return exponent === undefined ? mantissa : `${mantissa} × 10${raised(Number(exponent.replace(MINUS, "-")))}`;
}

/** Return named values as text, such as "mass = 3, axis = 5". */
export function assigned(values) {
  return Object.entries(values).map(([name, value]) => `${name} = ${number(value)}`).join(", ");
}

/** Return a whole number with separators. */
export function count(value) {
  return Math.round(value).toLocaleString("en");
}

/** Return "1 row" or "5 rows". */
export function counted(value, word) {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** Return R² without claiming more than is known: 0.99997 is not 1. */
export function share(value) {
  if (value === null || value === undefined) return null;
  if (value > 0.9995 && value < 1) return value > 0.999999 ? "> 0.999999" : value.toFixed(6).replace(/0+$/, "");
  return number(value, 3);
}

/** Return a typical error: in per cent of the computed value if it is relative to that, else in the unit of the column. */
export function errorWords(error, isRelative) {
  return isRelative && error !== null ? `${number(100 * error, 3)} %` : number(error, 3);
}

/** Return a duration in words. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return null;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min${whole % 60 ? ` ${whole % 60} s` : ""}`;
  return `${Math.floor(whole / 3600)} h${Math.floor((whole % 3600) / 60) ? ` ${Math.floor((whole % 3600) / 60)} min` : ""}`;
}

/** Return a moment as people say it. */
export function moment(text) {
  const then = new Date(text);
  if (Number.isNaN(then.getTime())) return "";
  const isToday = then.toDateString() === new Date().toDateString();
  const clock = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return isToday ? `today, ${clock}` : `${then.toLocaleDateString([], { day: "numeric", month: "short", year: "numeric" })}, ${clock}`;
}

/** Return a size in bytes as MB. */
export function megabytes(bytes) {
  return `${number(bytes / 1e6, 3)} MB`;
}
