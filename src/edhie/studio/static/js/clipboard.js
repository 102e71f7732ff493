// Copying of text, also where the page may not reach the clipboard.
import { h, announce } from "./dom.js";

/** Copy a text; return whether it could be copied. */
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }
}

/** Return a button that copies what `text()` returns. */
export function copyButton(label, text) {
  const button = h("button", { type: "button", onclick: async () => {
    const words = await write(text()) ? "Copied" : "Mark the text and copy it by hand";
    button.textContent = words;
    announce(words);
    setTimeout(() => { button.textContent = label; }, 1500);
  } }, label);
  return button;
}
