// The bar below the picture, and what lies over the picture.

import { moveCursor } from "./chart.js";
import { make, makeIcon, makeShape } from "./elements.js";
import { momentAt } from "./motion/posing.js";
import { lookFrom, projectPoint, VIEWS } from "./picture/camera.js";
import { gridSpacing } from "./picture/render.js";
import { gatherLayers, pause, play, setTime, wake } from "./playing.js";
import { KEYS } from "./steering.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];
const BRIEF = 0.5, LONG = 200;   // runs that last less, or more [s], have slower and faster speeds as well
const NAME_WIDTH = 40, NAME_HEIGHT = 22;   // within which names of figures hide one another [pixels]
const AXES = [["x", "#d13d4c"], ["y", "#3b9e5c"], ["z", "#3b82d0"]];

const EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

/** Connects the controls of a stage with what they do; `fillControls` fills them for a scene. */
export function makeControls(app) {
  const { ui } = app, { signal } = app.end;
  const controls = {
    shown: NaN, spacing: 0, turned: "", boxes: new Map(), names: [], lines: [], place: [0, 0], hover: 0,
    spot: [0, 0, 0], digits: 2, brief: false, speeds: "",
    gizmo: AXES.map(([name, color]) => {
      const line = makeShape("line", { stroke: color }), text = makeShape("text", { fill: color });
      text.textContent = name;
      ui.gizmo.append(line, text);
      return { line, text };
    }),
  };
  ui.bar.hidden = !app.options.bar;
  ui.scrub.addEventListener("input", () => setTime(app, ui.scrub.valueAsNumber));
  ui.play.addEventListener("click", () => togglePlay(app));
  ui.loop.addEventListener("click", () => toggleLoop(app));
  ui.chart.addEventListener("click", () => toggleRoom(app, "chart", "plots"));
  ui.joints.addEventListener("click", () => toggleRoom(app, "joints", "panel"));
  ui.keys.addEventListener("click", () => toggleHelp(app));
  ui.help.append(...KEYS.flatMap(([keys, text]) => {
    const cell = make("span");
    cell.append(...keys.split(/(?<=\S) (?=\S)/).flatMap((key) => [make("kbd", key), " "]));
    return [cell, make("span", text)];
  }));
  ui.help.addEventListener("click", () => toggleHelp(app));
  ui.full.hidden = !document.fullscreenEnabled;
  ui.full.addEventListener("click", () => {
    if (document.fullscreenElement) document.exitFullscreen(); else ui.root.requestFullscreen();
  });
  // a click leaves the keys to the picture
  ui.bar.addEventListener("click", (event) => {
    if (event.detail && !event.target.closest("select, input")) ui.picture.focus({ preventScroll: true });
  });
  ui.speed.addEventListener("change", () => {
    setSpeed(app, Number(ui.speed.value));
    ui.picture.focus({ preventScroll: true });
  });
  document.addEventListener("pointerdown", (event) => {   // a click elsewhere closes the menus
    for (const menu of [ui.views, ui.layers]) if (!menu.contains(event.target)) menu.open = false;
  }, { signal });
  app.controls = controls;
  fillViews(app);
  return controls;
}

/** Fills the controls for the scene that a stage shows now. */
export function fillControls(app) {
  const { ui, scene } = app;
  ui.title.textContent = scene.title;
  fillClock(app);
  ui.chart.hidden = !app.chart;
  ui.plots.hidden = !app.chart || ui.chart.getAttribute("aria-pressed") !== "true";
  ui.joints.hidden = !app.panel;
  ui.panel.hidden = !app.panel || ui.joints.getAttribute("aria-pressed") !== "true";
  fillLayers(app);
  fillNames(app);
  showPlaying(app);
  showLayers(app);
}

/** Fills the time line, the menu of speeds and the clock for the times of the scene. */
export function fillClock(app) {
  const { ui, controls } = app, span = app.last - app.first, speeds = [...SPEEDS];
  ui.bar.classList.toggle("still", span <= 0);
  ui.scrub.min = app.first;
  ui.scrub.max = app.last;
  const brief = span > 0 && span < BRIEF;
  if (brief) {   // a blink is shown in about a second
    app.speed = 10 ** Math.floor(Math.log10(span));
    if (!speeds.includes(app.speed)) speeds.unshift(app.speed);
  } else if (controls.brief) {
    app.speed = 1;
  }
  controls.brief = brief;
  if (span > LONG) speeds.push(100);
  if (speeds.join() !== controls.speeds) {   // a run that grows leaves an open menu alone
    ui.speed.replaceChildren(...speeds.map(speedOption));
    controls.speeds = speeds.join();
  }
  setSpeed(app, app.speed);
  controls.digits = clockDigits(span);
  controls.shown = NaN;
  ui.clock.replaceChildren(document.createTextNode(""), make("small", ` / ${readable(app.last)} s`));
}

/** The menu of layers. */
function fillLayers(app) {
  const { ui, controls } = app;
  controls.boxes.clear();
  ui.layers.lastChild.replaceChildren(...app.scene.layers.map(({ key, label }) => {
    const row = make("label"), box = make("input", "", { type: "checkbox", name: key });
    box.addEventListener("change", () => setLayer(app, key, box.checked));
    row.append(box, label);
    controls.boxes.set(key, box);
    return row;
  }));
}

/** The menu of views. */
function fillViews(app) {
  const list = app.ui.views.lastChild;
  ["front", "back", "left", "right", "top", "iso", "first view"].forEach((view, i) => {
    const button = make("button", view, { type: "button" });
    button.append(make("kbd", String((i + 1) % 7)));
    button.addEventListener("click", () => turnTo(app, view in VIEWS ? view : null));
    list.append(button);
  });
  app.ui.follow = make("button", "follow", { type: "button" });
  app.ui.follow.append(make("kbd", "f"));
  app.ui.follow.addEventListener("click", () => toggleFollow(app));
  list.append(app.ui.follow);
}

/** Names over several figures; where all are in one place, with their colors. */
function fillNames(app) {
  const { ui, scene, controls } = app;
  app.ui.follow.setAttribute("aria-pressed", app.camera.following);
  controls.names = scene.figures.length > 1 ? scene.figures.map((figure) => make("span", figure.name)) : [];
  const [first] = scene.figures, seat = (figure) => figure.offset.join();
  if (scene.figures.every((figure) => seat(figure) === seat(first))) {
    controls.names.forEach((name, f) => {
      const shape = scene.figures[f].parts.find((part) => part.layer === "shapes" && part.owner >= 0);
      const [r, g, b] = shape?.color ?? [0, 0, 0];
      name.style.borderLeft = `8px solid rgb(${[r, g, b].map((x) => Math.round(255 * x)).join(" ")})`;
    });
  }
  ui.names.replaceChildren(...controls.names);
}

/** Marks of events on the line of time; those that would touch become one. */
export function placeMarks(app) {
  const host = app.ui.marks, span = app.last - app.first, groups = [];
  const wide = span > 0 ? app.ui.line.clientWidth - 14 : 0;   // only where it is needed: the browser has to lay out for it
  if (!(wide > 0)) return;
  for (const { t, name } of [...app.scene.events].sort((a, b) => a.t - b.t)) {
    const x = 7 + wide * (t - app.first) / span;
    if (groups.length && x - groups.at(-1).x < 6) groups.at(-1).all.push({ t, name });
    else groups.push({ x, all: [{ t, name }] });
  }
  host.replaceChildren(...groups.map(({ x, all }) => {
    const lines = all.slice(0, 6).map(({ t, name }) => `${name} at ${readable(t)} s`);
    if (all.length > 6) lines.push(`and ${all.length - 6} more`);
    const name = { title: lines.join("\n"), "aria-label": lines.join(", ") };
    const mark = make("button", "", { type: "button", tabIndex: -1, ...name });
    mark.style.left = `${x}px`;
    mark.addEventListener("click", () => setTime(app, all[0].t));
    return mark;
  }));
}

// ── what the controls show ──────────────────────────────────────────────────────────────────────────────────────────

/** A number with as many digits as one reads. */
export function readable(value, digits = 4) {
  const size = Math.abs(value);
  if (!Number.isFinite(value)) return "–";
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  return String(Number(value.toPrecision(digits)));
}

/** Digits behind the point that a clock needs for a span [s]. */
function clockDigits(span) {
  return span > 0 && span < BRIEF ? Math.min(3 - Math.floor(Math.log10(span)), 12) : 2;
}

/** The time on the bar and in the plots. */
export function showTime(app) {
  const { controls } = app;
  if (controls.shown === app.time) return;
  controls.shown = app.time;
  const part = app.last > app.first ? (app.time - app.first) / (app.last - app.first) : 0;
  app.ui.scrub.value = app.time;
  app.ui.scrub.style.setProperty("--part", `calc(7px + ${part.toFixed(4)} * (100% - 14px))`);
  app.ui.clock.firstChild.data = `t = ${app.time.toFixed(controls.digits)} s`;
  if (app.chart) moveCursor(app);
}

/** What lies over the picture: names, axes, the spacing of the floor. */
export function showOverlays(app) {
  const { controls, camera, slots } = app;
  controls.lines = [];
  for (let f = 0; f < controls.names.length; f++) {
    const top = slots.tops[f], seen = projectPoint(camera, top, controls.place), { style } = controls.names[f];
    style.visibility = seen ? "visible" : "hidden";
    if (!seen) continue;
    const x = 0.5 * (1 + seen[0]) * app.width;
    let y = Math.max(0.5 * (1 - seen[1]) * app.height - 10, 52);
    for (const other of controls.lines) {   // names of figures in one place stand below each other
      if (Math.abs(other.x - x) < NAME_WIDTH && Math.abs(other.y - y) < NAME_HEIGHT) y = other.y + NAME_HEIGHT;
    }
    controls.lines.push({ x, y });
    style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -100%)`;
  }
  const turned = camera.azimuth + 1000 * camera.elevation;
  if (turned !== controls.turned) {
    controls.turned = turned;
    for (let i = 0; i < 3; i++) {
      const { line, text } = controls.gizmo[i], axis = (app.scene.figures[0]?.turn ?? EYE).map((row) => row[i]);
      const [x, y] = [camera.right, camera.up].map((way, k) => (k ? -1 : 1) * axis.reduce((sum, a, j) => sum + a * way[j], 0));
      line.setAttribute("x2", 24 * x);
      line.setAttribute("y2", 24 * y);
      text.setAttribute("x", 33 * x);
      text.setAttribute("y", 33 * y);
    }
  }
  const spacing = app.renderer ? gridSpacing(app.renderer) : 0;
  if (spacing !== controls.spacing) {
    controls.spacing = spacing;
    app.ui.spacing.textContent = `${readable(spacing)} m`;
  }
}

/** The sign on the button that starts and stops. */
export function showPlaying(app) {
  const button = app.ui.play;
  button.replaceChildren(makeIcon(app.playing ? "pause" : "play"));
  button.setAttribute("aria-label", app.playing ? "Pause" : "Play");
}

/** Checks of the menu of layers. */
export function showLayers(app) {
  for (const [key, box] of app.controls.boxes) box.checked = app.layers[key];
  showNotes(app);
}

/** Notes: the first is always read, the others unfold below it. The scale of torques goes with their layer. */
function showNotes(app) {
  const seen = app.scene.notes.filter((note) => app.layers.torques || !note.startsWith("torque arrows: "));
  const [first = "", ...others] = seen, notes = app.ui.notes;
  notes.hidden = !first;
  notes.firstChild.textContent = others.length ? `${first} (+${others.length})` : first;
  notes.classList.toggle("alone", !others.length);
  notes.lastChild.replaceChildren(...others.map((note) => make("li", note)));
}

// ── what they do ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Shows or hides a layer. */
export function setLayer(app, key, on) {
  if (!(key in app.layers)) {
    throw new Error(`layer is '${key}'; expected one of ${Object.keys(app.layers).join(", ")}.`);
  }
  app.layers[key] = Boolean(on);
  if (on && !app.gathered.layers.has(key)) gatherLayers(app);
  app.options.onChange?.("layers");
  showLayers(app);
  wake(app);
}

/** Starts or stops the clock. */
export function togglePlay(app) {
  if (app.playing) pause(app); else play(app);
}

/** A speed in the menu. */
function speedOption(speed) {
  return make("option", `${readable(speed)}×`, { value: speed });
}

/** Runs the clock at a factor. */
export function setSpeed(app, speed) {
  if (!Number.isFinite(speed) || speed === 0) throw new Error(`speed is ${speed}; expected a number other than 0.`);
  if (app.speed !== speed) {
    app.speed = speed;
    app.options.onChange?.("clock");
  }
  const menu = app.ui.speed;
  if (![...menu.options].some((option) => Number(option.value) === speed)) {
    menu.append(speedOption(speed));
  }
  menu.value = speed;
}

/** Begins again at the end, or not. */
export function toggleLoop(app) {
  app.loop = !app.loop;
  app.options.onChange?.("clock");
  app.ui.loop.setAttribute("aria-pressed", app.loop);
}

/** Opens or closes the plots or the joints. */
export function toggleRoom(app, button, room) {
  if (app.ui[button].hidden) return;
  app.ui[room].hidden = !app.ui[room].hidden;
  app.ui[button].setAttribute("aria-pressed", !app.ui[room].hidden);
  app.resized = true;
  wake(app);
}

/** Opens or closes the sliders of the joints, also of scenes that are shown later. */
export function showJoints(app, on) {
  app.ui.joints.setAttribute("aria-pressed", Boolean(on));
  app.ui.panel.hidden = !app.panel || !on;
  app.resized = true;
  wake(app);
}

/** Opens or closes the list of keys. */
export function toggleHelp(app) {
  app.ui.help.hidden = !app.ui.help.hidden;
}

/** Keeps the robot in the middle, or lets it go. */
export function toggleFollow(app) {
  app.camera.following = !app.camera.following;
  app.ui.follow.setAttribute("aria-pressed", app.camera.following);
  turnTo(app, undefined);
}

/** Goes to a view, null for the first one, undefined for the present one. */
export function turnTo(app, view) {
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  lookFrom(app.camera, view, still ? null : performance.now());
  app.ui.views.open = false;
  wake(app);
}

/** Goes to the next event of the run, or to the one before. */
export function goToEvent(app, way) {
  const times = app.scene.events.map((event) => event.t).sort((a, b) => way * (a - b));
  const next = times.find((t) => way * (t - app.time) > 1e-9);
  if (next !== undefined) setTime(app, next);
}

/** One picture of the run on or back. */
export function stepBy(app, pictures) {
  pause(app);
  const { times } = app.scene, { before, part } = momentAt(times, app.time);
  const row = (part > 0.999 ? before + 1 : before) + pictures + (pictures < 0 && part > 0.001 && part <= 0.999 ? 1 : 0);
  setTime(app, times[Math.min(Math.max(row, 0), times.length - 1)]);
}
