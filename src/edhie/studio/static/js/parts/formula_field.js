// A field for a formula: checked while one types, with the mistake under a caret and the formula in print.
import { h, debounced, newId, put } from "../dom.js";
import { post, sentence } from "../api.js";
import { formula as printed } from "../mathml.js";

const MOST_NAMES = 40;
const AROUND = 36; // letters shown on each side of a mistake

function caret(text, { start, length }) {
  const before = text.lastIndexOf("\n", start - 1) + 1;
  const shown = text.slice(before).split("\n")[0];
  const at = Math.min(start - before, shown.length);
  const from = Math.max(0, at - AROUND);
  const to = Math.min(shown.length, at + AROUND);
  const lead = from > 0 ? "…" : "";
  const wide = Math.max(1, Math.min(length || 1, to - at || 1));
  return h("pre", { class: "caret", "aria-hidden": "true" },
    `${lead}${shown.slice(from, to)}${to < shown.length ? "…" : ""}\n${" ".repeat(lead.length + at - from)}`,
    h("b", null, "^".repeat(wide)));
}

/**
 * Return a field for formulas. `kind` is "formula", "template" or "field" (one formula a line);
 * `variables()` names the columns; `onResult(answer, text)` gets each answer, null for an empty field.
 */
export function formulaField({
  label, hint, kind = "formula", variables, rows = 1, value = "", placeholder = "", onResult = () => {},
}) {
  const id = newId("formula");
  const area = h("textarea",
    {
      id, rows, class: "mono formula-input", spellcheck: "false", autocapitalize: "off", autocomplete: "off", placeholder,
      "aria-describedby": `${id}-hint ${id}-told`, oninput: () => check(),
    });
  area.value = value;
  const told = h("div", { id: `${id}-told`, class: "stack-small", "aria-live": "polite" });
  const names = h("div", { class: "names" });
  let asked = 0;
  let shownFor = null;

  function mistake(text, found) {
    return h("div", { class: "stack-small" }, h("p", { class: "error-text" }, sentence(found.error)),
      Number.isInteger(found.start) ? caret(text, found) : null);
  }

  function show(text, answer) {
    const formulas = answer.formulas ?? [answer];
    const isGood = answer.ok && formulas.every((each) => each.ok);
    area.setAttribute("aria-invalid", String(!isGood));
    const lines = text.split("\n");
    put(told, ...formulas.map((each) => (each.ok
      ? printed(each.mathml, { text: each.text, kind: "little" })
      : mistake(answer.formulas ? lines[each.line] ?? text : text, each))));
    if (!formulas.length && !answer.ok) put(told, mistake(text, answer));
    onResult(answer, text);
  }

  async function checkNow() {
    const text = area.value;
    asked += 1;
    const mine = asked;
    if (!text.trim()) {
      area.removeAttribute("aria-invalid");
      put(told);
      onResult(null, "");
      return;
    }
    try {
      const answer = await post("/api/formulas/check", { text, kind, variables: variables() });
      if (mine === asked) show(text, answer);
    } catch (error) {
      if (mine !== asked) return;
      area.setAttribute("aria-invalid", "true");
      put(told, h("p", { class: "error-text" }, error.message));
    }
  }

  /** Show how columns are called in formulas, as buttons that write the name. */
  async function showNames() {
    const columns = variables();
    const mine = columns.join("\n");
    if (!columns.length || shownFor === mine) return;
    shownFor = mine;
    try {
      const answer = await post("/api/formulas/check", { text: "0", kind: "formula", variables: columns });
      if (shownFor !== mine) return;
      put(names, "Columns:",
        answer.names.slice(0, MOST_NAMES).map((name, i) => h("button",
          {
            type: "button", class: "chip mono", "aria-label": `Write ${name}, for the column ${columns[i]}`,
            onclick: () => write(name),
          },
          name)));
    } catch {
      shownFor = null; // the names are a help only; a typed formula tells the fault
    }
  }

  function write(name) {
    area.setRangeText(name, area.selectionStart, area.selectionEnd, "end");
    area.focus();
    check();
  }

  const check = debounced(checkNow, 250);
  area.addEventListener("focus", showNames);
  if (value) checkNow();
  return {
    element: h("div", { class: "field" }, h("label", { for: id }, label), area, names,
      h("p", { class: "hint", id: `${id}-hint` }, hint), told),
    value: () => area.value.trim(),
    checkNow,
    isEmpty: () => !area.value.trim(),
    focus: () => area.focus(),
    showNames,
  };
}
