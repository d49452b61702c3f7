// What a page marks in the picture: bodies, parts and ports that are lit up, ports to dock at, and a ghost, the
// translucent preview of what would be there. A click on a body or on a port is reported to the page.

import { make } from "./elements.js";
import { projectPoint } from "./picture/camera.js";
import { discMesh, groupPieces, lightPieces, pieceOf, placedPieces } from "./picture/geometry.js";
import { FIRST_PORT, pickPiece, pointOn } from "./picture/picking.js";
import { loadPieces, reloadInstances } from "./picture/render.js";
import { Surface } from "./picture/surfaces.js";
import { wake } from "./playing.js";

const DISC = discMesh(20);
const PORT_SIZE = 0.022;      // radius of a port's marker, as a part of the box of the scene
const FREE_COLOR = [0.10, 0.62, 0.42, 1], TAKEN_COLOR = [0.55, 0.58, 0.62, 1];
const GHOST_OPACITY = 0.45;
const FEW_PORTS = 80;         // whose buttons follow every picture; those of more ports follow when the picture rests

/** What is marked in a stage at first: nothing. */
export function makeMarked() {
  return { lit: [], ports: [], places: [], portSet: groupPieces([], []), ghostSet: groupPieces([], []), buttons: [] };
}

/** The index of a figure that is given by name or index; without one, 0. */
export function figureIndex(scene, figure) {
  return typeof figure === "string" ? scene.figures.findIndex((one) => one.name === figure) : figure ?? 0;
}

/** Puts all marks into a new scene, or on a new WebGL context: ports without a body there are left out. */
export function renewMarks(app) {
  setPorts(app, app.marked.ports);
  highlight(app, app.marked.lit);
  if (app.renderer) loadPieces(app.renderer, "ghost", app.marked.ghostSet);
}

/** Lights up members [{figure, body | part | port}] of the scene, and nothing else; figures are names or indices. */
export function highlight(app, members) {
  const { scene, marked, renderer } = app;
  marked.lit = [...members];
  const listed = members.map((one) => ({ ...one, figure: one.figure == null ? null : figureIndex(scene, one.figure) }));
  const ofPort = (piece) =>
    listed.some(({ port, figure }) => port === piece.name && (figure ?? piece.figure) === piece.figure);
  const ofBody = (piece) => listed.some(({ body, part, figure }) => (figure ?? piece.figure) === piece.figure
    && (part === piece.name || (body != null && piece.figure !== null && piece.owner !== null && piece.owner >= 0
      && (body === piece.owner || body === scene.figures[piece.figure].bodies[piece.owner]))));
  if (lightPieces(app.gathered, ofBody) && renderer) reloadInstances(renderer, "scene", app.gathered);
  if (lightPieces(marked.portSet, ofPort) && renderer) reloadInstances(renderer, "ports", marked.portSet);
  marked.buttons.forEach((button, i) => button.classList.toggle("lit", Boolean(ofPort(marked.places[i].piece))));
  wake(app);
}

/** Shows the shapes of a scene, as its bodies are, translucent beside the others; null shows none. */
export function setGhost(app, scene, { color = null } = {}) {
  const pieces = scene ? placedPieces(scene, color) : [];
  for (const piece of pieces) {
    piece.color = [...piece.color.slice(0, 3), GHOST_OPACITY];
    piece.clear = true;
  }
  app.marked.ghostSet = groupPieces(pieces, ["shapes"]);
  if (app.renderer) loadPieces(app.renderer, "ghost", app.marked.ghostSet);
  wake(app);
}

/**
 * Shows markers of ports [{name, figure, body, position, normal, free, label}] in place of those before. Position [m]
 * and normal are those in a body, or without a body those in the figure. Each marker can be picked, and has a button
 * for the keyboard whose accessible name is `label` and whether the port is free.
 */
export function setPorts(app, ports) {
  const { scene, slots, marked } = app, [low, high] = scene.box;
  const size = PORT_SIZE * Math.max(Math.hypot(...low.map((value, k) => high[k] - value)), 1e-6);
  marked.ports = [...ports];
  marked.places = [];
  for (const port of ports) {
    const figure = figureIndex(scene, port.figure), one = scene.figures[figure], place = slots.places[figure];
    const body = typeof port.body === "string" ? one?.bodies.indexOf(port.body) : port.body ?? null;
    if (!one || (body !== null && one.bodies[body] === undefined)) continue;
    const look = { layer: "ports", color: port.free ? FREE_COLOR : TAKEN_COLOR, owner: body };
    const slot = body === null ? place.ground : place.bodies + body;
    const map = portMap(port.position, port.normal ?? [0, 0, 1], port.size ?? Math.min(size, 0.06 * one.size || size));
    const piece = pieceOf(port.name, slot, new Surface(DISC, map), look, figure);
    marked.places.push({ port, piece, at: Float32Array.from(port.position), way: port.normal ?? [0, 0, 1] });
  }
  marked.portSet = groupPieces(marked.places.map((one) => one.piece), ["ports"], FIRST_PORT);
  if (app.renderer) loadPieces(app.renderer, "ports", marked.portSet);
  fillPortButtons(app);
  highlight(app, marked.lit);
}

/** The map that puts a disc of a radius at a point, perpendicular to a normal. */
function portMap([x, y, z], normal, radius) {
  const size = Math.hypot(...normal) || 1, [a, b, c] = normal.map((value) => value / size);
  const side = Math.abs(c) < 0.9 ? [-b, a, 0] : [0, -c, b], long = Math.hypot(...side);
  const [d, e, f] = side.map((value) => value / long);
  const [g, h, i] = [b * f - c * e, c * d - a * f, a * e - b * d], r = radius;
  return [r * d, r * g, r * a, x, r * e, r * h, r * b, y, r * f, r * i, r * c, z];
}

/** One button for each port; those of ports before are used again. */
function fillPortButtons(app) {
  const { marked, ui } = app;
  while (marked.buttons.length > marked.places.length) marked.buttons.pop().remove();
  while (marked.buttons.length < marked.places.length) {
    const button = make("button", "", { type: "button", className: "port" }), number = marked.buttons.length;
    button.addEventListener("click", (event) => pickPort(app, marked.places[number], event));
    button.addEventListener("focus", () => pointAtPort(app, number));
    marked.buttons.push(button);
    ui.ports.append(button);
  }
  marked.places.forEach(({ port }, i) => {
    const label = `${port.label ?? `port ${port.name}`}, ${port.free ? "free" : "taken"}`, button = marked.buttons[i];
    if (button.getAttribute("aria-label") !== label) {
      button.setAttribute("aria-label", label);
      button.title = label;
    }
  });
}

/** Makes the marker of a port brighter while its button has the focus. */
function pointAtPort(app, number) {
  if (!app.renderer) return;
  app.renderer.chosen = app.marked.places[number].piece.id;
  wake(app);
}

/** Moves the buttons of ports to their markers; those on the far side of a body take no pointer. */
export function placePortButtons(app, atRest) {
  const { marked, camera, slots: { values }, controls } = app, count = marked.places.length;
  if (!count) return;
  const follow = count <= FEW_PORTS || atRest || !app.renderer || app.renderer.quality.level === 0;
  app.ui.ports.classList.toggle("stale", !follow);
  if (!follow) return;
  for (let i = 0; i < count; i++) {
    const { piece, at: p, way } = marked.places[i], S = 16 * piece.slot, there = controls.spot;
    let facing = 0;
    for (let k = 0; k < 3; k++) {
      const [x, y, z] = [values[S + k], values[S + 4 + k], values[S + 8 + k]];
      there[k] = x * p[0] + y * p[1] + z * p[2] + values[S + 12 + k];
      facing += (x * way[0] + y * way[1] + z * way[2]) * (camera.eye[k] - there[k]);
    }
    const [u, v] = projectPoint(camera, there, controls.place) ?? [-2, 2], button = marked.buttons[i];
    const to = `translate(${(0.5 * (1 + u) * app.width).toFixed(0)}px, ${(0.5 * (1 - v) * app.height).toFixed(0)}px)`;
    if (button.to !== to) button.style.transform = button.to = to;
    if (button.behind !== facing <= 0) button.classList.toggle("behind", button.behind = facing <= 0);
  }
}

/** Reports a port that was chosen. */
function pickPort(app, { port, piece }, event) {
  const { values } = app.slots, [x, y, z] = port.position;
  const point = [0, 1, 2].map((k) => {
    const at = 16 * piece.slot + k;
    return values[at] * x + values[at + 4] * y + values[at + 8] * z + values[at + 12];
  });
  tellPick(app, piece, point, event);
}

/** Reports what is at a place of the picture [pixels] to the page: a body, a part, a port, or nothing. */
export function pickAt(app, x, y, event) {
  if (!app.options.onPick || !app.renderer) return;
  const u = 2 * x / app.width - 1, v = 1 - 2 * y / app.height, piece = pickPiece(app.renderer, app.camera, u, v);
  tellPick(app, piece, piece ? pointOn(piece, app.slots, app.camera, u, v) : null, event);
}

/** Calls onPick with a piece, or with null for everything where there is none. */
function tellPick(app, piece, point, event) {
  app.options.onPick?.(describePick(app, piece, point, event));
}

/** A piece as the page gets it: the names of its body, part or port, null where there is none, and the point [m]. */
export function describePick(app, piece, point, event) {
  const isPort = piece !== null && piece.layer === "ports", figure = piece?.figure ?? null;
  const body = figure !== null && piece.owner !== null ? app.scene.figures[figure].bodies[piece.owner] ?? null : null;
  return { figure, body, part: piece && !isPort ? piece.name : null, port: isPort ? piece.name : null, point, event };
}
