// The topology grid: cells that take clicks and keys, and a picture of the modules over them.
//
// The grid of the file begins at its first module. The board keeps its modules where they are seen: `origin` is the
// place on the board of the grid's first cell, and the board grows at its edges. Places on the board are [row, column]
// too.

import { fill, freshId, make, refill, svg } from "../../elements.js";
import { moduleShape } from "./module_picture.js";

const FEWEST = [7, 9];   // rows and columns of an empty board
const MARGIN = 1;        // empty cells around the modules
const WORDS = { ">": "right", "^": "up", "<": "left", v: "down" };
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** The text of a place, as a key. */
export function placeKey([row, column]) {
  return `${row},${column}`;
}

/** The sum of two places. */
export function placeSum([a, b], [c, d], sign = 1) {
  return [a + sign * c, b + sign * d];
}

/** A board in a view; `view.act` has the actions that its clicks and keys begin. */
export function makeBoard(view) {
  const board = {
    view, zoom: 1, cells: new Map(), drag: null,
    grid: make("div", { role: "grid", class: "cells", "aria-label": "Topology grid", "aria-multiselectable": "true" }),
    picture: svg("svg", { class: "modules", "aria-hidden": "true" }),
    links: make("div", { class: "links", role: "group", "aria-label": "Dockings" }),
    words: make("div", { hidden: true }),
  };
  emptyBoard(board);
  board.sheet = make("div", { class: "sheet" }, board.grid, board.picture, board.links, board.words);
  board.element = make("div", { class: "board" }, board.sheet);
  board.grid.addEventListener("keydown", (event) => pressKey(board, event));
  board.grid.addEventListener("focusin", (event) => {
    const place = event.target.place;
    if (place && placeKey(place) !== placeKey(board.focus)) setFocus(board, place, false);
  });
  board.grid.addEventListener("pointerdown", (event) => beginDrag(board, event));
  board.grid.addEventListener("pointermove", (event) => moveDrag(board, event));
  board.grid.addEventListener("pointerup", (event) => endDrag(board, event));
  board.grid.addEventListener("pointercancel", () => { board.drag = null; showBoard(board); });
  return board;
}

/** Forgets the modules of a board, which has its first size again. */
export function emptyBoard(board) {
  Object.assign(board, {
    low: [0, 0], high: [FEWEST[0] - 1, FEWEST[1] - 1], origin: [2, 2], focus: [2, 2], anchor: null, chosen: new Set(),
    at: new Map(), frame: "", data: null,
  });
}

// ── what is where ───────────────────────────────────────────────────────────────────────────────────────────────────

/** The cell of the file's grid at a place on the board, and the opposite. */
export function cellAt(board, place) {
  return placeSum(place, board.origin, -1);
}

/** Takes new data of the grid; modules that have not been moved stay where they are on the board. */
export function fillBoard(board, data, pending) {
  const before = new Map([...board.at.values()].map(({ module, token }) => [module.name, token]));
  const shift = shiftOf(board, before, data.modules, pending);
  board.origin = placeSum(board.origin, shift, -1);
  board.at = new Map();
  for (const module of data.modules) {
    const token = placeSum(module.cell, board.origin);
    for (const cell of module.cells) board.at.set(placeKey(placeSum(cell, board.origin)), { module, token });
  }
  const places = [...data.modules.flatMap((one) => one.cells), ...data.wrong.map((one) => one.cell)]
    .map((cell) => placeSum(cell, board.origin));
  for (let k = 0; k < 2; k++) {
    board.low[k] = Math.min(board.low[k], ...places.map((place) => place[k] - MARGIN));
    board.high[k] = Math.max(board.high[k], ...places.map((place) => place[k] + MARGIN));
  }
  board.chosen = new Set([...board.chosen].filter((key) => board.at.has(key)));
  board.data = data;
  showBoard(board);
}

/** By how many rows and columns cells have been renumbered: most modules tell it, or what was placed first. */
function shiftOf(board, before, modules, pending) {
  const votes = new Map();
  for (const { name, cell } of modules) {
    const old = before.get(name);
    if (!old || pending?.names?.includes(name)) continue;
    const shift = placeSum(cell, cellAt(board, old), -1), key = placeKey(shift);
    votes.set(key, { shift, count: (votes.get(key)?.count ?? 0) + 1 });
  }
  const best = [...votes.values()].sort((a, b) => b.count - a.count)[0];
  if (best) return best.shift;
  if (!pending?.places || !modules.length) return [0, 0];   // else the first modules, or all of them, stay where they were put
  const moved = modules.find(({ name }) => name === pending.name);
  const corner = (places) => [0, 1].map((k) => Math.min(...places.map((place) => place[k])));
  const cells = moved ? [moved.cell] : modules.map((one) => one.cell);
  return placeSum(corner(cells), cellAt(board, corner(pending.places)), -1);
}

/** The modules that are chosen: those at chosen places, or the one at the focus; `at` may be an earlier choice. */
export function chosenModules(board, at = board) {
  const keys = at.chosen.size ? [...at.chosen] : [placeKey(at.focus)];
  return [...new Set(keys.map((key) => board.at.get(key)?.module).filter(Boolean))];
}

/** The cells of the file's grid that are chosen; empty ones too. */
export function chosenCells(board, at = board) {
  const places = at.chosen.size ? [...at.chosen].map((key) => key.split(",").map(Number)) : [at.focus];
  return places.map((place) => cellAt(board, place));
}

// ── showing ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Shows everything that has changed: cells, modules, connectors. */
export function showBoard(board) {
  const [rows, columns] = [0, 1].map((k) => board.high[k] - board.low[k] + 1);
  board.sheet.style.setProperty("--cell", `${Math.round(46 * board.zoom)}px`);
  board.sheet.style.setProperty("--columns", columns);
  board.sheet.style.setProperty("--rows", rows);
  const frame = `${board.low[1] - 0.5} ${board.low[0] - 0.5} ${columns} ${rows}`;
  if (board.frame !== frame) buildCells(board, rows, columns, frame);
  const wrong = wrongPlaces(board), ghost = board.drag?.shown;
  for (const [key, cell] of board.cells) showCell(board, key, cell, wrong.get(key), ghost);
  showModules(board, wrong);
  showLinks(board);
}

/** Makes the cells anew after the board has grown. */
function buildCells(board, rows, columns, frame) {
  board.frame = frame;
  const held = board.grid.contains(document.activeElement);
  board.cells.clear();
  const lines = [];
  for (let r = 0; r < rows; r++) {
    const line = make("div", { role: "row", "aria-rowindex": r + 1 });
    for (let c = 0; c < columns; c++) {
      const cell = make("div", { role: "gridcell", class: "cell", "aria-colindex": c + 1, tabIndex: -1 });
      cell.place = [board.low[0] + r, board.low[1] + c];
      board.cells.set(placeKey(cell.place), cell);
      line.append(cell);
    }
    lines.push(line);
  }
  board.grid.setAttribute("aria-rowcount", rows);
  board.grid.setAttribute("aria-colcount", columns);
  refill(board.grid, lines);
  board.picture.setAttribute("viewBox", frame);
  refill(board.words);
  if (held) board.cells.get(placeKey(board.focus))?.focus();
}

/** The mistakes at each place of the board. */
function wrongPlaces(board) {
  const found = new Map();
  for (const { text, cells } of board.data?.mistakes ?? []) {
    for (const cell of cells) {
      const key = placeKey(placeSum(cell, board.origin));
      found.set(key, [...(found.get(key) ?? []), text]);
    }
  }
  for (const { cell, text } of board.data?.wrong ?? []) {
    const key = placeKey(placeSum(cell, board.origin));
    if (!found.has(key)) found.set(key, [`'${text}' is not a module.`]);
  }
  return found;
}

/** Shows the state of one cell: what is in it, whether it is chosen, and what is wrong with it. */
function showCell(board, key, cell, mistakes, ghost) {
  const here = board.at.get(key), [row, column] = placeSum(cell.place, board.low, -1);
  const text = board.data?.wrong.find((one) => placeKey(placeSum(one.cell, board.origin)) === key)?.text;
  const what = here ? `${kindOf(board, here.module.kind)?.name ?? here.module.kind} ${here.module.name}, front ${
    WORDS[here.module.front]}${here.module.base ? ", base" : ""}` : text ?? "empty";
  const label = `Row ${row + 1}, column ${column + 1}: ${what}`;
  if (cell.getAttribute("aria-label") !== label) cell.setAttribute("aria-label", label);
  const chosen = board.chosen.has(key), now = placeKey(board.focus) === key;
  if (cell.getAttribute("aria-selected") !== String(chosen)) cell.setAttribute("aria-selected", String(chosen));
  if (cell.tabIndex !== (now ? 0 : -1)) cell.tabIndex = now ? 0 : -1;
  cell.classList.toggle("ghost", Boolean(ghost?.has(key)));
  const said = mistakes?.join(" ") ?? "";
  if ((cell.said ?? "") === said) return;
  cell.said = said;
  cell.told?.remove();
  cell.told = said ? make("p", { id: freshId("mistake") }, said) : null;
  if (said) board.words.append(cell.told);
  fill(cell, { "aria-invalid": said ? "true" : null, "aria-describedby": cell.told?.id ?? null });
  cell.title = said;
}

/** Draws the modules; those that have not changed stay. */
function showModules(board, wrong) {
  const kept = new Map([...board.picture.children].map((child) => [child.dataset.mark, child]));
  for (const module of board.data?.modules ?? []) {
    const kind = kindOf(board, module.kind), [row, column] = middleOf(module);
    const bad = module.cells.some((cell) => wrong.has(placeKey(placeSum(cell, board.origin))));
    const at = `${column + board.origin[1]} ${row + board.origin[0]}`;
    const look = { label: module.name, base: module.base, lit: board.view.lit.includes(module.name), wrong: bad };
    const mark = JSON.stringify([look, module.kind, module.front, at, kind?.color]);
    if (kept.delete(mark) || !kind) continue;
    const shape = moduleShape(kind, module.front, look);
    board.picture.append(svg("g", { "data-mark": mark, transform: `translate(${at})` }, shape));
  }
  for (const child of kept.values()) child.remove();
}

/** The middle of the cells of a module, in rows and columns of the file's grid. */
function middleOf(module) {
  return [0, 1].map((k) => module.cells.reduce((sum, cell) => sum + cell[k], 0) / module.cells.length);
}

/** The kind of module of a letter. */
export function kindOf(board, letter) {
  return board.data?.kinds.find((one) => one.letter === letter);
}

/** Shows the connectors: a switch between any two neighbors whose ports face each other. */
function showLinks(board) {
  const kept = new Map([...board.links.children].map((child) => [child.dataset.mark, child]));
  for (const link of board.data?.links ?? []) {
    const row = (link.a[0] + link.b[0]) / 2 + board.origin[0] - board.low[0];
    const column = (link.a[1] + link.b[1]) / 2 + board.origin[1] - board.low[1];
    const mark = [...link.modules, row, column, link.docked].join("|");
    if (kept.delete(mark)) continue;
    const item = make("button", {
      type: "button", class: link.a[0] === link.b[0] ? "link across" : "link down", tabIndex: -1,
      "aria-pressed": String(link.docked), "aria-label": `Docking of ${link.modules[0]} and ${link.modules[1]}`,
      "data-mark": mark, onclick: () => board.view.act.link(link),
    });
    item.style.setProperty("--row", row);
    item.style.setProperty("--column", column);
    board.links.append(item);
  }
  for (const child of kept.values()) child.remove();
}

// ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Moves the focus to a place on the board, which grows where the place is outside. */
export function setFocus(board, place, take = true) {
  board.focus = [...place];
  for (let k = 0; k < 2; k++) {
    board.low[k] = Math.min(board.low[k], place[k]);
    board.high[k] = Math.max(board.high[k], place[k]);
  }
  showBoard(board);
  const cell = board.cells.get(placeKey(place));
  if (take) cell.focus();
  cell.scrollIntoView?.({ block: "nearest", inline: "nearest" });
  const here = board.at.get(placeKey(place));
  if (here) board.view.act.select(here.module);
}

/** Chooses all places of the rectangle between two places. */
function chooseBetween(board, [a, b], [c, d]) {
  board.chosen.clear();
  for (let row = Math.min(a, c); row <= Math.max(a, c); row++) {
    for (let column = Math.min(b, d); column <= Math.max(b, d); column++) board.chosen.add(placeKey([row, column]));
  }
}

/** Acts on a key in the grid. */
function pressKey(board, event) {
  const { act } = board.view, { key } = event, command = event.ctrlKey || event.metaKey;
  const step = STEPS[key];
  if (step && event.altKey) act.toward(step);
  else if (step && event.shiftKey) {
    board.anchor ??= board.focus;
    const place = placeSum(board.focus, step);
    chooseBetween(board, board.anchor, place);
    setFocus(board, place);
  } else if (step && !command) leap(board, placeSum(board.focus, step));
  else if (key === "Home" && !command) leap(board, [board.focus[0], board.low[1]]);
  else if (key === "End" && !command) leap(board, [board.focus[0], board.high[1]]);
  else if (key === "Home") leap(board, board.low);
  else if (key === "End") leap(board, board.high);
  else if (command && key.toLowerCase() === "a") chooseAll(board);
  else if (command && key.toLowerCase() === "c") act.copy();
  else if (command && key.toLowerCase() === "x") act.copy(true);
  else if (command && key.toLowerCase() === "v") act.paste();
  else if (command || event.altKey) return;
  else if (key === "Escape") clearChoice(board);
  else if (key === "Enter") act.rename();
  else if (key === " ") act.place();
  else if (key === "Delete" || key === "Backspace") act.erase();
  else if (key === "r") act.turn(1);
  else if (key === "m") act.mirror("x");
  else if (key === "b") act.base();
  else if (WORDS[key]) act.face(key);
  else if (kindOf(board, key)) act.place(key);
  else if (kindOf(board, key.toUpperCase())) act.place(key.toUpperCase());
  else return;
  event.preventDefault();
}

/** Moves the focus, and ends the choice of several cells. */
function leap(board, place) {
  board.anchor = null;
  board.chosen.clear();
  setFocus(board, place);
}

/** Chooses all modules. */
function chooseAll(board) {
  board.chosen = new Set(board.at.keys());
  showBoard(board);
}

/** Ends the choice of cells. */
function clearChoice(board) {
  board.chosen.clear();
  board.anchor = null;
  showBoard(board);
}

// ── pointer ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The place on the board under a pointer; null outside. */
function placeUnder(board, event) {
  const box = board.grid.getBoundingClientRect(), [rows, columns] = [0, 1].map((k) => board.high[k] - board.low[k] + 1);
  const row = Math.floor((event.clientY - box.top) / (box.height / rows));
  const column = Math.floor((event.clientX - box.left) / (box.width / columns));
  return row < 0 || column < 0 || row >= rows || column >= columns ? null : [row + board.low[0], column + board.low[1]];
}

/** Begins a click or a drag: on an empty cell to paint, on a module to move it. */
function beginDrag(board, event) {
  if (event.button !== 0) return;
  const place = placeUnder(board, event);
  if (!place) return;
  const key = placeKey(place), here = board.at.get(key);
  const touch = event.pointerType === "touch";
  board.drag = { from: place, to: place, move: Boolean(here), places: new Set([key]), shown: new Set(), touch };
  if (!board.drag.touch) board.grid.setPointerCapture(event.pointerId);
}

/** Shows what would be painted, or where modules would be moved. */
function moveDrag(board, event) {
  const { drag } = board, place = drag && !drag.touch ? placeUnder(board, event) : null;
  if (!place || placeKey(place) === placeKey(drag.to)) return;
  drag.to = place;
  if (drag.move) {
    const by = placeSum(drag.to, drag.from, -1);
    drag.shown = new Set(draggedPlaces(board).map((one) => placeKey(placeSum(one, by))));
  } else {
    if (!board.at.has(placeKey(place))) drag.places.add(placeKey(place));
    drag.shown = new Set(drag.places);
  }
  showBoard(board);
}

/** The places of the modules that are dragged: the chosen ones, if the drag began at one of them. */
function draggedPlaces(board) {
  const here = board.at.get(placeKey(board.drag.from)).module, chosen = chosenModules(board);
  const modules = board.chosen.size && chosen.includes(here) ? chosen : [here];
  return modules.flatMap((one) => one.cells.map((cell) => placeSum(cell, board.origin)));
}

/** Ends a click or a drag and does what it means. */
function endDrag(board, event) {
  const { drag } = board;
  if (!drag) return;
  const { act } = board.view, by = placeSum(drag.to, drag.from, -1), far = Boolean(by[0] || by[1]);
  const moving = drag.move && far ? draggedPlaces(board) : null;
  board.drag = null;
  if (moving) return act.move(moving, by);
  const key = placeKey(drag.from);
  if (drag.places.size > 1) act.paint([...drag.places].map((one) => one.split(",").map(Number)));
  else if (event.shiftKey || event.ctrlKey || event.metaKey) {
    for (const cell of board.at.get(key)?.module.cells ?? []) {
      const one = placeKey(placeSum(cell, board.origin));
      if (!board.chosen.delete(one)) board.chosen.add(one);
    }
  } else {
    board.chosen.clear();
    board.anchor = null;
    if (!drag.move) act.place(null, drag.from);
  }
  setFocus(board, drag.from);
}
