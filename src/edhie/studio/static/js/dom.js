// Building of elements. Text from users goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...known(children));
  return element;
}

const known = (children) => children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false);

/** Replace what is in an element; children that are null are left out. */
export function put(element, ...children) {
  element.replaceChildren(...known(children));
}

/** Return an HTML element: h("p", {class: "hint", onclick: f}, "text", child, …). */
export function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Return an SVG element, in the same way. */
export function s(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

let count = 0;

/** Return an id that no other element has. */
export function newId(word) {
  count += 1;
  return `${word}-${count}`;
}

/** Return a list of labelled facts, without those that have no value. */
export function facts(pairs) {
  const given = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, given.map(([label, value]) => h("div", null, h("dt", null, label), h("dd", null, value))));
}

/** Return a message box: kind is "bad", "warn", "good" or "". */
export function message(kind, text, ...more) {
  return h("div", { class: `message ${kind}`, role: kind === "bad" ? "alert" : null }, h("p", null, text), ...more);
}

/** Return a control with its label above it and a hint below. */
export function field(label, control, hint) {
  control.id ||= newId("field");
  const note = hint ? h("p", { class: "hint", id: `${control.id}-hint` }, hint) : null;
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field" }, h("label", { for: control.id }, label), control, note);
}

/** Return a select of [value, label] pairs. */
export function select(pairs, value, onchange, attributes) {
  const control = h("select", { ...attributes, onchange: () => onchange(control.value) },
    pairs.map(([each, label]) => h("option", { value: each }, label)));
  control.value = value;
  return control;
}

/** Return a checkbox with its label. */
export function tick(label, checked, onchange, attributes) {
  const box = h("input", { type: "checkbox", checked, ...attributes, onchange: () => onchange(box.checked) });
  return h("label", { class: "tick" }, box, h("span", { class: "name" }, label));
}

/** Return a row of choices of which one is taken: [value, label] pairs. */
export function choices(legend, pairs, value, onchange, hint) {
  const name = newId("choice");
  return h("fieldset", { class: "field" }, h("legend", { class: "legend" }, legend),
    h("div", { class: "choices" }, pairs.map(([each, label]) =>
      h("label", { class: "choice" },
        h("input", { type: "radio", name, value: each, checked: String(each) === String(value), onchange: () => onchange(each) }),
        h("span", null, label)))),
    hint ? h("p", { class: "hint" }, hint) : null);
}

/** Return a box that scrolls, which keyboards can reach. */
export function scrollable(label, ...children) {
  return h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label }, ...children);
}

/** Return a function that calls `action` once its calls have paused for `wait` milliseconds. */
export function debounced(action, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), wait);
  };
}

/** Return a function that runs `action`, an async function, one call at a time and skips all but the latest. */
export function latest(action) {
  let isBusy = false;
  let next = null;
  return async function call(...values) {
    if (isBusy) {
      next = values;
      return;
    }
    isBusy = true;
    try {
      await action(...values);
    } finally {
      isBusy = false;
      if (next !== null) {
        const waiting = next;
        next = null;
        call(...waiting);
      }
    }
  };
}

let announcing = 0;

/** Say a sentence once to screen readers. Seldom: states, results and answers to what was pressed. */
export function announce(text) {
  const region = document.getElementById("announcements");
  clearTimeout(announcing);
  region.textContent = "";
  announcing = setTimeout(() => { region.textContent = text; }, 80);
}
