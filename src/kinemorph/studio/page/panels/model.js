// The panel Model: all parts of the file as a tree, and the form of the chosen part. The server makes both from the
// schema of model files; nothing here knows a key of the format.

import { askText, askWhether, button, choice, dialog, entry, field, make, refill } from "../elements.js";
import { sameInPython } from "../same_in_python.js";
import { drawForm } from "./model/form.js";
import { partTree } from "./model/tree.js";

// kinds of selections, and the sections of a file that hold such parts
const SECTIONS = {
  body: "bodies", joint: "joints", element: "elements", parameter: "parameters", run: "runs", module: "modules",
  frame: "frames", coupling: "couplings", phase: "phases", edge: "edges", "module type": "module_types",
};
const KINDS = Object.fromEntries(Object.entries(SECTIONS).map(([kind, section]) => [section, kind]));

/** Opens the panel in its place. */
function openModel(host, studio) {
  const view = {
    host, studio, sections: [], path: [], document: null, asked: 0, editable: true,
    tree: make("div", {}), actions: make("div", { class: "row" }), form: make("section", { "aria-label": "Form" }),
    opened: new Set(), more: new Set(), refused: new Map(),   // texts that the server refused, by path
  };
  view.same = make("div", {});
  refill(host, make("div", { class: "parts" }, view.tree, view.actions), view.form, view.same);
  const ends = [
    studio.on("select", (selection) => followSelection(view, selection)),
  ];
  return {
    update: (state) => (host.hidden ? null : refreshModel(view, state)),   // a hidden panel is updated when it is shown
    close: () => ends.forEach((end) => end()),
  };
}

/** Asks for the parts and the form again after the document has changed. */
async function refreshModel(view, state) {
  if (view.document !== state.document) {
    Object.assign(view, { document: state.document });
    turnTo(view, []);
    view.refused.clear();
  }
  const ask = ++view.asked;
  const found = await view.studio.ask("parts", { document: state.document });
  if (ask !== view.asked) return;
  Object.assign(view, { sections: found.sections, editable: found.editable });
  if (view.named !== state.document) refill(view.same, sameInPython(found.same));
  view.named = state.document;
  if (!hasPart(view, view.path)) turnTo(view, []);
  if (view.path.length === 0 && view.studio.selection) followSelection(view, view.studio.selection, false);
  showTree(view);
  await showForm(view, ask);
}

/** Whether the document has a part. */
function hasPart(view, path) {
  const section = view.sections.find((one) => one.key === path[0]);
  if (path.length === 0) return true;
  if (path.length === 1) return Boolean(section?.present);
  return Boolean(section?.parts.some((part) => String(part.path[1]) === String(path[1])));
}

/** Shows the tree and the buttons below it. */
function showTree(view) {
  const { path, sections } = view, [key, name] = path;
  const section = sections.find((one) => one.key === key);
  const named = section?.shape === "named" && name !== undefined;
  refill(view.tree, partTree(view, (chosen) => choosePart(view, chosen)));
  refill(view.actions,
    button("Add part", () => addPart(view), { disabled: !view.editable }),
    button("Copy part", () => copyPart(view), { disabled: !view.editable || !named }),
    button("Rename part", () => renamePart(view), { disabled: !view.editable || !named }),
    button("Remove part", () => removePart(view), { kind: "danger", disabled: !view.editable || path.length === 0 }),
    view.editable ? null : make("p", { class: "help" }, "This file is read-only here, because it is not TOML. "
      + "Its parts are shown as a conversion writes them. ", button("Convert to TOML", () => convertFile(view))));
}

/** Shows the form of the chosen part. Answers to older questions are left out. */
async function showForm(view, ask) {
  const form = await view.studio.ask("form", { document: view.document, path: view.path });
  if (ask !== view.asked) return;
  drawForm(view, form);
  if (view.editable) return;
  for (const control of view.form.querySelectorAll("button, input, select, textarea")) control.disabled = true;
}

/** Chooses a part: shows its form, and selects it in all panels and in the picture. */
async function choosePart(view, path) {
  turnTo(view, path);
  showTree(view);
  const kind = KINDS[path[0]];
  if (kind && path.length > 1) view.studio.select({ kind, name: String(path[1]) });
  await showForm(view, ++view.asked);
}

/** Makes a part the one that the panel is about. The form of the one before takes no edits from then on. */
function turnTo(view, path) {
  view.form.inert ||= path.join() !== view.path.join();
  view.path = path;
}

/** Makes a part that an edit makes the one that the panel is about; where the edit is refused, the one before stays. */
async function turnAfter(view, path, command) {
  const before = view.path;
  turnTo(view, path);
  try {
    await view.studio.edit(command);
  } catch (error) {
    view.path = before;
    view.form.inert = false;
    throw error;
  }
}

/** Shows the part that was selected elsewhere, if the file has it. */
function followSelection(view, selection, show = true) {
  const section = selection && SECTIONS[selection.kind];
  if (!section || (view.path[0] === section && String(view.path[1]) === selection.name)) return;
  const path = section === "parameters" ? [section] : [section, selection.name];
  if (!hasPart(view, path)) return;
  turnTo(view, path);
  view.opened.add(section);
  if (!show || view.host.hidden) return;
  showTree(view);
  showForm(view, ++view.asked);
}

// ── changes ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Asks which part to add, and adds it. */
function addPart(view) {
  const sections = view.sections.filter((one) => one.shape !== "single" || !one.present);
  const chosen = { key: sections.some((one) => one.key === view.path[0]) ? view.path[0] : "bodies", kind: "" };
  const name = entry("", null, {}), rest = make("div", {});
  const fill = () => {
    const section = sections.find((one) => one.key === chosen.key);
    chosen.kind = section.kinds[0]?.kind ?? "";
    const help = make("p", { class: "help", role: "status" }, section.kinds[0]?.help ?? section.help);
    const kinds = section.kinds.map(({ kind, group }) => [kind, kind, group]);
    refill(rest,
      kinds.length ? field("Kind", choice(kinds, chosen.kind, (kind) => {
        chosen.kind = kind;
        help.textContent = section.kinds.find((one) => one.kind === kind).help;
      })) : null,
      section.shape === "rows" || section.shape === "single" ? null
        : field("Name", name, { help: "A free name if it is left empty." }), help);
  };
  fill();
  const options = sections.map((one) => [one.key, one.word]);
  dialog("Add a part", [field("Part", choice(options, chosen.key, (key) => { chosen.key = key; fill(); })), rest],
    [["Add", () => ({ section: chosen.key, kind: chosen.kind, name: name.value.trim() }), "main"]], async (wish) => {
      if (!wish) return;
      const { path, state } = await view.studio.ask("add_part", { document: view.document, ...wish });
      turnTo(view, path);
      view.opened.add(path[0]);
      view.studio.take(state);
      const kind = KINDS[path[0]];
      if (kind && path.length > 1) view.studio.select({ kind, name: String(path[1]) });
    });
}

/** Copies the chosen part under a new name. */
async function copyPart(view) {
  const [section, name] = view.path, to = await askText(`Copy ${name}`, "Name of the copy", `${name}_copy`);
  if (!to) return;
  await turnAfter(view, [section, to], { verb: "copy", kind: wordOf(view, section), name, to });
}

/** Renames the chosen part, also where other parts name it. */
async function renamePart(view) {
  const [section, name] = view.path, to = await askText(`Rename ${name}`, "New name", name);
  if (!to || to === name) return;
  await turnAfter(view, [section, to], { verb: "rename", kind: wordOf(view, section), name, to });
  const kind = KINDS[section];
  if (kind) view.studio.select({ kind, name: to });
}

/** Removes the chosen part, after a question. */
async function removePart(view) {
  const path = view.path, name = path.join(".");
  const told = "Parts that name it are marked afterwards. Undo brings it back.";
  if (!await askWhether(`Remove ${name}`, told, "Remove")) return;
  await turnAfter(view, [], { verb: "unset", path });
}

/** The word for the parts of a section. */
function wordOf(view, section) {
  return view.sections.find((one) => one.key === section)?.word ?? section;
}

/** Converts a file of another format to TOML beside it, and shows that. */
async function convertFile(view) {
  const { document: name, lost } = await view.studio.ask("convert", { document: view.document });
  await view.studio.show(name);
  if (lost.length) view.studio.say(lost, "warning");
}

export { openModel as open };
