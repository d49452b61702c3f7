// The palette: the kinds of modules to choose from, the direction of their front, and the tools for chosen modules.

import { button, choice, dialog, entry, field, make, refill } from "../../elements.js";
import { showBoard } from "./board.js";
import { renewDocking } from "./docking.js";
import { FRONTS, kindPicture } from "./module_picture.js";

const ARROWS = { ">": "→", "^": "↑", "<": "←", v: "↓" };
const LIKE = [["backbone", "Backbone"], ["scout", "Scout"], ["active_wheel", "Active Wheel"], ["cube", "cube"]];
const STEP = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const ZOOM = 1.25, SMALLEST = 0.4, LARGEST = 3;   // of the cells

/** The number of quarter turns of a front. */
export function frontNumber(front) {
  return FRONTS.findIndex(([sign]) => sign === front);
}

/** The front after quarter turns. */
export function nextFront(front, quarters) {
  return FRONTS[(frontNumber(front) + quarters + 4) % 4][0];
}

/** Chooses the front of the modules that are placed next. */
export function chooseFront(view, front) {
  view.front = front;
  showFronts(view);
  showKinds(view);
}

/** A group of radio buttons. `rows` are [value, label, content]; `mark` changes where contents do. */
function showRadios(group, rows, chosen, choose, mark = "") {
  const now = JSON.stringify([chosen, mark, rows.map(([value, label]) => [value, label])]);
  if (group.mark === now) return;
  group.mark = now;
  const held = group.contains(document.activeElement);
  const items = rows.map(([value, label, content], k) => make("button", {
    type: "button", role: "radio", class: "button", "aria-checked": String(value === chosen), "aria-label": label,
    title: label, tabIndex: value === chosen ? 0 : -1, onclick: () => choose(value),
    onkeydown: (event) => {
      const step = STEP[event.key];
      if (!step) return;
      event.preventDefault();
      choose(rows[(k + step + rows.length) % rows.length][0]);
    },
  }, content));
  refill(group, items);
  if (held) items.find((item) => item.getAttribute("aria-checked") === "true")?.focus();
}

/** Shows the kinds of modules to choose from. */
export function showKinds(view) {
  const kinds = view.data?.kinds ?? [], choose = (letter) => {
    view.kind = letter;
    showKinds(view);
    renewDocking(view.docking);
  };
  const rows = kinds.map((kind) => [kind.letter, `${kind.name} (${kind.letter})`, [kindPicture(kind, view.front), kind.name]]);
  showRadios(view.kinds, rows, view.kind, choose, view.front + kinds.map((kind) => kind.color).join());
}

/** Shows the directions of the front. */
export function showFronts(view) {
  const rows = FRONTS.map(([sign, word]) => [sign, `Front ${word}`, ARROWS[sign]]);
  showRadios(view.fronts, rows, view.front, (front) => chooseFront(view, front));
}

/** The buttons that act on the chosen modules. */
export function toolbar(view) {
  const { act } = view, sign = (label, icon, run, title = label) => button(label, run, { icon, title });
  const word = (label, title, run) => button(label, run, { title: `${label} (${title})` });
  const zoom = (factor) => {
    view.board.zoom = Math.min(Math.max(view.board.zoom * factor, SMALLEST), LARGEST);
    showBoard(view.board);
  };
  return make("div", { role: "toolbar", "aria-label": "Edit modules", class: "tools" },
    sign("Turn left", "⟲", () => act.turn(1), "Turn left (r)"), sign("Turn right", "⟳", () => act.turn(-1)),
    sign("Mirror left and right", "⇋", () => act.mirror("x"), "Mirror left and right (m)"),
    sign("Mirror up and down", "⇅", () => act.mirror("y")),
    sign("Replace by chosen kind", "⇄", () => act.replace()),
    word("Copy", "Ctrl+C", () => act.copy()), word("Paste", "Ctrl+V", () => act.paste()),
    word("Rename", "Enter", () => act.rename()), word("Make base", "b", () => act.base()),
    word("Erase", "Delete", () => act.erase()),
    sign("Smaller cells", "−", () => zoom(1 / ZOOM)), sign("Larger cells", "+", () => zoom(ZOOM)));
}

/** Asks for a new kind that is like a built-in one, and sends the command that adds it. */
export function addKind(view, send) {
  const like = choice(LIKE, "backbone"), letter = entry("H"), name = entry("");
  const mass = entry("", null, { placeholder: "1.5 kg" });
  const help = "Of the whole module, with its unit; empty for the usual mass. Other data are in the panel Model.";
  const fields = [
    field("Letter", letter, { help: "The letter of the kind in the grid." }), field("Like", like), field("Name", name),
    field("Mass", mass, { help }),
  ];
  dialog("Add kind", fields, [["Add", () => true, "main"]], async (added) => {
    if (!added) return;
    const data = mass.value.trim() ? { mass: mass.value.trim() } : {}, sign = letter.value.trim();
    await send({ verb: "kind", letter: sign, like: like.value, name: name.value.trim(), data });
    if (view.data.kinds.some((one) => one.letter === sign)) view.kind = sign;
    showKinds(view);
  });
}
