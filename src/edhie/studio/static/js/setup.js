// What the server offers: examples, operators, limits. Asked once.
import { get } from "./api.js";

let asked = null;

/** Return the setup of the server. */
export function setup() {
  asked ??= get("/api/setup").catch((error) => {
    asked = null;
    throw error;
  });
  return asked;
}
