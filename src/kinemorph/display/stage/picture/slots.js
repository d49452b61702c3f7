// The matrices of all slots (4 x 4, column-major), written again for every picture into the same array. A slot whose
// matrix is zero shows nothing.

import { poseMatrix } from "../motion/algebra.js";
import { centerOfMass, markEnds, momentAt } from "../motion/posing.js";
import { SLOTS_PER_ROW } from "./shaders.js";

const ARROW_SLIM = 0.3;      // an arrow is at most this wide for its length
export const TOTAL_BALL = 0.024, TOTAL_LINE = 0.0035;   // radii at the center of mass, as parts of the figure's size
const UNMOVED = new Float32Array([0, 0, 0, 1, 0, 0, 0]);

/** Room for the slots of gathered pieces, and what the picture needs besides: tops of figures, their centers. */
export function makeSlots(scene, gathered) {
  const rows = Math.ceil(gathered.slots / SLOTS_PER_ROW);
  const slots = {
    places: gathered.places, rows, values: new Float32Array(rows * SLOTS_PER_ROW * 16),
    centers: scene.figures.map(() => new Float32Array(3)), tops: scene.figures.map(() => new Float32Array(3)),
    boxes: scene.figures.map((figure) => bodyBoxes(scene, figure)), ends: new Float32Array(6),
  };
  poseMatrix(slots.values, 0, UNMOVED, 0, UNMOVED, 3, UNMOVED);
  scene.figures.forEach((figure, i) => {
    poseMatrix(slots.values, 16 * slots.places[i].ground, UNMOVED, 0, UNMOVED, 3, figure.offset);
  });
  return slots;
}

/** Middle and half edges (6 for each body) of the boxes round the shapes of bodies, in their frames. */
function bodyBoxes(scene, figure) {
  const boxes = new Float32Array(6 * figure.bodies.length);
  const parts = figure.bodies.map(() => []);
  for (const part of figure.parts) if (part.owner >= 0 && part.layer === "shapes") parts[part.owner].push(part);
  parts.forEach((own, body) => {
    const bounds = own.map((part) => scene.surfaces[part.surface].box).filter((box) => box[0] <= box[3]);
    for (let k = 0; k < 3 && bounds.length; k++) {
      const low = Math.min(...bounds.map((box) => box[k])), high = Math.max(...bounds.map((box) => box[k + 3]));
      boxes[6 * body + k] = 0.5 * (low + high);
      boxes[6 * body + 3 + k] = 0.5 * (high - low);
    }
  });
  return boxes;
}

/** A look stretched between the points that `ends` holds, with radius `width`; it keeps the x axis of slot `turned`. */
function writeStretched(values, slot, ends, width, turned) {
  const at = 16 * slot, from = 16 * turned;
  let dx = ends[3] - ends[0], dy = ends[4] - ends[1], dz = ends[5] - ends[2];
  const length = Math.sqrt(dx * dx + dy * dy + dz * dz);
  values.fill(0, at, at + 16);
  if (!(length > 1e-9)) return;
  dx /= length; dy /= length; dz /= length;
  // coils keep still on the body that holds them: across is its x axis, or y where x lies along
  let cx = values[from], cy = values[from + 1], cz = values[from + 2];
  if (Math.abs(cx * dx + cy * dy + cz * dz) > 0.9) {
    cx = values[from + 4]; cy = values[from + 5]; cz = values[from + 6];
  }
  const along = cx * dx + cy * dy + cz * dz;
  cx -= along * dx; cy -= along * dy; cz -= along * dz;
  const scale = width / Math.sqrt(cx * cx + cy * cy + cz * cz);
  cx *= scale; cy *= scale; cz *= scale;
  values[at] = cx; values[at + 1] = cy; values[at + 2] = cz;
  values[at + 4] = dy * cz - dz * cy; values[at + 5] = dz * cx - dx * cz; values[at + 6] = dx * cy - dy * cx;
  values[at + 8] = length * dx; values[at + 9] = length * dy; values[at + 10] = length * dz;
  values[at + 12] = ends[0]; values[at + 13] = ends[1]; values[at + 14] = ends[2]; values[at + 15] = 1;
}

/** A ball of a radius about a point; nothing for a radius of 0. */
function writeBall(values, slot, x, y, z, radius) {
  const at = 16 * slot;
  values.fill(0, at, at + 16);
  values[at] = values[at + 5] = values[at + 10] = radius;
  values[at + 12] = x; values[at + 13] = y; values[at + 14] = z; values[at + 15] = 1;
}

/** Writes all slots of one picture from the poses in which figures now are. */
export function writeSlots(scene, slots, t) {
  for (let f = 0; f < scene.figures.length; f++) {
    writeBodies(scene.figures[f], slots, f);
    writePassing(scene, slots, slots.places[f], t);
    writeMarks(scene, scene.figures[f], slots, slots.places[f], t);
    writeTotal(scene.figures[f], slots, f, scene.floor);
  }
}

/** Bodies of one figure, and the top of all it has. */
function writeBodies(figure, slots, f) {
  const { values, places } = slots, { positions, quaternions } = figure.pose;
  const box = slots.boxes[f], top = slots.tops[f], count = figure.bodies.length;
  top[0] = top[1] = 0;
  top[2] = -Infinity;
  for (let b = 0; b < count; b++) {
    const at = 16 * (places[f].bodies + b), i = 6 * b;
    poseMatrix(values, at, positions, 3 * b, quaternions, 4 * b, figure.offset);
    const x = values[at + 2], y = values[at + 6], z = values[at + 10];
    const middle = x * box[i] + y * box[i + 1] + z * box[i + 2] + values[at + 14];
    const half = Math.abs(x) * box[i + 3] + Math.abs(y) * box[i + 4] + Math.abs(z) * box[i + 5];
    top[0] += values[at + 12] / count;
    top[1] += values[at + 13] / count;
    top[2] = Math.max(top[2], middle + half);
  }
  if (!count) top.set(figure.offset);
}

/** Whether a part that is shown only at some times of the scene is shown at a time [s]. */
function isThere(scene, shown, t) {
  const { before, part } = momentAt(scene.times, t), now = before + (part >= 1);
  return shown.filter((edge) => edge <= now).length % 2 === 1;
}

/** Writes the slots of parts that are shown at some times only: the matrix of their body, or zero. */
function writePassing(scene, { values }, place, t) {
  for (const { slot, carrier, shown } of place.passing.values()) {
    if (isThere(scene, shown, t)) values.copyWithin(16 * slot, 16 * carrier, 16 * carrier + 16);
    else values.fill(0, 16 * slot, 16 * slot + 16);
  }
}

/** The box [[x, y, z], [x, y, z]] round the shapes of one figure's bodies where they now are. */
export function boxNow(slots, f, bodies) {
  const { values, places } = slots, box = slots.boxes[f];
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  for (let b = 0; b < bodies; b++) {
    const at = 16 * (places[f].bodies + b), own = box.subarray(6 * b, 6 * b + 6);
    for (let k = 0; k < 3; k++) {
      const [x, y, z] = [values[at + k], values[at + 4 + k], values[at + 8 + k]];
      const middle = x * own[0] + y * own[1] + z * own[2] + values[at + 12 + k];
      const half = Math.abs(x) * own[3] + Math.abs(y) * own[4] + Math.abs(z) * own[5];
      low[k] = Math.min(low[k], middle - half);
      high[k] = Math.max(high[k], middle + half);
    }
  }
  return [low, high];
}

/** Marks of one figure: springs, forces. */
function writeMarks(scene, figure, slots, place, t) {
  const { values, ends } = slots;
  for (let i = 0; i < figure.marks.length; i++) {
    const mark = figure.marks[i], slot = place.marks + i;
    if (mark.shown && !isThere(scene, mark.shown, t)) {
      values.fill(0, 16 * slot, 16 * slot + 16);
      continue;
    }
    markEnds(scene, figure, mark, t, ends);
    for (let k = 0; k < 6; k++) ends[k] += figure.offset[k % 3];
    const length = Math.hypot(ends[3] - ends[0], ends[4] - ends[1], ends[5] - ends[2]);
    if (mark.look === "ball") {
      writeBall(values, slot, ends[3], ends[4], ends[5], mark.end || length > 0 ? mark.width : 0);
    } else {
      const width = mark.look === "arrow" ? Math.min(mark.width, ARROW_SLIM * length) : mark.width;
      writeStretched(values, slot, ends, width, place.bodies + mark.start.owner);
    }
  }
}

/** The center of mass of one figure, with a line down to the floor. */
function writeTotal(figure, slots, f, floor) {
  const { values, places, ends } = slots, center = centerOfMass(figure, slots.centers[f]);
  for (let k = 0; k < 3; k++) ends[k] = ends[k + 3] = center[k] += figure.offset[k];
  ends[2] = floor;
  writeBall(values, places[f].center, center[0], center[1], center[2], TOTAL_BALL * figure.size);
  writeStretched(values, places[f].line, ends, TOTAL_LINE * figure.size, 0);
}
