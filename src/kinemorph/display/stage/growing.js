// Motion that is not yet known when the scene is shown: live poses of bodies, and runs that grow.

import { refreshChart } from "./chart.js";
import { fillClock } from "./controls.js";
import { figureIndex } from "./marking.js";
import { placeBodies } from "./motion/posing.js";
import { loadTraces } from "./picture/render.js";
import { wake } from "./playing.js";

/**
 * Moves the bodies of a figure: positions (3 nb) [m] and quaternions (4 nb) wxyz. They stay there until the time of the
 * stage is set or a new scene is shown.
 */
export function setPoses(app, figure, positions, quaternions) {
  const one = app.scene.figures[figureIndex(app.scene, figure)];
  const names = app.scene.figures.map((known) => known.name).join(", ");
  if (!one) throw new Error(`figure is '${figure}'; expected one of ${names}.`);
  const count = one.bodies.length;
  if (positions.length !== 3 * count || quaternions.length !== 4 * count) {
    throw new Error(`figure '${one.name}' has ${count} bodies: expected ${3 * count} numbers of positions and `
      + `${4 * count} of quaternions, got ${positions.length} and ${quaternions.length}.`);
  }
  one.pose.positions.set(positions);
  one.pose.quaternions.set(quaternions);
  one.live = true;
  wake(app);
}

/** Moves a figure, given by name or index, by the coordinates of its joints (nq), as they are: loops are not closed. */
export function setMotion(app, figure, q) {
  const one = app.scene.figures[figureIndex(app.scene, figure)];
  if (q.length !== one?.q.length) {
    throw new Error(`figure '${figure}' is given ${q.length} coordinates; expected ${one?.q.length ?? "a known figure"}.`);
  }
  placeBodies(one, q, 0, one.pose.positions, one.pose.quaternions, 0);
  one.live = true;
  wake(app);
}

/**
 * Appends k times to the run of the scene: {times (k) [s], coordinates: [(k nq) for each figure], series: [(k) for each
 * series], marks: [[{vectors (3k), shifts (3k)} or null for each mark] for each figure], events: [{t, name}]}. All but
 * times and coordinates may be left out. A stage that shows the last time goes on to the new last one.
 */
export function appendFrames(app, { times, coordinates, series = [], marks = [], events = [] }) {
  const { scene } = app, atEnd = app.time >= app.last && !app.playing, rows = times.length;
  const wrong = scene.figures.findIndex((figure, f) => coordinates[f]?.length !== rows * figure.q.length);
  if (wrong >= 0) {
    const { name, q } = scene.figures[wrong], found = coordinates[wrong]?.length ?? 0;
    throw new Error(`coordinates of figure '${name}' are ${found} numbers; expected ${rows} times ${q.length}.`);
  }
  const before = scene.times.length;
  scene.times = joined(scene.times, times, rows);
  scene.figures.forEach((figure, f) => appendRows(figure, coordinates[f], before, rows, marks[f] ?? []));
  scene.series.forEach((one, i) => { one.values = joined(one.values, series[i] ?? [], rows); });
  scene.events.push(...events);
  app.first = scene.times[0];
  app.last = scene.times.at(-1);
  if (atEnd) app.time = app.last;
  if (app.renderer) loadTraces(app.renderer);
  fillClock(app);
  refreshChart(app);
  wake(app);
}

/** Appends coordinates (k nq) and vectors of marks to a figure, and the poses of its bodies there. */
function appendRows(figure, coordinates, before, rows, marks) {
  const nq = figure.q.length, count = figure.bodies.length;
  figure.coordinates = joined(figure.coordinates, coordinates, rows * nq);
  figure.positions = joined(figure.positions, [], rows * 3 * count);
  figure.quaternions = joined(figure.quaternions, [], rows * 4 * count);
  for (let row = before; row < before + rows; row++) {
    placeBodies(figure, figure.coordinates, row * nq, figure.positions, figure.quaternions, row);
  }
  figure.marks.forEach((mark, i) => {
    for (const key of ["vectors", "shifts"]) {
      if (mark[key]) mark[key] = joined(mark[key], marks[i]?.[key] ?? [], 3 * rows);
    }
  });
  for (const trace of figure.traces) trace.path = trace.points = undefined;
}

/** An array with others of its kind behind it, and room for `count` of them: those that are missing are NaN. */
function joined(array, more, count) {
  const whole = new array.constructor(array.length + count);
  whole.set(array);
  whole.fill(NaN, array.length);
  whole.set(more, array.length);
  return whole;
}
