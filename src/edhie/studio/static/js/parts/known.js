// What is known already: a formula to start from, a form with unknown parts, formulas of the field, standard errors.
import { h, field, select } from "../dom.js";
import { formulaField } from "./formula_field.js";

/** Return the fields, filled with what is `given`; `read()` is what of them goes into the question. */
export function knownPart(summary, question, onChange, given = {}) {
  const variables = () => [...question.features];
  const guess = formulaField({ label: "A formula to start from", kind: "formula", variables, value: given.guesses?.[0], placeholder: "for example  c*x^2 + c",
    hint: "Your best guess; it cannot be combined with a form below. Write c for a number that is not known. Column names stand for their values." });
  const template = formulaField({ label: "A form with unknown parts", kind: "template", variables, value: given.template, placeholder: "for example  f(x)*exp(-c*t)",
    hint: "What the equation must look like. f(…), g(…) are the unknown parts: functions of the columns in the parentheses." });
  const fieldFormulas = formulaField({ label: "Formulas of your field", kind: "field", variables: () => [], rows: 3, value: given.field, placeholder: "a*exp(-b/t)\n\\frac{a}{b + c}",
    hint: "One formula a line, as text or LaTeX. Equations that resemble them are tried first. The letters need not be your column names. This takes a little longer to start." });
  const numeric = summary.columns.filter((column) => column.kind === "number");
  const sigma = select([["", "none"], ...numeric.map((column) => [column.name, column.name])], question.sigma ?? "", (name) => {
    question.sigma = name || null;
    if (name) question.features.delete(name);
    onChange();
  });
  return {
    element: h("div", { class: "stack" }, guess.element, template.element, fieldFormulas.element,
      field("A column with standard errors of the target", sigma,
        "If you know how uncertain each measurement is: rows that are more certain then count more.")),
    recheck: () => {
      for (const each of [guess, template]) if (!each.isEmpty()) each.checkNow();
      sigma.value = question.sigma ?? "";
    },
    read: () => ({
      guesses: guess.isEmpty() ? undefined : [guess.value()], template: template.value() || undefined,
      field: fieldFormulas.value() || undefined,
    }),
  };
}
