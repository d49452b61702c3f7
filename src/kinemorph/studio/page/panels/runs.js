// The panel Runs: choose or add a run of the file, start it, watch it grow, and look at its results.

import { askText, askWhether, button, choice, folded, make, refill } from "../elements.js";
import { sameInPython } from "../same_in_python.js";
import { sheetOf } from "../sheet.js";
import { drawForm } from "./model/form.js";
import { makeActing } from "./runs/acting.js";
import { showDetails } from "./runs/details.js";
import { appendRun, followRun } from "./runs/frames.js";
import { progressOf } from "./runs/progress.js";
import { resultRows } from "./runs/results.js";

const DEFAULT_RUN = "";   // the value of the choice that stands for the run without a name

/** Opens the panel in its place. */
function openRuns(host, studio) {
  const view = {
    studio, document: null, run: DEFAULT_RUN, known: null, results: new Map(), chosen: null, other: null, columns: null,
    asked: 0, more: new Set(), refused: new Map(), form: make("section", { "aria-label": "Form of the run" }),
    choose: make("div", { class: "row" }), start: make("div", { class: "row" }), busy: make("div", {}),
    list: make("div", {}), details: make("section", { "aria-label": "Result" }), same: make("div", {}),
  };
  view.acting = makeActing(view);
  const options = folded("Options of the run", true, view.form);
  refill(host, view.choose, view.start, view.busy, options, view.acting.element, view.same, view.list, view.details);
  const ends = [
    studio.on("run", ({ run }) => takeRun(view, run)),
    studio.on("run progress", ({ number, progress }) => takeProgress(view, number, progress)),
    studio.on("run removed", ({ number }) => { view.results.delete(number); showResults(view); }),
    studio.on("picture", ({ growing }) => { if (growing) followRun(studio); }),
    studio.on("frames", (header, payload) => appendRun(studio, header, payload)),
    studio.on("select", (selection) => { if (selection?.kind === "run") chooseRun(view, selection.name); }),
  ];
  return { update: (state) => refreshRuns(view, state), close: () => ends.forEach((end) => end()) };
}

/** Asks for the runs again after the document has changed. */
async function refreshRuns(view, state) {
  if (view.document !== state.document) {
    const first = Object.keys(state.data?.runs ?? {})[0] ?? DEFAULT_RUN;
    Object.assign(view, { document: state.document, chosen: null, other: null });
    turnTo(view, first);
    view.refused.clear();
  }
  const ask = ++view.asked, found = await view.studio.ask("runs", { document: state.document });
  if (ask !== view.asked) return;
  view.known = found;
  view.results = new Map(found.results.map((one) => [one.number, one]));
  const next = found.runs.includes(view.studio.nextRun) && state.read_revision === state.revision;   // its picture is due
  if (next) turnTo(view, view.studio.nextRun);
  if (view.run && !found.runs.includes(view.run)) turnTo(view, found.runs[0] ?? DEFAULT_RUN);
  showChoice(view);
  showResults(view);
  if (next) {
    view.studio.nextRun = null;
    startRun(view);
  }
  await Promise.all([showForm(view, ask), showActing(view, ask)]);
}

/** Shows the choice of a run and the buttons that add, rename and remove one. */
function showChoice(view) {
  const { runs, editable } = view.known, named = view.run !== DEFAULT_RUN;
  const picker = choice([[DEFAULT_RUN, "default run"], ...runs], view.run, (name) => chooseRun(view, name),
    { "aria-label": "Run" });
  refill(view.choose, make("span", { "aria-hidden": "true" }, "Run "), picker,
    button("Add run", () => addRun(view), { disabled: !editable }),
    button("Copy run", () => addRun(view, view.run), { disabled: !editable || !named }),
    button("Rename run", () => renameRun(view), { disabled: !editable || !named }),
    button("Remove run", () => removeRun(view), { kind: "danger", disabled: !editable || !named }));
  refill(view.start, button("Start run", () => startRun(view), { kind: "main" }),
    button("Show model", () => view.studio.show(view.document), { title: "Shows the model again in place of a run" }));
}

/** Chooses a run of the file. */
async function chooseRun(view, name) {
  if (view.run === name || (name && !view.known?.runs.includes(name))) return;
  turnTo(view, name);
  showChoice(view);
  if (name) view.studio.select({ kind: "run", name });
  await showForm(view, ++view.asked);
}

/** Makes a run the one that the panel is about. The form of the one before takes no edits from then on. */
function turnTo(view, name) {
  if (view.run === name) return;
  view.run = name;
  view.form.inert = true;
}

/** Shows the form of the chosen run; of the default run, a sentence. */
async function showForm(view, ask) {
  const document = view.document;
  const same = await view.studio.ask("same_run", { document, run: view.run });
  if (ask !== view.asked) return;
  refill(view.same, sameInPython(same));
  if (view.run === DEFAULT_RUN) {
    const brief = view.known.default?.time;
    const told = brief ? `The default run lasts ${brief} s, because the file says nothing about it.`
      : "The default run follows the settings of the file.";
    view.form.inert = false;
    refill(view.form, make("p", { class: "help" }, told, " Add a run to choose its method, time, start and docking."));
    return;
  }
  const form = await view.studio.ask("form", { document, path: ["runs", view.run] });
  if (ask !== view.asked) return;
  offerMethods(form, view.known.methods);
  view.more.add(JSON.stringify(form.path));   // all options are shown at first
  drawForm(view, form, folded("All methods", false, sheetOf(view.known.methodSheet)));
}

/** Makes the method of a run a choice of all methods and of other names for them. */
function offerMethods(form, { methods, aliases }) {
  const field = form.fields.find((one) => one.path.at(-1) === "method");
  if (!field) return;
  field.kind = "choice";
  field.choices = [...methods.map((one) => one.name), ...aliases.map((one) => one.name)];
}

/** Shows which elements of the file act in runs: gaits, controllers, drives, contacts. */
async function showActing(view, ask) {
  const { document } = view, none = { elements: [] };
  const { elements } = view.studio.state?.good_revision < 0 ? none
    : await view.studio.ask("acting", { document }).catch(() => none);
  if (ask === view.asked) view.acting.show(elements, document);
}

// ── changes of the file ─────────────────────────────────────────────────────────────────────────────────────────────

/** Asks for a name and adds a run to the file, or a copy of another one. */
async function addRun(view, like = "") {
  const name = await askText(like ? `Copy run ${like}` : "Add run", "Name", like ? `${like} 2` : "run", {
    help: "The run becomes the table [runs.NAME] of the file.", confirm: "Add",
  });
  if (!name) return;
  const before = view.run, value = { time: view.known.default?.time ?? 1 };
  turnTo(view, name);
  await (like ? view.studio.edit({ verb: "copy", kind: "run", name: like, to: name })
    : view.studio.edit({ verb: "add", path: ["runs", name], value })).catch(() => turnBack(view, before));
}

/** Asks for a new name of the run. */
async function renameRun(view) {
  const old = view.run, name = await askText("Rename run", "Name", old, { confirm: "Rename" });
  if (!name || name === old) return;
  turnTo(view, name);
  await view.studio.edit({ verb: "rename", kind: "run", name: old, to: name }).catch(() => turnBack(view, old));
}

/** Shows the run before again, where the edit that would have made another one was refused. */
function turnBack(view, name) {
  view.run = name;
  return showForm(view, ++view.asked);
}

/** Removes the run from the file. */
async function removeRun(view) {
  if (!await askWhether("Remove run", `Remove run '${view.run}' from the file? Undo brings it back.`, "Remove")) return;
  await view.studio.edit({ verb: "remove", kind: "run", name: view.run });
}

// ── runs ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Starts the chosen run. */
async function startRun(view) {
  const found = await view.studio.ask("start_run", { document: view.document, run: view.run, columns: view.columns });
  view.chosen = found.number;
  takeRun(view, found);
}

/** Takes the new state of a run. */
function takeRun(view, run) {
  if (run.document !== view.document) return;
  const before = view.results.get(run.number);
  view.results.set(run.number, run);
  showResults(view);
  if (before && before.state !== run.state && !["waiting", "working"].includes(run.state)) sayEnd(view, run);
}

/** Says how a run has ended; its warnings and notes stand with the result. */
function sayEnd(view, run) {
  if (run.state === "failed") view.studio.say(`Run '${run.label}' failed: ${run.sentence}`, "error");
  else if (run.warnings.length) view.studio.say(`Run '${run.label}': ${run.warnings.join(" ")}`, "warning");
}

/** Takes the progress of a run, without drawing the whole list again. */
function takeProgress(view, number, progress) {
  const run = view.results.get(number);
  if (!run || !["waiting", "working"].includes(run.state)) return;
  Object.assign(run, { state: "working", progress });
  showBusy(view);
}

/** Shows the runs that wait or are computed, each with its phases and a button that cancels it. */
function showBusy(view) {
  const busy = [...view.results.values()].filter((one) => ["waiting", "working"].includes(one.state));
  const shown = new Map([...view.busy.children].map((one) => [Number(one.dataset.number), one]));
  for (const [number, element] of shown) if (!busy.some((one) => one.number === number)) element.remove();
  for (const run of busy) {
    const cancel = () => view.studio.ask("cancel_run", { number: run.number });
    const element = progressOf(run, shown.get(run.number) ?? null, cancel);
    if (element.parentNode !== view.busy) view.busy.append(element);
  }
}

/** Shows all results, and the details of the chosen one. */
function showResults(view) {
  showBusy(view);
  refill(view.list, resultRows(view, (number) => { view.chosen = number; showResults(view); }));
  if (view.chosen !== null && !view.results.has(view.chosen)) view.chosen = null;
  showDetails(view, () => showResults(view));
}

export { openRuns as open };
