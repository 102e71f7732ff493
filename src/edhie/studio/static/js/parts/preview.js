// The first rows of a table, and a scatter of the target against any column.
import { h, message, scrollable, put } from "../dom.js";
import { get } from "../api.js";
import { counted } from "../numbers.js";
import { scatterChart } from "../charts/fit.js";
import { axesChoice } from "./axes_choice.js";

/** Return the first rows as they are in the file. */
export function previewPart(summary) {
  const shown = summary.preview.length;
  return h("details", null, h("summary", null, `First ${counted(shown, "row")}`),
    scrollable("First rows of the table", h("table", { class: "preview" },
      h("thead", null,
        h("tr", null,
          summary.columns.map((column) => h("th", { scope: "col", class: column.kind === "number" ? "number" : null }, column.name)))),
      h("tbody", null,
        summary.preview.map((row) => h("tr", null,
          row.map((cell, i) => h("td", { class: summary.columns[i]?.kind === "number" ? "number" : null }, cell ?? ""))))))));
}

/** Return the scatter, with `update()` for when the target changes. */
export function scatterPart(summary, question) {
  const numeric = summary.columns.filter((column) => column.kind === "number");
  const picture = scatterChart();
  const told = h("div");
  const axes = axesChoice(numeric.map((column) => [column.name, column.name]), "Column on the horizontal axis", () => {
    chosen = axes.x();
    update();
  });
  let chosen = null;
  let wanted = 0;

  async function update() {
    if (!question.target || numeric.length < 2) return;
    const isGood = chosen !== null && chosen !== question.target;
    const x = isGood ? chosen : [...question.features].find((name) => numeric.some((column) => column.name === name)) ?? numeric.find((column) => column.name !== question.target).name;
    axes.set(x);
    wanted += 1;
    const mine = wanted;
    try {
      const address = new URLSearchParams({ x, y: question.target, ...summary.options });
      const rows = await get(`/api/tables/${summary.id}/scatter?${address}`);
      if (mine !== wanted) return;
      put(told);
      picture.show({ ...rows, xName: x, yName: question.target, log: axes.log(rows.x, rows.y) });
    } catch (error) {
      if (mine === wanted) put(told, message("bad", error.message));
    }
  }

  const element = numeric.length < 2 ? h("div") : h("section", { class: "stack-small" },
    h("div", { class: "head" }, h("h2", null, "Look at your data"), axes.element), told, picture.element);
  return { element, update };
}
