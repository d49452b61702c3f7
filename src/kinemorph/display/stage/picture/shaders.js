// Shaders in GLSL ES 3.0. A piece is an instance of a mesh: an affine map to the frame of its slot; the slots of a
// picture, a matrix each, come in one texture. Light is computed with linear colors.

export const SLOTS_PER_ROW = 256;
export const LIT = 1 << 24;   // bit in the number of a piece that says it is lit up

const PLACING = `#version 300 es
precision highp float;
precision highp int;
layout(location = 0) in vec3 point;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec4 color;
layout(location = 3) in uvec2 tags;    // slot; piece, and a bit for what is lit up
layout(location = 4) in float thin;    // radius of a rod, half the second longest edge [m]
layout(location = 5) in vec4 first;    // rows of the affine map
layout(location = 6) in vec4 second;
layout(location = 7) in vec4 third;
uniform highp sampler2D slots;
uniform mat4 view;
uniform float pixel;       // of the picture, one away from the eye [m]
void place(out vec3 p, out vec3 n) {
  int slot = int(tags.x);
  ivec2 at = ivec2((slot % ${SLOTS_PER_ROW}) * 4, slot / ${SLOTS_PER_ROW}), next = ivec2(1, 0);
  vec3 x = texelFetch(slots, at, 0).xyz, y = texelFetch(slots, at + next, 0).xyz;
  mat3 m = mat3(x, y, texelFetch(slots, at + 2 * next, 0).xyz);
  vec3 o = m * vec3(first.w, second.w, third.w) + texelFetch(slots, at + 3 * next, 0).xyz;
  m = m * transpose(mat3(first.xyz, second.xyz, third.xyz));
  p = m * point + o;
  // normals go with the cofactors, so that stretched looks are lit as they should be
  n = mat3(cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])) * normal;
  // what is thinner than a pixel grows to one: far away ropes and rods stay lines
  float far = (view * vec4(p, 1.0)).w, grown = far * pixel - thin, length_ = length(n);
  if (grown > 0.0 && length_ > 0.0) p += n * (grown / length_);
}
`;

const LIGHTING = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2DShadow;
uniform sampler2DShadow shade;
uniform mat4 lamp;
uniform vec3 lampWay, eye, skyLight, earthLight, keyLight, fogColor;
uniform vec3 fog;          // where it begins, where it hides all, how much at most
uniform float grain;       // size of a texel of the shadow map [m]
uniform int taps;          // of the shadow map for each pixel; 0 without shadows
const float GOLDEN = 2.39996;
float sunlight(vec3 p, vec3 n) {
  if (taps == 0) return 1.0;
  float slope = 1.0 - max(dot(n, lampWay), 0.0);
  vec4 q = lamp * vec4(p + n * grain * (1.5 + 5.0 * slope), 1.0);
  vec3 at = q.xyz * 0.5 + 0.5;
  if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0)))) return 1.0;
  float size = float(textureSize(shade, 0).x), texel = 1.0 / size, spread = 4.5 * size / 2048.0, sum = 0.0;
  for (int i = 0; i < taps; i++) {
    float r = spread * sqrt((float(i) + 0.5) / float(taps)) * texel, a = float(i) * GOLDEN;
    sum += texture(shade, vec3(at.xy + r * vec2(cos(a), sin(a)), at.z - 0.0006));
  }
  vec2 edge = smoothstep(vec2(0.5), vec2(0.44), abs(at.xy - 0.5));
  return mix(1.0, sum / float(taps), edge.x * edge.y);
}
vec3 misted(vec3 c, vec3 p) {
  return mix(c, fogColor, fog.z * smoothstep(fog.x, fog.y, distance(p, eye)));
}
vec3 shown(vec3 c) {
  return pow(clamp(c, 0.0, 1.0), vec3(1.0 / 2.2));
}
`;

export const SHADERS = {
  part: {
    vertex: `${PLACING}
uniform vec3 eye;
out vec3 where, way;
out vec4 paint;
flat out uint part;
void main() {
  place(where, way);
  paint = vec4(pow(color.rgb, vec3(2.2)), color.a);
  part = tags.y;
  gl_Position = view * vec4(where, 1.0);
  // solids alike that meet in one place, as rods on a pin, would flicker: some bodies are taken as a hair nearer
  vec4 nearer = view * vec4(where + normalize(eye - where) * (0.02 * thin * float(tags.x % 3u)), 1.0);
  gl_Position.z = nearer.z * gl_Position.w / nearer.w;
}`,
    fragment: `${LIGHTING}
in vec3 where, way;
in vec4 paint;
flat in uint part;
uniform uint chosen;
uniform vec3 litColor;
uniform float veil, lift;  // opacity of what is solid; light of what is black
uniform vec2 foot;         // height of the floor, and how far its closeness darkens [m]
out vec4 pixel;
void main() {
  // surfaces of meshes may be wound either way: a normal belongs to the side that is seen
  vec3 n = normalize(way), facing = cross(dFdx(where), dFdy(where));
  vec3 v = normalize(eye - where);
  if (dot(facing, v) < 0.0) facing = -facing;
  float back = dot(n, facing) < 0.0 ? 1.0 : 0.0;
  n = back > 0.5 ? -n : n;
  float key = max(dot(n, lampWay), 0.0);
  float sun = key > 0.0 ? key * sunlight(where, n) : 0.0;
  float low = 1.0 - smoothstep(0.0, foot.y, where.z - foot.x);
  vec3 around = mix(earthLight, skyLight, n.z * 0.5 + 0.5) * (1.0 - 0.3 * low * (0.6 - 0.4 * n.z));
  float glance = 1.0 - max(dot(n, v), 0.0);
  vec3 half_ = normalize(lampWay + v);
  float gloss = 0.16 * pow(max(dot(n, half_), 0.0), 36.0) * step(0.001, sun) * min(sun * 3.0, 1.0);
  vec3 c = max(paint.rgb, vec3(lift)) * (around + keyLight * sun + 0.10 * (1.0 - glance));
  c += gloss * keyLight + 0.10 * pow(glance, 4.0) * skyLight * (0.5 + 0.5 * n.z);
  if (part >= ${LIT}u) c = mix(c, litColor, 0.5 + 0.4 * glance);
  if ((part & 0xffffffu) == chosen) c = mix(c, c * 1.25 + vec3(0.06), 0.9);
  pixel = vec4(shown(misted(c, where)), paint.a < 0.999 ? paint.a * mix(1.0, 0.3, back) : veil);
}`,
  },
  shadow: {
    vertex: `${PLACING}
void main() {
  vec3 p, n;
  place(p, n);
  gl_Position = view * vec4(p, 1.0);
}`,
    fragment: `#version 300 es
precision mediump float;
void main() {}`,
  },
  pick: {
    vertex: `${PLACING}
flat out uint part;
void main() {
  vec3 p, n;
  place(p, n);
  part = tags.y;
  gl_Position = view * vec4(p, 1.0);
}`,
    fragment: `#version 300 es
precision highp float;
precision highp int;
flat in uint part;
out vec4 pixel;
void main() {
  pixel = vec4(float(part & 255u), float((part >> 8) & 255u), float((part >> 16) & 255u), 255.0) / 255.0;
}`,
  },
  floor: {
    vertex: `#version 300 es
precision highp float;
layout(location = 0) in vec2 corner;
uniform mat4 view;
uniform vec4 patch_;       // x, y, z of its middle and half its width [m]
out vec3 where;
void main() {
  where = vec3(patch_.xy + corner * patch_.w, patch_.z);
  gl_Position = view * vec4(where, 1.0);
}`,
    fragment: `${LIGHTING}
in vec3 where;
uniform vec4 patch_;
uniform vec3 floorColor, lineColor, shadeColor;
uniform vec3 grid;         // spacing of fine and of bold lines [m], strength of the fine ones
uniform float below;
out vec4 pixel;
float lines(float spacing, float width) {
  vec2 step_ = fwidth(where.xy);
  vec2 off = abs(fract(where.xy / spacing - 0.5) - 0.5) * spacing;
  vec2 ink = clamp(width - off / step_ + 0.5, 0.0, 1.0) * (1.0 - smoothstep(0.15, 0.5, step_ / spacing));
  return max(ink.x, ink.y);
}
void main() {
  float far = length(where.xy - patch_.xy) / patch_.w;
  float fade = 1.0 - smoothstep(0.12, 0.95, far);
  float ink = max(lines(grid.x, 0.6) * 0.45 * grid.z, lines(grid.y, 0.7) * mix(0.5, 0.9, grid.z));
  float sun = sunlight(where, vec3(0.0, 0.0, 1.0));
  vec3 c = mix(floorColor, lineColor, ink) * mix(shadeColor, vec3(1.0), sun);
  pixel = vec4(shown(c), fade * mix(1.0, 0.25, below));
}`,
  },
  sky: {
    vertex: `#version 300 es
precision highp float;
layout(location = 0) in vec2 corner;
out vec2 at;
void main() {
  at = corner;
  gl_Position = vec4(corner, 1.0, 1.0);
}`,
    fragment: `#version 300 es
precision highp float;
in vec2 at;
uniform vec3 high, low;
out vec4 pixel;
void main() {
  float dither = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) / 255.0;
  pixel = vec4(mix(low, high, smoothstep(-0.9, 1.0, at.y)) + dither, 1.0);
}`,
  },
  trace: {
    vertex: `#version 300 es
precision highp float;
layout(location = 0) in vec4 before;
layout(location = 1) in vec4 here;
layout(location = 2) in vec4 after;
uniform mat4 view;
uniform vec4 head;         // where the trace has come to, and when
uniform vec3 offset;
uniform vec2 screen;       // [pixels]
uniform float width, span;
out float age, across;
void main() {
  vec4 now = here.w > head.w ? head : here;
  vec4 next = after.w > head.w ? head : after;
  vec4 a = view * vec4(before.xyz + offset, 1.0), b = view * vec4(now.xyz + offset, 1.0);
  vec4 c = view * vec4(next.xyz + offset, 1.0);
  vec2 way = c.xy / c.w - a.xy / a.w;
  way *= screen;
  way = dot(way, way) > 1e-12 ? normalize(way) : vec2(1.0, 0.0);
  across = (gl_VertexID & 1) == 0 ? -1.0 : 1.0;
  b.xy += vec2(-way.y, way.x) * across * width / screen * b.w;
  b.z -= 2e-5 * b.w;
  gl_Position = b;
  age = clamp((head.w - now.w) / span, 0.0, 1.0);
}`,
    fragment: `#version 300 es
precision highp float;
in float age, across;
uniform vec4 color;
out vec4 pixel;
void main() {
  float rim = 1.0 - smoothstep(0.55, 1.0, abs(across));
  pixel = vec4(color.rgb, color.a * rim * mix(1.0, 0.16, pow(age, 0.6)));
}`,
  },
};
