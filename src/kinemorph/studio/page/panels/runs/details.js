// A result: playing, events, plots, comparison, audit and files.

import { button, choice, downloadLink, entry, field, folded, make, refill, tableOf, tick } from "../../elements.js";
import { sheetOf } from "../../sheet.js";
import { startTask } from "../../tasks.js";
import { short } from "./results.js";

const LISTED = 60;   // columns that are listed at once

/** Shows the chosen result; `again` draws everything again. */
export function showDetails(view, again) {
  const run = view.results.get(view.chosen);
  if (!run || ["waiting", "working"].includes(run.state)) {
    view.shown = null;
    return refill(view.details);
  }
  if (view.shown === run) return null;   // nothing has changed
  view.shown = run;
  const said = make("div", { role: "status" });
  const parts = run.kept ? [playing(view, run), said, resultOf(view, run), plotsOf(view, run),
    comparisonOf(view, run, said), auditOf(view, run), filesOf(view, run, said)] : null;
  refill(view.details, make("h2", {}, run.label), sentencesOf(run), parts,
    button(`Delete ${run.label}`, () => remove(view, run, again), { kind: "danger" }));
  return null;
}

/** Why a run failed, its warnings and its notes. */
function sentencesOf(run) {
  const bad = run.sentence ? make("p", { class: run.state === "failed" ? "error" : "help" }, run.sentence) : null;
  return [bad, run.warnings.map((text) => make("p", { class: "warning" }, text)),
    (run.notes ?? []).map((text) => make("p", { class: "help" }, text))];
}

/** Shows runs in the stage; resolves when the picture is there. */
async function picture(view, numbers, more = {}) {
  await startTask(view.studio, "show_run", { numbers, columns: view.columns, ...more });
  await view.studio.pictures;
}

/** Makes sure that the stage shows a run before it is played or scrubbed. */
async function shown(view, run) {
  if (view.studio.shownRun !== run.number) await picture(view, [run.number]);
  return view.studio.stage;
}

/** Buttons that show and play a run. */
function playing(view, run) {
  return make("div", { class: "row" },
    button("Play", async () => {
      const stage = await shown(view, run);
      if (stage.time >= stage.scene.times.at(-1)) stage.setTime(stage.scene.times[0]);
      stage.play();
    }, { kind: "main", "aria-label": `Play ${run.label}` }),
    button("Pause", () => view.studio.stage?.pause(), { "aria-label": `Pause ${run.label}` }),
    button("Show", () => picture(view, [run.number]), { "aria-label": `Show ${run.label}` }));
}

/** What a run has to show; a button at each event goes to its time. */
function resultOf(view, run) {
  const go = (row) => {
    const { t } = run.summary.events[row];
    return button("Show", async () => (await shown(view, run)).setTime(t),
      { kind: "quiet", title: "Go to this time", "aria-label": `Show t = ${short(t)} s` });
  };
  return folded("Result", true, sheetOf(run.sheet ?? [], run.eventCount ? { beside: go } : {}));
}

/** The choice of columns that are plotted below the picture. */
function plotsOf(view, run) {
  const names = (run.columns ?? []).map((one) => one.name).filter((name) => name !== "t");
  const list = make("div", { class: "plotcolumns", role: "group", "aria-label": "Columns" });
  const chosen = new Set(view.columns ?? []), figures = make("div", {});
  const draw = () => {
    view.columns = chosen.size ? [...chosen] : null;
    return picture(view, [run.number]);
  };
  const fill = (filter) => refill(list, names.filter((name) => name.includes(filter)).slice(0, LISTED).map((name) =>
    tick(name, chosen.has(name), (on) => { if (on) chosen.add(name); else chosen.delete(name); return draw(); })));
  const filter = entry("", null, { placeholder: "q., v., energy., ...", oninput: () => fill(filter.value) });
  fill("");
  const values = button("Values of the columns", async () => {
    const { data } = await startTask(view.studio, "run_figures", { number: run.number, columns: [...chosen] });
    refill(figures, sheetOf(data.figures));
  });
  return folded("Plots", true, field("Find columns", filter), list, make("div", { class: "row" },
    button("Plot energies", () => { chosen.clear(); fill(filter.value); return draw(); }), values), figures);
}

/** Comparison with another result: both in one picture, their difference over time, and a table. */
function comparisonOf(view, run, said) {
  const others = [...view.results.values()].filter((one) => one.kept && one.number !== run.number);
  if (!others.length) {
    return folded("Compare", false, make("p", { class: "help" }, "Another result is needed to compare with."));
  }
  let other = String(others.some((one) => one.number === view.other) ? view.other : others.at(-1).number);
  const table = make("div", {}), numbers = () => [run.number, Number(other)];
  const compare = async () => {
    view.other = Number(other);
    const { data } = await startTask(view.studio, "compare_runs", { numbers: numbers(), columns: view.columns });
    refill(table, make("p", {}, data.bitwise ? "Both runs are the same to the last bit."
      : `Compared at ${data.samples} times.`), tableOf({
      caption: "Differences", head: ["column", "largest difference", "at", "range"], headed: true,
      rows: data.rows.map((one) =>
        [`${one.name} [${one.unit}]`, power(one.largest), `${short(one.t)} s`, short(one.range)]),
    }));
  };
  return folded("Compare", false,
    field("Compare with",
      choice(others.map((one) => [String(one.number), one.label]), other, (value) => { other = value; })),
    make("div", { class: "row" },
      button("Show both", async () => {
        await picture(view, numbers());
        refill(said, "Both runs are shown in one place.");
      }),
      button("Plot difference", () => picture(view, numbers(), { difference: true })),
      button("Table of differences", compare)), table);
}

/** The audit of a run: its checks as a table. */
function auditOf(view, run) {
  const table = make("div", {});
  const help = "Checks the run against conservation of energy and momentum.";
  return folded("Audit", false, make("p", { class: "help" }, help),
    button("Audit the run", async () => {
      const { data } = await startTask(view.studio, "audit_run", { number: run.number });
      refill(table, make("section", { "aria-label": `Audit of ${run.label}` }, sheetOf(data.sheet)));
    }, { "aria-label": `Audit ${run.label}` }), table);
}

/** A small number with a power of ten; a dash where there is none. */
function power(value) {
  return typeof value === "number" ? value.toExponential(1) : "–";
}

/** Files of a run to download. */
function filesOf(view, run, said) {
  const links = make("div", { class: "row" }), names = {
    ".npz": "Numbers (.npz)", ".csv": "Table (.csv)", ".h5": "HDF5 (.h5)", ".res": "EasyDyn (.res)",
    ".html": "Replay (.html)", ".gif": "Film (.gif)", ".mp4": "Film (.mp4)",
  };
  return folded("Export", false, make("div", { class: "row" }, view.known.endings.map((ending) =>
    button(names[ending] ?? ending, async () => {
      refill(said, `Writing ${ending} …`);
      const { data } = await startTask(view.studio, "export_run", { number: run.number, ending, columns: view.columns })
        .finally(() => refill(said));
      links.append(downloadLink(data));
    }, { "aria-label": `Export ${names[ending] ?? ending}` })),
  button("Save into the project", async () => {
    const { name } = await view.studio.ask("keep_run", { number: run.number });
    refill(said, `Saved as ${name} in the project, where the report finds it.`);
  })), links);
}

/** Deletes a result. */
async function remove(view, run, again) {
  await view.studio.ask("remove_run", { number: run.number });
  view.results.delete(run.number);
  view.chosen = null;
  again();
}
