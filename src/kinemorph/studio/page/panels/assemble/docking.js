// Docking in the picture: after a click on a free port, a ghost shows the module that would dock there, or the sentence
// why it cannot. It is a new one of the kind that is chosen in the palette, or another module of the file, which then
// moves with all that is docked to it; its side and its quarter turns are chosen here.

import { unpackBytes } from "/stage/stage.js";
import { button, choice, field, make, refill } from "../../elements.js";

const FITS = "The picture shows where it would be.";
const POSSIBLE = [0.10, 0.62, 0.42], REFUSED = [0.80, 0.22, 0.18];   // colors of the ghost

/** The form for docking in a view. */
export function makeDocking(view) {
  const docking = {
    view, module: null, side: "", other: "", own: "", turn: 0, joint: "", command: null, asked: 0,
    element: make("section", { class: "docking", "aria-label": "Docking at a port", hidden: true }),
  };
  docking.take = (header, payload) => takeGhost(docking, header, payload);
  return docking;
}

/** Begins docking at a side of a module. */
export function showDocking(docking, module, side) {
  Object.assign(docking, { module, side, other: "", turn: 0 });
  docking.element.hidden = false;
  askGhost(docking);
}

/** Shows the ghost again after the document or the chosen kind has changed; ends docking where the port is gone. */
export function renewDocking(docking) {
  if (docking.module === null) return;
  const { module, side } = docking, ports = docking.view.data?.ports ?? [];
  if (ports.some((port) => port.module === module && port.side === side && port.free)) askGhost(docking);
  else endDocking(docking);
}

/** Ends docking and takes the ghost away. */
export function endDocking(docking) {
  Object.assign(docking, { module: null, command: null });
  docking.asked += 1;
  docking.element.hidden = true;
  docking.view.studio.stage?.setGhost?.(null);
}

/** Asks what would dock; its picture comes as a push. `docking.answer` is the promise of the answer. */
function askGhost(docking) {
  docking.answer = offerGhost(docking);
}

/** Asks for the ghost of the present choices, and shows the form with the answer to the newest question. */
async function offerGhost(docking) {
  const { view } = docking, ask = ++docking.asked, what = docks(docking);
  if (!what.sides.includes(docking.own)) docking.own = what.sides.includes("4") ? "4" : what.sides[0] ?? "";
  const { document: name } = view, { module, side, own, turn, joint } = docking;
  const { sentence, command } = await view.studio.ask(what.ask, {
    document: name, module, side, ...what.given, own_side: own, turn, joint,
  });
  if (ask !== docking.asked) return;
  docking.command = command;
  if (!command && docking.other) view.studio.stage?.setGhost?.(null);   // a refused join has no picture
  showForm(docking, what, sentence);
}

/** The module that docks: a new one of the chosen kind, or another one of the file; its name, sides and question. */
function docks({ view: { data, kind }, other }) {
  const found = data.listed.find((one) => one.name === other);
  if (found) return { title: other, sides: found.free, ask: "join_ghost", given: { other } };
  const { name, letter, sides } = data.kinds.find((one) => one.letter === kind);
  return { title: name, sides, ask: "ghost", given: { kind: letter } };
}

/** Shows the form: what docks, side, turns, joint module, and the sentence why not. */
function showForm(docking, { title, sides }, sentence) {
  const { view } = docking, again = (change) => { Object.assign(docking, change); askGhost(docking); };
  const others = view.data.listed.filter(({ name, free }) => name !== docking.module && free.length)
    .map(({ name }) => [name, `module ${name}`]);
  const held = docking.element.contains(document.activeElement) ? document.activeElement.dataset.name : null;
  refill(docking.element, make("h2", {}, `Dock ${title} at side ${docking.side} of ${docking.module}`),
    others.length ? field("What docks", choice([["", "a new module"], ...others], docking.other,
      (other) => again({ other }), { "data-name": "other" })) : null,
    field("Its side", choice(sides, docking.own, (own) => again({ own }), { "data-name": "own" })),
    field("Quarter turns", choice(["0", "1", "2", "3"], String(docking.turn), (turn) => again({ turn: Number(turn) }),
      { "data-name": "turn" })),
    field("Joint module", choice([["", "none"], ["revolute", "revolute"], ["prismatic", "prismatic"]], docking.joint,
      (joint) => again({ joint }), { "data-name": "joint" })),
    make("p", { role: "status", class: sentence ? "error" : "help" }, sentence || FITS),
    make("div", { class: "row" },
      button("Dock", () => dockNow(docking), { kind: "main", disabled: !docking.command, "data-name": "dock" }),
      button("Cancel docking", () => endDocking(docking), { "data-name": "cancel" })));
  docking.element.querySelector(`[data-name="${held ?? (docking.command ? "dock" : "own")}"]`)?.focus();
}

/** Docks what was chosen; a choice whose ghost has not come yet is waited for. */
async function dockNow(docking) {
  await docking.answer.catch(() => {});   // a refusal has been shown
  const { command, view } = docking;
  if (!command) return;
  endDocking(docking);
  await view.studio.edit(command).catch(() => {});   // a refusal has been shown
}

/** Shows the picture of a ghost, green where it can dock and red where it cannot. */
async function takeGhost(docking, header, payload) {
  const { studio } = docking.view;
  const scene = await (studio.pictures = studio.pictures.then(() => unpackBytes(payload, studio.surfaces)));
  if (docking.module === null || !studio.stage?.setGhost) return;
  studio.stage.setGhost(scene, { color: header.possible ? POSSIBLE : REFUSED });
}
