// The panel Analysis: verification, degrees of freedom, equilibrium, poles, and mode shapes that move in the picture.

import { button, choice, entry, field, make, refill, tableOf, tick } from "../elements.js";
import { isNewModel } from "../model_changes.js";
import { sameInPython } from "../same_in_python.js";
import { sheetOf } from "../sheet.js";
import { makeTask } from "../tasks.js";

const SHARES = 12;   // bodies whose share in the energy of a mode is listed

/** Opens the panel in its place. */
function openAnalysis(host, studio) {
  const view = { studio, document: null, revision: null, areas: [], formulation: choice([], "") };
  refill(host, verifyPart(view), freedomPart(view), equilibriumPart(view), polePart(view));
  const ends = [studio.on("picture", (header) => { if (header.motion === "mode") studio.stage.play?.(); })];
  return {
    update: (state) => refreshAnalysis(view, state),
    close: () => ends.forEach((end) => end()),
  };
}

/** Forgets the results of another document, and lists the formulations. */
async function refreshAnalysis(view, state) {
  const { document } = view;
  if (state.good_revision >= 0 && !isNewModel(view, state)) return;
  if (document !== state.document) view.areas.forEach((area) => refill(area));
  view.document = state.document;
  if (state.good_revision < 0 || view.formulation.childElementCount) return;
  const { formulations } = await view.studio.ask("equation_choices", { document: state.document });
  refill(view.formulation, formulations.map(([key, title]) => make("option", { value: key }, title)));
}

/** A part of the panel: title, controls, a button that starts `ask` with `args()`, and a place for the result. */
function analysisPart(view, title, { label, ask, args, shown, controls = [] }) {
  const area = make("div", {}), task = makeTask(view.studio, title.toLowerCase());
  view.areas.push(area);
  const start = button(label, async () => {
    if (task.busy() || !view.studio.state) return;
    start.disabled = true;
    const { document } = view.studio.state;
    const done = await task.run(ask, { document, ...args() });
    start.disabled = false;
    if (!done || view.document !== document) return;
    refill(area, shown(done.data), sameInPython(done.data.same));
    area.scrollIntoView({ block: area.clientHeight > area.closest(".tabhosts").clientHeight ? "start" : "nearest" });
  }, { kind: "main" });
  return make("section", { "aria-label": title }, make("h2", {}, title), controls, make("div", { class: "row" }, start),
    task.element, area);
}

/** The checks of `verify`. */
function verifyPart(view) {
  const states = entry("8", null, { type: "number", min: 1, max: 200 });
  const seed = entry("0", null, { type: "number", min: 0 });
  return analysisPart(view, "Verification", {
    label: "Verify the equations", ask: "verify_model",
    args: () => ({
      formulation: view.formulation.value || "newton_euler", states: wholeOf(states, 8), seed: wholeOf(seed, 0),
    }),
    controls: [field("Formulation", view.formulation), field("Random states", states), field("Seed", seed)],
    shown: (found) => sheetOf(found.sheet),
  });
}

/** Degrees of freedom, and redundant rows of loops. */
function freedomPart(view) {
  return analysisPart(view, "Degrees of freedom", {
    label: "Count degrees of freedom", ask: "count_freedoms", args: () => ({}),
    shown: (found) => sheetOf(found.sheet),
  });
}

/** An equilibrium near the initial state. */
function equilibriumPart(view) {
  let stable = false;
  return analysisPart(view, "Equilibrium", {
    label: "Find equilibrium", ask: "find_equilibrium", args: () => ({ stable }),
    controls: [tick("Search for a stable one", false, (on) => { stable = on; })],
    shown: (found) => [
      sheetOf(found.sheet),
      found.converged ? pictureButtons(view, button("Show the equilibrium", () =>
        view.studio.ask("show_equilibrium", { document: view.document, task: found.task }))) : null,
    ],
  });
}

/** Poles, mode shapes and their energies. */
function polePart(view) {
  const low = entry("", null, { type: "number", min: 0, step: "any" });
  const high = entry("", null, { type: "number", min: 0, step: "any" });
  return analysisPart(view, "Poles and modes", {
    label: "Find poles", ask: "find_poles",
    args: () => ({ low: numberOf(low), high: numberOf(high) }),
    controls: [field("Lowest frequency", low, { unit: "Hz", help: "Both empty: all poles." }),
      field("Highest frequency", high, { unit: "Hz" })],
    shown: (found) => poleResult(view, found),
  });
}

/** The plot and the table of poles, with a button that plays each mode. */
function poleResult(view, found) {
  const energy = make("div", { "aria-live": "polite" }), plots = [], buttons = [];

  /** Plays a mode in the picture and lists its energy. */
  async function play(mode) {
    if (mode > found.captions.length) return;
    await view.studio.ask("show_mode", { document: view.document, task: found.task, number: mode });
    plots.forEach((plot) => plot.choose(mode));
    buttons.forEach((one, k) => one.setAttribute("aria-pressed", String(k + 1 === mode)));
    refill(energy, energyTable(view, found, mode));
  }

  /** The button that plays the mode of a row. */
  function playButton(row) {
    if (row >= found.captions.length) return "";
    buttons.push(button(`Play mode ${row + 1}`, () => play(row + 1), { pressed: false }));
    return buttons.at(-1);
  }

  return [sheetOf(found.sheet, { beside: playButton, besideHead: "mode shape", chosen: play, plots }),
    pictureButtons(view), energy];
}

/** The shares of the bodies in the kinetic energy of a mode, the largest first. */
function energyTable(view, found, mode) {
  const { parts, shares, reason } = found.energies;
  if (reason) return make("p", { class: "help" }, reason);
  const row = shares[mode - 1].map((share, k) => [parts[k], share]).sort((a, b) => b[1] - a[1]).slice(0, SHARES);
  return tableOf({
    caption: `Kinetic energy of mode ${found.captions[mode - 1]}`, head: ["body", "share"],
    rows: row.map(([name, share]) => [button(name, () => view.studio.select({ kind: "body", name }), { kind: "quiet" }),
      `${(100 * share).toFixed(1)} %`]),
  });
}

/** Buttons below a result that change the picture; the last one shows the model again. */
function pictureButtons(view, ...others) {
  return make("div", { class: "row" }, others, button("Show the model again", () =>
    view.studio.ask("show_model", { document: view.document })));
}

/** The whole number of an entry, or another one where it is empty. */
function wholeOf(control, otherwise) {
  return control.value === "" ? otherwise : Math.round(Number(control.value));
}

/** The number of an entry; null where it is empty. */
function numberOf(control) {
  return control.value === "" ? null : Number(control.value);
}

export { openAnalysis as open };
