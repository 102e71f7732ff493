// The state of a run in words, and what can be done to it: renaming, and deleting.
import { h, announce } from "../dom.js";
import { asked, confirmed } from "../dialog.js";
import { post, remove, ofRun } from "../api.js";

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

/** Ask for a new name and set it; return it, or null. */
export async function renameRun(run) {
  const name = await asked("Rename this run", "Name", run.name, "Rename");
  if (name === null || name === run.name) return null;
  await post(ofRun(run.id, "/rename"), { name });
  announce(`Renamed to ${name}`);
  return name;
}

/** Ask and delete; return whether it is gone. */
export async function deleteRun(run) {
  const yes = await confirmed("Delete this run?",
    `“${run.name}” and everything in its folder will be removed: the table, the equations, the report. This cannot be undone.`,
    "Delete");
  if (!yes) return false;
  await remove(ofRun(run.id));
  announce(`${run.name} was deleted`);
  return true;
}
