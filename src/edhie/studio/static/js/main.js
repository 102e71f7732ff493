// The start of the page: colours, and one view for each address.
import { startTheme } from "./theme.js";
import { h, message, put } from "./dom.js";
import { showRuns } from "./views/runs.js";
import { showNew } from "./views/new.js";
import { showRun } from "./views/run.js";
import { showSpace } from "./views/space.js";

const ROUTES = [
  [/^#\/?$/, "runs", showRuns],
  [/^#\/new$/, "new", showNew],
  [/^#\/new\/run\/([a-z0-9-]+)(?:\/(fit|revise)(?:\/(.+))?)?$/, "new", showNew],
  [/^#\/run\/([a-z0-9-]+)$/, "run", showRun],
  [/^#\/space$/, "space", showSpace],
];

const view = document.getElementById("view");
let leave = null;
let visits = 0;

async function show() {
  const hash = location.hash || "#/";
  if (hash === "#view") return;
  const [pattern, name, make] = ROUTES.find(([each]) => each.test(hash)) ?? [/^/, "runs", showRuns];
  leave?.();
  leave = null;
  visits += 1;
  const visit = visits;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.route === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const place = h("div", { class: "view" });
  put(view, place);
  scrollTo(0, 0);
  try {
    const left = await make(place, ...pattern.exec(hash).slice(1));
    if (visit === visits) leave = left;
    else left?.();
  } catch (error) {
    put(place,
      message("bad", error.message, h("div", { class: "buttons" }, h("button", { type: "button", onclick: show }, "Try again"))));
  }
  if (visit === visits && visits > 1) view.focus({ preventScroll: true });
}

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  view.focus();
});
startTheme(document.getElementById("theme"));
window.addEventListener("hashchange", show);
show();
