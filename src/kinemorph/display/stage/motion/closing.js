// Loops stay closed while a user moves sliders: the moved coordinate is fixed, and all other joints adapt.
//
// The constraint rows of a loop joint are those of model/joint.py (CLOSURE_ROWS). When one coordinate is moved, the
// others follow by Newton's method with steps of least norm, in increments so small that a mechanism does not jump to
// another closed configuration; where the loops cannot be closed, the motion stops.

import { carryPoint, multiplyQuaternions, rotateVector } from "./algebra.js";
import { carryBodies, followLeaders, GROUND } from "./posing.js";

const CLOSED = 1e-9;           // largest error of a closed loop [m or rad]
const DIFFERENCE = 1e-6;       // step of a coordinate for finite differences
const FARTHEST = 0.08;         // largest increment from one closed configuration to the next [rad or m]
const MOST_SHAPES = 80, MOST_TURNS = 25, LONGEST = 0.5;
const SIDES = {
  a: { p: new Float64Array(3), turn: new Float64Array(4) }, b: { p: new Float64Array(3), turn: new Float64Array(4) },
};
const gap = { d: new Float64Array(3), turn: new Float64Array(4), axis: new Float64Array(3), vector: new Float64Array(3) };

// constraint rows of a loop [m or rad], from the pose of its child side relative to its parent side: gap.d and gap.turn
const CONDITIONS = {
  point: (loop, out, o) => out.set(gap.d, o),
  line: (loop, out, o) => {
    const along = dot(gap.d, loop.axis);
    for (let k = 0; k < 3; k++) out[o + k] = gap.d[k] - along * loop.axis[k];
  },
  height: (loop, out, o) => { out[o] = dot(gap.d, loop.axis); },
  parallel: (loop, out, o) => {
    rotateVector(gap.axis, 0, gap.turn, 0, loop.axis, 0);
    const [x, y, z] = loop.axis, [u, v, w] = gap.axis;
    out[o] = y * w - z * v, out[o + 1] = z * u - x * w, out[o + 2] = x * v - y * u;
  },
  angle: (loop, out, o) => {
    rotateVector(gap.axis, 0, gap.turn, 0, loop.axis2, 0);
    out[o] = dot(gap.axis, loop.axis) - dot(loop.axis2, loop.axis);
  },
  orientation: (loop, out, o) => {
    for (let k = 0; k < 3; k++) out[o + k] = 2 * Math.sign(gap.turn[0] || 1) * gap.turn[k + 1];
  },
  pitch: (loop, out, o) => {
    for (let k = 0; k < 3; k++) gap.vector[k] = gap.turn[k + 1];
    out[o] = dot(gap.d, loop.axis) - loop.pitch * halfTurn(2 * Math.atan2(dot(gap.vector, loop.axis), gap.turn[0]));
  },
};
const CONDITION_ROWS = { point: 3, line: 3, height: 1, parallel: 3, angle: 1, orientation: 3, pitch: 1 };

/** The dot product of two vectors. */
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** An angle [rad] wrapped to the range from -pi to pi. */
const halfTurn = (angle) => angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));

/**
 * Moves q from the last closed configuration of a figure to a closed one, as near to the given q as possible.
 * Coordinates that differ from the last closed configuration stay fixed; where all of q is new (`anew`), none is fixed,
 * and q becomes the nearest closed configuration, if one is found.
 */
export function closeLoops(figure, q, anew = false) {
  const work = figure.closing, { kept, trial, pinned, target } = work;
  let moved = 0, far = 0;
  for (let k = 0; k < q.length; k++) {
    pinned[k] = anew || q[k] === kept[k] ? 0 : 1;
    if (!pinned[k] || work.led[k]) continue;
    moved++;
    far = Math.max(far, Math.abs(q[k] - kept[k]));
  }
  if (!moved && !anew) return;
  const shapes = anew ? 1 : Math.min(Math.ceil(far / FARTHEST), MOST_SHAPES);
  target.set(q);
  trial.set(anew ? q : kept);
  work.start.set(kept);
  for (let shape = 1; shape <= shapes; shape++) {
    for (let k = 0; k < q.length; k++) {
      if (pinned[k]) trial[k] = work.start[k] + (target[k] - work.start[k]) * shape / shapes;
    }
    if (!solveLoops(figure, work)) break;
    kept.set(trial);
  }
  q.set(kept);
}

/** The last closed configuration of a figure, and the arrays for the search of the next one. */
export function makeClosing(figure) {
  const nq = figure.q.length, m = figure.loops.reduce((sum, loop) =>
    sum + loop.conditions.reduce((rows, one) => rows + CONDITION_ROWS[one], 0), 0);
  const room = (n) => new Float64Array(n), led = new Uint8Array(nq);
  for (const joint of figure.tree) {
    if (joint.follows || joint.formulas) for (const step of joint.steps) led.fill(1, step.q, step.q + step.nq);
  }
  return {
    m, led, kept: figure.q.slice(), start: room(nq), target: room(nq), trial: room(nq), pinned: new Uint8Array(nq),
    open: room(m), beside: room(m), slopes: room(m * nq), matrix: room(m * m), y: room(m),
  };
}

/** Newton's method on work.trial, whose pinned coordinates stay fixed. Returns whether all loops are closed. */
function solveLoops(figure, work) {
  const { m, trial, open, beside, slopes, pinned, led } = work, nq = trial.length;
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    measureLoops(figure, trial, open);
    if (open.every((x) => Math.abs(x) < CLOSED)) return true;
    for (let k = 0; k < nq; k++) {
      if (pinned[k] || led[k]) {
        for (let i = 0; i < m; i++) slopes[i * nq + k] = 0;
        continue;
      }
      const here = trial[k];
      trial[k] = here + DIFFERENCE;
      measureLoops(figure, trial, beside);
      trial[k] = here;
      for (let i = 0; i < m; i++) slopes[i * nq + k] = (beside[i] - open[i]) / DIFFERENCE;
    }
    if (!stepLoops(work)) return false;
  }
  return false;
}

/** One step of least norm: trial -= J^T (J J^T)^-1 open, regularized for redundant rows. */
function stepLoops({ m, trial, open, slopes, matrix, y }) {
  const nq = trial.length;
  let trace = 0;
  for (let i = 0; i < m; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = 0;
      for (let k = 0; k < nq; k++) sum += slopes[i * nq + k] * slopes[j * nq + k];
      matrix[i * m + j] = matrix[j * m + i] = sum;
    }
    trace += matrix[i * m + i];
  }
  if (!(trace > 0)) return false;
  for (let i = 0; i < m; i++) matrix[i * m + i] += 1e-11 * trace;
  solveSymmetric(matrix, open, y, m);
  let longest = 0;
  const step = (k) => {
    let sum = 0;
    for (let i = 0; i < m; i++) sum += slopes[i * nq + k] * y[i];
    return sum;
  };
  for (let k = 0; k < nq; k++) longest = Math.max(longest, Math.abs(step(k)));
  if (!Number.isFinite(longest)) return false;
  const part = longest > LONGEST ? LONGEST / longest : 1;
  for (let k = 0; k < nq; k++) trial[k] -= part * step(k);
  return true;
}

/** Solves A x = b with A symmetric positive definite, n x n, by Cholesky's method; A is overwritten. */
function solveSymmetric(A, b, x, n) {
  for (let j = 0; j < n; j++) {
    for (let i = j; i < n; i++) {
      let sum = A[i * n + j];
      for (let k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = i === j ? Math.sqrt(Math.max(sum, 1e-300)) : sum / A[j * n + j];
    }
  }
  for (let i = 0; i < n; i++) {
    let sum = b[i];
    for (let k = 0; k < i; k++) sum -= A[i * n + k] * x[k];
    x[i] = sum / A[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = x[i];
    for (let k = i + 1; k < n; k++) sum -= A[k * n + i] * x[k];
    x[i] = sum / A[i * n + i];
  }
}

/** out = the constraint errors of all loops for the coordinates q; coupled joints are set in q first. */
function measureLoops(figure, q, out) {
  followLeaders(figure, q);
  carryBodies(figure, q, 0);
  let o = 0;
  for (const loop of figure.loops) {
    sideOfLoop(SIDES.a, figure, loop.parent, loop.placement);
    sideOfLoop(SIDES.b, figure, loop.child, loop.end);
    for (let k = 1; k < 4; k++) SIDES.a.turn[k] *= -1;
    for (let k = 0; k < 3; k++) gap.vector[k] = SIDES.b.p[k] - SIDES.a.p[k];
    rotateVector(gap.d, 0, SIDES.a.turn, 0, gap.vector, 0);
    multiplyQuaternions(gap.turn, 0, SIDES.a.turn, 0, SIDES.b.turn, 0);
    for (const condition of loop.conditions) {
      CONDITIONS[condition](loop, out, o);
      o += CONDITION_ROWS[condition];
    }
  }
}

/** The pose of a side of a loop joint in the world: a placement on its body, or on the ground. */
function sideOfLoop(out, figure, owner, placement) {
  const body = owner < 0 ? GROUND : figure.exact[owner];
  carryPoint(out.p, 0, body.p, 0, body.turn, 0, placement.p, 0);
  multiplyQuaternions(out.turn, 0, body.turn, 0, placement.turn, 0);
}
