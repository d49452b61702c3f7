// The page of a replay: one stage that fills it, and window.kinemorph, by which scripts control the page.

import { openStage } from "../../stage/stage.js";
import { unpack } from "../../stage/unpack.js";

/** Opens the scene of the page; window.kinemorph.ready is the promise of its first picture. */
async function openPage() {
  const host = document.querySelector("main");
  const scene = await unpack(document.querySelector("script[type='application/octet-stream']").textContent);
  const stage = openStage(host, scene, { keys: document });
  document.title = scene.title;
  const { ready, ...rest } = Object.getOwnPropertyDescriptors(stage);
  Object.defineProperties(window.kinemorph, rest);
  if (location.hash === "#play") stage.play();
  await ready.value;
}

window.kinemorph = { webgl: false };
window.kinemorph.ready = openPage().catch((error) => {
  document.querySelector("main").append(Object.assign(document.createElement("p"), {
    className: "failure", role: "alert", textContent: error.message,
  }));
  throw error;
});
