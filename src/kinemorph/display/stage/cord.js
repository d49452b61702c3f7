// A cord in the picture, from a point of a body to a target in the world: it shows which way a page pulls a body.

import { makeShape } from "./elements.js";
import { figureIndex } from "./marking.js";
import { projectPoint } from "./picture/camera.js";
import { wake } from "./playing.js";

/** The drawing that lies over the picture. */
export function makeCord() {
  const cord = makeShape("svg", { class: "cord", "aria-hidden": "true", hidden: "" });
  cord.append(makeShape("line"), makeShape("circle", { r: 5 }));
  return cord;
}

/** Shows a cord {figure, body, point, target}; the point [m] is in the body, the target [m] in the world. Null: none. */
export function setCord(app, cord) {
  app.cord = cord;
  wake(app);
}

/** Moves the cord to where its ends are in the picture; it is hidden where one of them is behind the camera. */
export function placeCord(app) {
  const { camera, cord, ui } = app, pulled = cord ? cordPoint(app, cord) : null;
  const ends = [pulled, cord?.target].map((end) => (end ? projectPoint(camera, end, [0, 0]) : null));
  ui.cord.toggleAttribute("hidden", ends.includes(null));
  if (ends.includes(null)) return;
  const [[x1, y1], [x2, y2]] = ends.map(([u, v]) => [0.5 * (1 + u) * app.width, 0.5 * (1 - v) * app.height]);
  const [line, dot] = ui.cord.children;
  for (const [name, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(name, value.toFixed(1));
  dot.setAttribute("cx", x2.toFixed(1));
  dot.setAttribute("cy", y2.toFixed(1));
}

/** The point of the body in the world [m], as the picture shows it; null if there is no such body. */
function cordPoint({ scene, slots }, { figure, body, point: [x, y, z] }) {
  const f = figureIndex(scene, figure), b = scene.figures[f]?.bodies.indexOf(body) ?? -1;
  if (b < 0) return null;
  const { values } = slots, at = 16 * (slots.places[f].bodies + b);
  return [0, 1, 2].map((k) => values[at + k] * x + values[at + 4 + k] * y + values[at + 8 + k] * z + values[at + 12 + k]);
}
