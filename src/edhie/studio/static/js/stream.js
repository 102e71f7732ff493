// Server-sent events. A lost connection is shown and mended; a tab that is not in sight gives its connection back.
import { connectionIsThere, connectionIsLost } from "./connection.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 4000;

/** Listen to `path`; `handlers` has one function for each kind of event. Return an object with `close()`. */
export function listen(path, handlers) {
  let source = null;
  let timer = 0;
  let wait = FIRST_WAIT;
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
    };
    for (const [kind, handler] of Object.entries(handlers)) source.addEventListener(kind, (event) => handler(JSON.parse(event.data)));
  }

  function onVisibility() {
    if (document.hidden) {
      clearTimeout(timer);
      source?.close();
      source = null;
    } else if (source === null) open();
  }

  document.addEventListener("visibilitychange", onVisibility);
  window.addEventListener("online", open);
  open();
  return {
    close() {
      clearTimeout(timer);
      source?.close();
      connectionIsThere(token);
      document.removeEventListener("visibilitychange", onVisibility);
      window.removeEventListener("online", open);
    },
  };
}
