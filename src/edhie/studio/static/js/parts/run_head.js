// The head of a run: its name, its state, what can be done, and how far the search is.
import { h, facts, message, put } from "../dom.js";
import { post, ofRun, sentence } from "../api.js";
import { count, duration, number } from "../numbers.js";
import { statePill, renameRun, deleteRun } from "./state.js";

const MORE = [60, 300, 1800];
const STOPPED_BY = {
  seconds: "its time was used up", finished: "nothing was left to try", patience: "nothing better came up for a long while",
  target: "an equation leaves nothing but rounding errors", evaluations: "its budget was used up", interrupted: "it was stopped",
};

/** Return the head, with `showRun(run)` and `showProgress(progress)`. */
export function runHead(onAgain) {
  const title = h("h1");
  const pill = h("div", { class: "buttons" });
  const controls = h("div", { class: "buttons" });
  const told = h("div", { "aria-live": "polite" });
  const fault = h("div", { "aria-live": "polite" });
  const bar = h("div");
  const meter = h("div",
    {
      class: "meter", role: "progressbar", "aria-label": "Share of the time used", "aria-valuemin": 0, "aria-valuemax": 100,
    }, bar);
  const figures = h("div", { class: "figures" });
  const why = h("p", { class: "quietly" });
  let run = null;
  let drawn = "";

  async function act(action) {
    put(told);
    for (const each of controls.querySelectorAll("button")) each.disabled = true;
    try {
      await action();
    } catch (error) {
      put(told, message("bad", error.message));
    }
    for (const each of controls.querySelectorAll("button")) each.disabled = false;
  }

  const button = (label, action, kind = "") => h("button", { type: "button", class: kind, onclick: () => act(action) }, label);
  const tell = (what, body) => () => post(ofRun(run.id, `/${what}`), body);

  function moreTime() {
    return [
      h("span", { class: "quietly small" }, "Search for longer:"),
      ...MORE.map((seconds) => button(`+ ${duration(seconds)}`, tell("resume", { more_seconds: seconds }), "slim")),
    ];
  }

  function buttons() {
    const states = {
      waiting: () => [button("Pause", tell("pause")), button("Stop", tell("stop"))],
      starting: () => [button("Pause", tell("pause")), button("Stop", tell("stop"))],
      running: () => [button("Pause", tell("pause")), button("Stop", tell("stop")), ...(run.max_time ? moreTime() : [])],
      paused: () => [button("Go on", tell("resume", {}), "primary"), button("Stop", tell("stop")), ...moreTime()],
      finished: moreTime,
      stopped: () => [button("Go on", tell("resume", {}), "primary"), ...moreTime()],
      failed: () => [button("Try again", tell("resume", {}), "primary")],
    };
    return run.is_own === false ? [] : (states[run.state] ?? (() => []))();
  }

  function showRun(given) {
    run = given;
    title.textContent = run.name;
    const now = JSON.stringify([run.state, run.position, run.is_own]);
    if (now !== drawn) {
      drawn = now;
      const hadFocus = controls.contains(document.activeElement);
      put(pill, statePill(run));
      put(controls, ...buttons());
      if (hadFocus) controls.querySelector("button")?.focus();
    }
    rename.hidden = run.is_own === false;
    for (const each of again) each.hidden = !run.table_is_there;
    const isSearching = ["starting", "running", "pausing"].includes(run.state);
    meter.hidden = !isSearching;
    figures.hidden = !isSearching;
    why.textContent = run.error ? "" : whyWords();
    showFault();
  }

  /** Show why the run failed, or what is wrong while it goes on. */
  function showFault() {
    const text = run.error ?? run.warning ?? "";
    if (fault.textContent === sentence(text)) return;
    put(fault, text ? message(run.error ? "bad" : "warn", sentence(text)) : null);
  }

  function whyWords() {
    if (run.state === "waiting") return "Another search runs. This one starts by itself as soon as it is its turn.";
    if (run.state === "starting") return "Preparing the search. The first one on a computer takes about half a minute longer.";
    if (run.state === "finished" && run.stopped_by in STOPPED_BY) return `The search ended because ${STOPPED_BY[run.stopped_by]}${run.seconds ? `, after ${duration(run.seconds)}` : ""}.`;
    if (run.state === "paused") return "Paused. What was found so far is below.";
    return "";
  }

  function showProgress(progress) {
    if (run && run.state !== "running") return;
    const percent = progress.fraction === null ? null : Math.round(100 * Math.min(1, progress.fraction));
    if (percent === null) meter.removeAttribute("aria-valuenow");
    else meter.setAttribute("aria-valuenow", percent);
    bar.style.width = `${percent ?? 0}%`;
    put(figures, facts([
      ["time left", progress.seconds_left === null ? null : duration(progress.seconds_left)],
      ["time used", duration(progress.seconds)],
      ["expressions tried", count(progress.executed)],
      ["a second", progress.rate === null ? null : count(progress.rate)],
      ["lowest typical error", progress.error === null ? null : number(progress.error, 3)],
    ]));
  }

  const rename = h("button", { type: "button", class: "quiet slim", onclick: () => act(() => renameRun(run)) }, "Rename");
  const again = [
    ["fit", "New question on these data"], ["revise", "Improve a formula of mine"],
  ].map(([kind, label]) => h("button", { type: "button", class: "quiet slim", onclick: () => onAgain(kind) }, label));
  const element = h("header", { class: "stack-small" },
    h("div", { class: "head" }, h("div", { class: "title-line" }, title, pill), controls),
    told, fault, why, meter, figures,
    h("div", { class: "buttons small-buttons" },
      rename, again,
      h("button", { type: "button", class: "quiet slim danger", onclick: () => act(async () => {
        if (await deleteRun(run)) location.hash = "#/";
      }) }, "Delete")));
  return { element, showRun, showProgress };
}
