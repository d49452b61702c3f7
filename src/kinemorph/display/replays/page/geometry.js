// All parts of a scene in one buffer. Each piece (a part, a mark, a ball at the center of mass) has a slot, whose
// matrix moves it: slot 0 is the world, then come for each figure its ground, its bodies, its marks, its center of mass
// and the parts that are shown at some times only.

const CORNER_BYTES = 28;     // point 3 x 4, normal 4 x 2, color 4 x 1, slot and piece 2 x 2
const TOTAL_COLOR = [0.95, 0.77, 0.06, 1];

/** The pieces of a scene, the buffers that contain them, and the first slots of each figure. */
function gatherPieces(scene) {
  const pieces = [], places = [];
  let slot = 1;
  for (const part of scene.grounds) pieces.push(pieceOf(part.name, 0, scene.surfaces[part.surface], part, null));
  scene.figures.forEach((figure, number) => {
    const place = { ground: slot, bodies: slot + 1, marks: slot + 1 + figure.bodies.length, center: 0, line: 0 };
    place.center = place.marks + figure.marks.length;
    place.line = place.center + 1;
    slot = place.line + 1;
    place.passing = passingSlots(figure, place.bodies, slot);
    slot += place.passing.size;
    places.push(place);
    for (const part of figure.parts) {
      const own = place.passing.get(passingKey(part))?.slot ?? place.bodies + part.owner;
      pieces.push(pieceOf(part.name, own, scene.surfaces[part.surface], part, number));
    }
    figure.marks.forEach((mark, i) => {
      pieces.push(pieceOf(mark.name, place.marks + i, scene.surfaces[scene.looks[mark.look]], mark, number));
    });
    const total = { color: TOTAL_COLOR, layer: "centers", width: TOTAL_LINE * figure.size };
    pieces.push(pieceOf(`${figure.name} center of mass`, place.center, ballSurface(14, 20), total, number));
    pieces.push(pieceOf(`${figure.name} center of mass`, place.line, rodSurface(12), total, number));
  });
  const layers = scene.layers.map((layer) => layer.key);
  const rank = (piece) => (piece.clear ? 1000 : 0) + layers.indexOf(piece.layer);
  const order = pieces.filter((piece) => piece.surface.faces.length > 0).sort((a, b) => rank(a) - rank(b));
  order.forEach((piece, i) => { piece.id = i + 1; });
  return { pieces: order, places, slots: slot, ...fillBuffers(order), ranges: solidRanges(order) };
}

/** A key for parts that are shown at some times only, equal for parts of one body that are shown at the same times. */
const passingKey = (part) => (part.shown ? `${part.owner} ${part.shown}` : "");

/** Slots for such parts of a figure, one for each key; `carrier` is the slot of their body. */
function passingSlots(figure, bodies, first) {
  const slots = new Map();
  for (const part of figure.parts) {
    const key = passingKey(part);
    if (part.shown && !slots.has(key)) {
      slots.set(key, { slot: first + slots.size, carrier: bodies + part.owner, shown: part.shown });
    }
  }
  return slots;
}

/** One piece, not yet in a buffer. */
function pieceOf(name, slot, surface, look, figure) {
  return {
    name, slot, surface, figure, layer: look.layer, color: look.color, clear: look.color[3] < 1,
    start: 0, count: 0, middle: boxMiddle(surface.points), thin: look.width ?? thinness(surface.points), id: 0,
  };
}

/** Lowest and highest values of points (3k), as six numbers. */
function boundsOf(points) {
  const box = [Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity];
  for (let i = 0; i < points.length; i++) {
    const axis = i % 3, value = points[i];
    if (value < box[axis]) box[axis] = value;
    if (value > box[axis + 3]) box[axis + 3] = value;
  }
  return box;
}

/** The middle of the box round points (3k). */
function boxMiddle(points) {
  const box = boundsOf(points);
  return points.length ? [0, 1, 2].map((i) => 0.5 * (box[i] + box[i + 3])) : [0, 0, 0];
}

/** Half the second longest edge of the box around points (3k): the radius of a rod along any axis. */
function thinness(points) {
  const box = boundsOf(points);
  return points.length ? 0.5 * [0, 1, 2].map((i) => box[i + 3] - box[i]).sort((a, b) => a - b)[1] : 1;
}

/** Corners and faces of all pieces, one after another. */
function fillBuffers(pieces) {
  let corners = 0, entries = 0;
  for (const { surface } of pieces) {
    corners += surface.points.length / 3;
    entries += surface.faces.length;
  }
  const bytes = new ArrayBuffer(corners * CORNER_BYTES), faces = new Uint32Array(entries);
  const floats = new Float32Array(bytes), shorts = new Int16Array(bytes), words = new Uint16Array(bytes);
  const octets = new Uint8Array(bytes);
  let first = 0, next = 0;
  for (const piece of pieces) {
    const { points, normals, faces: own } = piece.surface, count = points.length / 3;
    const color = piece.color.map((value) => Math.round(255 * Math.min(Math.max(value, 0), 1)));
    const thin = 32767 * Math.min(Math.max(Math.log2(piece.thin) / 20, -1), 1);
    for (let i = 0; i < count; i++) {
      const at = first + i;
      for (let k = 0; k < 3; k++) {
        floats[at * 7 + k] = points[3 * i + k];
        shorts[at * 14 + 6 + k] = 32767 * normals[3 * i + k];
        octets[at * 28 + 20 + k] = color[k];
      }
      shorts[at * 14 + 9] = thin;
      octets[at * 28 + 23] = color[3];
      words[at * 14 + 12] = piece.slot;
      words[at * 14 + 13] = piece.id;
    }
    for (let i = 0; i < own.length; i++) faces[next + i] = own[i] + first;
    piece.start = next;
    piece.count = own.length;
    first += count;
    next += own.length;
  }
  return { corners: bytes, faces };
}

/** For each layer, the range of its opaque pieces in the index buffer: first entry and number of entries. */
function solidRanges(pieces) {
  const ranges = {};
  for (const piece of pieces) {
    if (piece.clear) continue;
    const range = ranges[piece.layer] ??= { start: piece.start, count: 0 };
    range.count += piece.count;
  }
  return ranges;
}

/** A ball of radius 1 about the origin. */
function ballSurface(rows, sides) {
  const points = [], faces = [];
  for (let i = 0; i <= rows; i++) {
    const e = Math.PI * (i / rows - 0.5);
    for (let k = 0; k <= sides; k++) {
      const a = 2 * Math.PI * k / sides;
      points.push(Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e));
      if (i < rows && k < sides) {
        const at = i * (sides + 1) + k, above = at + sides + 1;
        faces.push(at, at + 1, above + 1, at, above + 1, above);
      }
    }
  }
  return { points: new Float32Array(points), normals: new Float32Array(points), faces: new Uint16Array(faces) };
}

/** An open tube of radius 1 about the z axis from z = 0 to 1. */
function rodSurface(sides) {
  const points = [], normals = [], faces = [];
  for (let k = 0; k <= sides; k++) {
    const a = 2 * Math.PI * k / sides, x = Math.cos(a), y = Math.sin(a), at = 2 * k;
    points.push(x, y, 0, x, y, 1);
    normals.push(x, y, 0, x, y, 0);
    if (k < sides) faces.push(at, at + 2, at + 3, at, at + 3, at + 1);
  }
  return { points: new Float32Array(points), normals: new Float32Array(normals), faces: new Uint16Array(faces) };
}
