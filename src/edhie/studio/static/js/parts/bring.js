// Bringing of data: a file that is dropped or chosen, pasted cells, or an example.
import { h, message, put, announce } from "../dom.js";
import { upload, post, setup } from "../api.js";
import { megabytes, count } from "../numbers.js";

const KINDS = ".csv,.tsv,.txt,.xlsx,.xls,.parquet";

/** Return the part that brings data; `onTable(summary)` gets what was read. */
export function bringPart(onTable) {
  const told = h("div", { "aria-live": "polite" });
  const input = h("input", { type: "file", accept: KINDS, "aria-label": "Choose a file", tabindex: -1, onchange: () => {
    if (input.files.length) send(input.files[0], input.files[0].name);
    input.value = "";
  } });
  const pasted = h("textarea",
    {
      rows: 6, class: "mono", "aria-label": "Cells",
      placeholder: "Copy cells in your spreadsheet, with the column names in the first row, and paste them here.",
    });
  const examples = h("ul", { class: "examples" });
  const limits = h("p", { class: "hint" });
  let reads = 0; // only the table that was brought last is shown

  async function receive(action, what) {
    reads += 1;
    const mine = reads;
    put(told, message("", `Reading ${what}…`));
    try {
      const summary = await action();
      if (mine !== reads) return;
      put(told);
      announce(`${summary.name} was read: ${summary.rows} rows`);
      onTable(summary);
    } catch (error) {
      if (mine === reads) put(told, message("bad", error.message));
    }
  }

  function send(content, name) {
    return receive(async () => {
      const { limits: most } = await setup();
      const size = content.size ?? content.length;
      if (size > most.bytes) throw new Error(`${name} has ${megabytes(size)}, and the studio reads at most ${megabytes(most.bytes)}. Leave out rows or columns that are not needed, or use the command line for large tables.`);
      if (size === 0) throw new Error(`${name} is empty. Save your table again, with column names in the first row and numbers below.`);
      return upload(content, name);
    }, name);
  }

  const zone = h("div", { class: "drop" },
    h("p", { class: "drop-title" }, "Drop your table here"),
    h("p", { class: "quietly" }, "CSV, Excel, TSV or Parquet: one row for each measurement, column names in the first row"),
    h("div", { class: "buttons" },
      h("button", { type: "button", class: "primary large", onclick: () => input.click() }, "Choose a file"), input),
    limits);

  const onDrag = (event) => {
    event.preventDefault();
    zone.classList.toggle("over", event.type === "dragover");
  };
  const onDrop = (event) => {
    onDrag(event);
    const [file] = event.dataTransfer.files;
    if (file) send(file, file.name);
    else if (event.dataTransfer.getData("text/plain")) send(event.dataTransfer.getData("text/plain"), "pasted.txt");
  };
  const onPaste = (event) => {
    if (event.target.closest("input, textarea")) return;
    const [file] = event.clipboardData.files;
    const text = event.clipboardData.getData("text/plain");
    if (file) send(file, file.name);
    else if (text) send(text, "pasted.txt");
  };
  const listeners = [["dragover", onDrag], ["dragleave", onDrag], ["drop", onDrop], ["paste", onPaste]];
  for (const [kind, listener] of listeners) document.addEventListener(kind, listener);

  const element = h("div", { class: "stack" }, told, zone,
    h("div", { class: "two" },
      h("section", { class: "card stack-small" }, h("h2", null, "Or paste cells"), pasted,
        h("button", { type: "button", onclick: () => {
          if (pasted.value.trim()) send(pasted.value, "pasted.txt");
          else put(told, message("bad", "There is nothing to read yet. Paste cells into the box first."));
        } }, "Use these cells")),
      h("section", { class: "card stack-small" }, h("h2", null, "Or try an example"), examples)));

  setup().then((offered) => {
    limits.textContent = `Nothing leaves your computer. At most ${megabytes(offered.limits.bytes)}, ${count(offered.limits.rows)} rows and ${count(offered.limits.columns)} columns.`;
    examples.append(...offered.examples.map((each) => h("li", null,
      h("button",
        {
          type: "button", class: "example", onclick: () => receive(() => post("/api/tables/example", { id: each.id }), each.name),
        },
        h("strong", null, each.name), h("span", { class: "quietly small" }, each.about)))));
  }).catch((error) => put(told, message("bad", error.message)));

  return { element, leave: () => {
    reads += 1;
    for (const [kind, listener] of listeners) document.removeEventListener(kind, listener);
  } };
}
