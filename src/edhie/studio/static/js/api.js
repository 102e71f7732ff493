// Requests to the server. A refusal becomes an ApiError with the server's message.

export class ApiError extends Error {
  constructor(text, { status = 0, where = null } = {}) {
    super(text);
    this.status = status;
    this.where = where;
  }
}

const LOST = "The studio does not answer. If it was closed, start it again; this page goes on by itself.";
const LOCKED = "This page no longer has access. Open the address that the studio shows in its window.";

/** Return a message with a capital letter, unless it begins with a name. */
export const sentence = (text) => (/^[a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

async function refusal(response) {
  if (response.status === 401) return new ApiError(LOCKED, { status: 401 });
  try {
    const body = await response.json();
    return new ApiError(sentence(body.error), { status: response.status, ...body });
  } catch {
    return new ApiError(`The studio answered with status ${response.status}.`, { status: response.status });
  }
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch {
    throw new ApiError(LOST);
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** Return the JSON at a path. */
export async function get(path) {
  return (await request(path)).json();
}

/** Return the text at a path, and what the server says about it. */
export async function getText(path) {
  const response = await request(path);
  return { text: await response.text(), about: decodeURIComponent(response.headers.get("X-About") ?? "") };
}

async function jsonOf(response) {
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

/** Send a value as JSON and return the answer. */
export async function post(path, body = {}) {
  return jsonOf(await request(path,
    { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }));
}

/** Delete what is at a path. */
export async function remove(path) {
  await request(path, { method: "DELETE" });
}

/** Send a file or text as a table and return its summary. */
export async function upload(content, name) {
  return jsonOf(await request("/api/tables",
    {
      method: "POST", headers: { "X-Name": encodeURIComponent(name), "Content-Type": "application/octet-stream" }, body: content,
    }));
}

/** Return the address of something of a run. */
export function ofRun(id, rest = "") {
  return `/api/runs/${encodeURIComponent(id)}${rest}`;
}

let offered = null;

/** Return what the server offers: examples, operators, limits. Asked once. */
export function setup() {
  offered ??= get("/api/setup").catch((error) => {
    offered = null;
    throw error;
  });
  return offered;
}
