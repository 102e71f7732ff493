// The state of a run in words, and what can be done to it.
import { h } from "../dom.js";

const WORDS = {
  waiting: "Waiting", starting: "Starting", running: "Searching", pausing: "Pausing", paused: "Paused", finished: "Finished",
  stopped: "Stopped", failed: "Failed",
};

/** Return the state in words, with the position in the queue. */
export function stateWords(run) {
  if (run.state === "waiting" && run.position) return `Waiting, number ${run.position} in the queue`;
  return WORDS[run.state] ?? run.state;
}

/** Return the state as a coloured word. */
export function statePill(run) {
  return h("span", { class: `state ${run.state}` }, stateWords(run));
}
