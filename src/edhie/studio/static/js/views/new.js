// A new search: bring data, then ask. The defaults are such that one press is enough.
import { h, message, choices, field, select, put } from "../dom.js";
import { get, post, ofRun, setup } from "../api.js";
import { count, counted } from "../numbers.js";
import { bringPart } from "../parts/bring.js";
import { problemsPart } from "../parts/problems.js";
import { columnsPart } from "../parts/columns.js";
import { previewPart, scatterPart } from "../parts/preview.js";
import { knownPart } from "../parts/known.js";
import { operatorsPart } from "../parts/operators.js";
import { budgetPart } from "../parts/budget.js";
import { formulaField } from "../parts/formula_field.js";

/** Return the sentence that says what will be searched for. */
function sentence({ target, features }) {
  const names = [...features];
  const listed = names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more columns` : names.join(", ").replace(/, ([^,]*)$/, " and $1");
  return [h("strong", { class: "name" }, target), " from ", h("strong", { class: "name" }, listed)];
}

/** Return target, columns and standard errors: as suggested, or as `kept` from before the table was read again. */
function firstQuestion({ suggested, columns }, kept) {
  if (!kept) return { target: suggested.target, features: new Set(suggested.features), sigma: suggested.sigma };
  const names = new Set(columns.map((column) => column.name));
  const isThere = (name) => names.has(name);
  if (!isThere(kept.question.target)) return firstQuestion({ suggested, columns }, null);
  const added = suggested.features.filter((name) => !kept.suggested.includes(name) && name !== kept.question.target);
  return {
    target: kept.question.target, features: new Set([...kept.question.features, ...added].filter(isThere)),
    sigma: isThere(kept.question.sigma) ? kept.question.sigma : null,
  };
}

/** Return options with those of a remedy; texts that mean missing are added to those that are there. */
function joined(options, remedy) {
  const missing = [options.missing, remedy.missing].filter(Boolean).join(",");
  return { ...options, ...remedy, ...(missing ? { missing } : {}) };
}

/** Return how many rows have a number in every column of a question; the others are left out. Null if it is not known. */
function usedRows({ rows, gaps }, { target, features, sigma }) {
  const isUsed = (name) => name === target || name === sigma || features.has(name);
  return gaps && gaps.filter((each) => each.columns.some(isUsed)).reduce((left, each) => left - each.rows, rows);
}

function sizeWords(summary, question) {
  const used = usedRows(summary, question);
  const rows = counted(summary.rows, "row");
  const shown = used === null ? `${rows}, without those that have gaps` : used < summary.rows ? `${count(used)} of ${rows}` : rows;
  return `${shown}, ${counted(summary.columns.length, "column")}`;
}

/**
 * Return the question about a table. `kept` is what was asked before the table was read again, with what else was chosen
 * in `kept.chosen`; `formula` is one to improve.
 * `size` is an element for the rows that are used, `reread(options, kept)` reads the table with other options.
 */
function askPart(summary, offered, { kind, kept, formula, size, onStarted, reread }) {
  const question = firstQuestion(summary, kept);
  const chosen = kept?.chosen ?? {};
  const defaults = offered.operators.flatMap((group) => group.items.filter((each) => each.is_default).map((each) => each.name));
  const operators = new Set(chosen.operators ?? defaults);
  const usual = defaults.sort().join();
  let noise = chosen.noise ?? "auto";
  let isRevision = kind === "revise";

  const told = h("div", { "aria-live": "assertive" });
  const said = h("p", { class: "asked" });
  const remedied = h("div", { class: "stack-small" });
  const scatter = scatterPart(summary, question);
  const known = knownPart(summary, question, change, chosen.known);
  const columns = columnsPart(summary, question, change);
  const budget = budgetPart(chosen.seconds ?? offered.defaults.max_time);
  const own = formulaField({ label: "Your formula", kind: "formula", value: formula, variables: () => [...question.features], placeholder: "for example  c*x*exp(-c*t)",
    hint: "Text or LaTeX. Write c for a number that is to be fitted. edhie finds the least change after which it explains the data." });
  const name = h("input", { type: "text", maxlength: 200, placeholder: summary.name, value: chosen.name ?? "" });
  const start = h("button", { type: "button", class: "primary large", onclick: begin });
  const ownBox = h("div", null, own.element);
  const isKnown = Object.values(chosen.known ?? {}).some(Boolean);
  const knownBox = h("details", { open: isKnown }, h("summary", null, "What you know already ", h("span", { class: "hint" }, "(optional)")),
    known.element);

  function change() {
    columns.mark();
    known.recheck();
    if (!own.isEmpty()) own.checkNow();
    showQuestion();
  }

  function showQuestion() {
    size.textContent = sizeWords(summary, question);
    const canStart = question.target && (question.features.size > 0);
    put(said,
      ...(canStart ? [
        isRevision ? "Revise a formula for " : "Find equations for ", ...sentence(question), ".",
      ] : ["Mark the column to explain, and tick at least one column to use."]));
    start.textContent = isRevision ? "Revise my formula" : "Find equations";
    start.disabled = !canStart;
    ownBox.hidden = !isRevision;
    knownBox.hidden = isRevision;
    scatter.update();
  }

  function remedy({ exclude, ...options }, label) {
    if (Object.keys(options).length) return void reread(joined(summary.options, options), {
      question, suggested: summary.suggested.features, kind: isRevision ? "revise" : "fit", formula: own.value(),
      chosen: { operators, noise, name: name.value, seconds: budget.value(), known: known.read() },
    });
    question.features.delete(exclude);
    if (question.target === exclude) question.target = null;
    remedied.append(message("good", `Done: ${label}.`));
    change();
  }

  function body() {
    const allowed = [...operators].sort().join();
    return {
      table: summary.id, name: name.value.trim() || undefined, kind: isRevision ? "revise" : "fit", formula: isRevision ? own.value() : undefined,
      target: question.target, features: [...question.features], sigma: question.sigma ?? undefined,
      operators: allowed === usual ? undefined : [...operators], ...(isRevision ? {} : known.read()),
      max_time: budget.value(), noise: noise === "auto" ? undefined : noise,
      options: summary.options,
    };
  }

  async function begin() {
    if (isRevision && own.isEmpty()) {
      put(told, message("bad", "Write your formula first."));
      return void own.focus();
    }
    start.disabled = true;
    start.textContent = "Starting…";
    put(told);
    try {
      const { id } = await post("/api/runs", body());
      onStarted(id);
    } catch (error) {
      put(told, message("bad", error.message));
      if (["guesses", "template", "field", "sigma"].includes(error.where?.field)) knownBox.open = true;
      showQuestion();
    }
  }

  const element = h("div", { class: "stack" },
    problemsPart(summary, remedy), remedied,
    h("div", { class: "two ask" },
      h("section", { class: "card stack question" }, h("h2", null, "Your question"),
        choices("What do you want?", [["fit", "find an equation"], ["revise", "improve a formula that I have"]], kind, (each) => {
          isRevision = each === "revise";
          showQuestion();
          if (isRevision) own.showNames();
        }), said, ownBox, budget.element, told, h("div", null, start)),
      h("section", { class: "card" }, scatter.element)),
    h("section", { class: "card stack" }, h("h2", null, "Your columns"), columns.element, previewPart(summary)),
    h("section", { class: "card stack-small" }, h("h2", null, "More, if you like"), knownBox,
      h("details", null, h("summary", null, "Operators ", h("span", { class: "hint" }, "(what equations may be made of)")),
        operatorsPart(offered.operators, operators)),
      h("details", null, h("summary", null, "Name and noise"), h("div", { class: "two" }, field("Name of this run", name),
        field("How your measurements scatter", select(offered.noises, noise, (each) => { noise = each; }),
          "Decides how much misfit is put down to chance.")))));
  showQuestion();
  if (isRevision) own.showNames();
  return element;
}

/** Return text that was part of an address; nothing if somebody has spoiled it. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Show a new search; with `runId`, on the table of that run, and `formula` is one of its equations, to be improved. */
export async function showNew(place, runId = null, kind = "fit", formula = "") {
  document.title = "New search · edhie studio";
  const body = h("div");
  const heading = h("h1", null, "Find the equation in your data");
  const lead = h("p", { class: "quietly lead" },
    "Bring a table of measurements. edhie looks for short formulas that explain one column by the others.");
  place.append(h("div", { class: "stack" }, h("div", { class: "stack-small" }, heading, lead), body));
  let bring = null;
  let isGone = false;
  let reads = 0; // an answer counts only if nothing else was asked for since

  function start() {
    reads += 1;
    document.title = "New search · edhie studio";
    heading.textContent = "Find the equation in your data";
    lead.hidden = false;
    bring = bringPart(ask);
    put(body, bring.element);
  }

  async function ask(summary, kept = null) {
    bring?.leave();
    bring = null;
    const offered = await setup();
    if (isGone) return;
    heading.textContent = summary.name;
    lead.hidden = true;
    const told = h("div", { "aria-live": "polite" });
    const size = h("p", { class: "quietly" });
    const reread = async (options, question) => {
      reads += 1;
      const mine = reads;
      try {
        const again = await get(`/api/tables/${summary.id}?${new URLSearchParams(options)}`);
        if (mine === reads) await ask(again, question);
      } catch (error) {
        if (mine === reads) put(told, message("bad", error.message));
      }
    };
    const onStarted = (id) => {
      if (!isGone) location.hash = `#/run/${id}`;
    };
    put(body, h("div", { class: "stack" },
      h("div", { class: "head" }, size,
        h("button", { type: "button", class: "slim", onclick: start }, "Use another table")), told,
      askPart(summary, offered, { kind: kept?.kind ?? kind, kept, formula: kept?.formula ?? "", size, onStarted, reread })));
    scrollTo(0, 0);
  }

  if (runId) {
    const [summary, { question }] = await Promise.all([post("/api/tables/run", { id: runId }), get(ofRun(runId))]);
    const kept = { question: { ...question, features: new Set(question?.features) }, suggested: summary.suggested.features };
    await ask(summary, { ...kept, formula: decoded(formula) });
  } else start();
  return () => {
    isGone = true;
    bring?.leave();
  };
}
