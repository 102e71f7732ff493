// One run: watched while it searches, judged when there are equations, taken away.
import { h, message, put, announce } from "../dom.js";
import { get, ofRun } from "../api.js";
import { listen } from "../stream.js";
import { tabs } from "../tabs.js";
import { runHead } from "../parts/run_head.js";
import { stateWords } from "../parts/state.js";
import { explorer } from "../parts/explorer.js";
import { fitPanel } from "../parts/fit_panel.js";
import { constantsPanel } from "../parts/constants_panel.js";
import { tryPanel } from "../parts/try_panel.js";
import { comparePanel } from "../parts/compare_panel.js";
import { takeAway } from "../parts/take_away.js";
import { verdictPart, changesPanel } from "../parts/revision.js";
import { formula } from "../mathml.js";

const NOTHING_YET = 409; // the status of a run without equations
const NONE_FOUND = "No equation was found. Give it more time, or allow other operators.";
const PASSING = { error: null, warning: null, stopped_by: null }; // of a run, unless its state tells them again
const ANSWERED = ["finished", "paused", "stopped"];
const HOW = "★ is the one edhie recommends. Click a point, or use the arrow keys.";
const FIT_WORDS = {
  across: "complexity", unit: "symbol", acrossTitle: "complexity (symbols in the equation)",
  acrossHint: "How many symbols the equation has: numbers, columns and operators.",
  chosenTitle: "Recommended equation", otherTitle: "Selected equation", frontTitle: "Simple or accurate",
  frontHint: `Each point is an equation; further right it is longer, further down it errs less. ${HOW}`,
};
const REVISE_WORDS = {
  across: "distance", unit: "change", acrossTitle: "distance (symbols changed)",
  acrossHint: "How many symbols of your formula were added, removed or replaced.",
  chosenTitle: "Recommended revision", otherTitle: "Selected revision", frontTitle: "Little changed or accurate",
  frontHint: `Each point is a version of your formula; further right more of it was changed, further down it errs less. ${HOW}`,
};

const ofProgress = (progress) => progress.front.map((each, i) => ({
  key: each.text, size: each.distance ?? each.complexity, error: each.error, text: each.text,
  expression: each.expression ?? each.text, mathml: each.mathml, isChosen: i === progress.chosen,
}));
const ofEquations = (answer) => answer.equations.map((each) => ({
  key: String(each.index), size: each.complexity, error: each.error, text: each.right_side, mathml: each.mathml, r2: each.r2,
  r2Validation: each.r2_validation, confidence: each.confidence, isChosen: each.is_chosen,
}));
const ofSteps = (answer) => answer.steps.map((each) => ({
  key: String(each.index), size: each.distance, error: each.error, text: each.right_side, mathml: each.mathml, r2: each.r2,
  changes: each.changes, isChosen: each.is_chosen,
}));

/** Show a run; returns a function that leaves it. */
export async function showRun(place, id) {
  let run = await get(ofRun(id));
  let answer = null; // equations or steps, once the search has ended
  let points = [];
  let parts = null;
  let fit = null;
  let isGone = false;
  let asked = 0; // times that the equations were asked for: only the last answer counts
  let isAsking = false;

  const head = runHead((kind) => {
    const text = front.current()?.text;
    location.hash = `#/new/run/${id}/${kind}${text ? `/${encodeURIComponent(text)}` : ""}`;
  });
  const front = explorer((point) => showSelected(point));
  const words = () => (run.kind === "revise" ? REVISE_WORDS : FIT_WORDS);
  const look = h("div");
  const told = h("div", { class: "stack-small" });
  const notes = h("ul", { class: "hint notes" });
  const below = h("div");
  const log = h("details", { hidden: true }, h("summary", null, "What the search printed"),
    h("pre", { class: "code", tabindex: 0 }));
  const features = () => answer?.columns?.map((each) => each.column ?? each) ?? run.question?.features ?? run.columns ?? [];

  place.append(h("div", { class: "stack" }, head.element, look, told, front.element, notes, below, log));

  function showSelected(point) {
    if (!point) return;
    if (parts) parts.renew();
    else if (answer === null) liveFit(point);
  }

  function liveFit(point) {
    if (!point.expression || !run.table_is_there || !features().length) return;
    if (!fit) {
      fit = fitPanel(id, run.target, features());
      put(below, h("section", { class: "card stack-small" }, h("h2", null, "Fit"), fit.element));
    }
    fit.show({ expression: point.expression });
  }

  function showParts() {
    const { target } = answer;
    const point = () => front.current();
    const entries = [
      ["fit", "Fit", () => {
        const panel = fitPanel(id, target, features());
        panel.show({ equation: Number(point().key) });
        return panel.element;
      }],
      run.kind === "revise" ? ["changes", "What changed", () => changesPanel(answer, point(), target)] : null,
      ["constants", "Constants", () => constantsPanel(id, point(), target)],
      ["try", "Try numbers", () => tryPanel(id, point(), target, features())],
      ["compare", "Compare", () => comparePanel(id, point(), points, target, features())],
      ["take", "Take away", () => takeAway(run, point())],
    ];
    parts = tabs("About the selected equation", entries.filter(Boolean));
    put(below, h("section", { class: "card" }, parts.element));
  }

  function empty(text) {
    front.element.hidden = true;
    put(below, message("", text));
  }

  async function showAnswer() {
    asked += 1;
    const mine = asked;
    isAsking = true;
    try {
      const given = await get(ofRun(id, "/equations"));
      if (isGone || mine !== asked || !ANSWERED.includes(run.state)) return;
      answer = { target: run.target, ...given };
      points = run.kind === "revise" ? ofSteps(answer) : ofEquations(answer);
      put(look);
      put(told, answer.verdict ? verdictPart(answer) : null);
      put(notes, answer.notes.map((note) => h("li", null, note)));
      if (!points.length) return void empty(NONE_FOUND);
      front.element.hidden = false;
      fit = null;
      parts = null;
      front.show(points, { target: answer.target, isRelative: answer.is_relative, ...words() });
      showParts();
    } catch (error) {
      if (mine !== asked) return;
      put(look);
      if (error.status === NOTHING_YET) empty(run.state === "finished" ? NONE_FOUND : "It was stopped before it found an equation. Press “Go on”.");
      else put(told, message("bad", error.message));
    } finally {
      if (mine === asked) isAsking = false;
    }
  }

  function onState(given) {
    const isNew = given.state !== run.state;
    run = { ...run, ...PASSING, ...given };
    document.title = `${stateWords(run)}: ${run.name} · edhie studio`;
    head.showRun(run);
    front.element.hidden = !points.length;
    if (isNew) {
      announce(`${run.name}: ${stateWords(run)}`);
      if (run.state === "failed") showLog();
    }
    if (ANSWERED.includes(run.state) && (isNew || (answer === null && !isAsking))) showAnswer();
    else if (!ANSWERED.includes(run.state) && (isNew || !points.length)) live();
  }

  /** Leave what was judged, and watch again. */
  function live() {
    answer = null;
    parts = null;
    put(told);
    put(notes);
    if (isSearching() && !points.length && !look.childElementCount) put(look,
      message("", run.state === "waiting" ? "Waiting for its turn." : "The first equations appear here in a moment."));
  }

  const isSearching = () => ["waiting", "starting", "running", "pausing"].includes(run.state);

  function onProgress(progress) {
    head.showProgress(progress);
    if (answer !== null || !isSearching() || !progress.front?.length) return;
    if (!points.length) announce("First equations found");
    points = ofProgress(progress);
    put(look);
    front.element.hidden = false;
    const isRevision = "distance" in progress.front[0]; // earlier releases told complexities of revisions, too
    front.show(points, {
      target: run.target, isRelative: false, ...(isRevision ? REVISE_WORDS : FIT_WORDS),
      chosenTitle: isRevision ? "Best revision so far" : "Best equation so far",
    });
  }

  function onLook(first) {
    if (!isSearching() || points.length || !first.mathml) return;
    put(look,
      h("section", { class: "card stack-small" }, h("h2", null, "At first sight"),
        h("p", { class: "hint" }, "The best of some simple forms. The search now looks for something better."),
        formula(first.mathml, { text: first.text, target: run.target })));
  }

  async function showLog() {
    const { log: text } = await get(ofRun(id)).catch(() => ({})); // a lost connection is shown elsewhere
    log.hidden = !text;
    log.querySelector("pre").textContent = text ?? "";
  }

  onState({ ...run, state: run.state });
  if (run.state === "failed") showLog();
  const stream = listen(ofRun(id, "/events"), { state: onState, progress: onProgress, look: onLook, deleted: () => {
    stream.close();
    put(place,
      message("warn", "This run was deleted.", h("div", { class: "buttons" }, h("a", { class: "button", href: "#/" }, "All runs"))));
  } }, ofRun(id));
  return () => {
    isGone = true;
    stream.close();
  };
}
