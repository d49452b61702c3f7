// Docking in the picture: after a click on a free port, a ghost shows the module that would dock there, or the sentence
// why it cannot. The kind is the one that is chosen in the palette; its side and its quarter turns are chosen here.

import { unpackBytes } from "/stage/stage.js";
import { button, choice, field, make, refill } from "../../elements.js";

const FITS = "The picture shows where it would be.";
const POSSIBLE = [0.10, 0.62, 0.42], REFUSED = [0.80, 0.22, 0.18];   // colors of the ghost

/** The form for docking in a view. */
export function makeDocking(view) {
  const docking = {
    view, module: null, side: "", own: "", turn: 0, joint: "", command: null, asked: 0,
    element: make("section", { class: "docking", "aria-label": "Docking at a port", hidden: true }),
  };
  docking.take = (header, payload) => takeGhost(docking, header, payload);
  return docking;
}

/** Begins docking at a side of a module. */
export function showDocking(docking, module, side) {
  Object.assign(docking, { module, side, turn: 0 });
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
  const { view } = docking, kind = view.data.kinds.find((one) => one.letter === view.kind), ask = ++docking.asked;
  if (!kind.sides.includes(docking.own)) docking.own = kind.sides.includes("4") ? "4" : kind.sides[0] ?? "";
  const { sentence, command } = await view.studio.ask("ghost", {
    document: view.document, module: docking.module, side: docking.side, kind: kind.letter, own_side: docking.own,
    turn: docking.turn, joint: docking.joint,
  });
  if (ask !== docking.asked) return;
  docking.command = command;
  showForm(docking, kind, sentence);
}

/** Shows the form: side, turns, joint module, and the sentence why not. */
function showForm(docking, kind, sentence) {
  const { view } = docking, again = (change) => { Object.assign(docking, change); askGhost(docking); };
  const held = docking.element.contains(document.activeElement) ? document.activeElement.dataset.name : null;
  refill(docking.element, make("h2", {}, `Dock ${kind.name} at side ${docking.side} of ${docking.module}`),
    field("Its side", choice(kind.sides, docking.own, (own) => again({ own }), { "data-name": "own" })),
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
