// How fine pictures are: resolution, samples for each pixel and shadows follow the time that the graphics card takes.
//
// While something moves, pictures that take longer than SLOW make the next ones coarser, and many that take less than
// QUICK make them finer again. A picture at rest is as fine as possible, unless that takes very long: then pictures at
// rest become coarser too, and come later. Finer ones are tried again after a while, since the processor may have been
// busy with something else.

const SLOW = 36, QUICK = 7;         // for a picture, from its commands to its end [ms]
const HOPELESS = 140;               // a single picture that takes longer is reason enough for coarser ones [ms]
const JUDGED = 6;                   // pictures over which the time is averaged
const USEFUL = 0.85;                // a coarser level has to take less than this part of the time of the finer one
const PATIENCE = 15;                // averages that are quick before finer pictures are tried, or coarser ones again
const LONGEST_PATIENCE = 600;
const AHEAD = 1;                    // pictures that are drawn while one before is not done yet
const MEASURED = 3000;              // longest time for which a picture is waited for [ms]
const REST = 250, LONGEST_REST = 1200;   // from the last picture of a motion to the one at rest [ms]
const AFTER_EDIT = 1500;            // from a new scene to a picture at rest that takes long: more edits may follow [ms]
const VERY_LONG = 400;              // for a picture at rest [ms]
const AGAIN = 4000, LONGEST_AGAIN = 300000;   // from a picture at rest to a finer one that is tried [ms]
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
const FIRST_IN_SOFTWARE = 4;

// texels of the canvas for each pixel of the page, samples, edge of the shadow map, its taps for each texel
export const LEVELS = [
  { scale: 2, samples: 4, shadow: 2048, taps: 20 },
  { scale: 1, samples: 4, shadow: 1024, taps: 7 },
  { scale: 1, samples: 0, shadow: 1024, taps: 4 },
  { scale: 0.75, samples: 0, shadow: 1024, taps: 3 },
  { scale: 0.6, samples: 0, shadow: 512, taps: 2 },
  { scale: 0.5, samples: 0, shadow: 512, taps: 1 },
  { scale: 0.4, samples: 0, shadow: 0, taps: 0 },
];

/** What is known of the speed of a graphics card; without a card, pictures begin coarse. */
export function makeQuality(gl) {
  let card = String(gl.getParameter(gl.RENDERER));
  const more = /webkit webgl/i.test(card) ? gl.getExtension("WEBGL_debug_renderer_info") : null;
  if (more) card = String(gl.getParameter(more.UNMASKED_RENDERER_WEBGL));
  const software = SOFTWARE.test(card), level = software ? FIRST_IN_SOFTWARE : 0;
  return {
    level, milliseconds: 0, sum: 0, count: 0, times: [], quick: 0, rest: 0, patience: PATIENCE, pending: [],
    restLevel: software ? 1 : 0, finest: software ? 1 : 0, restTime: 0, again: AGAIN, software, done: 0,
  };
}

/** The level of quality of the next picture, in motion or at rest. */
export function levelNow({ level, restLevel }, atRest) {
  return LEVELS[atRest ? Math.min(restLevel, level) : level];
}

/**
 * How long after the last picture of a motion the one at rest comes [ms], or after one that is as fine as pictures at
 * rest, the next for which `triesFiner` is asked. `age` is the time since the scene was changed [ms]: the picture after
 * the next edit would have to wait for one that takes long.
 */
export function restDelay(quality, age, atRest) {
  const { level, restLevel, restTime, software, again } = quality;
  if (atRest || level <= restLevel) return again;
  const delay = Math.min(REST + 2 * restTime, LONGEST_REST);
  return software || restTime > SLOW ? Math.max(delay, AFTER_EDIT - age) : delay;
}

/** Whether a picture at rest is due now: a finer one than before is tried where those have become coarser. */
export function triesFiner(quality, atRest) {
  if (!atRest && quality.level > quality.restLevel) return true;
  if (quality.restLevel === quality.finest) return false;
  quality.restLevel -= 1;
  return true;
}

/** Whether so many pictures are under way that the next one has to wait; that of a new scene may be one more. */
export function isBehind({ pending }, isNew) {
  return pending.length > AHEAD + (isNew ? 1 : 0);
}

/** Begins to measure a picture whose commands have just been given. */
export function measurePicture(gl, quality, atRest) {
  const { pending } = quality, sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
  if (!sync) return;
  pending.push({ sync, began: performance.now(), atRest });
  gl.flush();
  if (pending.length === 1) setTimeout(() => askCard(gl, quality), 0);
}

/** Asks the graphics card again and again whether the oldest picture is done; its time begins when the card is free. */
function askCard(gl, quality) {
  const { pending } = quality, { sync, began, atRest } = pending[0], now = performance.now();
  if (gl.isContextLost()) return;
  if (gl.getSyncParameter(sync, gl.SYNC_STATUS) !== gl.SIGNALED && now - began < MEASURED) {
    setTimeout(() => askCard(gl, quality), 1);
    return;
  }
  gl.deleteSync(sync);
  pending.shift();
  const passed = now - Math.max(began, quality.done);
  quality.done = now;
  if (atRest) judgeRest(quality, passed); else judgePicture(quality, passed);
  if (pending.length) setTimeout(() => askCard(gl, quality), 0);
}

/**
 * Chooses the level of the next pictures after one that took some time [ms]: a coarser one if several were slow, but
 * back again if that was of no use, because something else takes the time; a finer one after many that were quick.
 */
export function judgePicture(quality, milliseconds) {
  const { level, times } = quality, coarsest = LEVELS.length - 1;
  quality.milliseconds = milliseconds;
  quality.sum += milliseconds;
  quality.count += 1;
  if (quality.count < JUDGED && milliseconds < HOPELESS) return;
  const mean = times[level] = quality.sum / quality.count;
  if (quality.rest > 0 || (mean <= SLOW && mean >= QUICK)) {
    quality.rest -= 1;
    goTo(quality, level);
  } else if (mean < QUICK) {
    quality.quick += 1;
    const finer = quality.quick >= quality.patience && level > 0;
    goTo(quality, finer ? level - 1 : level);
    if (finer) quality.quick = 0;
  } else if (level > 0 && mean > USEFUL * times[level - 1]) {
    quality.rest = quality.patience;
    goTo(quality, level - 1);
  } else {
    if (quality.quick === 0 && level < coarsest) quality.patience = Math.min(2 * quality.patience, LONGEST_PATIENCE);
    quality.quick = 0;
    goTo(quality, Math.min(level + (mean > HOPELESS ? 2 : 1), coarsest));
  }
}

/** Chooses the level of the next picture at rest after one that took some time [ms]. */
export function judgeRest(quality, milliseconds) {
  quality.restTime = milliseconds;
  if (milliseconds <= VERY_LONG) return;
  quality.restLevel = Math.min(quality.restLevel + 1, LEVELS.length - 1);
  quality.again = Math.min(2 * quality.again, LONGEST_AGAIN);
}

/** Begins to judge pictures of a level. */
function goTo(quality, level) {
  Object.assign(quality, { level, sum: 0, count: 0 });
}
