// The list of all runs, newest first, kept up to date; for a first visit, the start of a new search.
import { h, message, put } from "../dom.js";
import { listen } from "../stream.js";
import { formula } from "../mathml.js";
import { moment, share, duration, counted } from "../numbers.js";
import { statePill, renameRun, deleteRun } from "../parts/state.js";
import { showNew } from "./new.js";

const KIND = { fit: "equations for", revise: "a revision for" };

function card(run, told) {
  const act = (action) => async () => {
    try {
      await action(run);
    } catch (error) {
      put(told, message("bad", error.message));
    }
  };
  const details = [
    run.target ? `${KIND[run.kind]} ${run.target}` : null, moment(run.created),
    run.seconds ? `${duration(run.seconds)} of search` : null,
  ];
  const best = run.best ? formula(run.best.mathml, { target: run.target, text: run.best.text, kind: "little" }) : null;
  return h("li", { class: "card run-card" },
    h("div", { class: "head" }, h("h2", null, h("a", { href: `#/run/${run.id}` }, run.name)), statePill(run)),
    h("p", { class: "quietly small name" }, details.filter(Boolean).join(" · ")),
    best, run.error ? h("p", { class: "error-text" }, run.error) : null,
    h("div", { class: "head" },
      h("p", { class: "quietly small number" },
        run.best && run.best.r2 !== null ? `R² ${share(run.best.r2)} · ${counted(run.best.complexity, "symbol")}` : ""),
      h("div", { class: "buttons" },
        run.is_own === false ? null : h("button",
          { type: "button", class: "quiet slim", "aria-label": `Rename ${run.name}`, onclick: act(renameRun) }, "Rename"),
        h("button", { type: "button", class: "quiet slim danger", "aria-label": `Delete ${run.name}`, onclick: act(deleteRun) },
          "Delete"))));
}

/** Show the list; returns a function that leaves it. */
export async function showRuns(place) {
  document.title = "Runs · edhie studio";
  const list = h("ul", { class: "runs" });
  const told = h("div", { "aria-live": "polite" });
  const note = h("p", { class: "quietly" });
  const search = h("input",
    { type: "search", placeholder: "Search by name, column or equation", "aria-label": "Search runs", oninput: () => draw() });
  let runs = null;
  let leaveStart = null;
  let isStart = false;
  let isGone = false;
  let drawn = new Map(); // by run: what its card was made of, and the card

  /** Draw what has changed; a card that stays keeps the focus, and a press that has begun. */
  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const shown = runs.filter((run) => [run.name, run.target, run.best?.text, run.state].some((each) => (each ?? "").toLowerCase().includes(wanted)));
    const focused = document.activeElement?.getAttribute?.("aria-label") ?? document.activeElement?.getAttribute?.("href");
    const hadFocus = list.contains(document.activeElement);
    const before = drawn;
    drawn = new Map(shown.map((run) => {
      const of = JSON.stringify(run);
      const same = before.get(run.id)?.of === of ? before.get(run.id).element : null;
      return [run.id, { of, element: same ?? card(run, told) }];
    }));
    if ([...before.keys()].join() === [...drawn.keys()].join()) {
      for (const [id, { element }] of drawn) if (before.get(id).element !== element) before.get(id).element.replaceWith(element);
    } else put(list, ...[...drawn.values()].map(({ element }) => element));
    if (hadFocus && !list.contains(document.activeElement)) [...list.querySelectorAll("a, button")].find((each) => (each.getAttribute("aria-label") ?? each.getAttribute("href")) === focused)?.focus();
    note.textContent = shown.length ? "" : "No run matches.";
  }

  function all() {
    put(place, h("div", { class: "stack" },
      h("div", { class: "head" }, h("h1", null, "Your runs"),
        h("div", { class: "buttons" }, search, h("a", { class: "button primary", href: "#/new" }, "New search"))),
      told, list, note));
  }

  const stream = listen("/api/events", { runs: async (given) => {
    const first = runs === null;
    runs = given;
    if (!runs.length) {
      if (isStart) return;
      isStart = true;
      put(place);
      leaveStart = await showNew(place);
      if (isGone) leaveStart();
      return;
    }
    if (first || isStart) {
      if (isStart) return; // a search is being prepared here: leave it in peace
      all();
    }
    draw();
  } }, "/api/setup");
  return () => {
    isGone = true;
    stream.close();
    leaveStart?.();
  };
}
