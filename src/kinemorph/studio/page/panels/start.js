// The panel Start: the configuration at which runs begin. Numbers here, sliders in the picture, or an equilibrium; the
// picture follows, loops close, and a button stores it in the file.

import { button, choice, entry, field, make, refill } from "../elements.js";
import { sameInPython } from "../same_in_python.js";

const ZERO = 1e-14;   // coordinates below it are shown as 0 [m or rad]

/** Opens the panel in its place. */
function openStart(host, studio) {
  const view = { studio, document: null, revision: -1, values: new Map(), rows: new Map(), place: "settings" };
  view.list = make("fieldset", {}, make("legend", {}, "Coordinates"));
  view.told = make("p", { role: "status", class: "help" });
  view.places = make("div", {});
  Object.assign(view, { busy: false, closing: Promise.resolve() });
  view.same = make("div", {});
  refill(host,
    make("p", { class: "help" }, "Runs begin at this configuration. Move the sliders in the picture and take the pose "
      + "over, or write numbers; \"30 deg\" and \"5 cm\" are possible."),
    make("div", { class: "row" },
      button("Take pose from picture", () => takePose(view)),
      button("Close loops", () => closeLoops(view, [])),
      button("From equilibrium", () => fromEquilibrium(view)),
      button("As in the file", () => readStart(view))),
    view.told, view.list, view.places,
    make("div", { class: "row" }, button("Store as start", () => storeStart(view), { kind: "main" })),
    view.same);
  const changed = (state) => state.document !== view.document || state.good_revision !== view.revision;
  return { update: (state) => { if (!host.hidden && changed(state)) readStart(view, state); } };
}

/** Asks for the coordinates and shows them. */
async function readStart(view, state = view.studio.state) {
  Object.assign(view, { document: state.document, revision: state.good_revision });
  if (state.good_revision < 0) {
    view.told.textContent = "The model has mistakes. Correct what is marked in the panel Text.";
    return;
  }
  const found = await view.studio.ask("start", { document: state.document });
  if (state.document !== view.document || state.good_revision !== view.revision) return;   // a newer answer follows
  view.found = found;
  view.values = new Map(found.coordinates.map(({ name, value }) => [name, value]));
  view.rows = new Map();
  refill(view.list, make("legend", {}, "Coordinates"), found.coordinates.map((one) => coordinateRow(view, one)));
  if (!found.places.includes(view.place)) view.place = "settings";
  const title = (one) => (one === "settings" ? "all runs (settings)" : one.replace("runs.", "run "));
  const options = found.places.map((one) => [one, title(one)]);
  refill(view.places, field("Store for", choice(options, view.place, (one) => { view.place = one; })));
  refill(view.same, sameInPython(found.same));
  view.told.textContent = found.coordinates.length ? "" : "This model has no coordinates.";
}

/** The row of one coordinate. */
function coordinateRow(view, { name, unit, value, lower, upper }) {
  const control = entry(number(value), async (text) => {
    const typed = text.trim(), plain = Number(typed);
    await closeLoops(view, [name], { [name]: typed !== "" && Number.isFinite(plain) ? plain : typed });
  });
  view.rows.set(name, control);
  const end = (bound, none) => (bound === null ? none : String(Number(bound.toPrecision(5))));
  const ends = [end(lower, "no lower limit"), end(upper, "no upper limit")];
  const limits = lower !== null || upper !== null ? ends.join(" to ") : "";
  return field(name, control, { unit, help: limits });
}

/** A number with as many digits as matter; what rounding has left of a zero is shown as 0. */
function number(value) {
  return Math.abs(value) < ZERO ? "0" : String(Number(value.toPrecision(12)));
}

/** Shows values by name in the entries and in the picture. */
function showValues(view, q) {
  for (const [name, value] of Object.entries(q)) {
    view.values.set(name, value);
    const control = view.rows.get(name);
    if (control) {
      control.value = number(value);
      control.removeAttribute("aria-invalid");
    }
    try {
      view.studio.stage?.setJoint(name, value);
    } catch {
      // coordinates without a slider of their own, such as those of quaternions, follow from the stored start
    }
  }
}

/** Takes over the coordinates of the robot in the picture. */
async function takePose(view) {
  const figure = view.studio.stage?.scene?.figures[0];
  if (!figure?.joints) {
    view.told.textContent = "The picture shows no robot with joints now; end the run that it shows.";
    return;
  }
  const q = {};
  for (const { labels, steps, follows } of figure.joints) {
    const first = steps[0]?.q;
    if (first === undefined || follows) continue;
    labels.forEach((name, k) => { if (view.rows.has(name)) q[name] = figure.q[first + k]; });
  }
  await closeLoops(view, [], q);
}

/** Closes the loops near the present values and those in `q`, after what was asked before; `held` joints keep theirs. */
function closeLoops(view, held, q = {}) {
  view.closing = view.closing.then(() => closeNow(view, held, q));
  return view.closing;
}

/** Closes the loops now; see `closeLoops`. */
async function closeNow(view, held, q) {
  const all = { ...Object.fromEntries(view.values), ...q };
  try {
    showValues(view, await view.studio.connection.ask("close_start", { document: view.document, q: all, held }));
    view.told.textContent = view.found.loops ? "All loops are closed." : "";
  } catch (error) {
    view.told.textContent = error.message;
    for (const name of held) view.rows.get(name)?.setAttribute("aria-invalid", "true");
  }
}

/** Searches for an equilibrium near the present values. */
async function fromEquilibrium(view) {
  if (view.busy) return;
  view.busy = true;
  view.told.textContent = "Searching for an equilibrium ...";
  try {
    const q = Object.fromEntries(view.values);
    const args = { document: view.document, q };
    const { found, q: rest, message } = await view.studio.connection.ask("equilibrium_start", args);
    if (found) showValues(view, rest);
    view.told.textContent = message;
  } catch (error) {
    view.told.textContent = error.message;
  } finally {
    view.busy = false;
  }
}

/** Stores the values in the file. */
async function storeStart(view) {
  await view.closing;   // a value that was typed just before
  const q = Object.fromEntries(view.values);
  view.studio.take(await view.studio.ask("store_start", { document: view.document, q, place: view.place }));
  view.studio.say("The start is stored.");
}

export { openStart as open };
