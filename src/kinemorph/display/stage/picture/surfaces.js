// Surfaces: a mesh, or the image of one under an affine map (3 x 4, row-major). A mesh is stored once, however many
// surfaces are images of it.

import { IDENTITY_MAP } from "../motion/algebra.js";

/** A mesh: points (3n) [m], unit normals (3n), faces (3m) of corner indices, and the box around its points. */
export function makeMesh(points, normals, faces, key = null) {
  return { key, points, normals, faces, box: boundsOf(points) };
}

/** A mesh under an affine map; null stands for the map that changes nothing. */
export class Surface {
  constructor(mesh, map) {
    this.mesh = mesh;
    this.map = map;
    this.bounds = map ? null : mesh.box;
  }

  /** Corner points (3n) [m], normals (3n) and faces of the surface itself. */
  get points() { return this.map ? imageOf(this.mesh, this.map).points : this.mesh.points; }

  get normals() { return this.map ? imageOf(this.mesh, this.map).normals : this.mesh.normals; }

  get faces() { return this.mesh.faces; }

  /** Lowest and highest values of all corners, as six numbers. */
  get box() {
    this.bounds ??= boundsOf(this.points);
    return this.bounds;
  }

  /** The middle of the box around the mesh, mapped. */
  get middle() {
    const { box } = this.mesh, m = this.map ?? IDENTITY_MAP;
    const [x, y, z] = [0, 1, 2].map((k) => (box[0] <= box[3] ? 0.5 * (box[k] + box[k + 3]) : 0));
    return [0, 4, 8].map((row) => m[row] * x + m[row + 1] * y + m[row + 2] * z + m[row + 3]);
  }

  /** Half the second longest edge of the box around the mesh, mapped: the radius of a rod. */
  get thinness() {
    const { box } = this.mesh, m = this.map ?? IDENTITY_MAP;
    if (!(box[0] <= box[3])) return 1;
    const edges = [0, 1, 2].map((k) => (box[k + 3] - box[k]) * Math.hypot(m[k], m[k + 4], m[k + 8]));
    return 0.5 * edges.sort((a, b) => a - b)[1];
  }
}

/** Lowest and highest values of points (3k), as six numbers. */
export function boundsOf(points) {
  const box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i += 3) {
    for (let axis = 0; axis < 3; axis++) {
      const value = points[i + axis];
      if (value < box[axis]) box[axis] = value;
      if (value > box[axis + 3]) box[axis + 3] = value;
    }
  }
  return box;
}

/** Points and normals of a mesh under an affine map; normals go by the map's cofactors. */
function imageOf(base, [a, b, c, x, d, e, f, y, g, h, i, z]) {
  const points = new Float32Array(base.points.length), normals = new Float32Array(points.length);
  const cofactors = [e * i - f * h, f * g - d * i, d * h - e * g, c * h - b * i, a * i - c * g, b * g - a * h,
    b * f - c * e, c * d - a * f, a * e - b * d];
  const [A, B, C, D, E, F, G, H, I] = cofactors;
  for (let k = 0; k < points.length; k += 3) {
    const p = base.points[k], q = base.points[k + 1], r = base.points[k + 2];
    points[k] = a * p + b * q + c * r + x;
    points[k + 1] = d * p + e * q + f * r + y;
    points[k + 2] = g * p + h * q + i * r + z;
    const u = base.normals[k], v = base.normals[k + 1], w = base.normals[k + 2];
    const l = A * u + B * v + C * w, m = D * u + E * v + F * w, n = G * u + H * v + I * w;
    const size = Math.hypot(l, m, n) || 1;
    normals[k] = l / size, normals[k + 1] = m / size, normals[k + 2] = n / size;
  }
  return { points, normals };
}
