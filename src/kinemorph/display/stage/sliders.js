// A robot without a run has a slider for every coordinate. Orientations of free and spherical joints are shown as roll,
// pitch and yaw; coupled joints are shown but cannot be set.

import { make } from "./elements.js";
import { anglesFromTurn, turnFromAngles } from "./motion/algebra.js";
import { attachedPoint, jointPoses, placeBodies } from "./motion/posing.js";
import { loadTraces } from "./picture/render.js";
import { lowerFloor, wake } from "./playing.js";

const DEGREE = Math.PI / 180;
const STRIDE = 2e-3;       // least distance between two points of a path, as a fraction of the robot's size
const MOST_WALKED = 2000;  // points of a path; older ones disappear
const AT_ONCE = 30;          // rows that are made at once; further ones follow after the picture, so many at a time

/** The panel of all figures that can be posed. */
export function makePanel(app) {
  const host = app.ui.panel, { figures } = app.scene, waiting = [], seen = host.scrollTop;
  const panel = { rows: [], start: figures.map((f) => f.q.slice()) };
  const head = make("div", "", { className: "head" });
  const button = (text, title, act) => {
    const one = make("button", text, { title, type: "button" });
    one.addEventListener("click", () => { act(); poseAll(app, true); });
    return one;
  };
  head.append(make("b", "Joints"),
    button("reset", "As it was at first", () => resetRows(app)),
    button("zero", "All joints at 0; a free base stays", () => setRows(panel, () => 0)),
    button("random", "Somewhere within the limits; a free base stays", () => setRows(panel, ({ low, high }) =>
      low + Math.random() * (high - low))));
  host.append(head);
  app.panel = panel;
  figures.forEach((figure, number) => {
    let room = host;
    if (figures.length > 1) {
      room = make("details", "", { open: number === 0 });
      room.append(make("summary", figure.name));
      host.append(room);
    }
    const rows = figure.joints.flatMap((joint) => jointRows(figure, joint));
    if (!rows.length) room.append(make("p", "This robot has no joints that move."));
    waiting.push(...rows.map((row) => ({ row, room })));
    panel.rows.push(...rows);
  });
  const fill = () => {
    if (app.panel !== panel || app.closed) return;
    for (const { row, room } of waiting.splice(0, AT_ONCE)) {
      room.append(fillRow(app, row));
      row.show();
    }
    if (waiting.length) setTimeout(fill, 0); else host.scrollTop = seen;
  };
  fill();
  poseAll(app, true);
  panel.start = figures.map((figure) => figure.q.slice());
  return panel;
}

/** One row for every slider of a joint: {figure, name, label, unit, low, high, get, set, led}. */
function jointRows(figure, joint) {
  const { q, size } = figure, rows = [], first = joint.steps[0]?.q;
  const one = (entry, angle) => {
    const lower = joint.lower[entry - first] ?? null, upper = joint.upper[entry - first] ?? null;
    const widest = angle ? Math.PI : size, name = joint.labels[entry - first];
    const low = lower ?? Math.min(-widest, (upper ?? 0) - widest);
    const high = upper ?? Math.max(widest, (lower ?? 0) + widest);
    rows.push({
      figure, joint: joint.name, name, low, high, angle, led: Boolean(joint.follows || joint.formulas), base: false,
      get: () => q[entry], set: (value) => { q[entry] = value; },
    });
  };
  const turn = (entry, base) => {
    const angles = [0, 0, 0];
    ["roll", "pitch", "yaw"].forEach((word, i) => rows.push({
      figure, joint: joint.name, name: `${joint.name} ${word}`, low: i === 1 ? -Math.PI / 2 : -Math.PI,
      high: i === 1 ? Math.PI / 2 : Math.PI, angle: true, led: false, base,
      get: () => angles[i], read: () => anglesFromTurn(angles, q, entry),
      set: (value) => { angles[i] = value; turnFromAngles(q, entry, ...angles); },
    }));
  };
  const shift = (entry, count, base) => {
    for (let k = entry; k < entry + count; k++) {
      one(k, false);
      const row = rows.at(-1);
      Object.assign(row, { low: q[k] - size, high: q[k] + size, base });
    }
  };
  for (const { kind, q: at } of joint.steps) {
    if (kind === "free") { shift(at, 3, true); turn(at + 3, true); }
    else if (kind === "spherical") turn(at, false);
    else if (kind === "planar") { shift(at, 2, false); one(at + 2, true); }
    else if (kind === "pose") continue; // given by formulas
    else one(at, kind !== "prismatic");
  }
  return rows;
}

/** Label, number and slider of a row. */
function fillRow(app, row) {
  const scale = row.angle ? DEGREE : 1, unit = row.angle ? "°" : "m";
  const host = make("div", "", { className: row.led ? "joint led" : "joint" });
  const box = make("div", "", { className: "value" }), label = make("span", row.name, { className: "label" });
  const step = row.angle ? 0.1 : 0.001, low = row.low / scale, high = row.high / scale;
  row.number = make("input", "", { type: "number", step: "any", min: low, max: high, disabled: row.led });
  row.slider = make("input", "", { type: "range", min: low, max: high, step: "any", disabled: row.led });
  label.title = row.led ? `${row.name} follows another joint` : row.name;
  row.number.setAttribute("aria-label", row.name);
  row.slider.setAttribute("aria-label", row.name);
  label.addEventListener("click", () => row.slider.focus());
  box.append(row.number, ` ${unit}`);
  host.append(label, box, row.slider);
  const along = (x) => `calc(7px + ${((x - low) / (high - low || 1)).toFixed(4)} * (100% - 14px))`;
  row.show = () => {
    const value = row.get() / scale;
    row.slider.value = value;
    const [from, to] = [Math.min(Math.max(0, low), high), value].sort((a, b) => a - b).map(along);
    row.slider.style.setProperty("--from", from);
    row.slider.style.setProperty("--part", to);
    if (document.activeElement !== row.number) row.number.value = value.toFixed(row.angle ? 1 : 3);
  };
  const take = (text) => {
    if (!Number.isFinite(text)) return;
    row.set(Math.min(Math.max(text, low), high) * scale);
    poseAll(app);
  };
  row.slider.addEventListener("input", () => take(Math.round(row.slider.valueAsNumber / step) * step));
  row.number.addEventListener("change", () => { take(row.number.valueAsNumber); row.number.blur(); row.show(); });
  return host;
}

/** Poses all figures by their coordinates, and shows these; `anew` where more than a slider has changed them. */
function poseAll(app, anew = false) {
  for (const figure of app.scene.figures) jointPoses(figure, figure.q, anew);
  showPosed(app);
}

/** Lengthens the paths of traced points to where they now are: rows of x, y, z [m] and 0 in trace.walked. */
function walkTraces(app) {
  const place = new Float32Array(3);
  let longer = false;
  for (const { traces, pose, size } of app.scene.figures) {
    for (const trace of traces) {
      const walked = trace.walked ??= [];
      attachedPoint(place, 0, pose, trace);
      const far = Math.hypot(...place.map((value, k) => value - walked[walked.length - 4 + k]));
      if (far < STRIDE * size) continue;
      walked.push(...place, 0);
      if (walked.length > 4 * MOST_WALKED) walked.splice(0, 4);
      longer = true;
    }
  }
  if (longer && app.renderer) loadTraces(app.renderer);
}

/** Shows the coordinates and poses of all figures. */
function showPosed(app) {
  walkTraces(app);
  lowerFloor(app);
  for (const row of app.panel.rows) {
    row.read?.();
    row.show?.();
  }
  app.options.onChange?.("q");
  wake(app);
}

/** Sets all coordinates of a figure [rad or m]; loops that are open stay open. */
export function setCoordinates(app, figure, q) {
  const one = app.scene.figures[figure];
  if (!app.panel || !one?.joints || q.length !== one.q.length) {
    throw new Error(`figure is ${figure} with ${q.length} coordinates; expected one that can be posed, and all of them.`);
  }
  if (one.q.every((value, k) => value === q[k])) return;
  one.q.set(q);
  if (one.loops.length) one.closing.kept.set(q);
  placeBodies(one, one.q, 0, one.pose.positions, one.pose.quaternions, 0);
  showPosed(app);
}

/** Sets all coordinates to their initial values. */
function resetRows(app) {
  app.scene.figures.forEach((figure, i) => figure.q.set(app.panel.start[i]));
}

/** Sets every row that is neither led nor of a free base, within its limits. */
function setRows(panel, value) {
  for (const row of panel.rows) if (!row.led && !row.base) row.set(Math.min(Math.max(value(row), row.low), row.high));
}

/** Sets a coordinate [rad or m] by its name or its joint's, in the first figure that has it or as "figure/name". */
export function setJoint(app, name, value) {
  const rows = app.panel?.rows.filter((row) => !row.led) ?? [];
  const full = (row) => `${row.figure.name}/${row.name}`;
  const row = rows.find((one) => one.name === name || full(one) === name) ?? rows.find((one) => one.joint === name);
  if (!row) {
    throw new Error(app.panel ? `joint is '${name}'; expected one of ${rows.map((one) => one.name).join(", ")}.`
      : "joints cannot be set: this replay shows a run. Make one of the robot itself.");
  }
  row.set(value);
  poseAll(app);
}
