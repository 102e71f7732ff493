// Renaming and deleting of a run.
import { asked, confirmed } from "../dialog.js";
import { post, remove, ofRun } from "../api.js";
import { announce } from "../announce.js";

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
