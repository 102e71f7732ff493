// Taking an equation away: as text in several languages, the report, and the run folder.
import { h, choices, message, put } from "../dom.js";
import { getText, ofRun, setup } from "../api.js";
import { copyButton } from "../clipboard.js";

const HINT = {
  latex: "For papers and Overleaf, with the package amsmath. Numbers are rounded as on this page.",
  python: "A function for Python, without further packages.", c: "A function for C.",
  excel: "For the first row of measurements; copy it down. Names of functions and the decimal point are those of Excel in English.",
  markdown: "For notes and wikis.", sympy: "For symbolic mathematics in Python.", json: "The tree, for programs of your own.",
};

/** Return the panel of an equation. */
export function takeAway(run, point) {
  const text = h("pre", { class: "code", tabindex: 0, role: "group", "aria-label": "Text of the equation" });
  const hint = h("p", { class: "hint" });
  const told = h("div");
  const save = h("a", { class: "button", download: "" }, "Save as a file");
  const place = h("div", { class: "stack-small" });

  let asked = 0;

  async function show(id) {
    asked += 1;
    const mine = asked;
    const address = ofRun(run.id, `/export/${id}?equation=${point.key}`);
    hint.textContent = HINT[id] ?? "";
    save.href = address;
    try {
      const answer = await getText(address);
      if (mine !== asked) return;
      text.textContent = answer.text;
      if (answer.about) hint.textContent = `${HINT[id] ?? ""} ${answer.about}.`;
      put(told);
    } catch (error) {
      if (mine !== asked) return;
      text.textContent = "";
      put(told, message("bad", error.message));
    }
  }

  setup().then(({ exports }) => {
    place.append(choices("Copy the equation as", exports.map((each) => [each.id, each.label]), exports[0].id, show),
      hint, told, text, h("div", { class: "buttons" }, copyButton("Copy", () => text.textContent), save));
    show(exports[0].id);
  }).catch((error) => put(place, message("bad", error.message)));

  const download = (path, label, about) => h("li", null,
    h("a", { class: "button", href: ofRun(run.id, path), download: "" }, label), h("span", { class: "hint" }, about));
  return h("div", { class: "stack" }, place, h("section", { class: "stack-small" }, h("h3", null, "Everything"),
    h("ul", { class: "downloads" },
      run.kind === "revise" ? null : download("/report", "Report",
        "One page with all equations and pictures, to read offline or to send on."),
      download("/equations.csv", "Table of equations", "Opens in a spreadsheet."),
      download("/folder.zip", "Run folder", "Everything about this run as a zip; the command line opens it with “edhie show”."))));
}
