// The panel Analysis: verification, degrees of freedom, equilibrium, poles, and mode shapes that move in the picture.

import { button, choice, entry, field, make, refill, tableOf, tick } from "../elements.js";
import { isNewModel } from "../model_changes.js";
import { polePlot } from "../pole_plot.js";
import { sameInPython } from "../same_in_python.js";
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
    shown: (found) => {
      const count = (status) => found.checks.filter((one) => one.status === status).length;
      return [
        make("p", { class: found.passed ? "verdict passed" : "verdict failed", role: "status" },
          `${found.passed ? "All checks hold" : "Some checks fail"}: ${count("passed")} passed, ${count("failed")} `
          + `failed, ${count("skipped")} not applicable, at ${found.states} random states.`),
        tableOf({
          caption: "Checks", head: ["check", "verdict", "worst", "tolerance", "what it says"],
          rows: found.checks.map((one) => [one.name, make("span", { class: `verdict ${one.status}` }, one.status),
            figure(one.worst), figure(one.tolerance), one.status === "passed" ? one.says : one.note]),
        }),
      ];
    },
  });
}

/** Degrees of freedom, and redundant rows of loops. */
function freedomPart(view) {
  return analysisPart(view, "Degrees of freedom", {
    label: "Count degrees of freedom", ask: "count_freedoms", args: () => ({}),
    shown: (found) => [
      make("p", {}, found.message),
      tableOf({
        caption: "Mobility", headed: true, rows: [
          ["degrees of freedom", found.dof], ["independent joints", found.independent.join(", ") || "none"],
          ["independent constraint rows", `${found.rank} of ${found.rows}`],
          ["singular", found.singular ? "yes" : "no"],
        ],
      }),
      found.constraints.length ? tableOf({
        caption: "Constraints", head: ["constraint", "rows", "redundant", "these"],
        rows: found.constraints.map((one) => [one.name, one.rows, one.redundant.length, one.redundant.join(", ")]),
      }) : null,
    ],
  });
}

/** An equilibrium near the initial state. */
function equilibriumPart(view) {
  let stable = false;
  return analysisPart(view, "Equilibrium", {
    label: "Find equilibrium", ask: "find_equilibrium", args: () => ({ stable }),
    controls: [tick("Search for a stable one", false, (on) => { stable = on; })],
    shown: (found) => [
      make("p", { class: found.converged ? "" : "error" }, found.message),
      found.converged ? make("p", {}, { true: "It is stable.", false: "It is not stable." }[found.stable]
        ?? "Linear equations do not decide whether it is stable.") : null,
      tableOf({
        caption: found.converged ? "Coordinates at the equilibrium" : "Where the search ended",
        head: ["coordinate", "value", "unit"], rows: found.q.map((one) => [one.name, figure10(one.value), one.unit]),
      }),
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
  const energy = make("div", { "aria-live": "polite" });
  const plot = polePlot(found.poles, found.growing, (mode) => play(mode));
  const buttons = new Map();

  /** Plays a mode in the picture and lists its energy. */
  async function play(mode) {
    if (mode > found.captions.length) return;
    await view.studio.ask("show_mode", { document: view.document, task: found.task, number: mode });
    plot.choose(mode);
    buttons.forEach((one, key) => one.setAttribute("aria-pressed", String(key === mode)));
    refill(energy, energyTable(view, found, mode));
  }

  const rows = found.poles.map((one) => {
    const control = one.number <= found.captions.length
      ? button(`Play mode ${one.number}`, () => play(one.number), { pressed: false }) : "";
    if (control) buttons.set(one.number, control);
    return [one.number, figure6(one.alpha), figure6(one.omega), figure6(one.frequency), figure6(one.damping_ratio),
      figure6(one.modal_mass), control];
  });
  return [
    make("p", { class: found.equilibrium ? "" : "error" }, found.equilibrium
      ? `Linearized about ${found.about}.` : `Linearized about ${found.about}, which is not an equilibrium.`),
    found.note ? make("p", { class: "help" }, found.note) : null,
    plot.element,
    tableOf({
      caption: "Poles; of conjugate pairs the upper one",
      head: ["pole", "α [1/s]", "ω [rad/s]", "frequency [Hz]", "damping ratio", "modal mass", "mode shape"], rows,
    }),
    pictureButtons(view), energy,
  ];
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

/** A number with ten digits at most. */
function figure10(value) {
  return value === null ? "not finite" : String(Number(value.toPrecision(10)));
}

/** A number with six digits at most; "" for none. */
function figure6(value) {
  return value === null || value === undefined ? "" : String(Number(value.toPrecision(6)));
}

/** An error or a tolerance with two digits; "" for none. */
function figure(value) {
  return value === null || value === undefined ? "" : value.toExponential(1);
}

export { openAnalysis as open };
