// The panel Assemble: the topology grid of docked modules, kinds to choose from, and docking at ports in the picture.
// Every click and key becomes a command; the grid shows what the server makes of the file.

import { askText, button, make, refill } from "../elements.js";
import { sameInPython } from "../same_in_python.js";
import { makeTask } from "../tasks.js";
import {
  cellAt, chosenCells, chosenModules, emptyBoard, fillBoard, makeBoard, placeKey, placeSum, setFocus, showBoard,
} from "./assemble/board.js";
import { makeDocking, renewDocking, showDocking } from "./assemble/docking.js";
import { askPoses, showModuleList, showSettings } from "./assemble/organism.js";
import { addKind, chooseFront, frontNumber, nextFront, showFronts, showKinds, toolbar } from "./assemble/palette.js";

const MANY_PORTS = 80;   // with more free ports, only those of the selected module are shown
const SMALL = 0.6;       // modules that fill less than this part of what the camera was fitted to are looked at anew
const HELP = "Click an empty cell to place the chosen kind, drag to paint, drag a module to move it. Keys: arrows, "
  + "letters place a kind, > ^ < v set its front, r turns, m mirrors, Enter renames, b makes it the base, Delete "
  + "erases, Shift and arrows choose several, Ctrl+C and Ctrl+V copy, Alt and arrows dock or undock.";

/** Opens the panel in its place. */
function openAssemble(host, studio) {
  const view = {
    studio, host, document: null, revision: -1, data: null, kind: "B", front: ">", lit: [], clip: [], pending: null,
    queue: Promise.resolve(), refreshing: Promise.resolve(), asked: 0, shownPorts: "", seen: null,
  };
  view.act = actionsOf(view);
  view.send = (command) => afterEdits(view, () => editGrid(view, command));
  view.board = makeBoard(view);
  view.docking = makeDocking(view);
  view.kinds = make("div", { role: "radiogroup", "aria-label": "Kind of module", class: "kinds" });
  view.fronts = make("div", { role: "radiogroup", "aria-label": "Front", class: "fronts" });
  view.reason = make("p", { role: "status", class: "error" });
  view.mistakes = make("ul", { class: "findings", "aria-label": "Mistakes of the modules" });
  view.settings = make("fieldset", {}, make("legend", {}, "Organism"));
  view.list = make("div", {});
  view.crawl = makeTask(studio, "search for a gait");
  view.move = button("Make it crawl", () => makeCrawl(view), { kind: "main", title: "Adds a gait, drives and a run to the file" });
  view.same = make("div", {});
  view.elsewhere = make("div", { class: "row", hidden: true },
    button("Open or create another model", () => studio.open("files"), { kind: "main" }));
  view.cells = make("div", { class: "row" }, view.fronts, toolbar(view));
  view.help = make("p", { class: "help" }, HELP);
  view.about = make("div", { class: "row", role: "group", "aria-label": "Selected module" });
  view.tools = make("div", {},
    make("div", { class: "row" }, view.kinds, button("Add kind", () => addKind(view, view.send), { kind: "quiet" })),
    view.cells, view.board.element, view.about, view.mistakes, make("div", { class: "row" }, view.move),
    view.crawl.element, view.help, view.docking.element, view.settings,
    make("div", { class: "row" }, button("Measured poses", () => askPoses(view, view.send))),
    view.list);
  refill(host, view.reason, view.elsewhere, view.tools, view.same);
  showFronts(view);
  const ends = [
    studio.on("select", () => lightUp(view)),
    studio.on("pick", (pick) => { if (!host.hidden) takePick(view, pick); }),
    studio.on("picture", () => showPicture(view)),
    studio.on("panel", (key) => { if (key === "assemble") lightUp(view); else hidePorts(view); }),
    studio.on("ghost", (header, payload) => view.docking.take(header, payload)),
  ];
  return { update: (state) => refreshAssemble(view, state), close: () => ends.forEach((end) => end()) };
}

/** Asks for the grid of a new revision and shows it. */
async function refreshAssemble(view, state) {
  if (view.document !== state.document) {
    Object.assign(view, { document: state.document, revision: -1, pending: null });
    emptyBoard(view.board);
  }
  if (view.revision === state.revision) return;
  view.revision = state.revision;
  const ask = ++view.asked;
  view.refreshing = view.studio.ask("grid", { document: state.document }).then((data) => {
    if (ask === view.asked) showGrid(view, data);
  });
  await view.refreshing.catch(() => {});   // the sentence has been shown
}

/** Shows a new grid. */
function showGrid(view, data) {
  view.data = data;
  view.elsewhere.hidden = !data.foreign;
  view.tools.hidden = data.foreign;
  if (!data.kinds.some((one) => one.letter === view.kind)) view.kind = data.kinds[0].letter;
  fillBoard(view.board, data, view.pending);
  view.pending = null;
  showKinds(view);
  showMistakes(view);
  view.move.disabled = data.listed.length < 2;
  showSettings(view, view.send);
  showModuleList(view, view.send);
  lightUp(view);
  refill(view.same, sameInPython(data.same));
  renewDocking(view.docking);
}

/** Has a gait chosen with which the organism crawls, adds it to the file as one edit, and runs it. */
async function makeCrawl(view) {
  const { studio } = view, { document: name, revision } = studio.state;
  const done = await view.crawl.run("choose_crawl", { document: name });
  if (!done || studio.state.document !== name) return;
  const { command, run, way, seconds } = done.data;
  await studio.edit(command, { document: name, base: revision });
  studio.say(`It crawls ${way.toFixed(2)} m in ${seconds} s. The gait, its drives and run '${run}' are in the file; Undo takes all of it back.`);
  studio.nextRun = run;
  studio.open("runs");
}

// ── actions ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Sends a command and waits for the new grid; `pending` says which place it is about, and which modules it moves. */
async function editGrid(view, command, pending = null) {
  view.pending = pending;
  try {
    await view.studio.edit(command);
    await view.refreshing;
  } catch {
    view.pending = null;   // the sentence has been shown
  }
}

/** Does something after all edits before it, so that fast keys and clicks act on the grid as it will be. */
function afterEdits(view, run) {
  view.queue = view.queue.then(run).catch((error) => view.studio.say(error.message, "error"));
  return view.queue;
}

/** What clicks and keys in the grid do; each acts on the cells that are chosen now, after the edits before it. */
function actionsOf(view) {
  const made = {}, actions = {
    place: (at, kind = null, place = at.focus) => placeModule(view, at, kind, place),
    paint: (at, places) => editGrid(view, {
      verb: "paint", cells: places.map((place) => cellAt(view.board, place)), kind: view.kind, front: view.front,
    }, { places }),
    replace: (at) => onModules(view, at, (cells, names) => editGrid(view, {
      verb: "paint", cells: view.data.modules.filter((one) => names.includes(one.name)).map((one) => one.cell),
      kind: view.kind, front: view.front,
    })),
    erase: (at) => onModules(view, at, (cells) => editGrid(view, { verb: "erase", cells })),
    turn: (at, quarters) => onModules(view, at, (cells) => editGrid(view, { verb: "turn", cells, quarters }),
      () => chooseFront(view, nextFront(view.front, quarters))),
    face: async (at, front) => {
      chooseFront(view, front);
      for (const { name } of chosenModules(view.board, at)) {
        const { cell, front: old } = view.data.modules.find((one) => one.name === name);
        const quarters = (frontNumber(front) - frontNumber(old) + 4) % 4;
        if (quarters) await editGrid(view, { verb: "turn", cells: [cell], quarters });
      }
    },
    mirror: (at, axis) => onModules(view, at,
      (cells, names) => editGrid(view, { verb: "mirror", cells, axis }, { names })),
    move: (at, places, by) => moveModules(view, places, by),
    copy: (at, cut = false) => copyModules(view, at, cut),
    paste: (at) => pasteModules(view, at),
    rename: (at) => renameModule(view, at),
    base: (at) => onModules(view, at, (cells, [module]) => editGrid(view, { verb: "base", module })),
    link: (at, { modules }) => {
      const link = view.data.links.find((one) => one.modules.join() === modules.join());
      return link && editGrid(view, { verb: link.docked ? "disconnect" : "connect", a: link.a, b: link.b });
    },
    toward: (at, step) => {
      const nameAt = (place) => view.board.at.get(placeKey(place))?.module.name;
      const here = nameAt(at.focus), there = nameAt(placeSum(at.focus, step));
      const link = view.data.links.find(({ modules }) => modules.includes(here) && modules.includes(there));
      if (!link) return view.studio.say("There are no two ports that face each other.", "warning");
      return editGrid(view, { verb: link.docked ? "disconnect" : "connect", a: link.a, b: link.b });
    },
  };
  for (const [name, action] of Object.entries(actions)) {
    made[name] = (...values) => {
      const at = { focus: [...view.board.focus], chosen: new Set(view.board.chosen) };
      return afterEdits(view, () => action(at, ...values));
    };
  }
  return { ...made, select: (module) => view.studio.select({ kind: "module", name: module.name }) };
}

/** Does something with the cells and names of the chosen modules, or something else where there are none. */
function onModules(view, at, run, otherwise = () => {}) {
  const modules = chosenModules(view.board, at);
  return modules.length ? run(chosenCells(view.board, at), modules.map((one) => one.name)) : otherwise();
}

/** Puts a kind, by default the chosen one, into a cell; with a letter, into all chosen cells. */
function placeModule(view, at, kind, place) {
  if (kind) view.kind = kind;
  showKinds(view);
  const look = { kind: view.kind, front: view.front };
  if (kind && at.chosen.size > 1) return editGrid(view, { verb: "paint", cells: chosenCells(view.board, at), ...look });
  return editGrid(view, { verb: "place", cell: cellAt(view.board, place), ...look }, { places: [place] });
}

/** Moves modules on the board; the choice and the focus go with them. */
async function moveModules(view, places, by) {
  const { board } = view, first = board.at.get(placeKey(places[0]));
  const names = [...new Set(places.map((place) => board.at.get(placeKey(place))?.module.name))];
  if (board.chosen.size) board.chosen = new Set(places.map((place) => placeKey(placeSum(place, by))));
  const cells = places.map((place) => cellAt(board, place)), place = placeSum(first.token, by);
  await editGrid(view, { verb: "move", cells, by }, { names, name: first.module.name, places: [place] });
  setFocus(board, placeSum(board.focus, by), false);
}

/** Notes the chosen modules to be copied, or moved, when they are pasted. */
function copyModules(view, at, cut) {
  view.clip = chosenModules(view.board, at).map((one) => one.name);
  view.cut = cut;
  const { length } = view.clip;
  if (length) view.studio.say(`${length === 1 ? "1 module" : `${length} modules`} ${cut ? "to move" : "copied"}`);
}

/** Puts the copied modules at the focus, with the corner of their cells where the focus is. */
function pasteModules(view, at) {
  const modules = view.data.modules.filter(({ name }) => view.clip.includes(name));
  if (!modules.length) return view.studio.say("There is nothing to paste. Copy modules first.", "warning");
  const corner = [0, 1].map((k) => Math.min(...modules.map((one) => one.cell[k])));
  const by = placeSum(cellAt(view.board, at.focus), corner, -1), verb = view.cut ? "move" : "duplicate";
  const names = view.cut ? modules.map((one) => one.name) : [];
  view.cut = false;
  return editGrid(view, { verb, cells: modules.map((one) => one.cell), by }, { names, places: [at.focus] });
}

/** Asks for a new name of the chosen module. */
async function renameModule(view, at) {
  const module = chosenModules(view.board, at)[0];
  if (!module) return;
  const help = "A number, or a letter followed by letters, digits and _.";
  const name = await askText("Rename module", "Name", module.name, { help });
  if (name && name !== module.name) await editGrid(view, { verb: "rename_module", module: module.name, name });
  setFocus(view.board, view.board.focus);
}

/** Shows what is wrong with the modules; a click goes to the cell. */
function showMistakes(view) {
  view.reason.textContent = view.data.reason;
  view.reason.hidden = !view.data.reason;
  for (const one of [view.cells, view.board.element, view.help]) one.hidden = Boolean(view.data.reason);   // no grid
  const show = (cell) => setFocus(view.board, placeSum(cell, view.board.origin));
  const { modules, wrong, mistakes } = view.data;
  if (!modules.length && !wrong.length && !view.data.reason) {   // a file that has just been made
    refill(view.mistakes, make("li", { class: "help" }, "The grid is empty. Choose a kind and click a cell."));
    return;
  }
  refill(view.mistakes, mistakes.map(({ text, cells }) => make("li", { class: "error" }, text,
    cells.length ? button("Show cell", () => show(cells[0]), { kind: "quiet" }) : null)));
}

// ── selection ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** The names of the modules that a selection is about. */
function modulesOf(view, selection) {
  const rows = view.data?.listed ?? [];
  if (!selection) return [];
  const { kind, name } = selection;
  if (kind === "module") return [name];
  const named = (has) => rows.filter(has).map((row) => row.name);
  if (kind === "body") return named((row) => row.bodies.includes(name) || row.name === name);
  if (kind === "port") return (view.data?.ports ?? []).filter((port) => port.name === name).map((port) => port.module);
  if (kind !== "joint") return [];
  const own = named((row) => row.joints.includes(name));
  return own.length ? own : view.data.links.find((link) => link.joint === name)?.modules ?? [];
}

/** Lights up what is selected: in the grid and in the picture. */
function lightUp(view) {
  if (!view.data) return;
  const { studio, board } = view, { selection } = studio;
  view.lit = modulesOf(view, selection);
  showAbout(view);
  showBoard(board);
  if (view.host.hidden || !studio.stage?.highlight) return;
  const bodies = view.data.listed.filter((row) => view.lit.includes(row.name)).flatMap((row) => row.bodies);
  const port = selection?.kind === "port" ? [{ port: selection.name }] : [];
  studio.stage.highlight([...bodies.map((body) => ({ body })), ...port]);
  showPorts(view);
}

/** Shows the data of the selected module; those of a kind of the file are edited in the panel Model. */
function showAbout(view) {
  const row = view.data.listed.find(({ name }) => name === view.lit[0]), { studio } = view;
  const kind = row && view.data.kinds.find(({ letter }) => letter === row.kind);
  const edit = () => { studio.open("model"); studio.select({ kind: "module type", name: row.kind }); };
  refill(view.about, kind ? [`${row.name}: ${kind.name}, ${Number(kind.mass.toPrecision(6))} kg, ${1000 * kind.pitch} mm`,
    kind.own ? button("Edit kind", edit) : button("Other mass", () => addKind(view, view.send))] : null);
}

/** Shows marks in a new picture, and fits the camera to modules that have left the view, unless the user steers it. */
function showPicture(view) {
  const { stage } = view.studio, box = stage.scene.box, seen = view.seen;
  if (view.host.hidden || view.studio.shownRun !== null) return hidePorts(view);   // ports of the model do not move
  view.shownPorts = "";
  showPorts(view);
  const inside = seen && [0, 1, 2].every((k) => box[0][k] >= seen[0][k] - 1e-9 && box[1][k] <= seen[1][k] + 1e-9);
  const small = seen && [0, 1, 2].every((k) => box[1][k] - box[0][k] < SMALL * (seen[1][k] - seen[0][k]));
  if (stage.camera?.steered || (inside && !small)) return null;
  view.seen = box;
  return stage.view();
}

/** Takes the marks of free ports out of the picture. */
function hidePorts(view) {
  if (view.shownPorts) view.studio.stage?.setPorts?.([]);
  view.shownPorts = "";
}

/** Shows the ports at which modules can dock: all free ones, or where there are many, those of the selected modules. */
function showPorts(view) {
  const { studio, data } = view;
  if (view.host.hidden || !studio.stage?.setPorts || !data || studio.shownRun !== null) return;
  const free = data.ports.filter((port) => port.free);
  const shown = free.length <= MANY_PORTS ? free : free.filter((port) => view.lit.includes(port.module));
  const mark = JSON.stringify(shown);
  if (mark === view.shownPorts) return;
  view.shownPorts = mark;
  studio.stage.setPorts(shown.map(({ module, side, ...port }) => port));
}

/** Takes a click in the picture: at a port a module can be docked; a body selects its module. */
function takePick(view, { body, port }) {
  const found = port ? view.data?.ports.find((one) => one.name === port) : null;
  if (found) {
    view.studio.select({ kind: "port", name: found.name });
    if (found.free) showDocking(view.docking, found.module, found.side);
    return;
  }
  const module = body ? modulesOf(view, { kind: "body", name: body })[0] : null;
  view.studio.select(module ? { kind: "module", name: module } : null);
}

export { openAssemble as open };
