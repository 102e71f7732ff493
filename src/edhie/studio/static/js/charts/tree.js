// The tree of an expression. Nodes that stay at their place in the tree move; others appear.
import { h, s, put } from "../dom.js";

const [ACROSS, DOWN, HIGH, MARGIN] = [50, 54, 28, 20]; // pixels; the server spaces nodes by the letters of their labels
const LEAST = 0.6; // of its size, on a narrow screen; then it scrolls
const SIGN = { added: "+", changed: "~", removed: "−" };

const widthOf = (label) => Math.max(30, 15 + 8 * label.length);

/** Return the place of each node in the tree as text, so that two trees can be compared: "", "0", "0.1", … */
function paths(tree) {
  const found = new Map();
  const children = new Map();
  const below = new Set();
  for (const [parent, child] of tree.edges) {
    children.set(parent, [...(children.get(parent) ?? []), child]);
    below.add(child);
  }
  const walk = (id, path) => {
    found.set(id, path);
    (children.get(id) ?? []).forEach((child, i) => walk(child, `${path}.${i}`));
  };
  for (const node of tree.nodes) if (!below.has(node.id)) walk(node.id, "");
  return found;
}

/** Return a tree with `show(tree, label)`. */
export function treeView() {
  const edges = s("g", { "aria-hidden": "true" });
  const nodes = s("g", { "aria-hidden": "true" });
  const svg = s("svg", { role: "img" }, edges, nodes);
  const element = h("div", { class: "tree", tabindex: 0, role: "group", "aria-label": "Tree" }, svg);
  let made = new Map();

  function show(tree, label) {
    if (!tree || !tree.nodes.length) return void svg.setAttribute("height", 0);
    const place = (node) => [MARGIN + node.x * ACROSS, MARGIN + node.y * DOWN];
    const width = 2 * MARGIN + tree.width * ACROSS;
    const height = 2 * MARGIN + Math.max(...tree.nodes.map((node) => node.y)) * DOWN;
    for (const [name, value] of Object.entries({
      width, height, viewBox: `0 0 ${width} ${height}`, "aria-label": label,
    })) svg.setAttribute(name, value);
    svg.style.minWidth = `${LEAST * width}px`;
    const byId = new Map(tree.nodes.map((node) => [node.id, place(node)]));
    put(edges, ...tree.edges.map(([a, b]) => s("path", { class: "edge", d: `M${byId.get(a)}L${byId.get(b)}` })));
    const path = paths(tree);
    const next = new Map();
    for (const node of tree.nodes) {
      const key = path.get(node.id) ?? String(node.id);
      const group = made.get(key) ?? s("g", null);
      const wide = widthOf(node.label);
      const [left, top] = byId.get(node.id);
      group.setAttribute("class", `node ${node.kind} ${node.mark ?? ""}`);
      group.style.transform = `translate(${left}px, ${top}px)`;
      put(group, s("rect", { x: -wide / 2, y: -HIGH / 2, width: wide, height: HIGH, rx: 8 }), s("text", null, node.label), s(
        "title", null, node.mark in SIGN ? `${node.label}: ${node.mark}` : node.label),
        node.mark in SIGN ? s("text", { class: "sign", x: wide / 2 + 6, y: -HIGH / 2 }, SIGN[node.mark]) : "");
      next.set(key, group);
    }
    for (const [key, group] of made) if (!next.has(key)) group.remove();
    // those that stay are not moved in the page, so that they glide
    for (const [key, group] of next) if (!made.has(key)) nodes.append(group);
    made = next;
  }
  return { element, show };
}

/** Return the key to the marks of a tree. */
export function treeKey() {
  return h("ul", { class: "legend-line" },
    Object.keys(SIGN).map((mark) => h("li", null, h("span", { class: `swatch mark ${mark}`, "aria-hidden": "true" }),
      `${SIGN[mark]} ${mark}`)));
}
