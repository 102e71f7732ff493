// One tooltip for all charts, for pointers and for keyboards; Escape hides it.
import { h } from "../dom.js";

let box = null;
let owner = null; // what it belongs to

/** Show text beside an element. */
export function showTooltip(element, text) {
  box ??= document.body.appendChild(h("div", { class: "tooltip", "aria-hidden": "true" }));
  owner = element;
  box.textContent = text;
  box.hidden = false;
  const place = element.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  const left = Math.min(Math.max(8, place.left + place.width / 2 - width / 2), innerWidth - width - 8);
  const top = place.top - height - 8;
  box.style.left = `${left}px`;
  box.style.top = `${top < 8 ? place.bottom + 8 : top}px`;
}

/** Hide it. */
export function hideTooltip() {
  if (box) box.hidden = true;
}

/** Hide it if what it belongs to is no longer on the page: that is not told by any event. */
export function hideLeftTooltip() {
  if (owner && !owner.isConnected) hideTooltip();
}

/** Let an element show `text` while it is pointed at or focused. */
export function withTooltip(element, text) {
  element.addEventListener("mouseenter", () => showTooltip(element, text));
  element.addEventListener("mouseleave", hideTooltip);
  element.addEventListener("focus", () => showTooltip(element, text));
  element.addEventListener("blur", hideTooltip);
  return element;
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hideTooltip();
});
addEventListener("scroll", hideTooltip, { passive: true });
addEventListener("hashchange", hideTooltip);
