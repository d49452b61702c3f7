// The panel Exports: code, programs, model files, pictures and replays; every export is a download with its size.

import { button, choice, downloadLink, field, make, refill, sizeText, tick } from "../elements.js";
import { isNewModel, lacksModel } from "../model_changes.js";
import { sameInPython } from "../same_in_python.js";
import { makeTask } from "../tasks.js";

const KEPT_EXPORTS = 12;   // exports that stay listed

/** Opens the panel in its place. */
function openExports(host, studio) {
  const view = {
    studio, document: null, revision: null, form: make("div", {}), made: make("div", { class: "exports" }),
    task: makeTask(studio, "export"), starts: [],
  };
  refill(host, view.task.element, make("section", { "aria-label": "Finished exports" }, view.made), view.form);
  return { update: (state) => refreshExports(view, state) };
}

/** Asks what can be exported, when the model is another one or has changed. */
async function refreshExports(view, state) {
  const { document } = view;
  if (lacksModel(view, state, view.form)) refill(view.made);
  if (!isNewModel(view, state)) return;
  if (document !== state.document) refill(view.made);
  view.starts = [];
  const found = await view.studio.ask("export_choices", { document: state.document });
  if (view.document !== state.document || view.revision !== state.good_revision) return;   // overtaken by a newer one
  refill(view.form, codePart(view, found), programPart(view, found), modelPart(view, found), picturePart(view, found));
}

/** A part of the panel with controls and a button that exports. `options()` are those of the export. */
function exportPart(view, title, label, kind, options, ...controls) {
  const start = button(label, () => exportIt(view, kind, options()), { kind: "main" });
  view.starts.push(start);
  return make("section", { "aria-label": title }, make("h2", {}, title), controls,
    make("div", { class: "row" }, start));
}

/** Functions as source code or formulas. */
function codePart(view, found) {
  const form = choice(found.forms, "c", () => { precision.disabled = !found.precise.includes(form.value); });
  const formulation = choice(found.formulations, "newton_euler");
  const precision = choice(["float64", "float32"], "float64");
  const frame = choice(found.frames, found.frames.at(-1));
  const wanted = new Set(["inverse_dynamics"]);
  const options = () => ({
    form: form.value, formulation: formulation.value, functions: found.functions.filter((one) => wanted.has(one)),
    ...(precision.disabled ? {} : { precision: precision.value }),
    ...(found.framed.some((one) => wanted.has(one)) ? { frame: frame.value } : {}),
  });
  return exportPart(view, "Code", "Export code", "code", options, field("Language", form),
    field("Formulation", formulation),
    field("Precision", precision, { help: "For C, CUDA, Python and MATLAB." }),
    make("fieldset", { class: "columns" }, make("legend", {}, "Functions"), found.functions.map((name) =>
      tick(name, wanted.has(name), (on) => (on ? wanted.add(name) : wanted.delete(name))))),
    field("Frame or body", frame, { help: `For ${found.framed.join(", ")}.` }));
}

/** Programs that simulate the model without Python, and FMUs. */
function programPart(view, found) {
  const target = choice(found.targets, "c");
  const run = choice([["", "default run"], ...found.runs], "");
  return exportPart(view, "Program", "Export program", "program",
    () => ({ target: target.value, ...(run.value ? { run: run.value } : {}) }),
    make("p", { class: "help" }, "A program that simulates the model without Python, or an FMU for other tools."),
    field("Target", target),
    field("Run", run, { help: "Its method, steps, end and initial state; a program has options that change them." }));
}

/** The model in other formats. */
function modelPart(view, found) {
  const format = choice(found.formats, found.formats[0][0]);
  return exportPart(view, "Model file", "Export model", "model", () => ({ format: format.value }),
    field("Format", format));
}

/** Pictures and the replay page. */
function picturePart(view, found) {
  const picture = choice(found.pictures, "robot"), ending = choice(found.endings, "png");
  const replay = button("Export replay page", () => exportIt(view, "replay", {}));
  view.starts.push(replay);
  const options = () => ({ picture: picture.value, ending: ending.value });
  return [exportPart(view, "Picture file", "Export picture", "picture", options,
    field("Picture", picture), field("Format of the picture", ending)),
  make("section", { "aria-label": "Replay page" }, make("h2", {}, "Replay page"),
    make("p", { class: "help" }, "One HTML file that shows the model, with a slider for every joint."),
    make("div", { class: "row" }, replay))];
}

/** Has an export made and lists it, with what could not be carried over. */
async function exportIt(view, kind, options) {
  if (view.task.busy()) return;
  view.starts.forEach((one) => { one.disabled = true; });
  const done = await view.task.run("export_model", { document: view.studio.state.document, export: kind, options });
  view.starts.forEach((one) => { one.disabled = false; });
  if (!done) return;
  const { files, notes, same } = done.data, names = Object.keys(files);
  const link = downloadLink(done.file);
  view.made.prepend(make("article", { "aria-label": done.file.name }, make("div", { class: "row" }, link,
    names.length > 1 ? make("span", { class: "help" }, `${names.length} files`) : null),
  names.length > 1 ? make("details", { class: "folded" }, make("summary", {}, "Files"), make("ul", {},
    names.map((name) => make("li", {}, `${name} (${sizeText(files[name])})`)))) : null,
  notes.length ? make("div", { role: "note" }, make("p", {}, "Not carried over, or to be known:"),
    make("ul", {}, notes.map((text) => make("li", {}, text)))) : null,
  sameInPython(same)));
  while (view.made.childElementCount > KEPT_EXPORTS) view.made.lastElementChild.remove();
  link.focus();
}

export { openExports as open };
