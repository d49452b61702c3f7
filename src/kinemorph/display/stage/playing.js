// The clock of a stage and its pictures. A picture is drawn only when something has changed.

import { drawChart } from "./chart.js";
import { placeMarks, showOverlays, showPlaying, showTime } from "./controls.js";
import { placeCord } from "./cord.js";
import { placePortButtons, renewMarks } from "./marking.js";
import { posesAt } from "./motion/posing.js";
import { followPoint, lookFrom, moveCamera, updateCamera } from "./picture/camera.js";
import { gatherPieces } from "./picture/geometry.js";
import { isBehind, restDelay, triesFiner } from "./picture/quality.js";
import { drawPicture, loadScene, resizeCanvas } from "./picture/render.js";
import { boxNow, writeSlots } from "./picture/slots.js";

const KEPT_FRAMES = 240;     // number of frames whose script times are stored
const LONGEST_STEP = 0.25;   // of the clock from one picture to the next [s]: a hidden page does not leap

/** Requests a new picture from the browser. */
export function wake(app) {
  if (app.closed) return;
  app.dirty = true;
  app.request ||= requestAnimationFrame(app.step);
}

/** Draws what has changed at once, instead of with the browser's next frame: a new scene does not wait for that. */
export function drawNow(app) {
  if (app.closed || !app.dirty || document.hidden) return;
  cancelAnimationFrame(app.request);
  app.request = 0;
  drawFrame(app, performance.now(), true);
}

/** Advances the clock, and draws a picture if something has changed. */
export function drawFrame(app, now, isNew = false) {
  const began = performance.now(), { camera, scene } = app, atRest = app.resting;
  app.resting = false;
  if (app.playing) tick(app, now);
  if (app.dirty && app.renderer && isBehind(app.renderer.quality, isNew)) {   // pictures before are not done yet
    app.resting = atRest;
    app.request ||= requestAnimationFrame(app.step);
    return;
  }
  if (app.dirty) {
    app.dirty = false;
    if (!app.panel) posesAt(scene, app.time);
    writeSlots(scene, app.slots, app.time);
    trackBody(app);
    if (app.resized || app.renewed) fitPage(app);
    moveCamera(camera, now);
    updateCamera(camera);
    if (app.renderer) drawPicture(app.renderer, camera, app.time, atRest);
    showOverlays(app);
    placePortButtons(app, atRest);
    placeCord(app);
    showTime(app);
    app.frames.push(performance.now() - began);
    if (app.frames.length > KEPT_FRAMES) app.frames.shift();
    app.drawn();
  }
  clearTimeout(app.restTimer);
  if (app.playing || camera.move) {
    app.dirty = true;
    app.request ||= requestAnimationFrame(app.step);
  } else if (app.renderer && scene.figures.length) {
    const { quality } = app.renderer;
    app.restTimer = setTimeout(() => {
      if (!triesFiner(quality, atRest)) return;
      app.resting = true;
      wake(app);
    }, restDelay(quality, now - app.edited, atRest));
  }
}

/** Advances the time by what has passed since the last picture; negative speeds play backward. */
function tick(app, now) {
  const passed = Math.min(Math.max((now - app.clock) / 1000, 0), LONGEST_STEP) * app.speed, span = app.last - app.first;
  app.clock = now;
  app.time += passed;
  app.dirty = true;
  if (app.speed > 0 ? app.time < app.last : app.time > app.first) return;
  if (app.loop && span > 0) {
    app.time = app.first + (((app.time - app.first) % span) + span) % span;
  } else {
    app.time = app.speed > 0 ? app.last : app.first;
    app.playing = false;
    showPlaying(app);
  }
}

/** Adapts all elements to the size of the stage, which is measured if it may have changed: that takes long. */
function fitPage(app) {
  const first = app.camera.distance === 0, { aspect } = app.camera;
  if (app.resized) Object.assign(app, sizeOf(app.ui.area));
  app.resized = app.renewed = false;
  app.camera.aspect = Math.max(app.width, 1) / Math.max(app.height, 1);
  if (app.renderer) resizeCanvas(app.renderer, app.width, app.height);
  if (first || (!app.camera.steered && aspect !== app.camera.aspect)) lookFrom(app.camera, null);
  drawChart(app);
  placeMarks(app);
}

/** Width and height of an element [pixels]. */
function sizeOf(element) {
  const { width, height } = element.getBoundingClientRect();
  return { width, height };
}

/** The box that the camera has to show: of the whole run, of the followed body, or of the robots as they are posed. */
export function subjectBox(app) {
  const { scene, slots, camera } = app, { figures } = scene;
  if (!camera.following && !app.panel) return scene.box;
  const looked = camera.following ? [scene.camera.figure] : figures.map((_, f) => f);
  const boxes = looked.filter((f) => figures[f]?.bodies.length).map((f) => boxNow(slots, f, figures[f].bodies.length));
  if (!camera.following || !boxes.length) boxes.push(scene.box);
  const [low, high] = [Math.min, Math.max].map((most, end) =>
    [0, 1, 2].map((k) => most(...boxes.map((box) => box[end][k]))));
  if (!camera.following) return [low, high];
  // as much to both sides of the middle as the robot has to one, and some more for its motion
  const reach = high.map((value, k) => 1.15 * Math.max(value - camera.anchor[k], camera.anchor[k] - low[k], 1e-6));
  return [-1, 1].map((side) => reach.map((length, k) => camera.anchor[k] + side * length));
}

/** Keeps a floor without contacts below the robots that a user poses. */
export function lowerFloor(app) {
  const { scene, slots } = app;
  if (!scene.loose) return;
  writeSlots(scene, slots, app.time);
  app.laid ??= scene.floor;
  scene.floor = Math.min(app.laid, ...scene.figures.map((figure, f) => boxNow(slots, f, figure.bodies.length)[0][2]));
}

/** Passes the position of the followed body, or of its figure's center of mass, to the camera. */
function trackBody(app) {
  const { scene, slots, camera } = app, { follow: body, figure } = scene.camera;
  if (!scene.figures[figure]) return;
  if (body === null) {
    const center = slots.centers[figure];
    followPoint(camera, center[0], center[1], center[2]);
  } else {
    const at = 16 * (slots.places[figure].bodies + body);
    followPoint(camera, slots.values[at + 12], slots.values[at + 13], slots.values[at + 14]);
  }
}

/** Starts the clock; at the end of the run it starts again. */
export function play(app) {
  if (app.playing || app.last <= app.first) return;
  if (app.speed > 0 ? app.time >= app.last : app.time <= app.first) app.time = app.speed > 0 ? app.first : app.last;
  app.playing = true;
  endLive(app);
  app.clock = performance.now();
  app.options.onChange?.("clock");
  showPlaying(app);
  wake(app);
}

/** Stops the clock. */
export function pause(app) {
  app.playing = false;
  app.options.onChange?.("clock");
  showPlaying(app);
  wake(app);
}

/** Goes to a time [s]. */
export function setTime(app, t) {
  app.time = Math.min(Math.max(Number(t) || 0, app.first), app.last);
  endLive(app);
  app.options.onChange?.("clock");
  wake(app);
}

/** Lets figures that were moved from outside go back to the run of the scene. */
function endLive(app) {
  for (const figure of app.scene.figures) figure.live = false;
}

/** Makes the pieces of the layers that are shown now, because one of them was not shown before. */
export function gatherLayers(app) {
  app.gathered = gatherPieces(app.scene, app.layers);
  if (app.renderer) loadScene(app.renderer, app);
  renewMarks(app);
}
