// Poses of bodies at a time of a run or for given coordinates; and marks, traces and centers of mass, which depend on
// them.
//
// Positions are without the offset of the figure. All results are written to arrays of the figure (figure.pose,
// trace.points) or of the caller: nothing is allocated here while a run plays.

import {
  axisQuaternion, blendQuaternions, carryPoint, multiplyQuaternions, normalizeQuaternion,
} from "./algebra.js";
import { closeLoops } from "./closing.js";

export const GROUND = { p: new Float64Array(3), turn: new Float64Array([1, 0, 0, 0]) };
const jointMotion = { p: new Float64Array(3), turn: new Float64Array([1, 0, 0, 0]), step: new Float64Array(4) };
const moment = { before: 0, after: 0, part: 0 }; // between which rows of times, and which part of the way

/** Finds the rows before and after a time [s], and the fraction between them. */
export function momentAt(times, t) {
  const last = times.length - 1;
  let low = 0, high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  moment.before = low;
  moment.after = high;
  const span = times[high] - times[low];
  moment.part = span > 0 ? Math.max(0, Math.min(1, (t - times[low]) / span)) : 0;
  return moment;
}

/**
 * The poses of all figures at a time [s]: an array with {positions (3 nb), quaternions (4 nb)} for each, the same arrays
 * at every call. Between two rows, joint coordinates are interpolated, not poses of bodies: bodies stay at their joints,
 * and a fast wheel spins in the right direction. A figure with sliders keeps the pose that jointPoses gave it, one that
 * is moved from outside (`live`) the poses that it got.
 */
export function posesAt(scene, t) {
  const { before, after, part } = momentAt(scene.times, t);
  for (const figure of scene.figures) {
    if (figure.joints || figure.live) continue;
    const { q, coordinates, pose } = figure, a = q.length * before, b = q.length * after;
    for (let k = 0; k < q.length; k++) q[k] = coordinates[a + k] + part * (coordinates[b + k] - coordinates[a + k]);
    for (const k of figure.turns) blendQuaternions(q, k, coordinates, a + k, coordinates, b + k, part);
    placeBodies(figure, q, 0, pose.positions, pose.quaternions, 0);
  }
  return scene.poses;
}

/**
 * Poses a figure by its coordinates q (nq), after coupled joints and loops have been adapted in q. `anew` says that q is
 * new as a whole, not the last q with a few coordinates moved. Returns figure.pose.
 */
export function jointPoses(figure, q, anew = false) {
  followLeaders(figure, q);
  if (figure.loops.length) closeLoops(figure, q, anew);
  placeBodies(figure, q, 0, figure.pose.positions, figure.pose.quaternions, 0);
  return figure.pose;
}

/** Sets the coordinates of coupled joints from those of their leaders, and those of driven joints by their formulas. */
export function followLeaders(figure, q) {
  for (const joint of figure.tree) {
    const lead = joint.follows;
    if (lead) q[joint.steps[0].q] = lead.multiplier * q[lead.leader] + lead.offset;
    joint.formulas?.forEach((formula, k) => { q[joint.steps[0].q + k] = formulaValue(formula, q); });
  }
}

// the ops of formulas; their names are those of the package's vocabulary
const OPS = {
  add: (a, b) => a + b, sub: (a, b) => a - b, mul: (a, b) => a * b, div: (a, b) => a / b, pow: (a, b) => a ** b,
  neg: (a) => -a, abs: Math.abs, sqrt: Math.sqrt, exp: Math.exp, log: Math.log, floor: Math.floor, sign: Math.sign,
  sin: Math.sin, cos: Math.cos, tan: Math.tan, asin: Math.asin, acos: Math.acos, atan2: Math.atan2,
  min: Math.min, max: Math.max, lt: (a, b) => +(a < b), le: (a, b) => +(a <= b), eq: (a, b) => +(a === b),
  where: (test, a, b) => (test ? a : b),
};

/** The value of a formula: a number, ["q", index], or [op, arguments]. */
function formulaValue(formula, q) {
  if (typeof formula === "number") return formula;
  const [op, ...parts] = formula;
  return op === "q" ? q[parts[0]] : OPS[op](...parts.map((part) => formulaValue(part, q)));
}

/** Writes the poses of all bodies for the coordinates q[first..] into row `row` of positions and quaternions. */
export function placeBodies(figure, q, first, positions, quaternions, row) {
  carryBodies(figure, q, first);
  const count = figure.bodies.length;
  for (let body = 0; body < count; body++) {
    const { p, turn } = figure.exact[body], at = row * count + body;
    for (let k = 0; k < 3; k++) positions[3 * at + k] = p[k];
    for (let k = 0; k < 4; k++) quaternions[4 * at + k] = turn[k];
  }
}

/** Computes the poses of all bodies for the coordinates q[first..], in double precision, in figure.exact. */
export function carryBodies(figure, q, first) {
  for (const joint of figure.tree) {
    const parent = joint.parent < 0 ? GROUND : figure.exact[joint.parent], child = figure.exact[joint.child];
    jointMotion.p.set(joint.placement.p);
    jointMotion.turn.set(joint.placement.turn);
    for (const step of joint.steps) MOVES[step.kind](step, q, first + step.q);
    // parent pose, placement and joint motion, then from the joint frame back to the child frame
    carryPoint(jointMotion.p, 0, jointMotion.p, 0, jointMotion.turn, 0, joint.back.p, 0);
    multiplyQuaternions(jointMotion.turn, 0, jointMotion.turn, 0, joint.back.turn, 0);
    carryPoint(child.p, 0, parent.p, 0, parent.turn, 0, jointMotion.p, 0);
    multiplyQuaternions(child.turn, 0, parent.turn, 0, jointMotion.turn, 0);
    normalizeQuaternion(child.turn, 0);
  }
}

/** Multiplies `jointMotion` from the right by a translation in its own axes. */
function shiftBy(x, y, z) {
  jointMotion.step[0] = x, jointMotion.step[1] = y, jointMotion.step[2] = z;
  carryPoint(jointMotion.p, 0, jointMotion.p, 0, jointMotion.turn, 0, jointMotion.step, 0);
}

/** Multiplies `jointMotion` from the right by a rotation about an axis. */
function turnAbout(axis, angle) {
  axisQuaternion(jointMotion.step, 0, axis, angle);
  multiplyQuaternions(jointMotion.turn, 0, jointMotion.turn, 0, jointMotion.step, 0);
}

/** Multiplies `jointMotion` from the right by the rotation of a quaternion q[at..] of any length. */
function turnBy(q, at) {
  for (let k = 0; k < 4; k++) jointMotion.step[k] = q[at + k];
  normalizeQuaternion(jointMotion.step, 0);
  multiplyQuaternions(jointMotion.turn, 0, jointMotion.turn, 0, jointMotion.step, 0);
}

/** Multiplies `jointMotion` from the right by a translation along an axis. */
function shiftAlong(axis, length) {
  shiftBy(axis[0] * length, axis[1] * length, axis[2] * length);
}

const UPRIGHT = [0, 0, 1];
// the primitive joints: each multiplies its motion to `jointMotion`; `at` is the index of its first coordinate in q
const MOVES = {
  revolute: (step, q, at) => turnAbout(step.axis, q[at]),
  prismatic: (step, q, at) => shiftAlong(step.axis, q[at]),
  helical: (step, q, at) => {
    turnAbout(step.axis, q[at]);
    shiftAlong(step.axis, step.pitch * q[at]);
  },
  planar: (step, q, at) => {
    shiftBy(q[at], q[at + 1], 0);
    turnAbout(UPRIGHT, q[at + 2]);
  },
  spherical: (step, q, at) => turnBy(q, at),
  free: (step, q, at) => {
    shiftBy(q[at], q[at + 1], q[at + 2]);
    turnBy(q, at + 3);
  },
  pose: (step, q, at) => {
    shiftBy(q[at + 9], q[at + 10], q[at + 11]);
    turnBy(turnOfMatrix(q, at), 0);
  },
};

/** The quaternion, of any length, of a rotation matrix whose rows are q[at..at + 8]. */
function turnOfMatrix(q, at) {
  const [a, b, c, d, e, f, g, h, i] = q.slice(at, at + 9), w = 1 + a + e + i, x = 1 + a - e - i, y = 1 - a + e - i;
  if (w >= Math.max(x, y, 1)) return [w, h - f, c - g, d - b];
  if (x >= Math.max(y, 1)) return [h - f, x, b + d, c + g];
  if (y >= 1) return [c - g, b + d, y, f + h];
  return [d - b, c + g, f + h, 1 - a - e + i];
}

// ── what follows from the poses ─────────────────────────────────────────────────────────────────────────────────────

/** out[o..] = a point {owner, point} of a figure where its bodies now are. */
export function attachedPoint(out, o, pose, at) {
  if (at.owner < 0) {
    out[o] = at.point[0], out[o + 1] = at.point[1], out[o + 2] = at.point[2];
  } else {
    carryPoint(out, o, pose.positions, 3 * at.owner, pose.quaternions, 4 * at.owner, at.point, 0);
  }
}

/** out (6) = start and end of a mark at a time [s]; where they coincide, the mark is not shown. */
export function markEnds(scene, figure, mark, t, out) {
  attachedPoint(out, 0, figure.pose, mark.start);
  if (mark.end) {
    attachedPoint(out, 3, figure.pose, mark.end);
  } else {
    const { before, after, part } = momentAt(scene.times, t);
    const along = (rows, k) => (rows ? rows[3 * before + k] + part * (rows[3 * after + k] - rows[3 * before + k]) : 0);
    for (let k = 0; k < 3; k++) {
      out[k] += along(mark.shifts, k);
      out[3 + k] = out[k] + along(mark.vectors, k);
    }
  }
  return out;
}

/** The whole path of a trace, one point for each time (3n); computed at the first call and stored as trace.path. */
export function tracePath(scene, figure, trace) {
  if (!trace.path) {
    const n = scene.times.length, count = figure.bodies.length, { owner, point } = trace;
    trace.path = new Float32Array(3 * n);
    for (let k = 0; k < n; k++) {
      const body = k * count + owner;
      if (owner < 0) trace.path.set(point, 3 * k);
      else carryPoint(trace.path, 3 * k, figure.positions, 3 * body, figure.quaternions, 4 * body, point, 0);
    }
  }
  return trace.path;
}

/**
 * The path of a trace up to the time [s] of posesAt, in trace.points; its last point is the current one. Returns the
 * number of points. Only two points change from one call to the next; trace.changed is the index of the first of them.
 */
export function tracePoints(scene, figure, trace, t) {
  const path = tracePath(scene, figure, trace);
  if (!trace.points) {
    trace.points = new Float32Array(path.length + 3);
    trace.points.set(path);
    trace.tip = 0;
  }
  const tip = momentAt(scene.times, t).before + 1, old = 3 * trace.tip;
  for (let k = old; k < old + 3; k++) trace.points[k] = k < path.length ? path[k] : 0;
  if (figure.joints) trace.points.set(path, 3 * tip); // a figure that is posed has no way
  else attachedPoint(trace.points, 3 * tip, figure.pose, trace);
  trace.changed = Math.min(trace.tip, tip);
  trace.tip = tip;
  return tip + 1;
}

const carried = new Float64Array(3);

/** out (3) = the center of mass of a figure where its bodies now are. */
export function centerOfMass(figure, out) {
  const { positions, quaternions } = figure.pose;
  let mass = 0, x = 0, y = 0, z = 0;
  for (let body = 0; body < figure.bodies.length; body++) {
    const m = figure.masses[body];
    carryPoint(carried, 0, positions, 3 * body, quaternions, 4 * body, figure.centers, 3 * body);
    mass += m, x += m * carried[0], y += m * carried[1], z += m * carried[2];
  }
  const scale = mass > 0 ? 1 / mass : 0;
  out[0] = x * scale, out[1] = y * scale, out[2] = z * scale;
  return out;
}
