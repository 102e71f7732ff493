// The strip that says that the connection is lost, while it is.
import { h, put } from "./dom.js";

const lost = new Map();
const USUAL = "Connection lost, trying again. Your search is kept; if the studio was closed, start it again.";

function show() {
  const strip = document.getElementById("connection");
  strip.hidden = lost.size === 0;
  if (lost.size === 0) return void put(strip);
  const reason = [...lost.values()].find((each) => each.reason)?.reason ?? USUAL;
  if (strip.firstChild?.data === `${reason} `) return;
  put(strip, `${reason} `,
    h("button", { type: "button", class: "slim", onclick: () => [...lost.values()].forEach(({ open }) => open()) }, "Try now"));
}

/** Note that the stream of `token` is lost, and why if that is known; `open` tries again at once. */
export function connectionIsLost(token, open, reason = lost.get(token)?.reason) {
  lost.set(token, { open, reason });
  show();
}

/** Note that it is there again, or not needed any more. */
export function connectionIsThere(token) {
  if (lost.delete(token)) show();
}
