// Bodies that a page lets people grab: a drag that begins on one moves a point for the page, and not the camera.

import { describePick } from "./marking.js";
import { pickPiece, pointOn, viewRay } from "./picture/picking.js";

/**
 * Lets the page take drags. `grab(picked)` is called where a drag begins on a piece, with what onPick would get; it
 * returns {move(point), end()}, or null to leave the drag to the camera. `point` [m] is below the pointer, at the depth
 * at which the piece was grabbed. Null lets all drags move the camera again.
 */
export function setGrab(app, grab) {
  app.grab = grab;
}

/** Asks the page whether it takes a drag that begins here; returns {move(event), end(event)}, or null. */
export function grabAt(app, event) {
  if (!app.grab || !app.renderer || event.button !== 0 || event.shiftKey) return null;
  const [x, y] = placeOf(app, event), piece = pickPiece(app.renderer, app.camera, x, y);
  if (!piece) return null;
  const start = pointOn(piece, app.slots, app.camera, x, y);
  const taken = app.grab(describePick(app, piece, start, event));
  if (!taken) return null;
  return {
    move: (next) => taken.move(pointAtDepth(app, start, ...placeOf(app, next))),
    end: () => taken.end(),
  };
}

/** The place of the pointer in the picture, from -1 to 1 to the right and up. */
function placeOf(app, event) {
  const { left, top } = app.ui.area.getBoundingClientRect();
  return [2 * (event.clientX - left) / app.width - 1, 1 - 2 * (event.clientY - top) / app.height];
}

/** The point [m] below a place of the picture that is as deep in it as another point. */
function pointAtDepth({ camera }, [px, py, pz], x, y) {
  const { eye, target } = camera, way = viewRay(camera, x, y);
  const forth = [0, 1, 2].map((k) => target[k] - eye[k]), far = Math.hypot(...forth) || 1;
  const depth = ((px - eye[0]) * forth[0] + (py - eye[1]) * forth[1] + (pz - eye[2]) * forth[2]) / far;
  return way.map((value, k) => eye[k] + depth * value);
}
