// Pulling bodies of a live run: by dragging them in the picture, or by choosing one and moving its target with keys.

import { button, choice, entry, field, make, refill, tick } from "../../elements.js";
import { act } from "./acting.js";

const PULLED_EVERY = 33;        // [ms] between two targets that are sent while the pointer moves
const PULL_STEP = 0.02;            // of the size of the picture's box, by which an arrow key moves the target
const PULL_KEYS = {                // which way each key moves the target, in axes of the world
  ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [2, -1], ArrowUp: [2, 1], PageDown: [1, -1], PageUp: [1, 1],
};

/** The part of the panel with which a body is pulled. */
export function makePulling(view) {
  const pulling = { body: null, point: [0, 0, 0], target: null, held: false, sent: 0, timer: 0, last: Promise.resolve() };
  pulling.bodies = choice([], "", (name) => { pulling.body = name; });
  pulling.hold = tick("Keep holding after a drag", false, (on) => { pulling.held = on; });
  pulling.strength = make("input", { type: "range", min: "-2", max: "2", step: "0.1", value: "0" });
  pulling.strength.addEventListener("input", () => { if (pulling.target) sendTarget(view, pulling.target); });
  pulling.coordinates = ["x", "y", "z"].map((axis, k) => {
    const control = entry("", (text) => moveTarget(view, k, Number(text)), { inputMode: "decimal" });
    return { control, row: field(`Target ${axis}`, control, { unit: "m" }) };
  });
  const grab = button("Hold body", () => holdBody(view)), release = button("Let go", () => letGo(view));
  const steer = button("Move target with arrow keys", () => holdBody(view), {
    title: "Left and right move along x, up and down along z, Page Up and Page Down along y",
  });
  steer.addEventListener("keydown", (event) => steerTarget(view, event));
  pulling.place = make("fieldset", {}, make("legend", {}, "Pull"), field("Body", pulling.bodies),
    field("Strength", pulling.strength, { help: "from a hundredth of the usual strength to a hundred times it" }),
    make("div", { class: "row" }, grab, release, steer), pulling.coordinates.map((one) => one.row), pulling.hold);
  return pulling;
}

/** Lists the bodies that can be pulled. */
export function listBodies({ pulling, ready }) {
  const before = pulling.body;
  pulling.body = ready.bodies.includes(before) ? before : ready.bodies.at(-1);
  const entries = ready.bodies.map((name) => make("option", { value: name, selected: name === pulling.body }, name));
  refill(pulling.bodies, entries);
}

/** Lets drags in the picture pull bodies. */
export function takeGrabs(view) {
  const { stage } = view.studio, { pulling } = view;
  stage?.setGrab?.((picked) => {
    if (view.state !== "on" || picked.body === null || picked.figure !== 0 || picked.port !== null) return null;
    pulling.body = pulling.bodies.value = picked.body;
    pulling.point = localPoint(stage, picked.body, picked.point);
    return {
      move: (point) => sendTarget(view, point),
      end: () => { if (!pulling.held) letGo(view); },
    };
  });
}

/** A point of the world [m] in the axes of a body, as the picture shows the body. */
function localPoint(stage, body, point) {
  const { position, quaternion: [w, x, y, z] } = stage.pose(0, body), d = point.map((value, k) => value - position[k]);
  return [
    (1 - 2 * (y * y + z * z)) * d[0] + 2 * (x * y + w * z) * d[1] + 2 * (x * z - w * y) * d[2],
    2 * (x * y - w * z) * d[0] + (1 - 2 * (x * x + z * z)) * d[1] + 2 * (y * z + w * x) * d[2],
    2 * (x * z + w * y) * d[0] + 2 * (y * z - w * x) * d[1] + (1 - 2 * (x * x + y * y)) * d[2],
  ];
}

/** Holds the origin of the chosen body where it is; a body that is held already keeps its target. */
function holdBody(view) {
  const { pulling, studio } = view, body = pulling.bodies.value;
  if (pulling.target && pulling.body === body) return;
  pulling.body = body;
  pulling.point = [0, 0, 0];
  sendTarget(view, studio.stage.pose(0, body).position);
}

/** Moves the target by a key. */
function steerTarget(view, event) {
  const way = PULL_KEYS[event.key];
  if (!way) return;
  event.preventDefault();
  holdBody(view);
  const [axis, sign] = way, [low, high] = view.studio.stage.scene.box, target = [...view.pulling.target];
  target[axis] += sign * PULL_STEP * Math.hypot(...low.map((value, k) => high[k] - value));
  sendTarget(view, target);
}

/** Sets one coordinate of the target [m]. */
function moveTarget(view, axis, value) {
  if (!Number.isFinite(value)) {
    view.studio.say(`Target ${"xyz"[axis]} is not a number; expected a length in m, such as 0.25.`, "error");
    return;
  }
  holdBody(view);
  const target = [...view.pulling.target];
  target[axis] = value;
  sendTarget(view, target);
}

/** Sends the target [m]; of targets that come too fast, the newest is sent. */
function sendTarget(view, target) {
  const { pulling } = view;
  pulling.target = [...target];
  pulling.coordinates.forEach(({ control }, k) => { control.value = target[k].toFixed(3); });
  view.studio.stage?.setCord({ figure: 0, body: pulling.body, point: pulling.point, target: pulling.target });
  if (pulling.timer) return;
  const wait = Math.max(0, pulling.sent + PULLED_EVERY - performance.now());
  pulling.timer = setTimeout(() => {
    pulling.timer = 0;
    pulling.sent = performance.now();
    if (!pulling.target || view.state !== "on") return;
    const { body, point } = pulling, usual = view.ready.strengths[body] ?? 1;
    const strength = usual * 10 ** Number(pulling.strength.value);
    const given = { document: view.document, body, point, target: pulling.target, strength };
    pulling.last = view.studio.ask("live_pull", given).catch(() => {});
  }, wait);
}

/** Forgets the target, such as after the run has ended or has been reset. */
export function forgetTarget({ pulling, studio }) {
  studio.stage?.setCord(null);
  clearTimeout(pulling.timer);
  pulling.timer = 0;
  pulling.target = null;
  for (const { control } of pulling.coordinates) control.value = "";
}

/** Lets go of the body. */
export function letGo(view) {
  const { pulling } = view;
  forgetTarget(view);
  // the server makes several answers at a time: a pull that is on its way must not come after the release
  if (view.state === "on") pulling.last.then(() => act(view, "release"));
}
