// The panel Live: a run in real time. A worker computes it and sends poses; this panel shows its clock, and passes on
// what people do: pull bodies, move sliders, dock and undock.

import { button, choice, field, make, refill } from "../elements.js";
import { sameInPython } from "../same_in_python.js";
import { act } from "./live/acting.js";
import { makeDocking, showPorts, takePortPick } from "./live/docking.js";
import { followInputs, makeInputs, showInputs } from "./live/inputs.js";
import { forgetTarget, listBodies, makePulling, takeGrabs } from "./live/pulling.js";

const SPEEDS = [[0.1, "0.1 (slow motion)"], [0.25, "0.25"], [0.5, "0.5"], [1, "1 (real time)"], [2, "2"], [5, "5"]];
const READY = "The live run is ready. Resume lets time pass.";
const FALLEN = 3;   // sizes of the model by which all its bodies are below it at first, after which that is told
const PREPARING = "The live run is being prepared.";

/** Opens the panel in its place. */
function openLive(host, studio) {
  const view = { studio, document: null, state: "off", ready: null, status: null, run: "", revision: null };
  view.pulling = makePulling(view);
  view.inputs = makeInputs(view);
  view.docking = makeDocking(view);
  view.controls = makeLiveControls(view);
  view.clock = makeLiveClock();
  view.told = make("p", { role: "status", class: "help" });
  view.begin = makeBeginning(view);
  view.falls = make("span", { role: "status" });
  view.floor = make("div", { class: "row", hidden: true }, view.falls, button("Put it on the floor", () => putOnFloor(view)));
  view.python = make("div", {});
  view.running = make("div", { hidden: true }, view.controls.row, view.clock.list, view.pulling.place,
    view.inputs.place, view.docking.place, make("div", { class: "row" }, view.controls.keep));
  refill(host,
    make("p", { class: "help" }, "The model moves in step with the clock. Drag a body in the picture to pull it, or "
      + "choose one below. What happens is recorded and can be kept as a run."),
    view.begin, view.floor, view.told, view.running, view.python);
  const ends = [
    studio.on("live", (message) => takeMessage(view, message)),
    studio.on("poses", (header, payload) => showPoses(view, header, payload)),
    studio.on("picture", () => { if (view.state === "on") showPicture(view); }),
    studio.on("pick", (picked) => { if (view.state === "on") takePortPick(view, picked); }),
  ];
  return {
    update: ({ document, good_revision: good }) => {
      if (document !== view.document) readLive(view, document);
      else showRevision(view);
      if (document !== view.shown || good !== view.good) showFloor(view, document, good);
    },
    close: () => { for (const end of ends) end(); turnOff(view, ""); },
  };
}

/** Asks for the live run of a document, and shows it. */
async function readLive(view, document) {
  if (view.document !== null) turnOff(view, "");
  view.document = document;
  view.start.disabled = true;
  let found = null;
  try {
    found = await view.studio.ask("live", { document });
  } catch {
    view.document = null;   // the page has shown why; it is asked again when the panel is shown again
    return;
  }
  if (document !== view.document) return;
  refill(view.python, sameInPython(found.same));
  listRuns(view, found.runs);
  takeMessage(view, { ...found, document });
}

/** Says where a model touches nothing, and offers to put it on the floor. */
async function showFloor(view, document, good) {
  Object.assign(view, { shown: document, good });
  const sentence = good < 0 ? "" : await view.studio.ask("falls", { document });
  if (document !== view.shown || good !== view.good) return;   // a newer model is being asked about
  view.floor.hidden = !sentence;
  view.falls.textContent = sentence;
}

/** Gives the model contacts with the floor; a live run that is on begins again with them. */
async function putOnFloor(view) {
  view.studio.take(await view.studio.ask("put_on_floor", { document: view.document }));
  if (view.state === "on") await startLive(view);
}

/** The row with which a live run is started and stopped; it waits until the document is known. */
function makeBeginning(view) {
  view.from = choice([], "", (name) => { view.run = name; });
  view.start = button("Start live run", () => startLive(view), { kind: "main", disabled: true });
  const end = () => view.studio.ask("live_stop", { document: view.document });
  view.stop = button("Stop live run", end, { disabled: true });
  return make("div", { class: "row" }, field("Begin at", view.from), view.start, view.stop);
}

/** Lists the runs of the file whose start and method a live run can have. */
function listRuns(view, runs) {
  if (!runs.includes(view.run)) view.run = "";
  refill(view.from, ["", ...runs].map((name) =>
    make("option", { value: name, selected: name === view.run }, name ? `run ${name}` : "the start of the model")));
}

/** Starts a live run. */
async function startLive(view) {
  const { document, run, studio } = view;
  view.start.disabled = true;
  view.told.textContent = PREPARING;
  try {
    view.revision = studio.state.revision;
    takeMessage(view, { ...await studio.ask("live_start", { document, run }), document });
  } catch {
    turnOff(view, "");
  }
}

/** The buttons that start and stop time. */
function makeLiveControls(view) {
  const go = () => act(view, view.status?.paused === false ? "pause" : "resume");
  const run = button("Resume", go, { kind: "main" }), step = button("Single step", () => act(view, "step"));
  const reset = button("Reset live run", () => { forgetTarget(view); return act(view, "reset"); });
  const speed = choice(SPEEDS, 1, (value) => act(view, "speed", { speed: Number(value) }), { "aria-label": "Speed" });
  const keep = button("Keep as run", () => keepRun(view));
  return { run, step, reset, speed, keep, row: make("div", { class: "row" }, run, step, reset, field("Speed", speed)) };
}

/** The list with the clock: values that change often and are not read out by themselves. */
function makeLiveClock() {
  const names = { t: "Time of the run", clock: "Clock", lag: "Late by", factor: "Pace" };
  const values = {}, rows = [];
  for (const [key, name] of Object.entries(names)) {
    values[key] = make("span", { role: "timer", "aria-label": name });
    rows.push(make("div", {}, make("span", { class: "name" }, `${name} `), values[key]));
  }
  return { values, list: make("div", { class: "clocks" }, rows) };
}

/** Stores what was recorded among the results. */
async function keepRun(view) {
  view.controls.keep.disabled = true;
  try {
    const kept = await view.studio.ask("live_keep", { document: view.document });
    view.studio.say(`The live run is kept as '${kept.label}' among the results of the panel Runs.`);
  } catch {
    // the page has shown the sentence
  } finally {
    view.controls.keep.disabled = false;
  }
}

/** Takes a message about the live run of a document: that it is prepared, is on, or has ended. */
function takeMessage(view, message) {
  if (message.document !== view.document) return;
  if (message.state === "preparing") {
    view.state = "preparing";
    view.start.disabled = true;
    view.stop.disabled = false;
    const { doing } = message.progress ?? {};
    view.told.textContent = doing ? `${PREPARING} It is ${doing}.` : PREPARING;
    return;
  }
  if (message.state === "off") {
    turnOff(view, message.sentence ?? "");
    return;
  }
  if (message.ready) {
    view.ready = message.ready;
    turnOn(view);
  }
  if (message.status) showStatus(view, message.status);
}

/** Shows the controls of a live run that is on. */
function turnOn(view) {
  const first = view.state !== "on";
  view.state = "on";
  view.running.hidden = false;
  view.start.disabled = true;
  view.stop.disabled = false;
  if (first) view.told.textContent = READY;
  listBodies(view);
  showInputs(view);
  showPicture(view);
}

/** Hides the controls: there is no live run. */
function turnOff(view, sentence) {
  const was = view.state;
  Object.assign(view, { state: "off", ready: null, status: null });
  view.running.hidden = true;
  view.start.disabled = false;
  view.stop.disabled = true;
  view.told.textContent = sentence || (was === "on" ? "The live run has ended." : "");
  forgetTarget(view);
  view.studio.stage?.setGrab?.(null);
  if (was === "on") view.studio.stage?.setPorts?.([]);
}

/** Lets people grab bodies and choose ports in the picture, which may be a new one. */
function showPicture(view) {
  takeGrabs(view);
  showPorts(view);
}

/** Shows the clock, and says what has to be said. */
function showStatus(view, status) {
  const { values } = view.clock, { run, step } = view.controls;
  const changed = view.status?.paused !== status.paused;
  view.status = status;
  values.t.textContent = `${status.t.toFixed(2)} s`;
  values.clock.textContent = `${status.clock.toFixed(2)} s`;
  values.lag.textContent = `${(1000 * status.lag).toFixed(0)} ms`;
  values.factor.textContent = status.paused ? "paused" : `${status.factor.toFixed(2)} of ${status.speed}`;
  run.disabled = step.disabled = status.ended;
  run.textContent = status.paused ? "Resume" : "Pause";
  if (status.sentence) view.told.textContent = status.sentence;
  else if (changed) {
    view.told.textContent = !status.paused ? "The live run is on." : status.t > 0 ? "The live run is paused." : READY;
    view.fallen = false;
  }
  else if (view.told.textContent.startsWith("Slower")) view.told.textContent = "The live run is on.";
  const { speed } = view.controls;
  if (Math.abs(Number(speed.value) - status.speed) > 1e-9) speed.value = String(status.speed);
  followInputs(view);
  showRevision(view);
}

/** Says that the model was edited after the live run was started. */
function showRevision(view) {
  const { revision, studio, state } = view, now = studio.state?.revision;
  if (state !== "on" || revision === null || [revision, view.outdated].includes(now)) return;
  view.outdated = now;
  view.told.textContent = "The model was edited; the live run goes on with the model as it was. "
    + "Start it again to see the edit.";
}

/**
 * Moves the bodies in the picture, by 32-bit numbers: coordinates (nq) where the header says so, else positions (3 nb)
 * and quaternions (4 nb).
 */
function showPoses(view, header, payload) {
  const figure = view.studio.stage?.scene?.figures[0];
  if (header.document !== view.document || !figure || view.studio.stage.scene.times.length !== 1) return;
  if (header.coordinates) {
    if (payload.byteLength === 4 * figure.q.length) view.studio.stage.setMotion(0, new Float32Array(payload));
    return;
  }
  const { bodies } = view.ready ?? { bodies: [] }, count = bodies.length;
  const places = figure.bodies.map((name) => bodies.indexOf(name));
  if (payload.byteLength !== 28 * count || places.includes(-1)) return;   // the picture shows another model
  const sent = [new Float32Array(payload, 0, 3 * count), new Float32Array(payload, 12 * count, 4 * count)];
  const [positions, quaternions] = sent.map((values, k) => inOrder(values, places, 3 + k));
  view.studio.stage.setPoses(0, positions, quaternions);
  tellFall(view, positions);
}

/** Rows of `width` numbers in the order of `places`: a picture made from modules lists bodies in another order. */
function inOrder(values, places, width) {
  if (places.every((from, to) => from === to)) return values;
  const found = new Float32Array(width * places.length);
  places.forEach((from, to) => found.set(values.subarray(width * from, width * (from + 1)), width * to));
  return found;
}

/** Says, once, that the model has fallen out of the picture because nothing holds it. */
function tellFall(view, positions) {
  const [low, high] = view.studio.stage.scene.box;
  const size = Math.hypot(...high.map((end, k) => end - low[k]));
  const below = low[2] - FALLEN * size;
  if (view.fallen || !(size > 0) || positions.some((z, k) => k % 3 === 2 && z > below)) return;
  view.fallen = true;
  view.told.textContent = "The model has fallen out of the picture: nothing holds it. Docked modules are put on the ground "
    + "in the panel Assemble; other models need contacts, or a joint that fixes them.";
}

export { openLive as open };
