// The progress of a run that is computed: its phases with their times, a bar, and a button that cancels it.

import { button, make, refill } from "../../elements.js";

const PHASE_NAMES = {
  read: "read", prepare: "prepare", derive: "derive", compile: "compile", run: "run", keep: "finish",
};

/** The element that shows the progress of a run; `element` is the one from before, which is updated, or null. */
export function progressOf(run, element, cancel) {
  const { progress } = run, host = element ?? makeProgress(run, cancel);
  const phase = progress.phase ?? "waiting", fraction = progress.fraction;
  const told = run.state === "waiting" || !progress.phase ? "waits for a free worker" : toldPhase(progress);
  const bar = host.querySelector("[role=progressbar]"), known = ["run", "keep"].includes(phase) && typeof fraction === "number";
  bar.setAttribute("aria-valuetext", told);
  if (known) {
    bar.setAttribute("aria-valuenow", String(Math.round(100 * fraction)));
    bar.style.setProperty("--done", `${(100 * fraction).toFixed(1)}%`);
  } else {
    bar.removeAttribute("aria-valuenow");
    bar.style.setProperty("--done", "0%");
  }
  bar.classList.toggle("unknown", !known);
  refill(host.querySelector(".told"), told);
  const spent = Object.entries(progress.spent ?? {}).filter(([key]) => PHASE_NAMES[key]);
  refill(host.querySelector(".phases"), spent.map(([key, seconds]) =>
    make("li", { class: key === phase ? "chosen" : "" }, `${PHASE_NAMES[key]} ${seconds.toFixed(1)} s`)));
  return host;
}

/** The elements of the progress of a run. */
function makeProgress(run, cancel) {
  const label = `Progress of ${run.label}`;
  return make("div", { class: "progress", "data-number": run.number, role: "group", "aria-label": label },
    make("div", { class: "row" }, make("b", {}, run.label), make("span", { class: "told" }),
      button("Cancel run", cancel, { kind: "danger", "aria-label": `Cancel ${run.label}` })),
    make("div", { role: "progressbar", class: "progressbar", "aria-label": label, "aria-valuemin": "0",
      "aria-valuemax": "100" }, make("div", {})),
    make("ul", { class: "phases", "aria-label": "Phases" }));
}

/** What a run does now, in words. */
function toldPhase({ phase, doing, t, step, events }) {
  if (phase !== "run" || typeof t !== "number") return doing || phase;
  const happened = events ? `, ${events} ${events === 1 ? "event" : "events"}` : "";
  return `t = ${t.toPrecision(4)} s, steps of ${step.toPrecision(2)} s${happened}`;
}
