// The organism as a whole: its root, its dyads, its ground; its modules with their docked and free sides, which also a
// file without a grid has; and modules whose poses were measured.

import { button, choice, dialog, field, folded, make, refill, tick } from "../../elements.js";
import { showDocking } from "./docking.js";

const VIRTUAL = ["x", "y", "z", "rx", "ry", "rz"];
const ROOTS = [["free", "free"], ["fixed", "fixed"], ["virtual", "virtual joints"]];
const DYADS = [["halves", "two halves with a hinge"], ["adapted", "one body each (adapted dyads)"]];
const JOINTS = [["", "fixed"], ["revolute", "revolute joint"], ["prismatic", "prismatic joint"]];
const KEEP = [["exact", "dock exactly"], ["measured", "keep the measured offsets"]];
const EXAMPLE = "a, b, x, y, z, qw, qx, qy, qz\n0, 1, 0.105, 0, 0, 1, 0, 0, 0";

/** Shows the settings of the organism: root, dyads, ground, several organisms, planar. */
export function showSettings(view, send) {
  const { settings } = view.data, off = view.data.listed.length === 0 && view.data.modules.length === 0;
  const mark = JSON.stringify([settings, off]);
  if (view.settings.mark === mark) return;
  view.settings.mark = mark;
  const plain = settings.root.length === 1 && ["free", "fixed"].includes(settings.root[0]);
  const root = plain ? settings.root[0] : "virtual", joints = new Set(plain ? [] : settings.root);
  const boxes = VIRTUAL.map((one) => tick(one, joints.has(one), (on) => {
    if (on) joints.add(one);
    else joints.delete(one);
    if (joints.size) send({ verb: "root", joints: VIRTUAL.filter((each) => joints.has(each)) });
  }, { "aria-label": `Virtual joint ${one}` }));
  const flag = (label, verb) => tick(label, settings[verb], (on) => send({ verb, on }), { disabled: off });
  refill(view.settings, make("legend", {}, "Organism"),
    field("Root", choice(ROOTS, root, (value) => send({ verb: "root", joints: [value === "virtual" ? "x" : value] }),
      { disabled: off })),
    plain ? null : make("div", { class: "row", role: "group", "aria-label": "Virtual joints" }, boxes),
    field("Modules are", choice(DYADS, settings.dyads, (form) => send({ verb: "dyads", form }), { disabled: off })),
    make("div", { class: "row" }, flag("On the ground", "ground"), flag("Several organisms", "several"),
      flag("Planar tree only", "planar")));
}

/** Shows the list of modules, which is open where no grid shows them; it is made when it is open. */
export function showModuleList(view, send) {
  if (!view.list.firstElementChild) {
    const place = make("div", {}), fold = folded("Modules and their sides", false, place);
    fold.show = () => refill(place, fold.open ? moduleTable(view, send) : null);
    fold.addEventListener("toggle", fold.show);
    view.list.append(fold);
  }
  const fold = view.list.firstElementChild;
  if (fold.open) fold.show();
  else fold.open = Boolean(view.data.reason);
}

/** A table of the modules with their docked and free sides. */
function moduleTable(view, send) {
  const { listed } = view.data;
  if (!listed.length) return make("p", { class: "help" }, "There are no modules yet.");
  const heads = ["module", "kind", "docked", "free sides"].map((text) => make("th", { scope: "col" }, text));
  const rows = listed.map((row) => make("tr", {}, make("th", { scope: "row" }, row.name), make("td", {}, row.kind),
    make("td", {}, row.docked.map((one) => dockedSide(row.name, one, send))),
    make("td", {}, row.free.map((side) => button(`Dock at side ${side} of ${row.name}`,
      () => showDocking(view.docking, row.name, side), { icon: side, kind: "quiet" })))));
  return make("div", { class: "scrolled", tabIndex: 0, role: "region", "aria-label": "Modules and their sides" },
    make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows)));
}

/** A docked side: what is docked to it, a button that undocks it, and the joint module between the two sides. */
function dockedSide(module, { side, to, on, joint }, send) {
  const undock = () => send({ verb: "undock", module, side });
  return make("span", { class: "docked" }, `${side} – ${to} ${on} `,
    button(`Undock side ${side} of ${module}`, undock, { icon: "×", kind: "quiet" }),
    choice(JOINTS, joint, (chosen) => send({ verb: "joint", module, side, joint: chosen }),
      { "aria-label": `Joint module at side ${side} of ${module}` }));
}

/** Asks for measured poses, as text or as a file, and sends the command that snaps them. */
export function askPoses(view, send) {
  const text = make("textarea", { class: "code", rows: 8, spellcheck: false, placeholder: EXAMPLE });
  text.value = view.poses ?? "";   // what was written last, so that a table that was refused can be corrected
  const read = async () => { text.value = await file.files[0].text(); };
  const file = make("input", { type: "file", accept: ".csv,.txt", onchange: read }), keep = choice(KEEP, "exact");
  const help = "The poses of modules b in the frames of modules a [m]. They replace the modules of this file, each at "
    + "the nearest docking. Ctrl+Z brings the modules back.";
  const fields = [
    make("p", { class: "help" }, help), field("Poses", text), field("From a file", file), field("Offsets", keep),
  ];
  dialog("Measured poses", fields, [["Snap", () => text.value, "main"]], (value) => {
    view.poses = value ?? view.poses;
    if (value) send({ verb: "snap", text: value, kind: view.kind, keep: keep.value });
  });
}
