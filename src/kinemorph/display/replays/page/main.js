// The main program of the page: one scene, one camera, one clock. A picture is drawn only when something has changed.

const KEPT_FRAMES = 240;     // number of frames whose script times are stored
const LONGEST_STEP = 0.25;   // of the clock from one picture to the next [s]: a hidden page does not leap

/** The element with an id. */
const find = (id) => document.getElementById(id);

/** Opens the scene in the page; window.kinemorph.ready is the promise of its completion. */
async function openPage() {
  const scene = await unpack(find("data").textContent);
  const gathered = gatherPieces(scene), slots = makeSlots(scene, gathered), camera = makeCamera(scene);
  const first = scene.times[0], last = scene.times.at(-1);
  const app = {
    scene, gathered, slots, camera, renderer: null, chart: null, controls: null, panel: null,
    time: first, first, last, playing: false, speed: 1, loop: false, poseable: scene.figures.every((f) => f.joints),
    layers: Object.fromEntries(scene.layers.map((layer) => [layer.key, layer.shown])),
    dirty: true, resized: true, request: 0, clock: 0, frames: [], drawn: null,
  };
  app.step = (now) => { app.request = 0; drawFrame(app, now); };
  document.title = scene.title;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  app.dark = dark.matches;
  camera.subject = () => subjectBox(app);
  openPicture(app);
  app.chart = makeChart(app);
  app.panel = app.poseable && scene.times.length === 1 ? makePanel(app) : null;
  app.controls = makeControls(app);
  steerCamera(app);
  bindKeys(app);
  dark.addEventListener("change", () => {
    app.dark = dark.matches;
    if (app.renderer) setPalette(app.renderer, app.dark);
    app.resized = true;
    wake(app);
  });
  new ResizeObserver(() => { app.resized = true; wake(app); }).observe(find("stage"));
  const drawn = new Promise((resolve) => { app.drawn = resolve; });
  wake(app);
  if (location.hash === "#play") play(app);
  describe(app);
  await drawn;
}

/** Makes the renderer, and makes it again after the browser has lost the WebGL context. */
function openPicture(app) {
  const canvas = find("picture");
  const make = () => {
    app.renderer = makeRenderer(canvas, app.scene, app.gathered, app.slots, app.camera);
    if (!app.renderer) {
      showMessage("This browser shows no 3-D picture because WebGL2 is missing or switched off. "
        + "Turn on hardware acceleration in its settings, or open this file in another browser.");
      return;
    }
    app.renderer.layers = app.layers;
    setPalette(app.renderer, app.dark);
    app.resized = true;
  };
  canvas.addEventListener("webglcontextlost", (event) => { event.preventDefault(); app.renderer = null; });
  canvas.addEventListener("webglcontextrestored", () => { make(); wake(app); });
  make();
}

/** A sentence in place of the picture. */
function showMessage(text) {
  const message = find("message");
  message.textContent = text;
  message.hidden = false;
  for (const id of ["gizmo", "spacing", "picture"]) find(id).toggleAttribute("hidden", true);
}

/** Requests a new picture from the browser. */
function wake(app) {
  app.dirty = true;
  app.request ||= requestAnimationFrame(app.step);
}

/** Advances the clock, and draws a picture if something has changed. */
function drawFrame(app, now) {
  const began = performance.now(), { camera, scene } = app;
  if (app.playing) tick(app, now);
  if (app.dirty) {
    app.dirty = false;
    if (!app.panel) posesAt(scene, app.time);
    writeSlots(scene, app.slots, app.time);
    trackBody(app);
    if (app.resized) fitPage(app);
    moveCamera(camera, now);
    updateCamera(camera);
    if (app.renderer) drawPicture(app.renderer, camera, app.time);
    showOverlays(app);
    showTime(app);
    app.frames.push(performance.now() - began);
    if (app.frames.length > KEPT_FRAMES) app.frames.shift();
    app.drawn();
  }
  if (app.playing || camera.move) {
    app.dirty = true;
    app.request ||= requestAnimationFrame(app.step);
  }
}

/** Advances the time by what has passed since the last picture. */
function tick(app, now) {
  const passed = Math.min((now - app.clock) / 1000, LONGEST_STEP) * app.speed, span = app.last - app.first;
  app.clock = now;
  app.time += Math.max(passed, 0);
  app.dirty = true;
  if (app.time < app.last) return;
  if (app.loop && span > 0) {
    app.time = app.first + (app.time - app.first) % span;
  } else {
    app.time = app.last;
    pause(app);
  }
}

/** Adapts all elements to the size of the page. */
function fitPage(app) {
  const first = app.camera.distance === 0, { width, height } = find("stage").getBoundingClientRect();
  const aspect = app.camera.aspect;
  app.resized = false;
  app.width = width;
  app.height = height;
  app.camera.aspect = Math.max(width, 1) / Math.max(height, 1);
  if (app.renderer) resizeCanvas(app.renderer, width, height);
  if (first || (!app.camera.steered && aspect !== app.camera.aspect)) lookFrom(app.camera, null);
  drawChart(app);
  placeMarks(app);
}

/** The box that the camera has to show: of the whole run, of the followed body, or of the robots as they are posed. */
function subjectBox(app) {
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
function lowerFloor(app) {
  const { scene, slots } = app;
  if (!scene.loose) return;
  writeSlots(scene, slots, app.time);
  app.laid ??= scene.floor;
  scene.floor = Math.min(app.laid, ...scene.figures.map((figure, f) => boxNow(slots, f, figure.bodies.length)[0][2]));
}

/** Passes the position of the followed body, or of its figure's center of mass, to the camera. */
function trackBody(app) {
  const { scene, slots, camera } = app, { follow: body, figure } = scene.camera;
  if (body === null) {
    const center = slots.centers[figure];
    followPoint(camera, center[0], center[1], center[2]);
  } else {
    const at = 16 * (slots.places[figure].bodies + body);
    followPoint(camera, slots.values[at + 12], slots.values[at + 13], slots.values[at + 14]);
  }
}

/** Starts the clock; at the end of the run it starts again. */
function play(app) {
  if (app.playing || app.last <= app.first) return;
  if (app.time >= app.last) app.time = app.first;
  app.playing = true;
  app.clock = performance.now();
  showPlaying(app);
  wake(app);
}

/** Stops the clock. */
function pause(app) {
  app.playing = false;
  showPlaying(app);
  wake(app);
}

/** Goes to a time [s]. */
function setTime(app, t) {
  app.time = Math.min(Math.max(Number(t) || 0, app.first), app.last);
  wake(app);
}

/** Shows or hides a layer. */
function setLayer(app, key, on) {
  if (!(key in app.layers)) {
    throw new Error(`layer is '${key}'; expected one of ${Object.keys(app.layers).join(", ")}.`);
  }
  app.layers[key] = Boolean(on);
  showLayers(app);
  wake(app);
}

/** Fills window.kinemorph, the interface by which scripts control the page. */
function describe(app) {
  const { scene } = app, face = window.kinemorph;
  const number = (list, one, what) => {
    const found = typeof one === "number" ? one : list.indexOf(one);
    if (list[found] === undefined) throw new Error(`${what} is '${one}'; expected one of ${list.join(", ")}.`);
    return found;
  };
  Object.assign(face, {
    scene, camera: app.camera, frameMilliseconds: app.frames, webgl: Boolean(app.renderer),
    play: () => play(app), pause: () => pause(app), setTime: (t) => setTime(app, t),
    setSpeed: (x) => setSpeed(app, x), setLayer: (key, on) => setLayer(app, key, on),
    setJoint: (name, value) => setJoint(app, name, value), view: (name) => { lookFrom(app.camera, name); wake(app); },
    pose: (figure, body) => {
      const one = scene.figures[number(scene.figures.map((f) => f.name), figure, "figure")];
      const b = number(one.bodies, body, "body");
      if (!app.panel) posesAt(scene, app.time);
      return {
        position: Array.from(one.pose.positions.subarray(3 * b, 3 * b + 3)),
        quaternion: Array.from(one.pose.quaternions.subarray(4 * b, 4 * b + 4)),
      };
    },
  });
  for (const key of ["time", "playing", "speed", "loop"]) {
    Object.defineProperty(face, key, { get: () => app[key], enumerable: true });
  }
}

window.kinemorph = { webgl: false };
window.kinemorph.ready = openPage().catch((error) => {
  showMessage(error.message);
  throw error;
});
