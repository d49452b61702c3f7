// The panel Report: a document about the model and its saved runs. It is downloaded; an HTML report is also shown in a
// tab of its own, where it can run no script.

import { button, choice, downloadLink, entry, field, make, refill, tick } from "../elements.js";
import { sameInPython } from "../same_in_python.js";
import { makeTask } from "../tasks.js";

/** Opens the panel in its place. */
function openReport(host, studio) {
  const view = {
    studio, document: null, form: make("div", {}), made: make("div", {}), task: makeTask(studio, "report"),
    reports: new Map(),   // finished ones, by document
    runs: new Set(), given: { to: "html", language: "en", title: "", author: "", date: "" },
  };
  view.start = button("Write report", () => writeIt(view), { kind: "main", disabled: true });
  refill(host, view.form, make("div", { class: "row" }, view.start), view.task.element,
    make("section", { "aria-label": "Finished report" }, view.made));
  const ends = ["project", "run", "run removed"].map((push) => studio.on(push, () => { view.document = null; }));
  return { update: (state) => refreshReport(view, state), close: () => ends.forEach((end) => end()) };
}

/** Asks for the chapters and the saved runs, when another document is shown. */
async function refreshReport(view, state) {
  refill(view.made, view.reports.get(state.document) ?? []);
  if (view.document === state.document) return;
  view.document = state.document;
  const found = await view.studio.ask("report_choices", { document: state.document });
  if (view.document !== state.document) return;   // overtaken by another document
  view.chapters ??= new Set(found.chapters.map(([key]) => key));
  view.runs = new Set([...view.runs].filter((run) => found.runs.some(([key]) => key === run)));
  view.known = found;
  view.start.disabled = view.task.busy();
  const set = (key) => (value) => { view.given[key] = value; };
  refill(view.form,
    field("Format", choice(found.formats, view.given.to, set("to")), { help: found.missing }),
    field("Language", choice(found.languages, view.given.language, set("language"))),
    field("Title", entry(view.given.title, set("title")), { help: "Empty: the name of the model." }),
    field("Author", entry(view.given.author, set("author"))),
    field("Date", entry(view.given.date, set("date")), { help: "Empty: the same model always gives the same report." }),
    make("fieldset", { class: "columns" }, make("legend", {}, "Chapters"), found.chapters.map(([key, contents]) =>
      tick(key.replaceAll("_", " "), view.chapters.has(key),
        (on) => (on ? view.chapters.add(key) : view.chapters.delete(key)), { title: contents }))),
    make("fieldset", {}, make("legend", {}, "Runs"), found.runs.length ? found.runs.map(([key, label]) =>
      make("div", {}, tick(label, view.runs.has(key), (on) => (on ? view.runs.add(key) : view.runs.delete(key)))))
      : make("p", { class: "help" }, "There is no run of this model yet; the panel Runs computes runs.")));
}

/** Has the report written and offers it. */
async function writeIt(view) {
  if (view.task.busy() || !view.known) return null;
  const keys = view.known.chapters.map(([key]) => key).filter((key) => view.chapters.has(key));
  view.start.disabled = true;
  const { document: name } = view.studio.state;
  const done = await view.task.run("write_report", {
    document: name, ...view.given, runs: [...view.runs],
    chapters: keys.length === view.known.chapters.length ? null : keys,
  });
  view.start.disabled = false;
  if (!done) return null;
  const link = downloadLink(done.file), { shown, notes, same } = done.data;
  view.reports.set(name, make("div", {}, make("h2", {}, "The report is written"), make("div", { class: "row" }, link, shown
    ? make("a", { class: "button", href: shown.address, target: "_blank", rel: "noopener" },
      "Show the report in a new tab")
    : null),
  notes.map((text) => make("p", { class: "help" }, text)), sameInPython(same)));
  if (view.studio.state.document !== name) return view.studio.say(`The report of ${name} is written; it is listed there.`);
  refill(view.made, view.reports.get(name));
  return link.focus();
}

export { openReport as open };
