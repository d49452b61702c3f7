// From the text of packing.py to the scene that the page shows.
//
// scene = { title, times (n) [s], floor [m], loose, box, notes, events, layers, surfaces, looks, grounds, camera,
//   series,
//   figures: [{ name, offset, size, bodies, masses, centers, parts, marks, traces,
//     positions (n nb 3) [m], quaternions (n nb 4)   row k is time k; of a figure that is posed, one row
//     pose: {positions (3 nb), quaternions (4 nb)}   where the bodies now are, see posing.js
//     coordinates (n nq)                             row k is time k, angles without jumps by whole turns
//     q (nq), turns: [entries of q at which quaternions begin], tree: [joint, parents first],
//     joints: the tree of a figure that is posed by its joints, else null,
//     loops: [{parent, child, placement, end, axis, axis2, pitch, conditions}] }],   see closing.js
//   poses: [pose of each figure] }

import { rotationMatrix } from "./motion/algebra.js";
import { makeClosing } from "./motion/closing.js";
import { placeBodies } from "./motion/posing.js";
import { makeMesh, Surface } from "./picture/surfaces.js";

const DAMAGED = "The data of this scene are damaged; was the file cut off? Make it or fetch it again.";

/** The scene in a text of `pack`; a promise, because browsers inflate in the background. */
export async function unpack(text) {
  let bytes;
  try {
    bytes = bytesOf(text);
  } catch {
    throw new Error(DAMAGED);
  }
  return unpackBytes(bytes, new Map());
}

/**
 * The scene in the bytes of `packed_bytes`, an ArrayBuffer or a view of one; a promise. `known` holds the meshes of
 * surfaces by content key: those that were sent before are taken from it, new ones are added to it.
 */
export async function unpackBytes(packed, known) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to open the scene: it cannot inflate data (DecompressionStream). "
      + "Use a newer one: Chrome or Edge 80, Firefox 113, Safari 16.4 or later.");
  }
  let bytes;
  try {
    bytes = await inflate(packed);
  } catch {
    throw new Error(DAMAGED);
  }
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const planes = bytes.subarray(4 + length);
  scene.times = timesOf(scene.times, planes);
  scene.surfaces = surfacesOf(scene.surfaces, scene.maps, planes, known);
  forgetSurfaces(scene.forget, known);
  for (const figure of scene.figures) unpackFigure(figure, planes, scene.times.length);
  for (const series of scene.series) series.values = new Float32Array(integersOf(series.values, planes).buffer);
  scene.poses = scene.figures.map((figure) => figure.pose);
  return scene;
}

/** A scene without figures. */
export function emptyScene() {
  return {
    title: "", times: new Float64Array(1), floor: 0, loose: true, box: [[-0.5, -0.5, 0], [0.5, 0.5, 0.5]], notes: [],
    events: [], layers: [], surfaces: [], looks: {}, grounds: [],
    camera: { elevation: 20, azimuth: -60, follow: null, figure: 0 }, series: [], figures: [], poses: [],
  };
}

/** The bytes of a text in base 64. */
function bytesOf(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** Bytes inflated (zlib's format). A Blob would go through another process of the browser, which takes longer. */
async function inflate(bytes) {
  const { readable, writable } = new DecompressionStream("deflate"), writer = writable.getWriter();
  for (const done of [writer.write(bytes), writer.close()]) done.catch(() => {});   // the reader gets the error too
  return new Uint8Array(await new Response(readable).arrayBuffer());
}

/** Whole numbers of 32 bits, channel after channel; see codes.py for how they are kept. */
function integersOf([at, channels, n, planes, orders], bytes) {
  const count = channels * n, numbers = new Int32Array(count);
  for (let k = 0; k < count; k++) {
    let zigzag = 0;
    for (let plane = 0; plane < planes; plane++) zigzag |= bytes[at + plane * count + k] << (8 * plane);
    numbers[k] = (zigzag >>> 1) ^ -(zigzag & 1);
  }
  for (let channel = 0; channel < channels; channel++) {
    for (let order = +orders[channel]; order > 0; order--) {
      for (let k = channel * n + 1; k < (channel + 1) * n; k++) numbers[k] = (numbers[k] + numbers[k - 1]) | 0;
    }
  }
  return numbers;
}

/** Times [s] that are equally far apart, or any. */
function timesOf({ first, last, count, bits }, bytes) {
  if (bits) {
    const n = bits[2], halves = integersOf(bits, bytes), times = new Float64Array(n);
    const both = new Int32Array(times.buffer);
    for (let k = 0; k < n; k++) both[2 * k] = halves[k], both[2 * k + 1] = halves[n + k];
    return times;
  }
  const step = count > 1 ? (k) => first + (k * (last - first)) / (count - 1) : () => first;
  return Float64Array.from({ length: count }, (_, k) => step(k));
}

// ── surfaces ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** All surfaces: meshes with codes of their own, meshes that were sent before, and images of others. */
function surfacesOf(rows, packed, bytes, known) {
  const surfaces = [], maps = new Float32Array(integersOf(packed, bytes).buffer), n = packed[2];
  for (const row of rows) {
    if ("of" in row) {
      const map = Array.from({ length: 12 }, (_, k) => maps[k * n + row.map]);
      surfaces.push(imageSurface(surfaces[row.of], map));
    }
    else surfaces.push(new Surface(meshOf(row, bytes, known), null));
  }
  return surfaces;
}

/** The image of a surface, which may itself be an image, under an affine map. */
function imageSurface({ mesh, map: m }, n) {
  if (!m) return new Surface(mesh, n);
  const map = [0, 4, 8].flatMap((row) => [0, 1, 2, 3].map((k) =>
    n[row] * m[k] + n[row + 1] * m[k + 4] + n[row + 2] * m[k + 8] + (k === 3 ? n[row + 3] : 0)));
  return new Surface(mesh, map);
}

/** Forgets meshes by their keys; the last ones stay for scenes that were sent before and are still being unpacked. */
function forgetSurfaces(keys, known) {
  if (!keys?.length) return;
  known.retired = new Map(keys.map((key) => [key, known.get(key)]));
  for (const key of keys) known.delete(key);
}

/** A mesh that is known by its key, or out of its codes; then it is known. */
function meshOf(row, bytes, known) {
  const found = row.key ? known.get(row.key) ?? known.retired?.get(row.key) : null;
  if (found) return found;
  if (!row.points) throw new Error(`The surface '${row.key}' was not sent. Reload the page.`);
  const mesh = codedMesh(row, bytes);
  if (row.key) known.set(row.key, mesh);
  return mesh;
}

/** A mesh out of its codes. */
function codedMesh(row, bytes) {
  const corners = integersOf(row.points, bytes), n = row.points[2];
  const points = new Float32Array(3 * n);
  for (let k = 0; k < n; k++) {
    for (let axis = 0; axis < 3; axis++) points[3 * k + axis] = row.low[axis] + row.step[axis] * corners[axis * n + k];
  }
  const ends = integersOf(row.faces, bytes), m = row.faces[2];
  const faces = n > 65536 ? new Uint32Array(3 * m) : new Uint16Array(3 * m);
  for (let k = 0; k < m; k++) {
    faces[3 * k] = ends[k];
    faces[3 * k + 1] = ends[k] + ends[m + k];
    faces[3 * k + 2] = ends[k] + ends[2 * m + k];
  }
  return makeMesh(points, normalsOf(integersOf(row.normals, bytes), n), faces, row.key ?? null);
}

/** Unit normals (3n) out of points of an octahedron that is folded open, 511 steps along an edge. */
function normalsOf(folded, n) {
  const normals = new Float32Array(3 * n);
  for (let k = 0; k < n; k++) {
    let x = folded[k] / 511, y = folded[n + k] / 511;
    const z = 1 - Math.abs(x) - Math.abs(y);
    if (z < 0) {
      const across = x;
      x = (1 - Math.abs(y)) * (x < 0 ? -1 : 1);
      y = (1 - Math.abs(across)) * (y < 0 ? -1 : 1);
    }
    const size = Math.hypot(x, y, z);
    normals[3 * k] = x / size, normals[3 * k + 1] = y / size, normals[3 * k + 2] = z / size;
  }
  return normals;
}

// ── figures ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Makes arrays of what is packed in a figure, and the poses of all its bodies at all n times. */
function unpackFigure(figure, bytes, n) {
  const count = figure.bodies.length;
  figure.masses = Float32Array.from(figure.masses);
  figure.centers = Float32Array.from(figure.centers);
  figure.q = Float64Array.from(figure.q);
  figure.tree = figure.joints;
  figure.joints = figure.poseable ? figure.tree : null;
  figure.closing = makeClosing(figure);
  figure.exact = figure.bodies.map(() => ({ p: new Float64Array(3), turn: new Float64Array(4) }));
  figure.pose = { positions: new Float32Array(3 * count), quaternions: new Float32Array(4 * count) };
  for (const joint of figure.tree) {
    for (const pose of [joint.placement, joint.back]) pose.R = rotationMatrix(pose.turn);
  }
  for (const mark of figure.marks) {
    for (const key of ["vectors", "shifts"]) {
      const ways = mark[key];
      if (ways) mark[key] = rowsOf(ways.codes, () => ways.quantum, bytes, Float32Array);
    }
  }
  figure.positions = new Float32Array(3 * count * n);
  figure.quaternions = new Float32Array(4 * count * n);
  const steps = figure.tree.flatMap((joint) => joint.steps), nq = figure.q.length, packed = figure.coordinates;
  figure.turns = steps.flatMap(({ kind, q }) => (kind === "free" ? [q + 3] : kind === "spherical" ? [q] : []));
  figure.coordinates = packed ? rowsOf(packed.codes, (entry) => packed.quanta[entry], bytes, Float64Array)
    : figure.q.slice();
  for (const { kind, q } of packed ? steps : []) {
    if (kind === "revolute") unwind(figure.coordinates, q, nq, packed.quanta[q]);
    if (kind === "planar") unwind(figure.coordinates, q + 2, nq, packed.quanta[q + 2]);
  }
  for (let row = 0; row < n; row++) {
    placeBodies(figure, figure.coordinates, packed ? row * nq : 0, figure.positions, figure.quaternions, row);
  }
  figure.pose.positions.set(figure.positions.subarray(0, 3 * count));
  figure.pose.quaternions.set(figure.quaternions.subarray(0, 4 * count));
}

/** Takes the jumps out of an angle, entry `at` of rows of nq numbers, where its whole number has passed 32 bits. */
function unwind(rows, at, nq, quantum) {
  const round = 2 ** 32 * quantum;
  for (let k = at + nq; k < rows.length; k += nq) rows[k] -= round * Math.round((rows[k] - rows[k - nq]) / round);
}

/** Numbers time by time, where they are packed entry by entry, each entry times its quantum. */
function rowsOf(codes, quantum, bytes, Kind) {
  const [, entries, n] = codes, numbers = integersOf(codes, bytes), rows = new Kind(entries * n);
  for (let entry = 0; entry < entries; entry++) {
    const unit = quantum(entry);
    for (let k = 0; k < n; k++) rows[k * entries + entry] = unit * numbers[entry * n + k];
  }
  return rows;
}
