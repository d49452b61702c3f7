// From the text of packing.py to the scene that the page shows.
//
// scene = { title, times (n) [s], floor [m], loose, box, notes, events, layers, surfaces, looks, grounds, camera, series,
//   figures: [{ name, offset, size, bodies, masses, centers, parts, marks, traces,
//     positions (n nb 3) [m], quaternions (n nb 4)   row k is time k; of a figure that is posed, one row
//     pose: {positions (3 nb), quaternions (4 nb)}   where the bodies now are, see posing.js
//     coordinates (n nq)                             row k is time k, angles without jumps by whole turns
//     q (nq), turns: [entries of q at which quaternions begin], tree: [joint, parents first], joints: the tree of a figure that is posed by its joints, else null,
//     loops: [{parent, child, placement, end, axis, axis2, pitch, conditions}] }],   see closing.js
//   poses: [pose of each figure] }

/** The scene in a text; a promise, because browsers inflate in the background. */
async function unpack(text) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("This browser is too old to open the replay: it cannot inflate data (DecompressionStream). "
      + "Use a newer one: Chrome or Edge 80, Firefox 113, Safari 16.4 or later.");
  }
  let bytes;
  try {
    bytes = await inflate(bytesOf(text));
  } catch {
    throw new Error("The data of this replay are damaged; was the file cut off? Make it or fetch it again.");
  }
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const planes = bytes.subarray(4 + length);
  scene.times = timesOf(scene.times, planes);
  scene.surfaces = surfacesOf(scene.surfaces, planes);
  for (const figure of scene.figures) unpackFigure(figure, planes, scene.times.length);
  for (const series of scene.series) series.values = new Float32Array(integersOf(series.values, planes).buffer);
  scene.poses = scene.figures.map((figure) => figure.pose);
  return scene;
}

/** The bytes of a text in base 64. */
function bytesOf(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k++) bytes[k] = letters.charCodeAt(k);
  return bytes;
}

/** Bytes inflated (zlib's format). */
async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
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
    const n = bits[2], halves = integersOf(bits, bytes), times = new Float64Array(n), both = new Int32Array(times.buffer);
    for (let k = 0; k < n; k++) both[2 * k] = halves[k], both[2 * k + 1] = halves[n + k];
    return times;
  }
  return Float64Array.from({ length: count }, (_, k) => (count > 1 ? first + (k * (last - first)) / (count - 1) : first));
}

// ── surfaces ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** All surfaces {points, normals, faces}: those with codes of their own, then the images of others. */
function surfacesOf(rows, bytes) {
  const surfaces = [];
  for (const row of rows) surfaces.push(row.map ? imageOf(surfaces[row.of], row.map) : codedSurface(row, bytes));
  return surfaces;
}

/** A surface out of its codes. */
function codedSurface(row, bytes) {
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
  return { points, normals: normalsOf(integersOf(row.normals, bytes), n), faces };
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

/** A surface under an affine map (3 x 4, row-major); normals go by the map's cofactors. */
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
  return { points, normals, faces: base.faces };
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
