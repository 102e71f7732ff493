// The one way by which mathematics enters the page: parsed as XML, and only known elements and attributes are copied.
import { h } from "./dom.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const ELEMENTS = new Set("math mrow mi mn mo mtext mfrac msup msub msubsup msqrt mroot mspace mover munder mpadded mstyle".split(" "));
const [LENGTH, SWITCH] = [/^[\d.]+(em)?$/, /^(true|false)$/];
const ATTRIBUTES = {
  form: /^(prefix|infix|postfix)$/, lspace: LENGTH, rspace: LENGTH, width: LENGTH, stretchy: SWITCH, displaystyle: SWITCH,
  class: /^constant$/,
};
const [MIDDLE, LONG] = [24, 60]; // letters from which on an equation is set smaller
const SIGNS = new Set("+−⋅"); // before which a line may be broken
const AT_START = { form: "infix", lspace: "0", rspace: "0.25em" }; // of a sign that may begin a line
const SMALLEST = 0.6; // of the usual size of type
const LONGEST_NAME = 32; // letters of a target that are shown

function copy(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
  if (node.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(node.localName)) return null;
  const made = document.createElementNS(MATHML, node.localName);
  for (const { name, value } of node.attributes) if (ATTRIBUTES[name]?.test(value)) made.setAttribute(name, value);
  for (const child of node.childNodes) {
    const copied = copy(child);
    if (copied) made.append(copied);
  }
  return made;
}

/** Return a `<math>` element of the inside given as a string; null if it is not well-formed. */
export function math(inside) {
  const parsed = new DOMParser().parseFromString(`<math xmlns="${MATHML}">${inside}</math>`, "application/xml");
  if (parsed.querySelector("parsererror")) return null;
  const made = copy(parsed.documentElement);
  made.setAttribute("displaystyle", "true");
  return made;
}

// letters that XML does not know at all would spoil the whole
const escaped = (text) => text.toWellFormed().replace(/[\u0000-\u001f\ufffe\uffff]/g, "\ufffd").replace(/[&<>]/g,
  (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[each]);

const shortened = (name) => (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name);

/** Return the pieces of a sum or product, each with the sign before it: lines may be broken between them. */
function pieces(node) {
  const children = [...node.children];
  const [first, last] = [children[0], children.at(-1)];
  const isSign = (each) => each.localName === "mo" && SIGNS.has(each.textContent);
  if (node.localName === "mrow" && children.length === 3 && first.textContent === "(" && last.textContent === ")") {
    const found = pieces(children[1]);
    found[0].unshift(first);
    found.at(-1).push(last);
    return found;
  }
  if (node.localName !== "mrow" || !children.some(isSign)) return [[node]];
  const found = [];
  let signs = [];
  for (const child of children) {
    if (isSign(child)) {
      if (found.length) for (const [name, value] of Object.entries(AT_START)) child.setAttribute(name, value);
      signs.push(child);
    } else {
      const [piece, ...others] = pieces(child);
      found.push([...signs, ...piece], ...others);
      signs = [];
    }
  }
  return found;
}

/** Return a term as one box, which is broken between its pieces only if it is wider than a line. */
function term(made) {
  const parts = made.children.length === 1 ? pieces(made.firstElementChild) : [[...made.children]];
  return h("span", { class: "term" }, parts.map((part) => {
    const each = made.cloneNode(false);
    const row = document.createElementNS(MATHML, "mrow");
    row.append(...part);
    each.append(row);
    return [each, " "];
  }));
}

/** Mark the sides on which a formula goes on. */
function markSides(box) {
  const left = box.scrollWidth - box.clientWidth - box.scrollLeft;
  box.classList.toggle("more-before", box.scrollLeft > 1);
  box.classList.toggle("more-after", left > 1);
}

/** A formula that has no place to be broken gets smaller type, down to what can still be read; then it scrolls. */
const sizes = new ResizeObserver((entries) => {
  for (const { target: box } of entries) {
    if (box.dataset.width === String(box.clientWidth)) continue;
    box.dataset.width = box.clientWidth;
    box.style.fontSize = "";
    const share = box.clientWidth / box.scrollWidth;
    if (share < 1) box.style.fontSize = `${Math.max(0.95 * share, SMALLEST) * parseFloat(getComputedStyle(box).fontSize)}px`;
    markSides(box);
  }
});

/**
 * Return a box with an equation that breaks between terms, then within them, and scrolls if it must.
 * `terms` is a string or a list of them, `text` what to show where they are not well-formed.
 */
export function formula(terms, { text = "", target = null, kind = "" } = {}) {
  const parts = (Array.isArray(terms) ? terms : [terms]).map((each) => math(each ?? ""));
  const box = h("div", { class: `formula ${kind}`, tabindex: 0, role: "group", "aria-label": "Equation" });
  if (!terms || parts.some((each) => each === null)) {
    box.append(h("code", null, target ? `${target} = ${text}` : text));
    return box;
  }
  const name = `<mtext>${escaped(shortened(target ?? ""))}</mtext>`;
  const equals = '<mspace width="0.28em"/><mo lspace="0" rspace="0">=</mo>';
  const left = target === null ? [] : [math(`<mrow>${name}${equals}</mrow>`)];
  for (const part of [...left, ...parts]) box.append(term(part), " ");
  const letters = box.textContent.replace(/\s/g, "").length;
  if (letters > MIDDLE) box.classList.add(letters > LONG ? "long" : "middle");
  box.addEventListener("scroll", () => markSides(box), { passive: true });
  sizes.observe(box);
  return box;
}
