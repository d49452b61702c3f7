// The camera orbits a target, with z up. Azimuth a and elevation e are in degrees: the camera is at
// (cos e cos a, cos e sin a, sin e) times its distance from the target.

import { lookAtMatrix, multiplyMatrices, perspectiveMatrix } from "../motion/algebra.js";

export const FIELD = 30;            // of view, upright [deg]
export const VIEWS = {
  front: [0, 0], back: [0, 180], left: [0, 90], right: [0, -90], top: [90, -90], iso: [35.264, -45],
};
const TURN_TIME = 320;       // of a change of view [ms]

/** A camera that sees the whole box of a scene. */
export function makeCamera(scene) {
  const { elevation, azimuth } = scene.camera;
  return {
    elevation, azimuth, distance: 0, target: [0, 0, 0],
    home: { elevation, azimuth },
    eye: new Float32Array(3), right: new Float32Array(3), up: new Float32Array(3),
    matrix: new Float32Array(16), look: new Float32Array(16), lens: new Float32Array(16), aspect: 1,
    radius: boxRadius(scene.box), subject: () => scene.box,
    following: scene.camera.follow !== null, steered: false, anchor: new Float32Array(3), move: null,
  };
}

/** A camera that looks as one before, at a new scene: the view of the user stays. */
export function keepView(before, camera) {
  const { elevation, azimuth, distance, target, anchor, aspect, steered, following, move } = before;
  return Object.assign(camera, { elevation, azimuth, distance, target, anchor, aspect, steered, following, move });
}

/** Half the diagonal of a box [m]. */
export function boxRadius(box) {
  return Math.max(0.5 * Math.hypot(box[1][0] - box[0][0], box[1][1] - box[0][1], box[1][2] - box[0][2]), 1e-6);
}

/** The axes of a camera at angles [deg]: right, up and toward the camera, as three arrays. */
function cameraAxes(elevation, azimuth) {
  const e = elevation * Math.PI / 180, a = azimuth * Math.PI / 180;
  const [ce, se, ca, sa] = [Math.cos(e), Math.sin(e), Math.cos(a), Math.sin(a)];
  return [[-sa, ca, 0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]];
}

/** The target and distance at which a box fills the picture, with a margin. */
function fitBox(box, elevation, azimuth, aspect, margin = 1.12) {
  const axes = cameraAxes(elevation, azimuth);
  const middle = [0, 1, 2].map((i) => 0.5 * (box[0][i] + box[1][i]));
  const tall = Math.tan(FIELD * Math.PI / 360), wide = tall * aspect;
  const corners = [];
  for (let n = 0; n < 8; n++) {
    const p = [0, 1, 2].map((i) => box[(n >> i) & 1][i] - middle[i]);
    corners.push(axes.map((axis) => axis[0] * p[0] + axis[1] * p[1] + axis[2] * p[2]));
  }
  // nearer corners look larger: the target is moved until the margins are equal on all sides
  let shift = [0, 0], distance = 0;
  for (let round = 0; round < 8; round++) {
    distance = Math.max(...corners.map(([x, y, z]) =>
      z + margin * Math.max(Math.abs(x - shift[0]) / wide, Math.abs(y - shift[1]) / tall)));
    distance = Math.max(distance, 1.05 * Math.max(...corners.map((c) => c[2])), 1e-5);
    for (const i of [0, 1]) {
      const seen = corners.map((c) => (c[i] - shift[i]) / Math.max(distance - c[2], 1e-6));
      shift[i] += 0.5 * (Math.max(...seen) + Math.min(...seen)) * distance * 0.8;
    }
  }
  const target = middle.map((value, i) => value + axes[0][i] * shift[0] + axes[1][i] * shift[1]);
  return { target, distance };
}

/**
 * Places a camera so that it sees the whole scene, or the body that it follows: in one of VIEWS, in the initial view
 * (null) or in the current direction (undefined). With a time [ms] it moves there gradually, else at once.
 */
export function lookFrom(camera, view, at = null) {
  const from = view ? VIEWS[view] : view === null ? [camera.home.elevation, camera.home.azimuth] : [];
  const [elevation, azimuth] = from.length ? from : [camera.elevation, camera.azimuth];
  const fit = fitBox(camera.subject(), elevation, azimuth, camera.aspect);
  const goal = { elevation, azimuth: nearestTurn(azimuth, camera.azimuth), ...fit };
  if (at === null) {
    Object.assign(camera, goal, { move: null });
    return;
  }
  const { elevation: e, azimuth: a, distance, target } = camera;
  camera.move = { from: { elevation: e, azimuth: a, distance, target: [...target] }, goal, start: at };
}

/** An angle [deg] shifted by full turns so that it is as near as possible to another. */
function nearestTurn(angle, to) {
  return angle + 360 * Math.round((to - angle) / 360);
}

/** One step of a gradual change of view; true while it continues. */
export function moveCamera(camera, at) {
  if (!camera.move) return false;
  const { from, goal, start } = camera.move;
  const x = Math.min((at - start) / TURN_TIME, 1), s = x * x * (3 - 2 * x);
  for (const key of ["elevation", "azimuth", "distance"]) camera[key] = from[key] + s * (goal[key] - from[key]);
  for (let i = 0; i < 3; i++) camera.target[i] = from.target[i] + s * (goal.target[i] - from.target[i]);
  if (x >= 1) camera.move = null;
  return true;
}

/** Rotates a camera by the pixels of a drag. */
export function orbit(camera, dx, dy) {
  camera.move = null;
  camera.steered = true;
  camera.azimuth -= 0.35 * dx;
  camera.elevation = Math.min(Math.max(camera.elevation + 0.3 * dy, -90), 90);
}

/** Moves the target by the pixels of a drag, so that the point under the pointer follows the pointer. */
export function pan(camera, dx, dy, height) {
  camera.move = null;
  camera.steered = true;
  const [right, up] = cameraAxes(camera.elevation, camera.azimuth);
  const scale = 2 * camera.distance * Math.tan(FIELD * Math.PI / 360) / height;
  for (let i = 0; i < 3; i++) camera.target[i] += scale * (up[i] * dy - right[i] * dx);
}

/** Moves a camera nearer (factor below 1) or farther. */
export function zoom(camera, factor) {
  camera.move = null;
  camera.steered = true;
  camera.distance = Math.min(Math.max(camera.distance * factor, 0.02 * camera.radius), 60 * camera.radius);
}

/** Moves a camera with a moving point, so that the point stays where it is in the picture. */
export function followPoint(camera, x, y, z) {
  const anchor = camera.anchor;
  if (camera.following) {
    const dx = x - anchor[0], dy = y - anchor[1], dz = z - anchor[2];
    camera.target[0] += dx; camera.target[1] += dy; camera.target[2] += dz;
    if (camera.move) {
      const goal = camera.move.goal.target, from = camera.move.from.target;
      goal[0] += dx; goal[1] += dy; goal[2] += dz;
      from[0] += dx; from[1] += dy; from[2] += dz;
    }
  }
  anchor[0] = x; anchor[1] = y; anchor[2] = z;
}

/** Computes the matrix from the world to the picture, and the camera's position and axes. */
export function updateCamera(camera) {
  const e = camera.elevation * Math.PI / 180, a = camera.azimuth * Math.PI / 180;
  const ce = Math.cos(e), se = Math.sin(e), ca = Math.cos(a), sa = Math.sin(a), d = camera.distance, t = camera.target;
  const { eye, right, up, matrix, look, lens } = camera;
  right[0] = -sa; right[1] = ca; right[2] = 0;
  up[0] = -se * ca; up[1] = -se * sa; up[2] = ce;
  eye[0] = t[0] + d * ce * ca; eye[1] = t[1] + d * ce * sa; eye[2] = t[2] + d * se;
  const near = Math.max(d - 4 * camera.radius, 0.02 * d), far = d + 14 * camera.radius;
  perspectiveMatrix(lens, FIELD * Math.PI / 180, camera.aspect, near, far);
  multiplyMatrices(matrix, lens, lookAtMatrix(look, eye, t, up));
}

/** out = x and y in the picture, from -1 to 1, of a point; null behind the camera. */
export function projectPoint(camera, point, out) {
  const m = camera.matrix, [x, y, z] = point, w = m[3] * x + m[7] * y + m[11] * z + m[15];
  if (w <= 0) return null;
  out[0] = (m[0] * x + m[4] * y + m[8] * z + m[12]) / w;
  out[1] = (m[1] * x + m[5] * y + m[9] * z + m[13]) / w;
  return out;
}
