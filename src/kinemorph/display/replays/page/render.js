// The picture, rendered by WebGL2: shadows first, then sky, opaque pieces, floor, traces, and translucent pieces.

const SHADOW_SIZE = 2048;
const CASTING = ["shapes", "elements"];                          // layers that cast shadows
const INNER = ["collisions", "inertia", "centers", "graph"];     // layers that lie within shapes
const THINNEST = 1.0;       // half the width of anything [pixels]
const GHOST = 0.4;          // opacity of shapes while a layer inside them is shown
const KEY_SIDE = -50, KEY_HEIGHT = 50;   // of the lamp, from where the camera stands at first [deg]

/** Colors of the two palettes; those of light are linear, the others as on the screen. */
const PALETTES = {
  light: {
    high: [0.80, 0.85, 0.90], low: [0.955, 0.965, 0.975], floor: [0.925, 0.935, 0.945], line: [0.66, 0.70, 0.75],
    sky: [0.44, 0.48, 0.53], earth: [0.21, 0.20, 0.19], key: [0.80, 0.76, 0.70], shade: [0.47, 0.50, 0.55], lift: 0,
  },
  dark: {
    high: [0.075, 0.09, 0.11], low: [0.14, 0.16, 0.185], floor: [0.165, 0.185, 0.21], line: [0.30, 0.335, 0.38],
    sky: [0.43, 0.47, 0.53], earth: [0.17, 0.17, 0.18], key: [0.92, 0.88, 0.82], shade: [0.38, 0.38, 0.40], lift: 0.045,
  },
};

/** A renderer of a scene's pieces on a canvas, or null where the browser has no WebGL2. */
function makeRenderer(canvas, scene, gathered, slots, camera) {
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, powerPreference: "high-performance" });
  if (!gl) return null;
  const programs = makePrograms(gl);
  const clear = gathered.pieces.filter((piece) => piece.clear);
  const renderer = {
    gl, canvas, scene, gathered, slots, programs, palette: PALETTES.light, chosen: 0, ratio: 1, layers: {},
    parts: makePartArray(gl, gathered), sheet: makeSheet(gl), slotTexture: makeSlotTexture(gl, slots),
    shadow: makeShadow(gl), traces: makeTraces(gl, scene), target: makePickTarget(gl),
    lamp: new Float32Array(16), lampWay: lampWay(camera.home.azimuth), grain: 1, pickMatrix: new Float32Array(16),
    clear, order: clear.map((_, i) => i), depths: new Float32Array(clear.length), box: shadowBox(scene),
    grid: new Float32Array(3), fog: new Float32Array(3), patch: new Float32Array(4),
  };
  gl.enable(gl.DEPTH_TEST);
  gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return renderer;
}

/** The direction to the lamp, which is beside the initial place of the camera. */
function lampWay(azimuth) {
  const a = (azimuth + KEY_SIDE) * Math.PI / 180, e = KEY_HEIGHT * Math.PI / 180;
  return new Float32Array([Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)]);
}

/** The middle and radius of the bodies that cast shadows: the box, down to the floor; larger where there are sliders. */
function shadowBox(scene) {
  const [low, high] = scene.box, bottom = Math.min(low[2], scene.floor);
  const radius = boxRadius([[low[0], low[1], bottom], high]) * (scene.times.length > 1 ? 1 : 1.5);
  return { middle: [0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (bottom + high[2])], radius };
}

/** Fits the canvas to its place on the page. */
function resizeCanvas(renderer, width, height) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2), { canvas } = renderer;
  renderer.ratio = ratio;
  const wide = Math.max(Math.round(width * ratio), 1), tall = Math.max(Math.round(height * ratio), 1);
  if (canvas.width !== wide || canvas.height !== tall) {
    canvas.width = wide;
    canvas.height = tall;
  }
}

/** The lamp's matrix: a square round what the camera looks at, moved by whole texels so that edges do not crawl. */
function aimLamp(renderer, camera) {
  const { lamp, lampWay: l, box } = renderer;
  const radius = Math.min(1.25 * box.radius, 1.1 * camera.distance), depth = 3 * box.radius + radius;
  const flat = Math.hypot(l[0], l[1]), rx = -l[1] / flat, ry = l[0] / flat;
  const ux = -l[2] * ry, uy = l[2] * rx, uz = l[0] * ry - l[1] * rx;
  const near = radius < 1.2 * box.radius ? camera.target : box.middle;
  const texel = 2 * radius / SHADOW_SIZE;
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
function gridSpacing(renderer) {
  return renderer.grid[2] > 0.25 ? renderer.grid[0] : renderer.grid[1];
}

/** The length of some pixels across the picture, one away from the eye [m]. */
function pixelSize(renderer, pixels) {
  return pixels * 2 * Math.tan(FIELD * Math.PI / 360) / renderer.canvas.height;
}

/** Draws one picture of the slots as they are. */
function drawPicture(renderer, camera, time) {
  const { gl, canvas, slots, programs } = renderer;
  aimLamp(renderer, camera);
  spaceGrid(renderer, camera);
  gl.activeTexture(gl.TEXTURE0);
  gl.bindTexture(gl.TEXTURE_2D, renderer.slotTexture);
  gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, 4 * SLOTS_PER_ROW, slots.rows, gl.RGBA, gl.FLOAT, slots.values);
  drawShadow(renderer);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.activeTexture(gl.TEXTURE1);
  gl.bindTexture(gl.TEXTURE_2D, renderer.shadow.texture);
  drawSky(renderer);
  gl.useProgram(programs.part.program);
  setLight(renderer, programs.part, camera);
  gl.uniform1i(programs.part.slots, 0);
  gl.uniform1ui(programs.part.chosen, renderer.chosen);
  gl.uniform2f(programs.part.foot, renderer.scene.floor, 0.25 * renderer.box.radius);
  gl.uniform1f(programs.part.veil, 1);
  gl.uniform1f(programs.part.lift, renderer.palette.lift);
  gl.uniform1f(programs.part.pixel, pixelSize(renderer, THINNEST * renderer.ratio));
  gl.bindVertexArray(renderer.parts);
  const ghostly = isGhostly(renderer.layers);
  drawSolids(renderer, ghostly ? "shapes" : null);
  drawFloor(renderer, camera);
  drawTraces(renderer, camera, time);
  drawClear(renderer, camera);
  if (ghostly) drawGhost(renderer);
}

/** Renders the shadow map: depths of opaque pieces seen from the lamp, without thin ones such as axes and frames. */
function drawShadow(renderer) {
  const { gl, programs, gathered, layers } = renderer;
  gl.bindFramebuffer(gl.FRAMEBUFFER, renderer.shadow.frame);
  gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
  gl.clear(gl.DEPTH_BUFFER_BIT);
  gl.useProgram(programs.shadow.program);
  gl.uniform1i(programs.shadow.slots, 0);
  gl.uniformMatrix4fv(programs.shadow.view, false, renderer.lamp);
  gl.uniform1f(programs.shadow.pixel, renderer.grain);
  gl.bindVertexArray(renderer.parts);
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1.5, 2);
  for (const layer of CASTING) {
    const range = gathered.ranges[layer];
    if (range && layers[layer]) gl.drawElements(gl.TRIANGLES, range.count, gl.UNSIGNED_INT, 4 * range.start);
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

/** Draws the opaque pieces, one call for each layer that is shown, except one given layer. */
function drawSolids(renderer, without = null) {
  const { gl, gathered: { ranges }, layers } = renderer;
  for (const layer in ranges) {
    const { start, count } = ranges[layer];
    if (layers[layer] && layer !== without) gl.drawElements(gl.TRIANGLES, count, gl.UNSIGNED_INT, 4 * start);
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
  for (const { figure, trace, array, head } of renderer.traces) {
    const { offset, pose } = scene.figures[figure];
    attachedPoint(head, 0, pose, trace);
    head[3] = time;
    gl.uniform4fv(program.head, head);
    gl.uniform3fv(program.offset, offset);
    gl.uniform4fv(program.color, trace.color);
    gl.bindVertexArray(array);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 2 * Math.min((before + 1) * BETWEEN + 1, (count - 1) * BETWEEN + 1));
  }
}

/** Draws the translucent pieces, from far to near. */
function drawClear(renderer, camera) {
  const { gl, programs: { part }, clear, order, depths, slots: { values }, layers } = renderer;
  if (clear.length > 0) {
    const { eye } = camera;
    for (let i = 0; i < clear.length; i++) {
      const { middle: m, slot } = clear[i];
      let depth = 0;
      for (let at = 16 * slot, k = 0; k < 3; k++, at++) {
        const d = values[at] * m[0] + values[at + 4] * m[1] + values[at + 8] * m[2] + values[at + 12] - eye[k];
        depth += d * d;
      }
      depths[i] = depth;
    }
    sortFarFirst(order, depths);
    gl.useProgram(part.program);
    gl.bindVertexArray(renderer.parts);
    for (let i = 0; i < order.length; i++) {
      const piece = clear[order[i]];
      if (layers[piece.layer]) gl.drawElements(gl.TRIANGLES, piece.count, gl.UNSIGNED_INT, 4 * piece.start);
    }
  }
  gl.depthMask(true);
  gl.disable(gl.BLEND);
}

/** Whether a layer inside the shapes is shown. */
function isGhostly(layers) {
  return INNER.some((layer) => layers[layer]);
}

/** Draws opaque shapes as translucent ones over the layers inside them: only their nearest surfaces. */
function drawGhost(renderer) {
  const { gl, programs: { part }, gathered: { ranges: { shapes } }, layers } = renderer;
  if (!shapes || !layers.shapes) return;
  gl.useProgram(part.program);
  gl.bindVertexArray(renderer.parts);
  gl.colorMask(false, false, false, false);
  gl.enable(gl.POLYGON_OFFSET_FILL);
  gl.polygonOffset(1, 8);        // a bit behind, so that rounding leaves no holes in the second pass
  gl.drawElements(gl.TRIANGLES, shapes.count, gl.UNSIGNED_INT, 4 * shapes.start);
  gl.disable(gl.POLYGON_OFFSET_FILL);
  gl.colorMask(true, true, true, true);
  gl.enable(gl.BLEND);
  gl.uniform1f(part.veil, GHOST);
  gl.drawElements(gl.TRIANGLES, shapes.count, gl.UNSIGNED_INT, 4 * shapes.start);
  gl.disable(gl.BLEND);
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

/** The piece at a place of the picture, given from -1 to 1 in x and y, or null. */
function pickPiece(renderer, camera, x, y) {
  const { gl, canvas, programs: { pick }, target, pickMatrix: m, gathered, layers } = renderer;
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
  gl.bindVertexArray(renderer.parts);
  drawSolids(renderer);
  for (const piece of renderer.clear) {
    if (layers[piece.layer]) gl.drawElements(gl.TRIANGLES, piece.count, gl.UNSIGNED_INT, 4 * piece.start);
  }
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, target.pixel);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  const id = target.pixel[0] + 256 * target.pixel[1];
  return target.pixel[2] === 255 && id > 0 ? gathered.pieces[id - 1] : null;
}

/** Takes the light or the dark palette. */
function setPalette(renderer, dark) {
  const palette = dark ? PALETTES.dark : PALETTES.light, linear = (c) => c.map((value) => value ** 2.2);
  palette.haze = linear(palette.low);
  palette.floorLinear = linear(palette.floor);
  palette.lineLinear = linear(palette.line);
  renderer.palette = palette;
}
