// The page of a viewer: a stage that shows what the program sets, and tells the program what its user changes.

import { connect } from "../serving/connection.js";
import { openStage, unpackBytes } from "../stage/stage.js";

const PAUSE = 40;   // least time between two reports of a user's changes [ms]

/** The page: its stage, its connection, and what its user has changed but the program does not know yet. */
const viewer = {
  stage: null, connection: null, taking: false, changed: new Set(), reporting: false, scenes: Promise.resolve(),
  surfaces: new Map(),   // that the program has sent, by content
  known: {},             // the revisions of "q", "clock" and "layers" that this page has; none before the first state
};

/** Takes a scene; scenes are shown in the order in which they came. */
function takeScene({ again }, payload) {
  viewer.scenes = viewer.scenes.then(async () => {
    const scene = await unpackBytes(payload, viewer.surfaces);
    if (viewer.stage) {
      keepPaths(viewer.stage.scene, scene);
      quietly(() => viewer.stage.setScene(scene, { keepCamera: again }));
      viewer.known = {};   // the state follows, and is shown as a whole
    } else {
      viewer.stage = openStage(document.querySelector("main"), scene, { keys: document, onChange: noteChange });
      viewer.stage.ready.then(() => { document.documentElement.dataset.ready = "true"; });
    }
    document.title = scene.title;
  }).catch((error) => tell(error.message));
}

/** Keeps the paths that traced points of posed robots have gone, where a new scene traces them too. */
function keepPaths(old, scene) {
  scene.figures.forEach(({ traces }, f) => {
    for (const trace of traces) trace.walked = old.figures[f]?.traces.find(({ name }) => name === trace.name)?.walked;
  });
}

/** How the stage shows what the program has set. */
const SHOW = {
  q: (stage, q) => q.forEach((values, figure) => { if (values) stage.setCoordinates(figure, values); }),
  layers: (stage, layers) => {
    for (const [key, on] of Object.entries(layers)) if (key in stage.layers && stage.layers[key] !== on) stage.setLayer(key, on);
  },
  clock: (stage, { time, playing, speed, loop }) => {
    stage.setSpeed(speed);
    stage.setLoop(loop);
    if (!playing) stage.pause();
    if (stage.time !== time) stage.setTime(time);
    if (playing) stage.play();
  },
};

/** Shows the state that the program has, as far as it is newer than what this page shows: all of it with `all`. */
function takeState(state, { all = false } = {}) {
  viewer.scenes = viewer.scenes.then(() => quietly(() => {
    for (const [what, show] of Object.entries(SHOW)) {
      if (!all && state.revisions[what] <= viewer.known[what]) continue;
      show(viewer.stage, state[what]);
      viewer.changed.delete(what);   // what the user has changed before is not shown any more
      viewer.known[what] = state.revisions[what];
    }
    tell(state.message);
  })).catch((error) => tell(error.message));
}

/** Does something with the stage without reporting it to the program, which knows it. */
function quietly(act) {
  viewer.taking = true;
  try {
    act();
  } finally {
    viewer.taking = false;
  }
}

/** Notes that the user has changed "q", "clock" or "layers", and reports it soon. */
function noteChange(what) {
  if (viewer.taking || !viewer.stage) return;
  viewer.changed.add(what);
  report();
}

/** Reports what has changed, newest values only: the next report begins after the answer to the last one. */
async function report() {
  if (viewer.reporting) return;
  viewer.reporting = true;
  while (viewer.changed.size) {
    const args = described(viewer.changed);
    viewer.changed.clear();
    try {
      const { revisions } = await viewer.connection.ask("change", args);
      for (const [what, number] of Object.entries(revisions)) viewer.known[what] = Math.max(viewer.known[what] ?? 0, number);
      tell("");
    } catch (error) {
      tell(error.message);
    }
    await new Promise((done) => { setTimeout(done, PAUSE); });
  }
  viewer.reporting = false;
}

/** The present values of what has changed, and the revisions of the state in which it was changed. */
function described(changed) {
  const { stage } = viewer, args = { known: { ...viewer.known } };
  if (changed.has("q")) args.q = stage.scene.figures.map((figure) => (figure.joints ? Array.from(figure.q) : null));
  if (changed.has("layers")) args.layers = { ...stage.layers };
  if (changed.has("clock")) {
    args.clock = { time: stage.time, playing: stage.playing, speed: stage.speed, loop: stage.loop };
  }
  return args;
}

/** Shows a sentence over the picture; an empty one removes it. */
function tell(sentence) {
  const line = document.querySelector(".told");
  line.textContent = sentence;
  line.hidden = !sentence;
}

viewer.connection = connect({
  onPush: (message) => { if (message.push === "state") takeState(message); else if (message.error) tell(message.error); },
  onBytes: takeScene,
  onState: (state, sentence) => {
    if (state === "open") {   // the program does not know what this page has
      viewer.surfaces.clear();
      viewer.known = {};
    }
    tell(state === "open" ? "" : sentence);
  },
});
// a hidden page does not play: when it is seen again, it shows what the program shows now
document.addEventListener("visibilitychange", async () => {
  if (!document.hidden && viewer.stage) takeState(await viewer.connection.ask("state"), { all: true });
});
window.viewer = viewer;
