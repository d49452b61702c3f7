// A stage in the output of a notebook's cell. What Python sets comes as a change of the model, without a server or port;
// what the user changes goes back the same way.

import { openStage } from "../../stage/stage.js";
import { unpackBytes } from "../../stage/unpack.js";

const REPORT = 250;   // between two reports of the time while a run plays [ms]
const STATE = ["_coordinates", "layers", "speed", "loop", "time", "playing"];

/** Shows the scene of a model in an element; returns a function that closes it. */
async function renderWidget({ model, el }) {
  const host = document.createElement("div"), shown = { stage: null, quiet: false, scenes: Promise.resolve() };
  host.style.height = `${model.get("height")}px`;
  el.append(host);
  const take = () => quietly(shown, () => takeState(shown.stage, model));
  const report = () => quietly(shown, () => reportState(shown.stage, model));
  const show = (keepCamera) => {
    shown.scenes = shown.scenes.then(async () => {
      const scene = await unpackBytes(model.get("_scene"), new Map());
      quietly(shown, () => shown.stage.setScene(scene, { keepCamera }));
      take();
    }).catch((error) => { host.textContent = error.message; });
    return shown.scenes;
  };
  shown.stage = openStage(host, null, { onChange: report });
  await show(false);
  const renew = () => show(true), resize = () => { host.style.height = `${model.get("height")}px`; };
  for (const name of STATE) model.on(`change:${name}`, take);
  model.on("change:_scene", renew);
  model.on("change:height", resize);
  const timer = setInterval(() => { if (shown.stage.playing || model.get("playing")) report(); }, REPORT);
  return () => {
    clearInterval(timer);
    for (const name of STATE) model.off(`change:${name}`, take);
    model.off("change:_scene", renew);
    model.off("change:height", resize);
    shown.stage.close();
  };
}

/** Does something by which stage and model come to agree, without that either side answers. */
function quietly(shown, act) {
  if (shown.quiet) return;
  shown.quiet = true;
  try {
    act();
  } finally {
    shown.quiet = false;
  }
}

/** Shows in the stage what the model says. */
function takeState(stage, model) {
  model.get("_coordinates").forEach((q, figure) => { if (q) stage.setCoordinates(figure, q); });
  for (const [key, on] of Object.entries(model.get("layers"))) {
    if (key in stage.layers && stage.layers[key] !== on) stage.setLayer(key, on);
  }
  stage.setSpeed(model.get("speed"));
  stage.setLoop(model.get("loop"));
  if (Math.abs(stage.time - model.get("time")) > 1e-9) stage.setTime(model.get("time"));
  if (model.get("playing") !== stage.playing) {
    if (stage.playing) stage.pause(); else stage.play();
  }
}

/** Tells the model what the stage shows. */
function reportState(stage, model) {
  const now = {
    _coordinates: stage.scene.figures.map((figure) => (figure.joints ? Array.from(figure.q) : null)),
    layers: { ...stage.layers }, speed: stage.speed, loop: stage.loop, time: stage.time, playing: stage.playing,
  };
  const news = STATE.filter((name) => JSON.stringify(now[name]) !== JSON.stringify(model.get(name)));
  for (const name of news) model.set(name, now[name]);
  if (news.length) model.save_changes();
}
