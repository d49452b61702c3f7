// The picture, rendered by WebGL2: shadows first, then sky, opaque pieces, floor, traces, and translucent pieces.

import { attachedPoint, momentAt } from "../motion/posing.js";
import { boxRadius, FIELD } from "./camera.js";
import { levelNow, makeQuality, measurePicture } from "./quality.js";
import { SLOTS_PER_ROW } from "./shaders.js";
import {
  BETWEEN, loadMesh, makeGroupArray, makePickTarget, makePrograms, makeSampledTarget, makeShadow, makeSheet,
  makeSlotTexture, makeTraces,
} from "./upload.js";

const CASTING = ["shapes", "elements"];                          // layers that cast shadows
const INNER = ["collisions", "inertia", "centers", "graph"];     // layers that lie within shapes
const THINNEST = 1.0;       // half the width of anything [pixels]
const VEIL = 0.4;           // opacity of shapes while a layer inside them is shown
const KEY_SIDE = -50, KEY_HEIGHT = 50;   // of the lamp, from where the camera stands at first [deg]
const NO_PIECES = { pieces: [], groups: [], buffer: null };

/** Colors of the two palettes; those of light are linear, the others as on the screen. */
const PALETTES = {
  light: {
    high: [0.80, 0.85, 0.90], low: [0.955, 0.965, 0.975], floor: [0.925, 0.935, 0.945], line: [0.66, 0.70, 0.75],
    sky: [0.44, 0.48, 0.53], earth: [0.21, 0.20, 0.19], key: [0.80, 0.76, 0.70], shade: [0.47, 0.50, 0.55], lift: 0,
    lit: [0.95, 0.06, 0.42],
  },
  dark: {
    high: [0.075, 0.09, 0.11], low: [0.14, 0.16, 0.185], floor: [0.165, 0.185, 0.21], line: [0.30, 0.335, 0.38],
    sky: [0.43, 0.47, 0.53], earth: [0.17, 0.17, 0.18], key: [0.92, 0.88, 0.82], shade: [0.38, 0.38, 0.40], lift: 0.045,
    lit: [1.0, 0.1, 0.48],
  },
};

/** A renderer on a canvas, without a scene yet (see loadScene), or null where the browser has no WebGL2. */
export function makeRenderer(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false, powerPreference: "high-performance" });
  if (!gl) return null;
  const renderer = {
    gl, canvas, programs: makePrograms(gl), palette: PALETTES.light, chosen: 0, ratio: 1, layers: {}, scene: null,
    slots: null, slotTexture: null, slotRows: 0, traces: [], order: [], depths: null, box: null, meshes: new Map(),
    sets: { scene: NO_PIECES, ports: NO_PIECES, ghost: NO_PIECES },
    sheet: makeSheet(gl), shadow: null, sampled: null, target: makePickTarget(gl), quality: makeQuality(gl),
    level: null, width: 1, height: 1, lampWay: null, lamp: new Float32Array(16), grain: 1,
    pickMatrix: new Float32Array(16), grid: new Float32Array(3), fog: new Float32Array(3), patch: new Float32Array(4),
  };
  gl.enable(gl.DEPTH_TEST);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return renderer;
}

/** Puts a scene on the graphics card, in place of the one before; meshes that both have stay there. */
export function loadScene(renderer, { scene, gathered, slots, camera, layers }) {
  const { gl } = renderer;
  Object.assign(renderer, { scene, slots, layers, chosen: 0, box: shadowBox(scene) });
  renderer.lampWay = lampWay(camera.home.azimuth);
  if (renderer.slotRows !== slots.rows) {
    gl.deleteTexture(renderer.slotTexture);
    renderer.slotTexture = makeSlotTexture(gl, slots);
    renderer.slotRows = slots.rows;
  }
  loadTraces(renderer);
  loadPieces(renderer, "scene", gathered);
  renderer.clear = renderer.sets.scene.groups.filter((group) => group.clear);
  renderer.order = renderer.clear.map((_, i) => i);
  renderer.depths = new Float32Array(renderer.clear.length);
}

/** Puts the paths of traces on the graphics card again: at first, and after a run has grown. */
export function loadTraces(renderer) {
  const { gl } = renderer;
  for (const { array, buffers } of renderer.traces) {
    gl.deleteVertexArray(array);
    for (const buffer of buffers) gl.deleteBuffer(buffer);
  }
  renderer.traces = makeTraces(gl, renderer.scene);
}

/** Puts the pieces of the scene, of the ports or of the ghost on the graphics card, in place of those before. */
export function loadPieces(renderer, name, gathered) {
  const { gl, sets, meshes } = renderer, before = sets[name];
  for (const { array } of before.groups) if (array) gl.deleteVertexArray(array);
  gl.deleteBuffer(before.buffer);
  sets[name] = NO_PIECES;
  if (gathered.pieces.length) {
    const { pieces, groups, instances } = gathered, buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, instances, gl.DYNAMIC_DRAW);
    for (const group of groups) {
      group.array = null;
      if (!meshes.has(group.mesh)) meshes.set(group.mesh, loadMesh(gl, group.mesh));
    }
    sets[name] = { pieces, groups, buffer };
  }
  const used = new Set(Object.values(sets).flatMap((set) => set.groups.map((group) => group.mesh)));
  for (const [mesh, { corners, edges }] of meshes) {
    if (used.has(mesh)) continue;
    gl.deleteBuffer(corners);
    gl.deleteBuffer(edges);
    meshes.delete(mesh);
  }
}

/** Writes instances again, for example after pieces have been lit up. */
export function reloadInstances({ gl, sets }, name, { instances }) {
  if (!sets[name].buffer) return;
  gl.bindBuffer(gl.ARRAY_BUFFER, sets[name].buffer);
  gl.bufferSubData(gl.ARRAY_BUFFER, 0, instances);
}

/** Gives the WebGL context of a renderer, and all that it holds, back to the browser. */
export function closeRenderer({ gl, canvas }) {
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  canvas.width = canvas.height = 0;
}

/** The direction to the lamp, which is beside the initial place of the camera. */
function lampWay(azimuth) {
  const a = (azimuth + KEY_SIDE) * Math.PI / 180, e = KEY_HEIGHT * Math.PI / 180;
  return new Float32Array([Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)]);
}

/** Middle and radius of the bodies that cast shadows: the box, down to the floor; larger where there are sliders. */
function shadowBox(scene) {
  const [low, high] = scene.box, bottom = Math.min(low[2], scene.floor);
  const radius = boxRadius([[low[0], low[1], bottom], high]) * (scene.times.length > 1 ? 1 : 1.5);
  return { middle: [0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (bottom + high[2])], radius };
}

/** Says how large the canvas is on the page [pixels]; its own size follows with the next picture. */
export function resizeCanvas(renderer, width, height) {
  renderer.width = width;
  renderer.height = height;
}

/** Prepares canvas, shadow map and samples for pictures of a level of quality. */
function prepareLevel(renderer, level) {
  const { gl, canvas } = renderer, density = Math.min(window.devicePixelRatio || 1, 2);
  const ratio = Math.min(density, level.scale) === density ? density : Math.min(density, 1) * Math.min(level.scale, 1);
  const wide = Math.max(Math.round(renderer.width * ratio), 1), tall = Math.max(Math.round(renderer.height * ratio), 1);
  renderer.level = level;
  renderer.ratio = ratio;
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== tall) canvas.height = tall;
  const { shadow, sampled } = renderer;
  if (level.taps && shadow?.size !== level.shadow) {
    if (shadow) {
      gl.deleteTexture(shadow.texture);
      gl.deleteFramebuffer(shadow.frame);
    }
    renderer.shadow = makeShadow(gl, level.shadow);
  }
  if (sampled && (!level.samples || sampled.width !== wide || sampled.height !== tall)) {
    for (const buffer of sampled.buffers) gl.deleteRenderbuffer(buffer);
    gl.deleteFramebuffer(sampled.frame);
    renderer.sampled = null;
  }
  if (level.samples) renderer.sampled ??= makeSampledTarget(gl, wide, tall, level.samples);
}

/** The lamp's matrix: a square round what the camera looks at, moved by whole texels so that edges do not crawl. */
function aimLamp(renderer, camera) {
  const { lamp, lampWay: l, box } = renderer;
  const radius = Math.min(1.25 * box.radius, 1.1 * camera.distance), depth = 3 * box.radius + radius;
  const flat = Math.hypot(l[0], l[1]), rx = -l[1] / flat, ry = l[0] / flat;
  const ux = -l[2] * ry, uy = l[2] * rx, uz = l[0] * ry - l[1] * rx;
  const near = radius < 1.2 * box.radius ? camera.target : box.middle;
  const texel = 2 * radius / renderer.shadow.size;
  const x = Math.round((rx * near[0] + ry * near[1]) / texel) * texel;
  const y = Math.round((ux * near[0] + uy * near[1] + uz * near[2]) / texel) * texel;
  const z = l[0] * near[0] + l[1] * near[1] + l[2] * near[2];
  lamp[0] = rx / radius; lamp[4] = ry / radius; lamp[8] = 0; lamp[12] = -x / radius;
  lamp[1] = ux / radius; lamp[5] = uy / radius; lamp[9] = uz / radius; lamp[13] = -y / radius;
  lamp[2] = -l[0] / depth; lamp[6] = -l[1] / depth; lamp[10] = -l[2] / depth; lamp[14] = z / depth;
  lamp[3] = lamp[7] = lamp[11] = 0; lamp[15] = 1;
  renderer.grain = texel;
}

/** Spacings of the grid for how far away one is: bold lines at a power of ten, fine ones that come and go. */
function spaceGrid(renderer, camera) {
  const level = Math.log10(camera.distance / 9), floor = Math.floor(level), part = level - floor;
  renderer.grid[0] = 10 ** floor;
  renderer.grid[1] = 10 ** (floor + 1);
  renderer.grid[2] = 1 - Math.max(0, Math.min(1, (part - 0.35) / 0.5));
}

/** Distance of the finest lines one sees [m]. */
export function gridSpacing(renderer) {
  return renderer.grid[2] > 0.25 ? renderer.grid[0] : renderer.grid[1];
}

/** The length of some pixels across the picture, one away from the eye [m]. */
export function pixelSize(renderer, pixels) {
  return pixels * 2 * Math.tan(FIELD * Math.PI / 360) / renderer.canvas.height;
}

/** Draws one picture of the slots as they are; at rest as fine as possible, else as fine as the time allows. */
export function drawPicture(renderer, camera, time, atRest) {
  const { gl, canvas, slots, programs, quality } = renderer;
  prepareLevel(renderer, levelNow(quality, atRest));
  spaceGrid(renderer, camera);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, renderer.slotTexture);
  gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 4 * SLOTS_PER_ROW, slots.rows, gl.RGBA, gl.FLOAT, slots.values);
  if (renderer.level.taps) {
    aimLamp(renderer, camera);
    drawShadow(renderer);
  }
  gl.bindFramebuffer(gl.FRAMEBUFFER, renderer.sampled?.frame ?? null);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.activeTexture(gl.TEXTURE1);
  gl.bindTexture(gl.TEXTURE_2D, renderer.shadow?.texture ?? null);
  drawSky(renderer);
  gl.useProgram(programs.part.program);
  setLight(renderer, programs.part, camera);
  gl.uniform1i(programs.part.slots, 0);
  gl.uniform1ui(programs.part.chosen, renderer.chosen);
  gl.uniform3fv(programs.part.litColor, renderer.palette.lit);
  gl.uniform2f(programs.part.foot, renderer.scene.floor, 0.25 * renderer.box.radius);
  gl.uniform1f(programs.part.veil, 1);
  gl.uniform1f(programs.part.lift, renderer.palette.lift);
  gl.uniform1f(programs.part.pixel, pixelSize(renderer, THINNEST * renderer.ratio));
  const veiled = isVeiled(renderer.layers);
  drawSolids(renderer, renderer.sets.scene, veiled ? "shapes" : null);
  for (const group of renderer.sets.ports.groups) drawGroup(renderer, group, renderer.sets.ports);
  drawFloor(renderer, camera);
  drawTraces(renderer, camera, time);
  drawClear(renderer, camera);
  if (veiled) drawVeiled(renderer, renderer.sets.scene, VEIL);
  drawVeiled(renderer, renderer.sets.ghost, 1);
  if (renderer.sampled) copySamples(renderer);
  measurePicture(gl, quality, atRest);
}

/** Copies the target of several samples for each pixel to the canvas. */
function copySamples({ gl, sampled: { frame, width, height } }) {
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, frame);
  gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
  gl.blitFramebuffer(0, 0, width, height, 0, 0, width, height, gl.COLOR_BUFFER_BIT, gl.NEAREST);
}

/** Draws all instances of a group. */
export function drawGroup({ gl, meshes }, group, { buffer }) {
  const mesh = meshes.get(group.mesh);
  group.array ??= makeGroupArray(gl, mesh, buffer, group.first);
  gl.bindVertexArray(group.array);
  gl.drawElementsInstanced(gl.TRIANGLES, mesh.count, mesh.kind, 0, group.count);
}

/** Renders the shadow map: depths of opaque pieces seen from the lamp, without thin ones such as axes and frames. */
function drawShadow(renderer) {
  const { gl, programs, sets: { scene: set }, layers, shadow } = renderer;
  gl.bindFramebuffer(gl.FRAMEBUFFER, shadow.frame);
  gl.viewport(0, 0, shadow.size, shadow.size);
  gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.useProgram(programs.shadow.program);
  gl.uniform1i(programs.shadow.slots, 0);
  gl.uniformMatrix4fv(programs.shadow.view, false, renderer.lamp);
  gl.uniform1f(programs.shadow.pixel, renderer.grain);
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1.5, 2);
  for (const group of set.groups) {
    if (!group.clear && layers[group.layer] && CASTING.includes(group.layer)) drawGroup(renderer, group, set);
  }
  gl.disable(gl.POLYGON_OFFSET_FILL);
}

/** Sets the uniforms of the light in a shader program. */
function setLight(renderer, program, camera) {
  const { gl, palette, box, fog } = renderer;
  const depth = camera.distance + box.radius;
  fog[0] = depth; fog[1] = depth + 9 * box.radius; fog[2] = 0.75;
  gl.uniformMatrix4fv(program.view, false, camera.matrix);
  gl.uniformMatrix4fv(program.lamp, false, renderer.lamp);
  gl.uniform1i(program.shade, 1);
  gl.uniform1f(program.grain, renderer.grain);
  gl.uniform1i(program.taps, renderer.level.taps);
  gl.uniform3fv(program.lampWay, renderer.lampWay);
  gl.uniform3fv(program.eye, camera.eye);
  gl.uniform3fv(program.skyLight, palette.sky);
  gl.uniform3fv(program.earthLight, palette.earth);
  gl.uniform3fv(program.keyLight, palette.key);
  gl.uniform3fv(program.fogColor, palette.haze);
  gl.uniform3fv(program.fog, fog);
}

/** Draws the background. */
function drawSky(renderer) {
  const { gl, programs: { sky }, palette } = renderer;
  gl.useProgram(sky.program);
  gl.depthMask(false);
  gl.disable(gl.DEPTH_TEST);
  gl.uniform3fv(sky.high, palette.high);
  gl.uniform3fv(sky.low, palette.low);
  gl.bindVertexArray(renderer.sheet);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  gl.enable(gl.DEPTH_TEST);
  gl.depthMask(true);
}

/** Draws the opaque pieces of all layers that are shown, except one given layer. */
export function drawSolids(renderer, set, without = null) {
  const { layers } = renderer;
  for (const group of set.groups) {
    if (!group.clear && layers[group.layer] && group.layer !== without) drawGroup(renderer, group, set);
  }
}

/** The floor with its grid, which fades toward the horizon. */
function drawFloor(renderer, camera) {
  const { gl, programs: { floor }, palette, scene, box, patch } = renderer;
  gl.useProgram(floor.program);
  setLight(renderer, floor, camera);
  patch[0] = camera.target[0]; patch[1] = camera.target[1]; patch[2] = scene.floor;
  patch[3] = 3.2 * box.radius + 1.6 * camera.distance;
  gl.uniform4fv(floor.patch_, patch);
  gl.uniform3fv(floor.floorColor, palette.floorLinear);
  gl.uniform3fv(floor.lineColor, palette.lineLinear);
  gl.uniform3fv(floor.shadeColor, palette.shade);
  gl.uniform3fv(floor.grid, renderer.grid);
  gl.uniform1f(floor.below, camera.eye[2] < scene.floor ? 1 : 0);
  gl.enable(gl.BLEND);
  gl.depthMask(false);
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1, 4);
  gl.bindVertexArray(renderer.sheet);
  gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  gl.disable(gl.POLYGON_OFFSET_FILL);
}

/** Draws the paths of traced points up to the current time, as ribbons. */
function drawTraces(renderer, camera, time) {
  const { gl, canvas, programs: { trace: program }, scene, layers } = renderer;
  if (!layers.traces || renderer.traces.length === 0) return;
  gl.useProgram(program.program);
  gl.uniformMatrix4fv(program.view, false, camera.matrix);
  gl.uniform2f(program.screen, canvas.width, canvas.height);
  gl.uniform1f(program.width, 2.8 * renderer.ratio);
  gl.uniform1f(program.span, Math.max(scene.times.at(-1) - scene.times[0], 1e-9));
  const { before } = momentAt(scene.times, time), count = scene.times.length;
  for (const { figure, trace, array, head, walked } of renderer.traces) {
    const { offset, pose } = scene.figures[figure];
    attachedPoint(head, 0, pose, trace);
    head[3] = walked ? 0 : time;
    gl.uniform4fv(program.head, head);
    gl.uniform3fv(program.offset, offset);
    gl.uniform4fv(program.color, trace.color);
    gl.bindVertexArray(array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2 * (walked || Math.min((before + 1) * BETWEEN + 1, (count - 1) * BETWEEN + 1)));
  }
}

/** Draws the translucent pieces, from far to near. */
function drawClear(renderer, camera) {
  const { gl, programs: { part }, clear, order, depths, slots: { values }, layers, sets: { scene: set } } = renderer;
  if (clear.some((group) => layers[group.layer])) {
    const { eye } = camera;
    for (let i = 0; i < clear.length; i++) {
      const { surface, slot } = set.pieces[clear[i].first], m = clear[i].middle ??= surface.middle;
      let depth = 0;
      for (let at = 16 * slot, k = 0; k < 3; k++, at++) {
        const d = values[at] * m[0] + values[at + 4] * m[1] + values[at + 8] * m[2] + values[at + 12] - eye[k];
        depth += d * d;
      }
      depths[i] = depth;
    }
    sortFarFirst(order, depths);
    gl.useProgram(part.program);
    for (let i = 0; i < order.length; i++) {
      const group = clear[order[i]];
      if (layers[group.layer]) drawGroup(renderer, group, set);
    }
  }
  gl.depthMask(true);
  gl.disable(gl.BLEND);
}

/** Whether a layer inside the shapes is shown. */
function isVeiled(layers) {
  return INNER.some((layer) => layers[layer]);
}

/**
 * Draws the shapes of a set as translucent over what is inside them: only their nearest surfaces. A ghost is a bit
 * nearer than shapes of the scene in the same place.
 */
function drawVeiled(renderer, set, opacity) {
  const { gl, programs: { part }, layers } = renderer;
  const ghost = set === renderer.sets.ghost, nearer = ghost ? -24 : 0;
  const shapes = set.groups.filter((group) => group.layer === "shapes" && (ghost || !group.clear));
  if (!shapes.length || !layers.shapes) return;
  gl.useProgram(part.program);
  gl.colorMask(false, false, false, false);
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(ghost ? 0 : 1, 8 + nearer);   // a bit behind, so that rounding leaves no holes in the second pass
  for (const group of shapes) drawGroup(renderer, group, set);
  gl.polygonOffset(ghost ? -1 : 0, nearer);
  gl.colorMask(true, true, true, true);
  gl.enable(gl.BLEND);
  gl.uniform1f(part.veil, opacity);
  for (const group of shapes) drawGroup(renderer, group, set);
  gl.disable(gl.BLEND);
  gl.disable(gl.POLYGON_OFFSET_FILL);
}

/** Sorts numbers by falling depth, in place: they are nearly sorted from the picture before. */
function sortFarFirst(order, depths) {
  for (let i = 1; i < order.length; i++) {
    const moved = order[i];
    let k = i - 1;
    while (k >= 0 && depths[order[k]] < depths[moved]) {
      order[k + 1] = order[k];
      k--;
    }
    order[k + 1] = moved;
  }
}

/** Takes the light or the dark palette. */
export function setPalette(renderer, dark) {
  const palette = dark ? PALETTES.dark : PALETTES.light, linear = (c) => c.map((value) => value ** 2.2);
  palette.haze = linear(palette.low);
  palette.floorLinear = linear(palette.floor);
  palette.lineLinear = linear(palette.line);
  renderer.palette = palette;
}
