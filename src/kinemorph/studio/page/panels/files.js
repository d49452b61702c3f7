// The panel Files: model files of the project, new ones from templates and from the library, and files from outside:
// dropped here or chosen, also several at once or whole folders with meshes.

import { askText, button, choice, entry, field, make, refill, sizeText, tableOf } from "../elements.js";
import { sameInPython } from "../same_in_python.js";

const MOST_ROWS = 100;   // files that are listed at a time; a search finds the others

/** Opens the panel in its place. */
function openFiles(host, studio) {
  const view = { studio, found: null, search: "", wanted: "", pictures: new Map(), waiting: [] };
  view.files = make("section", { "aria-label": "Files of the project" });
  view.fresh = make("section", { "aria-label": "New model" });
  view.library = make("section", { "aria-label": "Library" });
  view.told = make("p", { role: "status", class: "help" });
  view.same = make("div", {});
  refill(host, view.files, view.same, dropPlace(view), view.told, view.fresh, view.library);
  host.addEventListener("dragover", (event) => { event.preventDefault(); host.classList.add("over"); });
  host.addEventListener("dragleave", () => host.classList.remove("over"));
  host.addEventListener("drop", (event) => {
    event.preventDefault();
    host.classList.remove("over");
    dropped(event.dataTransfer).then((files) => sendFiles(view, files));
  });
  view.seen = new IntersectionObserver((entries) => {
    for (const one of entries) if (one.isIntersecting) wantPicture(view, one.target);
  });
  const ends = [studio.on("documents", () => readFiles(view)), studio.on("part", () => showPart(view))];
  readFiles(view);
  return { update: () => showFiles(view), close: () => { view.seen.disconnect(); ends.forEach((end) => end()); } };
}

/** Asks for all that the panel shows. */
async function readFiles(view) {
  view.found = await view.studio.ask("files");
  showFiles(view);
  if (!view.fresh.childElementCount) {
    showTemplates(view);
    showLibrary(view);
  }
  showPart(view);
}

/** Goes to the part of the panel at which another panel has pointed. */
function showPart(view) {
  const place = view[view.studio.part];
  if (!place?.childElementCount) return;
  view.studio.part = null;
  place.scrollIntoView({ block: "start" });
  place.querySelector("input, button")?.focus({ preventScroll: true });
}

/** The files of the project: choose one to show it. A search is offered where there are many. */
function showFiles(view) {
  if (!view.found) return;
  const { files, unlisted, folder } = view.found, list = make("div", {});
  const search = make("input", { type: "search", "aria-label": "Search the files", placeholder: "Search",
    value: view.wanted, oninput: () => { view.wanted = search.value; fillFiles(view, list); } });
  refill(view.files, make("h2", {}, `Folder ${folder}`), files.length > MOST_ROWS ? search : null, list,
    unlisted ? make("p", { class: "warning" }, `${unlisted} more model files of this folder are not listed. `
      + "Open the studio in one of its folders.") : null);
  fillFiles(view, list);
}

/** Lists the files whose names contain the text of the search, as many as are shown at a time. */
function fillFiles(view, list) {
  const shown = view.studio.state?.document, wanted = view.wanted.toLowerCase(), { files } = view.found;
  const found = files.length > MOST_ROWS ? files.filter(({ name }) => name.toLowerCase().includes(wanted)) : files;
  const rest = found.length - MOST_ROWS;
  refill(list, files.length ? tableOf({
    caption: "Model files", head: ["file", "format", "size", ""],
    rows: found.slice(0, MOST_ROWS).map(({ name, format, size }) => [
      button(name, () => view.studio.show(name), { kind: "quiet", "aria-current": name === shown ? "true" : null }),
      format, size === undefined ? "" : sizeText(size),
      make("span", { class: "acts" },
        button("Copy", () => copyFile(view, name), { kind: "quiet", "aria-label": `Copy ${name}` }),
        format === "toml" ? null : button("Convert to TOML", () => convertOne(view, name),
          { kind: "quiet", "aria-label": `Convert ${name} to TOML` })),
    ]),
    mark: ([cell]) => ({ class: cell.getAttribute("aria-current") ? "chosen" : "" }),
  }) : [make("p", {}, "There are no model files yet. Begin with modules, a template, a robot of the library, or own files."),
    make("div", { class: "row" }, button("Build from modules", () => createModel(view, "organism", "grid"), { kind: "main" }),
      make("span", { class: "help" }, "an empty grid: paint modules into it, then make them crawl"))],
  rest > 0 ? make("p", { class: "help", role: "status" }, `${rest} more files; search for their names.`) : null);
}

/** Copies a file under another name. */
async function copyFile(view, name) {
  const to = await askText(`Copy ${name}`, "Name of the copy", name.replace(/(\.[^./]+)$/, "_copy$1"));
  if (to) await openMade(view, await view.studio.ask("copy_file", { document: name, name: to }));
}

/** Converts a file of another format to TOML; everything that was not carried over is told. */
async function convertOne(view, name) {
  await openMade(view, await view.studio.ask("convert", { document: name }));
}

/** Shows a new file, and says what could not be carried over. */
async function openMade(view, { document: name, lost = [], same = null }) {
  if (same) refill(view.same, sameInPython(same));
  await view.studio.show(name);
  if (lost.length) view.studio.say(lost, "warning");
  view.studio.open(view.studio.state.assembly ? "assemble" : "model");
}

// ── new models ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** A new model from a template. */
function showTemplates(view) {
  const name = entry("robot", null), kinds = view.found.templates.map(({ kind, title }) => [kind, `${kind}: ${title}`]);
  const kind = choice(kinds, "arm");
  refill(view.fresh, make("h2", {}, "New model"),
    field("Name", name, { help: "A folder may stand before it: robots/arm." }), field("Template", kind),
    make("div", { class: "row" },
      button("Create model", () => createModel(view, name.value.trim(), kind.value), { kind: "main" })));
}

/** Makes a model file from a template, and shows it. */
async function createModel(view, name, kind) {
  await openMade(view, await view.studio.ask("new_model", { name, kind }));
}

/** The robots of the library, with search and small pictures. */
function showLibrary(view) {
  const list = make("ul", { class: "library", "aria-label": "Robots of the library" });
  const count = make("p", { class: "help", role: "status" });
  const search = make("input", { type: "search", "aria-label": "Search the library", placeholder: "Search",
    oninput: () => { view.search = search.value; fillLibrary(view, list, count); } });
  refill(view.library, make("h2", {}, "Library"), make("div", { class: "row" }, search, count), list);
  fillLibrary(view, list, count);
}

/** Lists the robots whose name or description contains every word of the search. */
function fillLibrary(view, list, count) {
  const words = view.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = view.found.library.filter(({ name, title }) =>
    words.every((word) => `${name} ${title}`.toLowerCase().includes(word)));
  count.textContent = `${found.length} of ${view.found.library.length} robots`;
  refill(list, found.map((robot) => libraryCard(view, robot)));
}

/** The card of a robot: its picture, what it is, and its arguments. */
function libraryCard(view, { name, title, arguments: known }) {
  const picture = make("img", { alt: "", width: 120, height: 96, loading: "lazy" });
  picture.dataset.robot = name;
  if (view.pictures.has(name)) picture.src = view.pictures.get(name);
  else view.seen.observe(picture);
  const data = entry("", null, { "aria-label": `Arguments of ${name}`, placeholder: known });
  const open = async () => {
    const robot = data.value.trim() ? `${name}:${data.value.trim()}` : name;
    await openMade(view, await view.studio.ask("from_library", { robot }));
  };
  return make("li", { class: "card" }, picture, make("div", {},
    make("h3", {}, name), make("p", { class: "help" }, title),
    make("div", { class: "row" }, known ? data : null, button("Open", open, { "aria-label": `Open ${name}` }))));
}

/** Asks for the picture of a robot that has come into sight; one at a time. */
function wantPicture(view, image) {
  view.seen.unobserve(image);
  view.waiting.push(image);
  if (view.waiting.length === 1) drawNext(view);
}

/** Draws the next picture that is waited for. */
async function drawNext(view) {
  const image = view.waiting[0], name = image.dataset.robot;
  try {
    if (image.isConnected && !view.pictures.has(name)) {
      const { source } = await view.studio.connection.ask("robot_picture", { robot: name });
      if (source.startsWith("data:image/png;base64,")) view.pictures.set(name, source);
    }
    if (view.pictures.has(name)) image.src = view.pictures.get(name);
  } catch {
    // a robot without a picture keeps its name and description
  }
  view.waiting.shift();
  if (view.waiting.length) drawNext(view);
}

// ── files from outside ──────────────────────────────────────────────────────────────────────────────────────────────

/** The place to which files are dropped, with buttons for the keyboard. */
function dropPlace(view) {
  const pick = (folder) => {
    const label = folder ? "Folder to add" : "Files to add";
    const chosen = () => [...input.files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));
    const input = make("input", { type: "file", multiple: true, "aria-label": label,
      onchange: () => sendFiles(view, chosen()) });
    if (folder) input.webkitdirectory = true;
    return make("label", { class: "pick" }, make("span", {}, folder ? "Add a folder" : "Add files"), input);
  };
  return make("div", { class: "drop" },
    make("p", {}, "Drop model files here, with their meshes, or whole folders."), pick(false), pick(true));
}

/** The files of a drop, with their paths in the folders that were dropped. */
async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean), files = [];
  const walk = async (one, folder) => {
    if (one.isFile) {
      const file = await new Promise((resolve, reject) => { one.file(resolve, reject); });
      files.push({ file, name: folder + one.name });
      return;
    }
    const reader = one.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
      if (!some.length) return;
      for (const inner of some) await walk(inner, `${folder}${one.name}/`);
    }
  };
  for (const one of entries) await walk(one, "");
  if (files.length) return files;
  return [...transfer.files].map((file) => ({ file, name: file.name }));
}

/** Sends files to the project, those that models name first, and shows the first model. */
async function sendFiles(view, files) {
  if (!view.found) await readFiles(view);
  const known = files.filter(({ name }) => view.found.endings.some((end) => name.toLowerCase().endsWith(end)));
  const models = view.found.formats.flatMap(({ endings }) => endings);
  const isModel = ({ name }) => models.some((end) => name.toLowerCase().endsWith(end));
  const taken = [], refused = [], left = files.filter((one) => !known.includes(one)).map(({ name }) => name);
  for (const { file, name } of known.sort((a, b) => isModel(a) - isModel(b))) {
    view.told.textContent = `Sending ${name}, ${sizeText(file.size)} ...`;
    try {
      taken.push(await upload(name, file));
    } catch (error) {
      refused.push(`${name}: ${error.message}`);
    }
  }
  await readFiles(view);
  const isListed = (name) => view.found.files.some((one) => one.name === name), shown = taken.find(isListed);
  const beside = taken.filter((name) => !isListed(name));
  view.told.textContent = `${taken.length} ${taken.length === 1 ? "file was" : "files were"} added.`
    + (beside.length ? ` Not a model, and only used by models that name it: ${someOf(beside)}.` : "");
  if (shown) await view.studio.show(shown);   // which takes away what was said about another document
  for (const told of refused) view.studio.say(told, "error");
  if (left.length) {
    view.studio.say(`Left out, because it is neither a model nor a mesh, picture or table of one: ${someOf(left)}.`,
      "warning");
  }
}

/** Some names in one line. */
function someOf(names) {
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
}

/** Sends one file; a promise of its name in the project. */
async function upload(name, file) {
  const path = name.split("/").map(encodeURIComponent).join("/");
  const answer = await fetch(`/upload/${path}`, { method: "POST", body: file });
  const isData = answer.headers.get("content-type")?.startsWith("application/json");
  const said = isData ? await answer.json() : { error: await answer.text() };
  if (!answer.ok || said.error) throw new Error(said.error || `the server answered ${answer.status}`);
  return said.result.document;
}

export { openFiles as open };
