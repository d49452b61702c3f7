// Samples of a run that is computed: the picture and the plots grow.

/** Appends frames of a run to the stage, behind the pictures that came before them. */
export function appendRun(studio, header, payload) {
  studio.pictures = studio.pictures.then(() => {
    if (studio.stage && studio.shownRun === header.run) studio.stage.appendFrames(unpackFrames(header, payload));
  }).catch((error) => studio.say(error.message, "error"));
  return studio.pictures;
}

/** Goes to the end of a run that grows, so that the picture follows it. */
export function followRun({ stage }) {
  stage.setTime(stage.scene.times.at(-1));
}

/** The arrays in a frame: times (n), coordinates (n nq), then one row (n) for each series. */
function unpackFrames({ count, coordinates, series, events }, payload) {
  const numbers = new Float64Array(payload.slice(0)), at = count * (1 + coordinates);
  return {
    times: numbers.subarray(0, count), coordinates: [numbers.subarray(count, at)], events,
    series: Array.from({ length: series }, (_, k) => numbers.subarray(at + k * count, at + (k + 1) * count)),
  };
}
