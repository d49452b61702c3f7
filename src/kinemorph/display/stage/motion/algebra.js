// Vectors, unit quaternions (w, x, y, z) and 4x4 matrices (column-major). Every function writes its result into an
// array that the caller passes, at an index, and allocates nothing.

/** out[o..] = a[i..] times b[j..], quaternions; out may be a or b. */
export function multiplyQuaternions(out, o, a, i, b, j) {
  const w = a[i], x = a[i + 1], y = a[i + 2], z = a[i + 3];
  const s = b[j], t = b[j + 1], u = b[j + 2], v = b[j + 3];
  out[o] = w * s - x * t - y * u - z * v;
  out[o + 1] = w * t + x * s + y * v - z * u;
  out[o + 2] = w * u - x * v + y * s + z * t;
  out[o + 3] = w * v + x * u - y * t + z * s;
}

/** out[o..] = the vector v[j..] rotated by the unit quaternion q[i..]; out may be v. */
export function rotateVector(out, o, q, i, v, j) {
  const w = q[i], x = q[i + 1], y = q[i + 2], z = q[i + 3];
  const a = v[j], b = v[j + 1], c = v[j + 2];
  const d = 2 * (y * c - z * b), e = 2 * (z * a - x * c), f = 2 * (x * b - y * a);
  out[o] = a + w * d + y * f - z * e;
  out[o + 1] = b + w * e + z * d - x * f;
  out[o + 2] = c + w * f + x * e - y * d;
}

/** out[o..] = the point v[j..] of a body at position p[k..] and orientation q[i..], in the world; out may be p or v. */
export function carryPoint(out, o, p, k, q, i, v, j) {
  const x = p[k], y = p[k + 1], z = p[k + 2];
  rotateVector(out, o, q, i, v, j);
  out[o] += x;
  out[o + 1] += y;
  out[o + 2] += z;
}

/** Normalizes the quaternion q[i..] in place; one of length 0 becomes the identity. */
export function normalizeQuaternion(q, i) {
  const size = Math.hypot(q[i], q[i + 1], q[i + 2], q[i + 3]);
  if (size > 0) {
    for (let k = i; k < i + 4; k++) q[k] /= size;
  } else {
    q[i] = 1;
    q[i + 1] = q[i + 2] = q[i + 3] = 0;
  }
}

/** out[o..] = the quaternion of a rotation by an angle [rad] about a unit axis. */
export function axisQuaternion(out, o, axis, angle) {
  const s = Math.sin(0.5 * angle);
  out[o] = Math.cos(0.5 * angle);
  out[o + 1] = s * axis[0];
  out[o + 2] = s * axis[1];
  out[o + 3] = s * axis[2];
}

/** out[o..] = the quaternion between a[i..] and b[j..] along the shorter arc: linear interpolation, normalized. */
export function blendQuaternions(out, o, a, i, b, j, part) {
  const near = a[i] * b[j] + a[i + 1] * b[j + 1] + a[i + 2] * b[j + 2] + a[i + 3] * b[j + 3];
  const before = 1 - part, after = near < 0 ? -part : part;
  for (let k = 0; k < 4; k++) out[o + k] = before * a[i + k] + after * b[j + k];
  normalizeQuaternion(out, o);
}

/** out[o..] = the quaternion of yaw about z, then pitch about the new y, then roll about the new x [rad]. */
export function turnFromAngles(out, o, roll, pitch, yaw) {
  const cr = Math.cos(0.5 * roll), sr = Math.sin(0.5 * roll);
  const cp = Math.cos(0.5 * pitch), sp = Math.sin(0.5 * pitch);
  const cy = Math.cos(0.5 * yaw), sy = Math.sin(0.5 * yaw);
  out[o] = cr * cp * cy + sr * sp * sy;
  out[o + 1] = sr * cp * cy - cr * sp * sy;
  out[o + 2] = cr * sp * cy + sr * cp * sy;
  out[o + 3] = cr * cp * sy - sr * sp * cy;
}

/** out[0..2] = roll, pitch, yaw [rad] of the quaternion q[i..], which need not have length 1. */
export function anglesFromTurn(out, q, i) {
  const w = q[i], x = q[i + 1], y = q[i + 2], z = q[i + 3];
  const size = w * w + x * x + y * y + z * z || 1;
  const rise = Math.max(-1, Math.min(1, 2 * (w * y - z * x) / size));
  out[0] = Math.atan2(2 * (w * x + y * z), w * w - x * x - y * y + z * z);
  out[1] = Math.asin(rise);
  out[2] = Math.atan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z);
  return out;
}

/** The 9 entries of the rotation matrix of a unit quaternion, row-major. */
export function rotationMatrix(q) {
  const [w, x, y, z] = q;
  return [
    1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
    2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
    2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
  ];
}

// ── maps and matrices ────────────────────────────────────────────────────────────────────────────────────────────────

/** out[o..] = the matrix of a body at position p[k..] and orientation q[i..], moved by an offset. */
export function poseMatrix(out, o, p, k, q, i, offset) {
  const w = q[i], x = q[i + 1], y = q[i + 2], z = q[i + 3];
  out[o] = 1 - 2 * (y * y + z * z);
  out[o + 1] = 2 * (x * y + w * z);
  out[o + 2] = 2 * (x * z - w * y);
  out[o + 3] = 0;
  out[o + 4] = 2 * (x * y - w * z);
  out[o + 5] = 1 - 2 * (x * x + z * z);
  out[o + 6] = 2 * (y * z + w * x);
  out[o + 7] = 0;
  out[o + 8] = 2 * (x * z + w * y);
  out[o + 9] = 2 * (y * z - w * x);
  out[o + 10] = 1 - 2 * (x * x + y * y);
  out[o + 11] = 0;
  out[o + 12] = p[k] + offset[0];
  out[o + 13] = p[k + 1] + offset[1];
  out[o + 14] = p[k + 2] + offset[2];
  out[o + 15] = 1;
}

/** The affine map (3 x 4, row-major) that changes nothing. */
export const IDENTITY_MAP = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0];

/** The affine map (3 x 4, row-major) that first maps, then moves by a pose and an offset; null maps nothing. */
export function composeMaps(p, q, offset, map) {
  const R = rotationMatrix(q), m = map ?? IDENTITY_MAP, out = [];
  for (let row = 0; row < 3; row++) {
    const [a, b, c] = R.slice(3 * row, 3 * row + 3);
    for (let k = 0; k < 4; k++) out.push(a * m[k] + b * m[k + 4] + c * m[k + 8]);
    out[4 * row + 3] += p[row] + offset[row];
  }
  return out;
}

/** out = a b; out may not be a or b. */
export function multiplyMatrices(out, a, b) {
  for (let column = 0; column < 16; column += 4) {
    for (let row = 0; row < 4; row++) {
      out[column + row] = a[row] * b[column] + a[row + 4] * b[column + 1]
        + a[row + 8] * b[column + 2] + a[row + 12] * b[column + 3];
    }
  }
  return out;
}

/** out = the view matrix of a camera at `eye` that looks at a point, with `up` upward in the picture. */
export function lookAtMatrix(out, eye, point, up) {
  let fx = eye[0] - point[0], fy = eye[1] - point[1], fz = eye[2] - point[2];
  const far = Math.hypot(fx, fy, fz) || 1;
  fx /= far, fy /= far, fz /= far;
  let rx = up[1] * fz - up[2] * fy, ry = up[2] * fx - up[0] * fz, rz = up[0] * fy - up[1] * fx;
  const wide = Math.hypot(rx, ry, rz) || 1;
  rx /= wide, ry /= wide, rz /= wide;
  const ux = fy * rz - fz * ry, uy = fz * rx - fx * rz, uz = fx * ry - fy * rx;
  out[0] = rx, out[4] = ry, out[8] = rz, out[12] = -(rx * eye[0] + ry * eye[1] + rz * eye[2]);
  out[1] = ux, out[5] = uy, out[9] = uz, out[13] = -(ux * eye[0] + uy * eye[1] + uz * eye[2]);
  out[2] = fx, out[6] = fy, out[10] = fz, out[14] = -(fx * eye[0] + fy * eye[1] + fz * eye[2]);
  out[3] = out[7] = out[11] = 0, out[15] = 1;
  return out;
}

/** out = the perspective projection with a vertical field of view [rad], an aspect ratio, and near and far planes. */
export function perspectiveMatrix(out, opening, aspect, near, far) {
  const scale = 1 / Math.tan(0.5 * opening);
  out.fill(0);
  out[0] = scale / aspect;
  out[5] = scale;
  out[10] = (far + near) / (near - far);
  out[11] = -1;
  out[14] = 2 * far * near / (near - far);
  return out;
}
