// Modules seen from above, drawn as SVG in units of cells: x to the right, y downward, the origin in the middle of the
// module. The data of a kind come from palette.py: ports, hinge and color.

import { svg } from "../../elements.js";

export const FRONTS = [[">", "right"], ["^", "up"], ["<", "left"], ["v", "down"]];
const QUARTERS = { ">": 0, "^": 1, "<": 2, v: 3 };
const HALF = 0.45;   // half the edge of a module's box in a cell, which leaves a gap for the dockings

/** A vector (x, y) of a module, with y upward, in the axes of the picture, with y downward, for a front. */
function turnedPoint([x, y], front) {
  let point = [x, y];
  for (let k = 0; k < QUARTERS[front]; k++) point = [-point[1], point[0]];
  return [point[0], -point[1]];
}

/** The number of columns and rows that a kind fills, for a front. */
function spanOf(kind, front) {
  const [along, across] = kind.cells;
  return QUARTERS[front] % 2 ? [across, along] : [along, across];
}

/** The picture of a module about the origin: its box, hinge and ports; with a label, its letter and name too. */
export function moduleShape(kind, front, { label = null, base = false, lit = false, wrong = false } = {}) {
  const [wide, high] = spanOf(kind, front), gap = 0.5 - HALF;
  const marks = ["module", base ? "base" : "", lit ? "lit" : "", wrong ? "wrong" : ""].filter(Boolean).join(" ");
  const shape = svg("g", { class: marks }, svg("rect", {
    class: "box", x: gap - wide / 2, y: gap - high / 2, width: wide - 2 * gap, height: high - 2 * gap, rx: 0.07,
    fill: kind.color,
  }));
  if (kind.hinge) shape.append(hingeLine(kind, front, wide, high, gap));
  for (const { side, at, out } of kind.ports) {
    if (Math.hypot(out[0], out[1]) < 0.5) continue;   // a port on top or at the bottom
    const [x, y] = turnedPoint(at, front), [u, v] = turnedPoint(out, front);
    const a = x - gap * u, b = y - gap * v;
    shape.append(svg("line", {
      class: side === "3" ? "port front" : "port",
      x1: a - 0.17 * v, y1: b + 0.17 * u, x2: a + 0.17 * v, y2: b - 0.17 * u,
    }));
  }
  if (label !== null) {
    shape.append(svg("text", { class: "letter", x: 0, y: label ? -0.02 : 0.12 }, kind.letter));
    if (label) shape.append(svg("text", { class: "name", x: 0, y: 0.24 }, label));
  }
  return shape;
}

/** The axis of a hinge: a dashed line, or a ring where it is vertical. */
function hingeLine(kind, front, wide, high, gap) {
  const [x, y] = turnedPoint(kind.hinge.at, front), [u, v] = turnedPoint(kind.hinge.axis, front);
  if (Math.hypot(u, v) < 0.5) return svg("circle", { class: "hinge", cx: x, cy: y, r: 0.16 });
  const reach = Math.abs(u) * wide / 2 + Math.abs(v) * high / 2 - gap;
  return svg("line", { class: "hinge", x1: x - reach * u, y1: y - reach * v, x2: x + reach * u, y2: y + reach * v });
}

/** A small picture of a kind for a button. */
export function kindPicture(kind, front = ">") {
  const [wide, high] = spanOf(kind, front), size = Math.max(wide, high);
  return svg("svg", { class: "kind", viewBox: `${-size / 2} ${-size / 2} ${size} ${size}`, "aria-hidden": "true" },
    moduleShape(kind, front, { label: "" }));
}
