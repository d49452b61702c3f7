// The pieces of a scene. A piece (a part, a mark, a ball at the center of mass) is one instance of a mesh: an affine
// map from the mesh to the frame of its slot, whose matrix moves it. Slot 0 is the world; then come for each figure its
// ground, its bodies, its marks, its center of mass and the parts that are shown at some times only. Meshes stay on the
// graphics card as long as scenes use them; a change of the scene only writes instances.

import { composeMaps, IDENTITY_MAP } from "../motion/algebra.js";
import { LIT } from "./shaders.js";
import { TOTAL_LINE } from "./slots.js";
import { makeMesh, Surface } from "./surfaces.js";

export const INSTANCE_BYTES = 64;   // map 12 x 4, thinness 4, color 4 x 1, slot 4, piece and light 4
const TOTAL_COLOR = [0.95, 0.77, 0.06, 1];
const BALL = new Surface(ballMesh(10, 18), null), ROD = new Surface(rodMesh(12), null);

/**
 * The pieces of a scene, their instances and groups, and the first slots of each figure. With `shown` {layer: boolean},
 * layers that are not shown have no pieces: scenes are large, and most layers are hidden most of the time.
 */
export function gatherPieces(scene, shown = null) {
  const pieces = [], places = [], layers = scene.layers.map((layer) => layer.key);
  const gathered = new Set(layers.filter((key) => !shown || shown[key]));
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
      if (!gathered.has(part.layer)) continue;
      const own = part.shown ? place.passing.get(passingKey(part)).slot : place.bodies + part.owner;
      pieces.push(pieceOf(part.name, own, scene.surfaces[part.surface], part, number));
    }
    figure.marks.forEach((mark, i) => {
      if (!gathered.has(mark.layer)) return;
      pieces.push(pieceOf(mark.name, place.marks + i, scene.surfaces[scene.looks[mark.look]], mark, number));
    });
    if (!gathered.has("centers")) return;
    const total = { color: TOTAL_COLOR, layer: "centers", width: TOTAL_LINE * figure.size };
    pieces.push(pieceOf(`${figure.name} center of mass`, place.center, BALL, total, number));
    pieces.push(pieceOf(`${figure.name} center of mass`, place.line, ROD, total, number));
  });
  return { places, slots: slot, layers: gathered, ...groupPieces(pieces, layers) };
}

/**
 * Pieces in the order in which they are drawn, their instances, and their groups {layer, mesh, first, count}: opaque
 * pieces of one layer and mesh are one group, each translucent piece is a group of its own. Pieces are numbered from
 * one above `firstId`.
 */
export function groupPieces(pieces, layers, firstId = 0) {
  const ranks = new Map(layers.map((layer, i) => [layer, i])), meshes = new Map();
  const numbered = (mesh) => meshes.get(mesh) ?? (meshes.set(mesh, meshes.size), meshes.size - 1);
  const shown = pieces.filter((piece) => piece.surface.mesh.faces.length > 0);
  for (const piece of shown) {
    piece.rank = (piece.clear ? 1e9 : 0) + 1e6 * (ranks.get(piece.layer) ?? 0) + numbered(piece.surface.mesh);
  }
  shown.sort((a, b) => a.rank - b.rank);
  const groups = [];
  shown.forEach((piece, i) => {
    const last = groups.at(-1), { mesh } = piece.surface;
    piece.id = firstId + i + 1;
    if (!piece.clear && last && last.rank === piece.rank) last.count++;
    else groups.push({ rank: piece.rank, layer: piece.layer, clear: piece.clear, mesh, first: i, count: 1 });
  });
  return { pieces: shown, groups, instances: fillInstances(shown) };
}

/** A key for parts that are shown at some times only, equal for parts of one body that are shown at the same times. */
const passingKey = (part) => `${part.owner} ${part.shown}`;

/** Slots for such parts of a figure, one for each key; `carrier` is the slot of their body. */
function passingSlots(figure, bodies, first) {
  const slots = new Map();
  for (const part of figure.parts) {
    if (!part.shown) continue;
    const key = passingKey(part);
    if (!slots.has(key)) slots.set(key, { slot: first + slots.size, carrier: bodies + part.owner, shown: part.shown });
  }
  return slots;
}

/** One piece: a surface at a slot, with the color, layer and owner of a part or mark. */
export function pieceOf(name, slot, surface, look, figure) {
  return {
    name, slot, surface, figure, owner: look.owner ?? null, layer: look.layer, color: look.color,
    clear: look.color[3] < 1, thin: look.width ?? surface.thinness, rank: 0, id: 0, lit: false,
  };
}

/** The instances of pieces, one after another. */
function fillInstances(pieces) {
  const bytes = new ArrayBuffer(Math.max(pieces.length, 1) * INSTANCE_BYTES);
  const floats = new Float32Array(bytes), words = new Uint32Array(bytes), octets = new Uint8Array(bytes);
  pieces.forEach(({ surface, thin, color, slot, id, lit }, i) => {
    floats.set(surface.map ?? IDENTITY_MAP, 16 * i);
    floats[16 * i + 12] = thin;
    for (let k = 0; k < 4; k++) octets[64 * i + 52 + k] = Math.round(255 * Math.min(Math.max(color[k], 0), 1));
    words[16 * i + 14] = slot;
    words[16 * i + 15] = lit ? id | LIT : id;
  });
  return bytes;
}

/** Lights up the pieces for which `isLit` is true, and no others. Returns whether something has changed. */
export function lightPieces({ pieces, instances }, isLit) {
  const words = new Uint32Array(instances);
  let changed = false;
  pieces.forEach((piece, i) => {
    const lit = Boolean(isLit(piece));
    changed ||= lit !== piece.lit;
    piece.lit = lit;
    words[16 * i + 15] = lit ? piece.id | LIT : piece.id;
  });
  return changed;
}

/** The pieces of a scene in the world, each moved by the pose of its body as it is now: they need no slots. */
export function placedPieces(scene, color) {
  const pieces = [];
  scene.figures.forEach(({ parts, pose, offset }) => {
    for (const part of parts) {
      if (part.layer !== "shapes") continue;
      const { mesh, map } = scene.surfaces[part.surface], at = part.owner;
      const placed = at < 0 ? composeMaps([0, 0, 0], [1, 0, 0, 0], offset, map) : composeMaps(
        pose.positions.subarray(3 * at, 3 * at + 3), pose.quaternions.subarray(4 * at, 4 * at + 4), offset, map);
      const look = { layer: part.layer, color: color ?? part.color };
      pieces.push(pieceOf(part.name, 0, new Surface(mesh, placed), look, null));
    }
  });
  return pieces;
}

/** A ball of radius 1 about the origin. */
function ballMesh(rows, sides) {
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
  return makeMesh(new Float32Array(points), new Float32Array(points), new Uint16Array(faces));
}

/** An open tube of radius 1 about the z axis from z = 0 to 1. */
function rodMesh(sides) {
  const points = [], normals = [], faces = [];
  for (let k = 0; k <= sides; k++) {
    const a = 2 * Math.PI * k / sides, x = Math.cos(a), y = Math.sin(a), at = 2 * k;
    points.push(x, y, 0, x, y, 1);
    normals.push(x, y, 0, x, y, 0);
    if (k < sides) faces.push(at, at + 2, at + 3, at, at + 3, at + 1);
  }
  return makeMesh(new Float32Array(points), new Float32Array(normals), new Uint16Array(faces));
}

/** A disc of radius 1 and height 0.3 on the plane z = 0, for ports; its foot is open. */
export function discMesh(sides) {
  const points = [0, 0, 0.3], normals = [0, 0, 1], faces = [];
  for (let k = 0; k <= sides; k++) {
    const a = 2 * Math.PI * k / sides, x = Math.cos(a), y = Math.sin(a), at = 1 + 3 * k;
    points.push(0.8 * x, 0.8 * y, 0.3, 0.8 * x, 0.8 * y, 0.3, x, y, 0);
    normals.push(0, 0, 1, x, y, 0, x, y, 0);
    if (k < sides) faces.push(0, at, at + 3, at + 1, at + 2, at + 5, at + 1, at + 5, at + 4);
  }
  return makeMesh(new Float32Array(points), new Float32Array(normals), new Uint16Array(faces));
}
