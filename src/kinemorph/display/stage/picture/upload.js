// Data that are uploaded to the graphics card once: shader programs, corners, textures, paths of traces.

import { tracePath } from "../motion/posing.js";
import { INSTANCE_BYTES } from "./geometry.js";
import { SHADERS, SLOTS_PER_ROW } from "./shaders.js";

export const BETWEEN = 4;           // points of a trace for each picture
const CORNER_BYTES = 20;     // point 3 x 4, normal 4 x 2, of which the last is empty

/** All shader programs; browsers compile them in parallel as long as their status is not queried. */
export function makePrograms(gl) {
  const begun = Object.entries(SHADERS).map(([name, { vertex, fragment }]) => {
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    return [name, program];
  });
  return Object.fromEntries(begun.map(([name, program]) => [name, uniformPlaces(gl, name, program)]));
}

/** A program with the places of its uniforms by name. */
function uniformPlaces(gl, name, program) {
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const reasons = gl.getAttachedShaders(program).map((shader) => gl.getShaderInfoLog(shader)).join(" ");
    throw new Error(`The picture cannot be drawn: this browser does not take the shader '${name}'. ${reasons}`);
  }
  const places = { program };
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0;
  for (let i = 0; i < count; i++) {
    const { name: uniform } = gl.getActiveUniform(program, i);
    places[uniform] = gl.getUniformLocation(program, uniform);
  }
  return places;
}

/** A mesh on the graphics card: points and normals of its corners, and its faces. */
export function loadMesh(gl, { points, normals, faces }) {
  const count = points.length / 3, bytes = new ArrayBuffer(CORNER_BYTES * count);
  const floats = new Float32Array(bytes), shorts = new Int16Array(bytes);
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) {
      floats[5 * i + k] = points[3 * i + k];
      shorts[10 * i + 6 + k] = 32767 * normals[3 * i + k];
    }
  }
  const corners = gl.createBuffer(), edges = gl.createBuffer();
  gl.bindVertexArray(null);
  gl.bindBuffer(gl.ARRAY_BUFFER, corners);
  gl.bufferData(gl.ARRAY_BUFFER, bytes, gl.STATIC_DRAW);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, edges);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
  const kind = faces instanceof Uint32Array ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT;
  return { corners, edges, count: faces.length, kind };
}

/** The vertex array of a group: its mesh, and its instances from the first on. */
export function makeGroupArray(gl, { corners, edges }, instances, first) {
  const array = gl.createVertexArray(), at = first * INSTANCE_BYTES;
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, edges);
  gl.bindBuffer(gl.ARRAY_BUFFER, corners);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, CORNER_BYTES, 0);
  gl.vertexAttribPointer(1, 3, gl.SHORT, true, CORNER_BYTES, 12);
  gl.bindBuffer(gl.ARRAY_BUFFER, instances);
  for (let row = 0; row < 3; row++) gl.vertexAttribPointer(5 + row, 4, gl.FLOAT, false, INSTANCE_BYTES, at + 16 * row);
  gl.vertexAttribPointer(4, 1, gl.FLOAT, false, INSTANCE_BYTES, at + 48);
  gl.vertexAttribPointer(2, 4, gl.UNSIGNED_BYTE, true, INSTANCE_BYTES, at + 52);
  gl.vertexAttribIPointer(3, 2, gl.UNSIGNED_INT, INSTANCE_BYTES, at + 56);
  for (let i = 0; i < 8; i++) gl.enableVertexAttribArray(i);
  for (let i = 2; i < 8; i++) gl.vertexAttribDivisor(i, 1);
  return array;
}

/** A square from -1 to 1, for floor and sky. */
export function makeSheet(gl) {
  const array = gl.createVertexArray();
  gl.bindVertexArray(array);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
  gl.bindVertexArray(null);
  return array;
}

/** The texture that holds the slots of a picture. */
export function makeSlotTexture(gl, slots) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA32F, 4 * SLOTS_PER_ROW, slots.rows);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return texture;
}

/** The shadow map of some texels along an edge: depths as the lamp sees them, compared when they are read. */
export function makeShadow(gl, size) {
  const texture = gl.createTexture(), frame = gl.createFramebuffer();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, size, size);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.LINEAR);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { texture, frame, size };
}

/** A target of some samples for each pixel, as large as the canvas, from which pictures are copied there. */
export function makeSampledTarget(gl, width, height, samples) {
  const frame = gl.createFramebuffer(), color = gl.createRenderbuffer(), depth = gl.createRenderbuffer();
  const most = Math.min(samples, gl.getParameter(gl.MAX_SAMPLES));
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.bindRenderbuffer(gl.RENDERBUFFER, color);
  gl.renderbufferStorageMultisample(gl.RENDERBUFFER, most, gl.RGBA8, width, height);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, color);
  gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
  gl.renderbufferStorageMultisample(gl.RENDERBUFFER, most, gl.DEPTH_COMPONENT24, width, height);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, buffers: [color, depth], width, height };
}

/** A picture of one pixel that holds the number of the piece there. */
export function makePickTarget(gl) {
  const frame = gl.createFramebuffer(), color = gl.createRenderbuffer(), depth = gl.createRenderbuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.bindRenderbuffer(gl.RENDERBUFFER, color);
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.RGBA8, 1, 1);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.RENDERBUFFER, color);
  gl.bindRenderbuffer(gl.RENDERBUFFER, depth);
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, 1, 1);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, depth);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, pixel: new Uint8Array(4) };
}

/**
 * Ways of traced points over the whole run, or those that a posed figure has gone: each point twice, for the two sides
 * of its ribbon.
 */
export function makeTraces(gl, scene) {
  const traces = [], posed = scene.times.length < 2;
  scene.figures.forEach((figure, f) => {
    for (const trace of figure.traces) {
      const way = posed ? Float32Array.from(trace.walked ?? []) : smoothPath(tracePath(scene, figure, trace), scene.times);
      const count = way.length / 4;
      if (count < 2) continue;
      const values = new Float32Array(8 * (count + 2));
      for (let k = 0; k < count + 2; k++) {
        const row = 4 * Math.min(Math.max(k - 1, 0), count - 1), point = way.subarray(row, row + 4);
        values.set(point, 8 * k);
        values.set(point, 8 * k + 4);
      }
      const array = gl.createVertexArray(), buffers = [gl.createBuffer()];
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0]);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.STATIC_DRAW);
      for (let i = 0; i < 3; i++) {
        gl.enableVertexAttribArray(i);
        gl.vertexAttribPointer(i, 4, gl.FLOAT, false, 16, 32 * i);
      }
      gl.bindVertexArray(null);
      traces.push({ figure: f, trace, array, buffers, head: new Float32Array(4), walked: posed ? count : 0 });
    }
  });
  return traces;
}

/** A path (3n) with times as points (4m) on smooth curves through it, after Catmull and Rom (1974). */
function smoothPath(path, times) {
  const n = times.length, points = new Float32Array(4 * ((n - 1) * BETWEEN + 1));
  for (let k = 0, at = 0; k < n; k++) {
    const [a, b, c, d] = [Math.max(k - 1, 0), k, Math.min(k + 1, n - 1), Math.min(k + 2, n - 1)];
    for (let i = 0; i < (k < n - 1 ? BETWEEN : 1); i++, at += 4) {
      const s = i / BETWEEN, r = 1 - s;
      for (let x = 0; x < 3; x++) {
        const p = path[3 * a + x], q = path[3 * b + x], u = path[3 * c + x], v = path[3 * d + x];
        points[at + x] = r * q + s * u + 0.5 * r * s * (r * (2 * q - p - u) + s * (2 * u - q - v));
      }
      points[at + 3] = times[b] + s * (times[c] - times[b]);
    }
  }
  return points;
}
