// Keys and pointers: what people do with a stage, the picture above all.

import { goToEvent, stepBy, toggleFollow, toggleHelp, toggleLoop, togglePlay, toggleRoom, turnTo } from "./controls.js";
import { grabAt } from "./grabbing.js";
import { pickAt } from "./marking.js";
import { orbit, pan, VIEWS, zoom } from "./picture/camera.js";
import { pickPiece } from "./picture/picking.js";
import { setTime, wake } from "./playing.js";

export const KEYS = [
  ["space", "play or pause"], ["← →", "one picture back or on; with shift ten"],
  ["Home End", "to the start, to the end"],
  ["l", "loop"], ["f", "follow the robot"], ["1 2 3 4 5 6", "front, back, left, right, top, iso"], ["0", "first view"],
  ["c j", "plots, joints"], ["n p", "next event, event before"], ["w a s d", "turn"], ["+ -", "nearer, farther"],
  ["drag", "turn; with shift or the right button move"], ["wheel pinch", "nearer, farther"],
  ["double-click", "first view"],
];
const TURN_KEY = 14;   // by which a key turns the picture, as a drag of so many pixels

/** Keys of a stage; a field keeps those it needs. */
export function bindKeys(app) {
  const views = Object.keys(VIEWS);
  const steer = (turn, ...by) => {
    turn(app.camera, ...by);
    wake(app);
  };
  const actions = {
    " ": () => togglePlay(app), l: () => toggleLoop(app), f: () => toggleFollow(app), "?": () => toggleHelp(app),
    c: () => toggleRoom(app, "chart", "plots"), j: () => toggleRoom(app, "joints", "panel"),
    0: () => turnTo(app, null), Home: () => setTime(app, app.first), End: () => setTime(app, app.last),
    ArrowLeft: (event) => stepBy(app, event.shiftKey ? -10 : -1),
    ArrowRight: (event) => stepBy(app, event.shiftKey ? 10 : 1),
    n: () => goToEvent(app, 1), p: () => goToEvent(app, -1), "+": () => steer(zoom, 0.88), "-": () => steer(zoom, 1.14),
    a: () => steer(orbit, TURN_KEY, 0), d: () => steer(orbit, -TURN_KEY, 0), w: () => steer(orbit, 0, TURN_KEY),
    s: () => steer(orbit, 0, -TURN_KEY),
    Escape: () => {
      app.ui.help.hidden = true;
      for (const menu of [app.ui.views, app.ui.layers]) menu.open = false;
    },
  };
  views.forEach((view, i) => { actions[i + 1] = () => turnTo(app, view); });
  (app.options.keys ?? app.ui.root).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in actions)) return;
    const field = event.target.closest("input, select, button, summary");
    if (field && field !== app.ui.scrub && event.key !== "Escape") {
      if (field.matches("input, select") || event.key === " ") return;
    }
    event.preventDefault();
    actions[event.key](event);
  }, { signal: app.end.signal });
}

/** Pointers on the picture: drags turn and move, two fingers pinch, one at rest asks for a name. */
export function steerCamera(app) {
  const canvas = app.ui.picture, held = new Map();
  const spread = () => {
    const [a, b] = [...held.values()];
    return { x: 0.5 * (a.x + b.x), y: 0.5 * (a.y + b.y), size: Math.hypot(a.x - b.x, a.y - b.y) || 1 };
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    const grabbed = held.size ? null : grabAt(app, event);
    held.set(event.pointerId, { x: event.clientX, y: event.clientY, way: 0, grabbed });
    hideTip(app);
  });
  canvas.addEventListener("pointermove", (event) => {
    const one = held.get(event.pointerId);
    if (!one) {
      askName(app, event, 60);
      return;
    }
    const before = held.size === 2 ? spread() : null, dx = event.clientX - one.x, dy = event.clientY - one.y;
    one.x = event.clientX;
    one.y = event.clientY;
    one.way += Math.abs(dx) + Math.abs(dy);
    if ([...held.values()].some(({ grabbed }) => grabbed)) {
      one.grabbed?.move(event);
      return;
    }
    if (before) {
      const after = spread();
      zoom(app.camera, before.size / after.size);
      pan(app.camera, after.x - before.x, after.y - before.y, app.height);
    } else if (event.buttons & 6 || event.shiftKey) {
      pan(app.camera, dx, dy, app.height);
    } else {
      orbit(app.camera, dx, dy);
    }
    wake(app);
  });
  const release = (event) => {
    const one = held.get(event.pointerId);
    held.delete(event.pointerId);
    one?.grabbed?.end(event);
    if (!one || one.way >= 5 || event.type !== "pointerup") return;
    askName(app, event, 0);
    if (event.button === 0) {
      const { left, top } = app.ui.area.getBoundingClientRect();
      pickAt(app, event.clientX - left, event.clientY - top, event);
    }
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hideTip(app); });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", () => turnTo(app, null));
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(app.camera, Math.exp(Math.max(-80, Math.min(80, event.deltaY * (event.deltaMode ? 30 : 1))) * 0.0022));
    wake(app);
  }, { passive: false });
}

/** Shows the name of what is under the pointer, after a rest [ms]. */
function askName(app, event, rest) {
  const { left, top } = app.ui.area.getBoundingClientRect(), x = event.clientX - left, y = event.clientY - top;
  clearTimeout(app.controls.hover);
  app.controls.hover = setTimeout(() => {
    if (!app.renderer || app.resized || app.renewed) return;
    const piece = pickPiece(app.renderer, app.camera, 2 * x / app.width - 1, 1 - 2 * y / app.height);
    if (!piece) {
      hideTip(app);
      return;
    }
    const tip = app.ui.tip, several = app.scene.figures.length > 1 && piece.figure !== null;
    tip.textContent = several ? `${app.scene.figures[piece.figure].name}: ${piece.name}` : piece.name;
    tip.hidden = false;
    const side = x > 0.6 * app.width ? "-100%" : "0";
    tip.style.transform = `translate(${x + (side === "0" ? 14 : -10)}px, ${Math.max(y - 28, 4)}px) translateX(${side})`;
    if (app.renderer.chosen !== piece.id) {
      app.renderer.chosen = piece.id;
      wake(app);
    }
  }, rest);
}

/** Takes the name away. */
function hideTip(app) {
  clearTimeout(app.controls.hover);
  app.ui.tip.hidden = true;
  if (app.renderer?.chosen) {
    app.renderer.chosen = 0;
    wake(app);
  }
}
