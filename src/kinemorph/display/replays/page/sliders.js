// A robot without a run has a slider for every coordinate. Orientations of free and spherical joints are shown as roll,
// pitch and yaw; coupled joints are shown but cannot be set.

const DEGREE = Math.PI / 180;

/** The panel of all figures that can be posed. */
function makePanel(app) {
  const host = find("panel"), { figures } = app.scene, panel = { rows: [], start: figures.map((f) => f.q.slice()) };
  const head = make("div", "", { className: "head" });
  const button = (text, title, act) => {
    const one = make("button", text, { title });
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
    for (const row of rows) room.append(fillRow(app, row));
    panel.rows.push(...rows);
  });
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
  const host = make("div", "", { className: row.led ? "joint led" : "joint" }), box = make("span");
  const label = make("label", row.name, { title: row.led ? `${row.name} follows another joint` : row.name });
  const step = row.angle ? 0.1 : 0.001, low = row.low / scale, high = row.high / scale;
  const id = `row${app.panel.rows.length}-${row.name}`;
  row.number = make("input", "", { type: "number", step: "any", min: low, max: high, disabled: row.led });
  row.slider = make("input", "", { type: "range", min: low, max: high, step: "any", disabled: row.led, id });
  row.number.setAttribute("aria-label", row.name);
  label.htmlFor = id;
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
  lowerFloor(app);
  for (const row of app.panel.rows) {
    row.read?.();
    row.show();
  }
  wake(app);
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
function setJoint(app, name, value) {
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
