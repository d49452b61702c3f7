// Picking: what is under the pointer. The piece comes from a picture of one pixel that holds numbers of pieces; the
// point on it from a ray that is cast against its triangles.

import { IDENTITY_MAP } from "../motion/algebra.js";
import { FIELD } from "./camera.js";
import { drawGroup, drawSolids, pixelSize } from "./render.js";

export const FIRST_PORT = 0x800000;   // numbers of pieces from here on are ports

/** The piece at a place of the picture, given from -1 to 1 in x and y, or null. */
export function pickPiece(renderer, camera, x, y) {
  const { gl, canvas, programs: { pick }, target, pickMatrix: m, sets, layers } = renderer;
  const c = camera.matrix;
  for (let i = 0; i < 16; i += 4) {
    m[i] = canvas.width * (c[i] - x * c[i + 3]);
    m[i + 1] = canvas.height * (c[i + 1] - y * c[i + 3]);
    m[i + 2] = c[i + 2];
    m[i + 3] = c[i + 3];
  }
  gl.bindFramebuffer(gl.FRAMEBUFFER, target.frame);
  gl.viewport(0, 0, 1, 1);
  gl.clearColor(0, 0, 0, 0);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.useProgram(pick.program);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, renderer.slotTexture);
  gl.uniform1i(pick.slots, 0);
  gl.uniformMatrix4fv(pick.view, false, m);
  gl.uniform1f(pick.pixel, pixelSize(renderer, 3 * renderer.ratio));
  drawSolids(renderer, sets.scene);
  for (const group of sets.ports.groups) drawGroup(renderer, group, sets.ports);
  for (const group of renderer.clear) if (layers[group.layer]) drawGroup(renderer, group, sets.scene);
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, target.pixel);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  const id = target.pixel[0] + 256 * target.pixel[1] + 65536 * target.pixel[2];
  if (target.pixel[3] !== 255 || id === 0) return null;
  return id >= FIRST_PORT ? sets.ports.pieces[id - FIRST_PORT - 1] : sets.scene.pieces[id - 1];
}

/** The ray through a place of the picture, from -1 to 1 in x and y: its way per 1 m of depth, from the camera's eye. */
export function viewRay({ eye, right, up, target, aspect }, x, y) {
  const tall = Math.tan(FIELD * Math.PI / 360);
  const forth = [0, 1, 2].map((k) => target[k] - eye[k]), far = Math.hypot(...forth) || 1;
  return forth.map((value, k) => value / far + x * tall * aspect * right[k] + y * tall * up[k]);
}

/**
 * The point [m] at which the ray through a place of the picture first meets a piece; where it meets none of its
 * triangles, because thin pieces are picked from nearby, the point of the ray that is nearest to the piece's middle.
 */
export function pointOn(piece, slots, camera, x, y) {
  const { eye } = camera, way = viewRay(camera, x, y);
  const M = worldMap(piece, slots), { points, faces } = piece.surface.mesh;
  const at = (i) => [0, 4, 8].map((row) =>
    M[row] * points[3 * i] + M[row + 1] * points[3 * i + 1] + M[row + 2] * points[3 * i + 2] + M[row + 3]);
  let nearest = Infinity;
  for (let f = 0; f < faces.length; f += 3) {
    const distance = meetTriangle(eye, way, at(faces[f]), at(faces[f + 1]), at(faces[f + 2]));
    if (distance < nearest) nearest = distance;
  }
  if (nearest === Infinity) {
    const { middle } = piece.surface, S = 16 * piece.slot, { values } = slots;
    const there = [0, 1, 2].map((k) =>
      values[S + k] * middle[0] + values[S + 4 + k] * middle[1] + values[S + 8 + k] * middle[2] + values[S + 12 + k]);
    const along = there.reduce((sum, value, k) => sum + (value - eye[k]) * way[k], 0);
    nearest = along / way.reduce((sum, value) => sum + value * value, 0);
  }
  return way.map((value, k) => eye[k] + nearest * value);
}

/** The affine map (3 x 4) from the mesh of a piece to the world. */
function worldMap({ surface, slot }, { values }) {
  const m = surface.map ?? IDENTITY_MAP, S = 16 * slot, out = [];
  for (let row = 0; row < 3; row++) {
    const [a, b, c] = [values[S + row], values[S + 4 + row], values[S + 8 + row]];
    for (let k = 0; k < 4; k++) out.push(a * m[k] + b * m[k + 4] + c * m[k + 8]);
    out[4 * row + 3] += values[S + 12 + row];
  }
  return out;
}

/** How far along a ray it meets a triangle, in lengths of `way`; else infinite. After Moeller and Trumbore (1997). */
function meetTriangle(eye, way, a, b, c) {
  const e = [b[0] - a[0], b[1] - a[1], b[2] - a[2]], f = [c[0] - a[0], c[1] - a[1], c[2] - a[2]];
  const p = crossProduct(way, f), volume = e[0] * p[0] + e[1] * p[1] + e[2] * p[2];
  if (volume === 0) return Infinity;
  const s = [eye[0] - a[0], eye[1] - a[1], eye[2] - a[2]], u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / volume;
  if (u < 0 || u > 1) return Infinity;
  const q = crossProduct(s, e), v = (way[0] * q[0] + way[1] * q[1] + way[2] * q[2]) / volume;
  if (v < 0 || u + v > 1) return Infinity;
  const distance = (f[0] * q[0] + f[1] * q[1] + f[2] * q[2]) / volume;
  return distance > 0 ? distance : Infinity;
}

/** The cross product of two vectors. */
function crossProduct(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
