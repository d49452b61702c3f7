// The panel Equations: what to write and how, the equations in parts that unfold, and symbols that light up what they
// are about. A click on a symbol selects its joint or parameter; a selection elsewhere lights up its symbols.

import { button, choice, copyable, field, folded, make, once, refill, tick } from "../elements.js";
import { mathTable } from "../mathml.js";
import { isNewModel, lacksModel } from "../model_changes.js";
import { sameInPython } from "../same_in_python.js";
import { makeTask } from "../tasks.js";

const COPIES = [["latex", "LaTeX"], ["typst", "typst"], ["text", "plain text"]];
const USUAL = new Set(["mass_matrix", "bias_forces"]);   // quantities that are chosen at first
const OPEN_SYMBOLS = 24;   // symbols up to which their list is open at first
const EM = 17;   // width of one em in a formula of the page, about [px]

/** Opens the panel in its place. */
function openEquations(host, studio) {
  const view = {
    studio, host, choices: null, document: null, revision: null, wanted: new Set(USUAL), formulation: "newton_euler",
    symbols: "symbols", names: "numbers", base: "", dyads: "", root: "", virtual: new Set(), result: null,
    form: make("div", {}), output: make("div", { class: "equations" }),
    stale: make("p", { class: "help", hidden: true }), task: makeTask(studio, "equations"),
  };
  view.start = button("Write equations", () => writeThem(view), { kind: "main", disabled: true });
  refill(host, view.form, make("div", { class: "row" }, view.start), view.task.element, view.stale, view.output);
  view.output.addEventListener("click", (event) => clickSymbol(view, event.target.closest("[data-symbol]")));
  const ends = [studio.on("select", () => lightUp(view))];
  return { update: (state) => refreshEquations(view, state), close: () => ends.forEach((end) => end()) };
}

/** Asks what the model offers, when it is another one or has changed. */
async function refreshEquations(view, state) {
  const { result, document } = view;
  view.output.hidden = Boolean(result) && result.document !== state.document;   // they come back with their document
  view.stale.hidden = !result || view.output.hidden || result.revision === state.revision;
  view.stale.textContent = "The model has changed since these equations were written. Write them again.";
  if (lacksModel(view, state, view.form)) view.start.disabled = true;
  if (!isNewModel(view, state)) return;
  if (document !== state.document) Object.assign(view, { base: "", dyads: "", root: "", virtual: new Set() });
  const found = await view.studio.ask("equation_choices", { document: state.document });
  if (view.document !== state.document || view.revision !== state.good_revision) return;   // overtaken by a newer one
  view.choices = found;
  view.start.disabled = view.task.busy();
  showChoices(view);
}

/** Shows the controls that choose what is written. */
function showChoices(view) {
  const { quantities, formulations, names, modules } = view.choices;
  const graph = view.formulation === "incidence";
  const set = (key, again = false) => (value) => { view[key] = value; if (again) showChoices(view); };
  refill(view.form,
    field("Formulation", choice(formulations, view.formulation, set("formulation", true)),
      { help: "Different derivations of the same equations." }),
    field("Parameters", choice([["symbols", "symbols"], ["numbers", "numbers"]], view.symbols, set("symbols"))),
    field("Coordinates", choice(names, view.names, set("names"))),
    modules ? moduleChoices(view, modules, set) : null,
    make("fieldset", { class: "columns wide" }, make("legend", {}, "Quantities"), quantities.filter(([, , needsGraph]) => graph || !needsGraph)
      .map(([key, title]) => tick(title, view.wanted.has(key),
        (on) => (on ? view.wanted.add(key) : view.wanted.delete(key))))));
}

/** The choices of docked modules: base, dyads and root; what is not chosen is as in the file. */
function moduleChoices(view, { bases, dyads, virtual, now }, set) {
  const root = Array.isArray(now.root) ? now.root.join(", ") : now.root;
  return make("fieldset", {}, make("legend", {}, "Modules"),
    field("Base", choice([["", `as in the file: ${now.base}`], ...bases], view.base, set("base"))),
    field("Dyads", choice([["", `as in the file: ${now.dyads}`], ...dyads], view.dyads, set("dyads")),
      { help: "halves: each part of a module is a body; adapted: each module is one body, as in the paper." }),
    field("Root joint", choice([["", `as in the file: ${root}`], "free", "fixed", ["virtual", "virtual joints"]],
      view.root, set("root", true))),
    view.root === "virtual" ? make("div", { class: "row", role: "group", "aria-label": "Virtual joints" },
      virtual.map((name) => tick(name, view.virtual.has(name),
        (on) => (on ? view.virtual.add(name) : view.virtual.delete(name))))) : null);
}

/** Has the equations written and shows them. */
async function writeThem(view) {
  const { studio, choices } = view;
  if (!choices || view.task.busy()) return;
  const graph = view.formulation === "incidence";
  const known = choices.quantities.filter(([, , needsGraph]) => graph || !needsGraph).map(([key]) => key);
  const modules = { base: view.base, dyads: view.dyads, root: view.root };
  if (view.root === "virtual") modules.root = choices.modules.virtual.filter((name) => view.virtual.has(name));
  const { document, revision } = studio.state;
  view.start.disabled = true;
  const done = await view.task.run("write_equations", {
    document, quantities: known.filter((key) => view.wanted.has(key)), formulation: view.formulation,
    symbols: view.symbols === "symbols", names: view.names, modules: choices.modules ? modules : null,
    room: Math.max(20, (view.host.clientWidth - 48) / EM),
  });
  view.start.disabled = false;
  if (!done) return;
  view.result = { ...done.data, document, revision };
  view.stale.hidden = true;
  view.output.hidden = document !== studio.state.document;
  showEquations(view);
  view.output.scrollIntoView({ block: "start" });
}

/** Shows the result: buttons that copy it, the symbols, the groups. */
function showEquations(view) {
  const { result } = view;
  refill(view.output,
    result.loops ? make("p", { class: "help" }, "Loops are cut: M, h and τ are those of the tree; the constraint "
      + "Jacobian closes it.") : null,
    make("div", { class: "row" }, COPIES.map(([form, title]) => button(`Copy ${title}`, (event) =>
      copyForm(view, form, title, event.target)))),
    symbolList(view), result.groups.map((group, g) => groupSection(view, group, g)), sameInPython(result.same));
  lightUp(view);
}

/** Copies all equations in a form; where the browser does not allow that, they are shown to be copied by hand. */
async function copyForm(view, form, title, control) {
  const { text } = await view.studio.ask("equation_text", { task: view.result.task, form });
  try {
    await navigator.clipboard.writeText(text);
    view.studio.say(`The equations are copied as ${title}.`);
  } catch {
    control.closest(".row").after(copyable(`Equations as ${title}`, text));
  }
}

/** The symbols with what they mean, as buttons. */
function symbolList(view) {
  const entries = Object.entries(view.result.symbols);
  return folded(`Symbols (${entries.length})`, entries.length <= OPEN_SYMBOLS,
    make("ul", { class: "symbols" }, entries.map(([name, { says }]) => make("li", {},
      button(`${name}: ${says}`, () => chooseSymbol(view, name),
        { kind: "quiet", pressed: false, "data-symbol": name })))));
}

/** A group of equations with its title. */
function groupSection(view, group, g) {
  const list = make("div", {});
  const section = make("section", { "aria-label": group.title }, make("h2", {}, group.lights.length
    ? button(group.title, () => view.studio.select(group.lights[0]), { kind: "quiet" }) : group.title), list);
  let count = 0;
  const rest = make("div", {});
  section.append(rest);
  const add = ({ equations, more }) => {
    list.append(...equations.map((one) => equationBlock(view, one, g, count++)));
    refill(rest, more ? button(`… ${more} more equations`, once(async () => {
      add(await view.studio.ask("unfold_equations", { task: view.result.task, group: g, equation: count }));
      lightUp(view);
    })) : null);
  };
  add(group);
  return section;
}

/** One equation: its first lines, and a button that unfolds more. */
function equationBlock(view, equation, g, e) {
  const table = mathTable(equation.lines), rest = make("div", {});
  let count = equation.lines.length;
  const fold = ({ lines, terms }) => refill(rest, lines ? button(`… ${terms} more ${terms === 1 ? "term" : "terms"}`,
    once(async () => {
      const place = { task: view.result.task, group: g, equation: e, line: count };
      const found = await view.studio.ask("unfold_equations", place);
      table.add(found.lines);
      count += found.lines.length;
      fold(found.more);
      lightUp(view);
    }), { kind: "quiet", "aria-label": `Show ${terms} more terms of ${equation.name || "this equation"}` }) : null);
  fold(equation.more);
  return make("div", { class: "equation", "data-name": equation.name || null },
    make("div", { class: "scrolled", tabIndex: 0, role: "group", "aria-label": `Equation ${equation.name}` },
      table.element), rest);
}

/** A click on a symbol: a shared part leads to its definition, another symbol selects what it is about. */
function clickSymbol(view, element) {
  if (!element || element.tagName === "BUTTON") return;
  const name = element.getAttribute("data-symbol");
  if (view.result.symbols[name]) return chooseSymbol(view, name);
  const row = [...view.output.querySelectorAll("[data-name]")].find((one) => one.getAttribute("data-name") === name);
  row?.scrollIntoView({ block: "center" });
  return row?.querySelector("[tabindex]")?.focus();
}

/** Selects what a symbol is about; a second click ends the selection. */
function chooseSymbol(view, name) {
  const [first] = view.result.symbols[name].lights;
  if (!first) return;
  view.studio.select(isLit(view, name) ? null : first);
}

/** Whether a symbol is about what is selected. */
function isLit(view, name) {
  const chosen = view.studio.selection, lights = view.result.symbols[name]?.lights ?? [];
  return Boolean(chosen) && lights.some((one) => one.kind === chosen.kind && one.name === chosen.name);
}

/** Lights up the symbols of what is selected. */
function lightUp(view) {
  if (!view.result) return;
  for (const element of view.output.querySelectorAll("[data-symbol]")) {
    const lit = isLit(view, element.getAttribute("data-symbol"));
    element.classList.toggle("lit", lit);
    if (element.tagName === "BUTTON") element.setAttribute("aria-pressed", String(lit));
  }
}

export { openEquations as open };
