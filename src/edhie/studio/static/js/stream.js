// Server-sent events. A lost connection is shown and mended; a tab that is not in sight gives its connection back.
import { get } from "./api.js";
import { h, put } from "./dom.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 4000;
const [LOCKED, GONE] = [401, 404]; // statuses of answers

/**
 * Listen to `path`; `handlers` has one function for each kind of event. Return an object with `close()`.
 * The answer at `about` tells why a stream has ended: what it is about may be gone, or the page has no access.
 */
export function listen(path, handlers, about) {
  let source = null;
  let timer = 0;
  let wait = FIRST_WAIT;
  let isClosed = false;
  const token = {};

  function open() {
    clearTimeout(timer);
    source?.close();
    source = new EventSource(path);
    source.onopen = () => {
      wait = FIRST_WAIT;
      connectionIsThere(token);
    };
    source.onerror = () => {
      source.close();
      connectionIsLost(token, open);
      timer = setTimeout(open, wait);
      wait = Math.min(2 * wait, LONGEST_WAIT);
      tellWhy();
    };
    for (const [kind, handler] of Object.entries(handlers)) source.addEventListener(kind, (event) => handler(JSON.parse(event.data)));
  }

  async function tellWhy() {
    const { status, message } = await get(about).catch((error) => error);
    if (isClosed) return;
    if (status === GONE) handlers.deleted?.();
    else if (status === LOCKED) connectionIsLost(token, open, message);
  }

  function onVisibility() {
    if (document.hidden) {
      clearTimeout(timer);
      source?.close();
      source = null;
    } else if (source === null) open();
  }

  function onOnline() {
    if (!document.hidden) open();
  }

  document.addEventListener("visibilitychange", onVisibility);
  window.addEventListener("online", onOnline);
  open();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      source?.close();
      connectionIsThere(token);
      document.removeEventListener("visibilitychange", onVisibility);
      window.removeEventListener("online", onOnline);
    },
  };
}

// The strip that says that the connection is lost, while it is.

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
function connectionIsLost(token, open, reason = lost.get(token)?.reason) {
  lost.set(token, { open, reason });
  show();
}

/** Note that it is there again, or not needed any more. */
function connectionIsThere(token) {
  if (lost.delete(token)) show();
}
