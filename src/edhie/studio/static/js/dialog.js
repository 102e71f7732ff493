// Questions in a dialog: a confirmation, or one line of text.
import { h, field } from "./dom.js";

function ask(title, body, confirm, kind, read) {
  return new Promise((resolve) => {
    const form = h("form", { method: "dialog", class: "stack-small" }, h("h2", null, title), body,
      h("div", { class: "buttons" },
        h("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        h("button", { type: "submit", class: `primary ${kind}`, value: "yes" }, confirm)));
    const dialog = h("dialog", { "aria-label": title }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes" ? read() : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** Ask for a yes; resolves to true or null. */
export function confirmed(title, text, confirm) {
  return ask(title, h("p", null, text), confirm, "danger", () => true);
}

/** Ask for one line of text; resolves to it or null. */
export function asked(title, label, value, confirm) {
  const input = h("input", { type: "text", value, maxlength: 200, autofocus: true });
  return ask(title, field(label, input), confirm, "", () => input.value.trim() || null);
}
