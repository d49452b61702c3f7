// The bar below the picture, and what lies over the picture.

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 10];
const BRIEF = 0.5, LONG = 200;   // runs that last less, or more [s], have slower and faster speeds as well
const STROKE = 'fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"';
const ICONS = {
  play: '<path d="M7 4.5v15l12-7.5z" fill="currentColor"/>',
  pause: '<path d="M6 5h4v14H6zM14 5h4v14h-4z" fill="currentColor"/>',
  loop: `<path d="M17 2l4 4-4 4M3 11V9a3 3 0 013-3h15M7 22l-4-4 4-4M21 13v2a3 3 0 01-3 3H3" ${STROKE}/>`,
  chart: `<path d="M4 4v16h16M7 15l4-6 4 4 5-8" ${STROKE}/>`,
  joints: `<path d="M4 7h9M17 7h3M4 17h3M11 17h9M17 7a2 2 0 10-4 0 2 2 0 104 0M11 17a2 2 0 10-4 0 2 2 0 104 0" ${STROKE}/>`,
  views: `<path d="M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5" ${STROKE}/>`,
  layers: `<path d="M12 3l9 5-9 5-9-5zM4 12.5l8 4.5 8-4.5M4 16.5l8 4.5 8-4.5" ${STROKE}/>`,
  full: `<path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5" ${STROKE}/>`,
};
const NAME_WIDTH = 40, NAME_HEIGHT = 22;   // within which names of figures hide one another [pixels]
const AXES = [["x", "#d13d4c"], ["y", "#3b9e5c"], ["z", "#3b82d0"]];

/** An icon as text. */
function icon(name) {
  return `<svg viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`;
}

/** An element with a class, a text and whatever else. */
function make(tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  if (text) element.textContent = text;
  return Object.assign(element, attributes);
}

/** Fills the bar and what lies over the picture. */
function makeControls(app) {
  const { scene } = app, still = app.last <= app.first;
  const controls = {
    scrub: find("scrub"), clock: find("clock"), play: find("play"), shown: NaN, spacing: 0, turned: "",
    boxes: new Map(), names: [], gizmo: [], place: [0, 0], hover: 0, digits: clockDigits(app.last - app.first),
  };
  find("bar").hidden = false;
  find("bar").classList.toggle("still", still);
  find("title").textContent = scene.title;
  for (const name of ["loop", "chart", "joints", "full"]) find(name).innerHTML = icon(name);
  for (const name of ["views", "layers"]) find(name).firstChild.innerHTML = icon(name);
  const { scrub } = controls;
  scrub.min = app.first;
  scrub.max = app.last;
  scrub.addEventListener("input", () => setTime(app, scrub.valueAsNumber));
  const span = app.last - app.first, speeds = [...SPEEDS];
  if (span > 0 && span < BRIEF) {   // a blink is shown in about a second
    app.speed = 10 ** Math.floor(Math.log10(span));
    if (!speeds.includes(app.speed)) speeds.unshift(app.speed);
  }
  if (span > LONG) speeds.push(100);
  for (const speed of speeds) find("speed").append(speedOption(speed));
  find("speed").value = app.speed;
  controls.clock.append(document.createTextNode(""), make("small", ` / ${readable(app.last)} s`));
  find("speed").addEventListener("change", (event) => setSpeed(app, Number(event.target.value)));
  find("play").addEventListener("click", () => togglePlay(app));
  find("loop").addEventListener("click", () => toggleLoop(app));
  find("chart").addEventListener("click", () => toggleRoom(app, "chart", "plots"));
  find("joints").addEventListener("click", () => toggleRoom(app, "joints", "panel"));
  find("keys").addEventListener("click", () => toggleHelp());
  find("help").append(...KEYS.flatMap(([keys, text]) => {
    const cell = make("span");
    cell.append(...keys.split(/(?<=\S) (?=\S)/).flatMap((key) => [make("kbd", key), " "]));
    return [cell, make("span", text)];
  }));
  find("help").addEventListener("click", toggleHelp);
  find("chart").hidden = find("plots").hidden = !app.chart;
  find("joints").hidden = find("panel").hidden = !app.panel;
  find("full").hidden = !document.fullscreenEnabled;
  find("full").addEventListener("click", () => {
    if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen();
  });
  // a click leaves the keys to the page
  find("bar").addEventListener("click", (event) => {
    if (event.detail && !event.target.closest("select, input")) find("picture").focus({ preventScroll: true });
  });
  find("speed").addEventListener("change", () => find("picture").focus({ preventScroll: true }));
  app.controls = controls;
  fillMenus(app, controls);
  fillOverlays(app, controls);
  showPlaying(app);
  showLayers(app);
  return controls;
}

/** Menus of layers and of views; a click elsewhere closes them. */
function fillMenus(app, controls) {
  for (const { key, label } of app.scene.layers) {
    const row = make("label"), box = make("input", "", { type: "checkbox", name: key });
    box.addEventListener("change", () => setLayer(app, key, box.checked));
    row.append(box, label);
    controls.boxes.set(key, box);
    find("layers").lastChild.append(row);
  }
  ["front", "back", "left", "right", "top", "iso", "first view"].forEach((view, i) => {
    const button = make("button", view);
    button.append(make("kbd", String((i + 1) % 7)));
    button.addEventListener("click", () => turnTo(app, view in VIEWS ? view : null));
    find("views").lastChild.append(button);
  });
  const follow = make("button", "follow", { id: "follow" });
  follow.append(make("kbd", "f"));
  follow.addEventListener("click", () => toggleFollow(app));
  find("views").lastChild.append(follow);
  follow.setAttribute("aria-pressed", app.camera.following);
  document.addEventListener("pointerdown", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(event.target)) menu.open = false;
  });
}

/** Names of several figures, the little axes, notes. */
function fillOverlays(app, controls) {
  const { scene } = app;
  if (scene.figures.length > 1) {
    controls.names = scene.figures.map((figure) => make("span", figure.name));
    const [first] = scene.figures, seat = (figure) => figure.offset.join();
    if (scene.figures.every((figure) => seat(figure) === seat(first))) {   // all in one place: names in their colors
      scene.figures.forEach((figure, f) => {
        const [r, g, b] = figure.parts.find((part) => part.layer === "shapes" && part.owner >= 0)?.color ?? [0, 0, 0];
        controls.names[f].style.borderLeft = `8px solid rgb(${[r, g, b].map((x) => Math.round(255 * x)).join(" ")})`;
      });
    }
    find("names").append(...controls.names);
  }
  for (const [name, color] of AXES) {
    const [line, text] = ["line", "text"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
    line.setAttribute("stroke", color);
    text.setAttribute("fill", color);
    text.textContent = name;
    find("gizmo").append(line, text);
    controls.gizmo.push({ line, text });
  }
  showNotes(app);
}

/** Marks of events on the line of time; those that would touch become one. */
function placeMarks(app) {
  const host = find("marks"), wide = find("line").clientWidth - 14, span = app.last - app.first, groups = [];
  if (!(span > 0) || !(wide > 0)) return;
  for (const { t, name } of [...app.scene.events].sort((a, b) => a.t - b.t)) {
    const x = 7 + wide * (t - app.first) / span;
    if (groups.length && x - groups.at(-1).x < 6) groups.at(-1).all.push({ t, name });
    else groups.push({ x, all: [{ t, name }] });
  }
  host.replaceChildren(...groups.map(({ x, all }) => {
    const lines = all.slice(0, 6).map(({ t, name }) => `${name} at ${readable(t)} s`);
    if (all.length > 6) lines.push(`and ${all.length - 6} more`);
    const mark = make("i", "", { title: lines.join("\n") });
    mark.style.left = `${x}px`;
    mark.addEventListener("click", () => setTime(app, all[0].t));
    return mark;
  }));
}

// ── what the controls show ──────────────────────────────────────────────────────────────────────────────────────────

/** A number with as many digits as one reads. */
function readable(value, digits = 4) {
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
function showTime(app) {
  const { controls } = app;
  if (controls.shown === app.time) return;
  controls.shown = app.time;
  const part = app.last > app.first ? (app.time - app.first) / (app.last - app.first) : 0;
  controls.scrub.value = app.time;
  controls.scrub.style.setProperty("--part", `calc(7px + ${part.toFixed(4)} * (100% - 14px))`);
  controls.clock.firstChild.data = `t = ${app.time.toFixed(controls.digits)} s`;
  if (app.chart) moveCursor(app);
}

/** What lies over the picture: names, axes, the spacing of the floor. */
function showOverlays(app) {
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
      const { line, text } = controls.gizmo[i], x = camera.right[i], y = -camera.up[i];
      line.setAttribute("x2", 24 * x);
      line.setAttribute("y2", 24 * y);
      text.setAttribute("x", 33 * x);
      text.setAttribute("y", 33 * y);
    }
  }
  const spacing = app.renderer ? gridSpacing(app.renderer) : 0;
  if (spacing !== controls.spacing) {
    controls.spacing = spacing;
    find("spacing").textContent = `${readable(spacing)} m`;
  }
}

/** The sign on the button that starts and stops. */
function showPlaying(app) {
  const button = find("play");
  button.innerHTML = icon(app.playing ? "pause" : "play");
  button.setAttribute("aria-label", app.playing ? "Pause" : "Play");
}

/** Checks of the menu of layers. */
function showLayers(app) {
  for (const [key, box] of app.controls.boxes) box.checked = app.layers[key];
  showNotes(app);
}

/** Notes: the first is always read, the others unfold below it. The scale of torques goes with their layer. */
function showNotes(app) {
  const seen = app.scene.notes.filter((note) => app.layers.torques || !note.startsWith("torque arrows: "));
  const [first = "", ...others] = seen, notes = find("notes");
  notes.hidden = !first;
  notes.firstChild.textContent = others.length ? `${first} (+${others.length})` : first;
  notes.classList.toggle("alone", !others.length);
  notes.lastChild.replaceChildren(...others.map((note) => make("li", note)));
}

// ── what they do ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Starts or stops the clock. */
function togglePlay(app) {
  if (app.playing) pause(app); else play(app);
}

/** A speed in the menu. */
function speedOption(speed) {
  return make("option", `${readable(speed)}×`, { value: speed });
}

/** Runs the clock at a factor. */
function setSpeed(app, speed) {
  if (!(speed > 0)) throw new Error(`speed is ${speed}; expected a number above 0.`);
  app.speed = speed;
  const menu = find("speed");
  if (![...menu.options].some((option) => Number(option.value) === speed)) {
    menu.append(speedOption(speed));
  }
  menu.value = speed;
}

/** Begins again at the end, or not. */
function toggleLoop(app) {
  app.loop = !app.loop;
  find("loop").setAttribute("aria-pressed", app.loop);
}

/** Opens or closes the plots or the joints. */
function toggleRoom(app, button, room) {
  if (find(button).hidden) return;
  find(room).hidden = !find(room).hidden;
  find(button).setAttribute("aria-pressed", !find(room).hidden);
  app.resized = true;
  wake(app);
}

/** Opens or closes the list of keys. */
function toggleHelp() {
  find("help").hidden = !find("help").hidden;
}

/** Keeps the robot in the middle, or lets it go. */
function toggleFollow(app) {
  app.camera.following = !app.camera.following;
  find("follow").setAttribute("aria-pressed", app.camera.following);
  turnTo(app, undefined);
}

/** Goes to a view, null for the first one, undefined for the present one. */
function turnTo(app, view) {
  lookFrom(app.camera, view, performance.now());
  find("views").open = false;
  wake(app);
}

/** One picture of the run on or back. */
function stepBy(app, pictures) {
  pause(app);
  const { times } = app.scene, { before, part } = momentAt(times, app.time);
  const row = (part > 0.999 ? before + 1 : before) + pictures + (pictures < 0 && part > 0.001 && part <= 0.999 ? 1 : 0);
  setTime(app, times[Math.min(Math.max(row, 0), times.length - 1)]);
}
