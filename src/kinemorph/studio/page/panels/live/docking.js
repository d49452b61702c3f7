// Docking in a live run: by clicking two free ports in the picture, or by lists.

import { button, choice, field, make, refill } from "../../elements.js";
import { act } from "./acting.js";

/** The part of the panel with which modules dock and undock. */
export function makeDocking(view) {
  const docking = { first: null };
  docking.a = choice([], "", () => {});
  docking.b = choice([], "", () => {});
  docking.closed = choice([], "", () => {});
  docking.told = make("p", { role: "status", class: "help" });
  docking.place = make("fieldset", { hidden: true }, make("legend", {}, "Dock and undock"),
    make("p", { class: "help" }, "Click two free ports in the picture, or choose them here. Ports dock where they are "
      + "within 10 mm and 0.1 rad of each other; pull the modules there."),
    field("Port", docking.a), field("Onto port", docking.b),
    make("div", { class: "row" }, button("Dock", () => dockPorts(view, docking.a.value, docking.b.value))),
    field("Docked", docking.closed),
    make("div", { class: "row" }, button("Undock", () => undockPort(view, docking.closed.value))), docking.told);
  return docking;
}

/** The name of a port in lists and in the picture. */
function portName({ module, side }) {
  return `${module} side ${side}`;
}

/** Shows the ports in the lists and in the picture. */
export function showPorts(view) {
  const { docking, ready, studio } = view, ports = ready?.ports ?? [];
  docking.place.hidden = !ports.length;
  const free = ports.filter((one) => !one.docked).map(portName), chosen = [docking.a.value, docking.b.value];
  [docking.a, docking.b].forEach((list, k) => {
    const value = free.includes(chosen[k]) ? chosen[k] : free[k];
    refill(list, free.map((name) => make("option", { value: name, selected: name === value }, name)));
  });
  const closed = Map.groupBy(ports.filter((one) => one.docked), (one) => one.docked);
  refill(docking.closed, [...closed.values()].map((ends) =>
    make("option", { value: portName(ends[0]) }, ends.map(portName).join(" – "))));
  studio.stage?.setPorts?.(ports.map((one) => ({
    name: portName(one), figure: 0, body: one.body, position: one.point, normal: one.normal, free: !one.docked,
    label: `port ${one.side} of ${one.module}`,
  })));
  docking.first = null;
}

/** Takes a click on a port: the first of two free ports is remembered, a docked one is undocked. */
export function takePortPick(view, { port }) {
  const { docking, ready, studio } = view, picked = ready?.ports.find((one) => portName(one) === port);
  if (!picked) return;
  if (picked.docked) {
    docking.closed.value = portName(ready.ports.find((one) => one.docked === picked.docked));   // its first port
    docking.told.textContent = `${port} is docked; "Undock" opens it.`;
    return;
  }
  if (docking.first === null || docking.first === port) {
    docking.first = docking.a.value = port;
    docking.told.textContent = `${port} is chosen; click the port that it docks onto.`;
    studio.stage.highlight([{ figure: 0, port }]);
    return;
  }
  docking.b.value = port;
  dockPorts(view, docking.first, port);
}

/** Docks two ports now, and says what came of it. */
async function dockPorts(view, a, b) {
  const [one, other] = [a, b].map((name) => view.ready.ports.find((port) => portName(port) === name));
  view.docking.first = null;
  view.studio.stage?.highlight?.([]);
  if (!one || !other) {
    view.docking.told.textContent = "Choose two free ports first.";
    return;
  }
  view.docking.told.textContent = "The new equations are being derived and compiled.";
  tellEvent(view, await act(view, "dock", { a: one.module, side_a: one.side, b: other.module, side_b: other.side }));
}

/** Opens a docking now. */
async function undockPort(view, name) {
  const port = view.ready.ports.find((one) => portName(one) === name);
  if (port) tellEvent(view, await act(view, "undock", { module: port.module, side: port.side }));
  else view.docking.told.textContent = "Nothing is docked.";
}

/** Says what a docking or undocking has done, with the energy that was lost. */
function tellEvent({ docking }, answer) {
  docking.told.textContent = "";
  if (!answer?.event) return;
  const { note, numbers } = answer.event, lost = numbers.find(({ name }) => name === "energy_loss");
  docking.told.textContent = lost ? `${note} Energy lost: ${lost.value.toPrecision(4)} J.` : note;
}
