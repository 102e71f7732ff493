// Tabs: arrow keys move between them; a panel is made when it is first shown.
import { h, newId, put } from "./dom.js";

/** Return tabs of [key, label, make], where `make()` returns the panel's content; `renew()` makes them again. */
export function tabs(label, entries) {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const element = h("div", null, list);
  const parts = new Map();
  let current = null;

  function show(key) {
    current = key;
    for (const [each, { button, panel, make }] of parts) {
      const isShown = each === key;
      button.setAttribute("aria-selected", String(isShown));
      button.tabIndex = isShown ? 0 : -1;
      panel.hidden = !isShown;
      if (isShown && !panel.childElementCount) panel.append(make());
    }
  }

  for (const [key, text, make] of entries) {
    const panelId = newId("panel");
    const button = h("button",
      { type: "button", role: "tab", id: newId("tab"), "aria-controls": panelId, onclick: () => show(key) }, text);
    const panel = h("div", { class: "panel", role: "tabpanel", id: panelId, "aria-labelledby": button.id, hidden: true });
    parts.set(key, { button, panel, make });
    list.append(button);
    element.append(panel);
  }

  list.addEventListener("keydown", (event) => {
    const keys = [...parts.keys()];
    const moves = { ArrowRight: 1, ArrowLeft: -1 };
    let next = keys.indexOf(current);
    if (event.key in moves) next = (next + moves[event.key] + keys.length) % keys.length;
    else if (event.key === "Home") next = 0;
    else if (event.key === "End") next = keys.length - 1;
    else return;
    event.preventDefault();
    show(keys[next]);
    parts.get(keys[next]).button.focus();
  });

  show(entries[0][0]);
  return { element, renew: () => {
    for (const { panel } of parts.values()) put(panel);
    show(current);
  } };
}
