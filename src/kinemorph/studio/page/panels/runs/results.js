// The list of results: every run of the document, with how it ended.

import { button, make, tableOf } from "../../elements.js";

/** The table of all runs that have ended, the newest first; `choose(number)` is called with the chosen one. */
export function resultRows(view, choose) {
  const ended = [...view.results.values()].filter((one) => !["waiting", "working"].includes(one.state))
    .sort((a, b) => b.number - a.number);
  if (!ended.length) return view.results.size ? null : make("p", { class: "help" }, "No run has been computed yet.");
  return tableOf({
    caption: "Results", head: ["run", "ended", "time", "steps", "method", "run + compile", "model"], headed: true,
    rows: ended.map((one) => rowOf(view, one, choose)),
    mark: (_, k) => (ended[k].number === view.chosen ? { class: "chosen", "aria-current": "true" } : {}),
  });
}

/** The cells of one result. */
function rowOf(view, one, choose) {
  const { summary } = one, old = view.studio.state && one.revision !== view.studio.state.revision;
  return [
    button(one.label, () => choose(one.number), { kind: "quiet", pressed: one.number === view.chosen }),
    endOf(one), summary ? `${short(summary.end)} s` : "", summary ? String(summary.steps) : "", summary?.method ?? "",
    summary ? `${short(summary.seconds)} s + ${short(summary.compile_seconds)} s` : "",
    old ? "changed since" : "as it is",
  ];
}

/** How a run has ended, in a word. */
function endOf(one) {
  const kind = one.summary?.outcome.kind ?? one.state;
  return one.state === "done" ? kind : make("span", { class: "wrong" }, one.state === "cancelled" ? "cancelled" : kind);
}

/** A number with few digits. */
export function short(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : "–";
}
