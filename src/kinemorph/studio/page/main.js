// The studio's page: a bar with the document, panels on the left, the picture on the right. The server decides: a panel
// sends a command, and the page shows the state that comes back.

import { connect } from "/serving/connection.js";
import { openStage, unpackBytes } from "/stage/stage.js";
import { button, choice, make, refill } from "./elements.js";
import { loadPanel, PANELS } from "./panels/index.js";
import { bindSelection } from "./selection.js";
import { makeSplitter } from "./splitter.js";
import { makeTabs } from "./tabs.js";

const SHOWN_FOR = 8000;       // time for which a message that is no warning stays [ms]
const AFTER_PICTURE = 1000;   // time between the first picture and the scripts of panels that are not open [ms]

/** Everything that panels use: questions to the server, its pushes, the state of the document, selection, stage. */
class Studio {
  constructor() {
    this.state = null;         // of the document that is shown, as the server tells it
    this.told = null;          // the last state that the server sent by itself; it may overtake the answer to "show"
    this.documents = [];
    this.turn = 0;             // counts how often a document was chosen
    this.selection = null;
    this.stage = null;
    this.panel = null;         // the key of the panel that is shown
    this.part = null;          // of the panel Files, to which the page goes next
    this.nextRun = null;       // a run of the document that the panel Runs starts when it is opened next
    this.begin = () => {};
    this.shownRun = null;
    this.surfaces = new Map(); // surfaces that the server has sent, by content
    this.listeners = new Map();
    this.opened = new Map();   // panels that have been opened, by key
    this.connection = null;
    this.pictures = Promise.resolve();
  }

  /** Asks the server; a promise of its answer. A refusal is shown and rejects. */
  async ask(name, args = {}) {
    try {
      return await this.connection.ask(name, args);
    } catch (error) {
      this.say(error.message, "error");
      throw error;
    }
  }

  /** Listens to pushes of a kind; returns a function that ends listening. */
  on(push, listener) {
    const all = this.listeners.get(push) ?? this.listeners.set(push, new Set()).get(push);
    all.add(listener);
    return () => all.delete(listener);
  }

  /** Tells all listeners of a push. */
  emit(push, ...values) {
    for (const listener of this.listeners.get(push) ?? []) listener(...values);
  }

  /**
   * Changes a document by a command, by default the one that is shown; resolves when the change is on the disk.
   *
   * With `base`, the revision that the command was made for, nothing is changed where the document has another one.
   */
  async edit(command, { document: name = this.state.document, base = null } = {}) {
    const state = await this.ask("edit", { document: name, command, base });
    this.alerts.replaceChildren();   // why edits before this one were refused
    if (this.state.document === name) this.take(state);
    return state;
  }

  /** Takes the last change back, or makes it again. */
  async undo(again = false) {
    this.take(await this.ask(again ? "redo" : "undo", { document: this.state.document }));
  }

  /** Shows another document. */
  async show(name) {
    const turn = this.turn += 1;
    const state = await this.ask("show", { document: name });
    if (turn !== this.turn) return;   // another document was chosen meanwhile
    this.take(state);
    location.hash = encodeURIComponent(name);
  }

  /** Takes a state of the document that is not older than the known one. */
  take(found) {
    const old = this.state, newer = (one, other) => one?.document === other.document
      && (one.revision - other.revision || one.read_revision - other.read_revision) > 0;
    const state = newer(this.told, found) ? this.told : found;
    if (newer(old, state)) return;   // an answer that was overtaken
    this.state = state;
    if (old?.document !== state.document) {
      this.select(null);
      for (const line of [...this.alerts.children, ...this.notes.querySelectorAll(".warning")]) line.remove();   // of the one before
    }
    this.emit("state", state);
    for (const panel of this.opened.values()) panel.update?.(state);
    if (!old) this.begin();
  }

  /** Selects a part: {kind, name}, or null for none. Panels and the stage light it up. */
  select(selection) {
    if (this.selection?.kind === selection?.kind && this.selection?.name === selection?.name) return;
    this.selection = selection;
    this.emit("select", selection);
  }

  /**
   * Shows a sentence at the bottom of the page, or several as a list that unfolds; "error" and "warning" stay until
   * they are closed.
   */
  say(text, kind = "note") {
    const said = Array.isArray(text) && text.length > 1 ? make("details", {}, make("summary", {}, `${text[0]} (+${
      text.length - 1})`), make("ul", {}, text.slice(1).map((one) => make("li", {}, one)))) : text;
    const line = make("div", { class: `message ${kind}` }, said, " ", button("Close message", () => line.remove(), { icon: "×", kind: "quiet" }));
    const place = kind === "error" ? this.alerts : this.notes;
    while (place.childElementCount > 3) place.firstElementChild.remove();
    place.append(line);
    if (kind === "note") setTimeout(() => line.remove(), SHOWN_FOR);
  }
}

/** Builds the page and connects it. */
async function openStudio() {
  const studio = new Studio();
  const picker = choice([], "", (name) => studio.show(name).catch(() => { picker.value = studio.state?.document ?? ""; }),
    { "aria-label": "Document" });
  const undo = button("Undo", () => studio.undo(), { title: "Undo (Ctrl+Z)", disabled: true });
  const redo = button("Redo", () => studio.undo(true), { title: "Redo (Ctrl+Shift+Z)", disabled: true });
  const saved = make("output", { class: "saved", "aria-label": "Saved" });
  const online = make("output", { class: "online", "aria-label": "Connection" });
  studio.alerts = make("div", { role: "alert", class: "messages" });
  studio.notes = make("div", { role: "status", class: "messages" });
  const picture = make("div", { class: "picture empty" });
  const missing = make("p", { role: "status", class: "missing", hidden: true });
  picture.append(missing);
  const tabs = makeTabs("Panels", PANELS, (key, host) => {
    studio.panel = key;
    studio.begin = () => openPanel(studio, key, host);   // when the first document is there
    studio.emit("panel", key);
    openPanel(studio, key, host);
    if (key === "start") studio.stage?.showJoints(true);
    sessionStorage.setItem("panel", key);
  });
  studio.open = tabs.choose;   // opens a panel by its key
  const side = make("div", { class: "side" }, tabs.list, tabs.hosts);
  const bar = make("header", { class: "bar" }, make("h1", {}, "Kinemorph"), picker, undo, redo, saved,
    make("span", { class: "rest" }), online);
  document.body.append(
    make("a", { class: "skip", href: "#panels" }, "Skip to the panels"), bar,
    make("main", { class: "desk", id: "panels" }, side, makeSplitter(side), picture),
    make("footer", { class: "log" }, studio.alerts, studio.notes),
  );
  studio.on("state", (state) => {
    document.title = `${state.title} – Kinemorph studio`;
    picker.value = state.document;
    undo.disabled = !state.can_undo;
    redo.disabled = !state.can_redo;
    const wrong = state.findings.filter((one) => one.severity === "error").length;
    const mistakes = () => button(wrong === 1 ? "1 mistake" : `${wrong} mistakes`, () => tabs.choose("text"),
      { kind: "quiet", title: "Show the mistakes in the panel Text" });
    refill(saved, state.problem ? state.problem : !state.saved ? "not saved" : wrong ? ["saved, ", mistakes()] : "saved");
    saved.classList.toggle("wrong", Boolean(wrong || state.problem || !state.saved));
  });
  studio.on("picture", ({ document: name, revision }) => {   // it may come before the change is on the disk
    if (name === studio.state?.document && revision > studio.state.revision) refill(saved, "saving");
  });
  for (const event of ["state", "picture"]) studio.on(event, () => tellMissing(studio, missing));
  studio.on("project", ({ documents }) => listDocuments(studio, picker, documents));
  studio.on("document", ({ state }) => {
    studio.told = state;
    if (state.document === studio.state?.document) studio.take(state);
  });
  studio.on("message", ({ text, kind }) => studio.say(text, kind));
  // opened before there is a scene, because the graphics card takes a while to prepare
  studio.stage = openStage(picture, null, { onPick: (pick) => studio.emit("pick", pick) });
  studio.stage.showJoints(false);   // but in the panel Start, the picture has the room
  bindKeys(studio);
  bindSelection(studio);
  loadPanelsLater(studio);
  window.addEventListener("hashchange", () => {   // such as by the back button
    const name = shownInAddress();
    if (name !== studio.state?.document && studio.documents.some((one) => one.name === name)) studio.show(name);
  });
  studio.connection = connect({
    onPush: (message) => studio.emit(message.push, message),
    onBytes: (header, payload) => takeBytes(studio, picture, header, payload),
    onState: (state, sentence) => greet(studio, picker, tabs, state, sentence, online),
  });
  window.kinemorph = { studio };
}

/** What to do first where no document is open, in place of a panel that shows one. */
function firstStep(studio) {
  const go = (part) => () => { studio.part = part; studio.open("files"); studio.emit("part"); };
  return [make("p", {}, "No model is open. Create one from a template, take a robot of the library, or open a file."),
    make("div", { class: "row" }, button("New model", go("fresh"), { kind: "main" }),
      button("Library", go("library")), button("Open a file", go("files")))];
}

/** Opens a panel in its place when its script is there, and updates it; one that is open already is updated at once. */
async function openPanel(studio, key, host) {
  if (!studio.state && key !== "files") return refill(host, firstStep(studio));
  if (!studio.opened.has(key)) {
    studio.opened.set(key, {});   // it is opened once, also if it is chosen again meanwhile
    try {
      const { open } = await loadPanel(key);
      studio.opened.set(key, open(host, studio) ?? {});
    } catch (error) {
      studio.opened.delete(key);
      studio.say(`The panel '${key}' cannot be opened (${error.message}). Reload the page when the program answers.`, "error");
      return null;
    }
  }
  return studio.state ? studio.opened.get(key).update?.(studio.state) : null;
}

/** Loads the scripts of all panels after the first picture, so that tabs open at once. */
function loadPanelsLater(studio) {
  const done = studio.on("picture", () => {
    done();
    setTimeout(() => PANELS.forEach(({ key }) => loadPanel(key).catch(() => {})), AFTER_PICTURE);   // `openPanel` says why
  });
}

/** Greets the server after each connection: asks for the documents, and shows the one that was shown before. */
async function greet(studio, picker, tabs, state, sentence, online) {
  online.textContent = state === "open" ? "connected" : `${sentence} Nothing that was saved is lost.`;
  online.classList.toggle("wrong", state !== "open");
  document.body.classList.toggle("offline", state !== "open");
  studio.emit("connection", state);
  if (state !== "open") return;
  studio.surfaces.clear();
  const { turn } = studio, { documents, first } = await studio.ask("hello");
  listDocuments(studio, picker, documents);
  const wanted = [studio.state?.document, shownInAddress(), first, documents[0]?.name];
  const name = wanted.find((one) => one && documents.some((known) => known.name === one));
  const kept = sessionStorage.getItem("panel");
  if (name && turn === studio.turn) await studio.show(name).catch(() => {});   // why it cannot be shown has been said
  if (!tabs.chosen()) tabs.choose(studio.state ? (kept ?? (studio.state.assembly ? "assemble" : "model")) : "files");
}

/** The document that the address of the page names; an empty text for none. */
function shownInAddress() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

/** Fills the list of documents. */
function listDocuments(studio, picker, documents) {
  studio.documents = documents;
  picker.hidden = !documents.length;
  refill(picker, documents.map(({ name }) => make("option", { value: name }, name)));
  if (studio.state) picker.value = studio.state.document;
  studio.emit("documents", documents);
}

/** Says why there is no picture of a document, instead of leaving that of another one in its place. */
function tellMissing(studio, line) {
  const { state } = studio;
  line.hidden = studio.pictured === state?.document || !(state?.good_revision < 0) || !state.findings.length;
  const { problem, remedy } = state?.findings.find((one) => one.severity === "invitation") ?? {};
  line.textContent = line.hidden ? "" : problem ? `${problem}. ${remedy}`
    : `There is no picture of ${state.document} yet, because it has mistakes. The panel Text lists them.`;
  studio.stage?.element.toggleAttribute("hidden", !line.hidden);
}

/** Takes a binary message; pictures are shown in the order in which they came. */
function takeBytes(studio, host, header, payload) {
  if (header.push !== "scene") return studio.emit(header.push, header, payload);
  studio.pictures = studio.pictures.then(async () => {
    const scene = await unpackBytes(payload, studio.surfaces), same = header.document === studio.pictured;
    studio.stage.setScene(scene, { keepCamera: same });
    if (!same) studio.stage.setPorts([]);   // of the modules that were shown before
    host.classList.remove("empty");
    studio.pictured = header.document;
    studio.shownRun = header.run ?? null;   // the number of the run in the picture; null for the model itself
    studio.emit("picture", header);
    studio.stage.drawNow();
  }).catch((error) => studio.say(error.message, "error"));
  return studio.pictures;
}

/** Keys that act everywhere but in entries, where the browser has its own undo. */
function bindKeys(studio) {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input:not([type=checkbox]):not([type=range]), textarea, [contenteditable]");
    if (typing || !(event.ctrlKey || event.metaKey) || !studio.state) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey && studio.state.can_undo) studio.undo();
    else if ((key === "y" || (key === "z" && event.shiftKey)) && studio.state.can_redo) studio.undo(true);
    else return;
    event.preventDefault();
  });
}

openStudio();
