// Inputs and set points of a live run: a slider and an entry for each.

import { entry, field, make, refill } from "../../elements.js";
import { act } from "./acting.js";

const SET_EVERY = 40;   // [ms] between two values that are sent while a slider moves
const SLIDER_STEPS = 400;       // of a slider

/** The part of the panel with sliders. */
export function makeInputs(view) {
  const inputs = { rows: new Map(), waiting: {}, timer: 0, sent: 0 };
  inputs.place = make("div", {});
  return inputs;
}

/** Shows a row for each input and each set point of the live run. */
export function showInputs(view) {
  const { inputs, ready } = view, names = ready.inputs.map(({ name }) => name);
  if (names.length === inputs.rows.size && names.every((name) => inputs.rows.has(name))) return;
  inputs.rows = new Map(ready.inputs.map((one) => [one.name, inputRow(view, one)]));
  const part = (title, wanted) => {
    const rows = ready.inputs.filter(({ point }) => point === wanted).map(({ name }) => inputs.rows.get(name));
    return rows.length ? make("fieldset", {}, make("legend", {}, title), rows.map(({ row }) => row)) : null;
  };
  refill(inputs.place, part("Set points", true), part("Inputs", false));
}

/** The row of one input: a slider for the hand, an entry for exact numbers. */
function inputRow(view, { name, unit, low, high, point }) {
  const value = point ? 0.5 * (low + high) : 0;
  const step = String((high - low) / SLIDER_STEPS);
  const slider = make("input", { type: "range", min: String(low), max: String(high), step });
  const exact = entry("", (text) => {
    const typed = Number(text);
    if (text.trim() !== "" && Number.isFinite(typed)) setInput(view, name, typed);
    else view.studio.say(`${name} is '${text}'; expected a number.`, "error");
  }, { "aria-label": `${name}, exact`, inputMode: "decimal", class: "exact" });
  slider.addEventListener("input", () => setInput(view, name, Number(slider.value)));
  const row = field(name, slider, { unit });
  slider.after(exact);
  const one = { row, slider, exact };
  showInput(one, view.status?.inputs?.[name] ?? value);
  return one;
}

/** Shows the value of an input. */
function showInput({ slider, exact }, value) {
  slider.value = String(value);
  exact.value = String(Number(value.toPrecision(6)));
}

/** Sets an input; of values that come too fast, the newest is sent. */
function setInput(view, name, value) {
  const { inputs } = view;
  showInput(inputs.rows.get(name), value);
  inputs.waiting[name] = value;
  if (inputs.timer) return;
  inputs.timer = setTimeout(() => {
    const values = inputs.waiting;
    Object.assign(inputs, { timer: 0, sent: performance.now(), waiting: {} });
    act(view, "set_inputs", { values });
  }, Math.max(0, inputs.sent + SET_EVERY - performance.now()));
}

/** Shows the values that the run has, as after a reset, where nobody moves a slider now. */
export function followInputs(view) {
  const { inputs, status } = view;
  if (inputs.timer || performance.now() - inputs.sent < 500) return;
  for (const [name, one] of inputs.rows) {
    const value = status.inputs?.[name], busy = document.activeElement === one.exact;
    if (value === undefined || busy) continue;
    if (Math.abs(value - Number(one.exact.value)) > 1e-5 * Math.abs(value)) showInput(one, value);
  }
}
