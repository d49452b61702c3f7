// The elements of a stage, made inside its host: the picture and what lies over it, joints, plots, the bar.

import { makeCord } from "./cord.js";
import { make, makeIcon, makeShape } from "./elements.js";

/**
 * Makes all elements of a stage in a host and returns them by name. They have classes and no ids, so that a page may
 * hold several stages; everything is below one element of the class `stage`.
 */
export function makeLayout(host) {
  const ui = { root: make("div", "", { className: "stage" }), frame: make("div", "", { className: "frame" }) };
  ui.area = make("section", "", { className: "area", "aria-label": "Picture" });
  ui.panel = make("aside", "", { className: "panel", "aria-label": "Joints", hidden: true });
  ui.plots = make("section", "", { className: "plots", "aria-label": "Plots over time", hidden: true });
  ui.bar = make("div", "", { className: "bar", role: "toolbar", "aria-label": "Playback and views", hidden: true });
  fillArea(ui);
  fillBar(ui);
  ui.frame.append(ui.area, ui.panel, ui.plots, ui.bar);
  ui.root.append(ui.frame);
  host.append(ui.root);
  return ui;
}

/** The canvas of the picture, and what lies over it. */
function fillArea(ui) {
  ui.picture = make("canvas", "", {
    className: "picture", tabIndex: 0, role: "img", "aria-label": "Picture in three dimensions; ? shows the keys",
  });
  const level = document.querySelector("h1") ? "2" : "1";   // a page of its own has no other heading
  ui.title = make("div", "", { className: "title", role: "heading", "aria-level": level });
  ui.names = make("div", "", { className: "names", "aria-hidden": "true" });
  ui.ports = make("div", "", { className: "ports", role: "group", "aria-label": "Ports" });
  ui.tip = make("div", "", { className: "tip", role: "status", hidden: true });
  ui.gizmo = makeShape("svg", { class: "gizmo", viewBox: "-40 -40 80 80", "aria-hidden": "true" });
  ui.spacing = make("div", "", { className: "spacing", title: "Distance between the lines of the floor" });
  ui.notes = make("details", "", { className: "notes", hidden: true });
  ui.notes.append(make("summary"), make("ul"));
  ui.message = make("p", "", { className: "message", role: "alert", hidden: true });
  ui.help = make("div", "", { className: "help", role: "dialog", "aria-label": "Keys", hidden: true });
  ui.cord = makeCord();
  ui.area.append(ui.picture, ui.cord, ui.ports, ui.title, ui.names, ui.tip, ui.gizmo, ui.spacing, ui.notes, ui.message, ui.help);
}

/** The bar: the clock, then menus and buttons. */
function fillBar(ui) {
  const button = (name, label, title, more = {}) => {
    ui[name] = make("button", "", { type: "button", "aria-label": label, title, ...more });
    return ui[name];
  };
  const menu = (name, label) => {
    ui[name] = make("details", "", { className: "menu" });
    const summary = make("summary", "", { title: label, "aria-label": label });
    summary.append(makeIcon(name));
    ui[name].append(summary, make("div"));
    return ui[name];
  };
  const pressed = (on) => ({ "aria-pressed": String(on) });
  button("play", "Play", "Play or pause (space)", { className: "timed main" });
  ui.line = make("div", "", { className: "timed line" });
  ui.scrub = make("input", "", { type: "range", step: "any", "aria-label": "Time", title: "Time (arrow keys step)" });
  ui.scrub.classList.add("scrub");
  ui.marks = make("div", "", { className: "marks" });
  ui.line.append(ui.scrub, ui.marks);
  ui.clock = make("output", "", { className: "timed clock" });
  ui.speed = make("select", "", { className: "timed", "aria-label": "Speed", title: "Speed" });
  button("loop", "Loop", "Loop (l)", { className: "timed", ...pressed(false) });
  button("chart", "Plots", "Plots (c)", { hidden: true, ...pressed(true) });
  button("joints", "Joints", "Joints (j)", { hidden: true, ...pressed(true) });
  button("full", "Full screen", "Full screen", { hidden: true });
  button("keys", "Keys", "Keys (?)", { textContent: "?" });
  for (const name of ["loop", "chart", "joints", "full"]) ui[name].append(makeIcon(name));
  ui.bar.append(ui.play, ui.line, ui.clock, ui.speed, ui.loop, make("span", "", { className: "rest" }), ui.chart,
    ui.joints, menu("views", "Views"), menu("layers", "Layers"), ui.full, ui.keys);
}
