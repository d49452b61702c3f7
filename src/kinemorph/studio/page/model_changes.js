// When a panel has to ask again what a model offers.

import { make, refill } from "./elements.js";

/** Says in `place` that a document has no model yet; whether that is so. The view asks again when it has one. */
export function lacksModel(view, state, place) {
  if (state.good_revision >= 0) return false;
  const read = state.read_revision === state.revision;
  view.document = null;
  const { problem, remedy } = state.findings.find((one) => one.severity === "invitation") ?? {};
  refill(place, make("p", { class: "help" }, problem ? `${problem}. ${remedy}` : read
    ? "The file has mistakes and has not been a whole model yet. Correct what is marked in the panel Text."
    : "The model is being read."));
  return true;
}

/** Whether the last good model of a document is another one than a view has shown; the view notes which one it is. */
export function isNewModel(view, state) {
  const { document, good_revision: revision } = state;
  if (revision < 0 || (view.document === document && view.revision === revision)) return false;
  Object.assign(view, { document, revision });
  return true;
}
