// Copying of text, also where the page may not reach the clipboard.
import { h } from "./dom.js";
import { announce } from "./announce.js";

async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** Return a button that copies what `text()` returns. */
export function copyButton(label, text) {
  const button = h("button", { type: "button", onclick: async () => {
    await write(text());
    button.textContent = "Copied";
    announce("Copied");
    setTimeout(() => { button.textContent = label; }, 1500);
  } }, label);
  return button;
}
