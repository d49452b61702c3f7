// A stage shows one scene in an element of a page: openStage makes it. A page may have several; each has its own
// elements, clock, camera and WebGL context, and nothing of it is left after close().

import { makeChart } from "./chart.js";
import { fillControls, makeControls, setLayer, setSpeed, showJoints, toggleLoop } from "./controls.js";
import { setCord } from "./cord.js";
import { makeLayout } from "./layout.js";
import { posesAt } from "./motion/posing.js";
import { appendFrames, setMotion, setPoses } from "./growing.js";
import { setGrab } from "./grabbing.js";
import { highlight, makeMarked, renewMarks, setGhost, setPorts } from "./marking.js";
import { keepView, lookFrom, makeCamera } from "./picture/camera.js";
import { gatherPieces } from "./picture/geometry.js";
import { closeRenderer, loadScene, makeRenderer, setPalette } from "./picture/render.js";
import { makeSlots } from "./picture/slots.js";
import { drawFrame, drawNow, pause, play, setTime, subjectBox, wake } from "./playing.js";
import { makePanel, setCoordinates, setJoint } from "./sliders.js";
import { bindKeys, steerCamera } from "./steering.js";
import { emptyScene } from "./unpack.js";

export { unpackBytes } from "./unpack.js";

const NO_WEBGL = "This browser shows no 3-D picture because WebGL2 is missing or switched off. "
  + "Turn on hardware acceleration in its settings, or open this page in another browser.";

/**
 * Opens a stage in an element of the page and returns the object that controls it.
 *
 * `scene` is a scene of unpack.js, or null for an empty stage. Options:
 *   bar, plots, panel   whether the stage has a bar with clock and menus, plots over time, sliders for joints (true)
 *   keys                the element or document whose keys control the stage; by default the stage itself
 *   onReady(stage)      is called after the first picture
 *   onPick(picked)      is called after a click: {figure (index), body, part, port (names), point [m], event}, all but
 *                       the event null where nothing is hit
 *   onChange(what)      is called when "q" of a posed figure, the "clock" or the shown "layers" have changed
 */
export function openStage(host, scene, options = {}) {
  const app = {
    options: { bar: true, plots: true, panel: true, ...options }, ui: makeLayout(host), end: new AbortController(),
    scene: null, gathered: null, slots: null, camera: null, renderer: null, chart: null, controls: null, panel: null,
    time: 0, first: 0, last: 0, playing: false, speed: 1, loop: false, layers: {}, closed: false, marked: makeMarked(),
    dirty: true, edited: -Infinity, resized: true, renewed: true, resting: false, restTimer: 0, request: 0, clock: 0, frames: [], drawn: null,
    width: 1, height: 1,
  };
  app.step = (now) => { app.request = 0; if (!app.closed) drawFrame(app, now); };
  const { signal } = app.end, dark = window.matchMedia("(prefers-color-scheme: dark)");
  app.dark = dark.matches;
  app.renderer = openPicture(app);
  app.controls = makeControls(app);
  showScene(app, scene ?? emptyScene());
  steerCamera(app);
  bindKeys(app);
  dark.addEventListener("change", () => {
    app.dark = dark.matches;
    if (app.renderer) setPalette(app.renderer, app.dark);
    app.resized = true;
    wake(app);
  }, { signal });
  app.observer = new ResizeObserver(() => { app.resized = true; wake(app); });
  app.observer.observe(app.ui.area);
  const ready = new Promise((resolve) => { app.drawn = resolve; });
  wake(app);
  const stage = describeStage(app);
  stage.ready = ready.then(() => { app.options.onReady?.(stage); return stage; });
  return stage;
}

/** Makes the renderer, and makes it again after the browser has lost the WebGL context; null without WebGL2. */
function openPicture(app) {
  const { picture } = app.ui, { signal } = app.end;
  const renew = () => {
    const renderer = makeRenderer(picture);
    if (renderer) setPalette(renderer, app.dark);
    return renderer;
  };
  picture.addEventListener("webglcontextlost", (event) => { event.preventDefault(); app.renderer = null; }, { signal });
  picture.addEventListener("webglcontextrestored", () => {
    app.renderer = renew();
    if (app.renderer) loadScene(app.renderer, app);
    renewMarks(app);
    app.resized = true;
    wake(app);
  }, { signal });
  const renderer = renew();
  if (!renderer) showMessage(app, NO_WEBGL);
  return renderer;
}

/** A sentence in place of the picture. */
export function showMessage(app, text) {
  app.ui.message.textContent = text;
  app.ui.message.hidden = false;
  for (const name of ["gizmo", "spacing", "picture"]) app.ui[name].toggleAttribute("hidden", true);
}

/** Shows a scene in place of the one before; the camera, the shown layers and the time stay where they can. */
function showScene(app, scene, { keepCamera = false } = {}) {
  const camera = makeCamera(scene), shown = app.layers;
  if (keepCamera && app.scene) app.edited = performance.now();
  app.scene = scene;
  app.layers = Object.fromEntries(scene.layers.map(({ key, shown: first }) => [key, shown[key] ?? first]));
  app.gathered = gatherPieces(scene, app.layers);
  app.slots = makeSlots(scene, app.gathered);
  app.camera = keepCamera && app.camera ? keepView(app.camera, camera) : camera;
  app.camera.subject = () => subjectBox(app);
  app.first = scene.times[0];
  app.last = scene.times.at(-1);
  app.time = Math.min(Math.max(keepCamera ? app.time : app.first, app.first), app.last);
  app.playing &&= app.last > app.first;
  app.laid = undefined;
  app.poseable = scene.figures.length > 0 && scene.figures.every((figure) => figure.joints);
  if (app.renderer) loadScene(app.renderer, app);
  app.ui.plots.replaceChildren();
  app.ui.panel.replaceChildren();
  app.chart = app.options.plots ? makeChart(app) : null;
  app.panel = app.options.panel && app.poseable && scene.times.length === 1 ? makePanel(app) : null;
  fillControls(app);
  setGhost(app, null);
  renewMarks(app);
  app.renewed = true;
  wake(app);
}

/** Frees everything that a stage holds, and takes its elements out of the page. */
function closeStage(app) {
  if (app.closed) return;
  app.closed = true;
  app.end.abort();
  app.observer.disconnect();
  cancelAnimationFrame(app.request);
  clearTimeout(app.controls.hover);
  clearTimeout(app.restTimer);
  if (app.renderer) closeRenderer(app.renderer);
  app.renderer = null;
  app.ui.root.remove();
}

/** The index of a member of a list, given by name or index. */
function memberIndex(list, one, what) {
  const found = typeof one === "number" ? one : list.indexOf(one);
  if (list[found] === undefined) throw new Error(`${what} is '${one}'; expected one of ${list.join(", ")}.`);
  return found;
}

/** Position [m] and quaternion (wxyz) of a body as it is shown, without the offset of its figure. */
function poseOf(app, figure, body) {
  const { scene } = app, one = scene.figures[memberIndex(scene.figures.map((f) => f.name), figure, "figure")];
  const b = memberIndex(one.bodies, body, "body");
  if (!app.panel) posesAt(scene, app.time);
  return {
    position: Array.from(one.pose.positions.subarray(3 * b, 3 * b + 3)),
    quaternion: Array.from(one.pose.quaternions.subarray(4 * b, 4 * b + 4)),
  };
}

/** The level of quality of pictures in motion, 0 the finest, and the time that the last one took [ms]. */
function qualityOf({ quality: { level, milliseconds } }) {
  return { level, milliseconds };
}

/** The object by which a page controls a stage. */
function describeStage(app) {
  return {
    element: app.ui.root, frameMilliseconds: app.frames,
    setScene: (scene, more = { keepCamera: true }) => showScene(app, scene ?? emptyScene(), more),
    drawNow: () => drawNow(app),
    play: () => play(app), pause: () => pause(app), setTime: (t) => setTime(app, t),
    setSpeed: (x) => setSpeed(app, x), setLoop: (on) => { if (app.loop !== Boolean(on)) toggleLoop(app); },
    setLayer: (key, on) => setLayer(app, key, on),
    setJoint: (name, value) => setJoint(app, name, value),
    setCoordinates: (figure, q) => setCoordinates(app, figure, q),
    showJoints: (on) => showJoints(app, on),
    view: (name) => { lookFrom(app.camera, name); wake(app); },
    setPoses: (figure, positions, quaternions) => setPoses(app, figure, positions, quaternions),
    setMotion: (figure, q) => setMotion(app, figure, q),
    appendFrames: (frames) => appendFrames(app, frames),
    highlight: (members) => highlight(app, members),
    setGhost: (ghost, look) => setGhost(app, ghost, look),
    setPorts: (ports) => setPorts(app, ports),
    setGrab: (grab) => setGrab(app, grab),
    setCord: (cord) => setCord(app, cord),
    pose: (figure, body) => poseOf(app, figure, body),
    close: () => closeStage(app),
    get scene() { return app.scene; },
    get camera() { return app.camera; },
    get webgl() { return Boolean(app.renderer); },
    get quality() { return app.renderer ? qualityOf(app.renderer) : null; },
    get time() { return app.time; },
    get playing() { return app.playing; },
    get speed() { return app.speed; },
    get layers() { return app.layers; },
    get loop() { return app.loop; },
  };
}
