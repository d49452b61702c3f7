// The panel Tables: AIM_SB, DTL, IDTL and the other matrices of the docked modules, as they are now. Each cell knows
// which module, port or joint it is about: a click selects that, and what is selected lights up in all tables.

import { choice, field, make, refill } from "../elements.js";

const ORDERS = [["dfs", "path by path, as in the paper"], ["bfs", "level by level"]];

/** Opens the panel in its place. */
function openTables(host, studio) {
  const view = { studio, host, document: null, revision: -1, method: "dfs", asked: 0, cells: [] };
  view.told = make("p", { role: "status", class: "help" });
  view.tables = make("div", {});
  const number = (method) => {
    view.method = method;
    refreshTables(view, studio.state, true);
  };
  refill(host, field("Numbers", choice(ORDERS, view.method, number)), view.told, view.tables);
  const end = studio.on("select", () => lightTables(view));
  return { update: (state) => refreshTables(view, state), close: end };
}

/** Asks for the tables of a new revision and shows them. */
async function refreshTables(view, state, again = false) {
  if (!state || (!again && view.document === state.document && view.revision === state.revision)) return;
  Object.assign(view, { document: state.document, revision: state.revision });
  const ask = ++view.asked, question = { document: state.document, method: view.method };
  const { tables, reason } = await view.studio.ask("tables", question);
  if (ask !== view.asked) return;
  view.told.textContent = reason;
  view.cells = [];
  refill(view.tables, tables.map((table) => tableElement(view, table)));
  lightTables(view);
}

/** One table. */
function tableElement(view, { title, note, groups, columns, rows, heads, feet }) {
  const above = groups.map(([text, count]) => (text
    ? make("th", { scope: "colgroup", colSpan: count }, indexed(text)) : make("td", { colSpan: count })));
  const head = columns.map(([text, about]) => (text ? tableCell(view, "th", text, about, { scope: "col" }) : make("td")));
  const cell = ([text, about], c) => (c < heads ? tableCell(view, "th", text, about, { scope: "row" })
    : tableCell(view, "td", text, about, {}));
  const body = rows.map((row, r) => make("tr", { class: r >= rows.length - feet ? "foot" : null }, row.map(cell)));
  return make("div", { class: "scrolled linked", tabIndex: 0, role: "region", "aria-label": title },
    make("table", {}, make("caption", {}, title),
      make("thead", {}, above.length ? make("tr", {}, above) : null, make("tr", {}, head)), make("tbody", {}, body)),
    note ? make("p", { class: "help" }, note) : null);
}

/** One cell; where it is about something, a click selects that. */
function tableCell(view, tag, text, about, properties) {
  const content = indexed(text);
  if (!about.length) return make(tag, properties, content);
  const names = about.map((one) => one.slice(one.indexOf(" ") + 1));
  const cell = make(tag, properties, make("button", {
    type: "button", class: "about", title: about.join(", "), "aria-label": `${text}: ${names.join(", ")}`,
    onclick: () => chooseAbout(view, about),
  }, content));
  view.cells.push([cell, new Set(about)]);
  return cell;
}

/** Selects what a cell is about; a second click selects the next of several. */
function chooseAbout(view, about) {
  const { selection } = view.studio, now = selection ? about.indexOf(`${selection.kind} ${selection.name}`) : -1;
  const [kind, ...name] = about[(now + 1) % about.length].split(" ");
  view.studio.select({ kind, name: name.join(" ") });
}

/** Lights up all cells that are about what is selected. */
function lightTables(view) {
  const { selection } = view.studio, key = selection ? `${selection.kind} ${selection.name}` : "";
  for (const [cell, about] of view.cells) cell.classList.toggle("chosen", about.has(key) || isPartOf(about, selection));
}

/** Whether a cell is about a module to which a selected body or port belongs. */
function isPartOf(about, selection) {
  if (selection?.kind !== "body" && selection?.kind !== "port") return false;
  return [...about].some((one) => one.startsWith("module ") && selection.name.startsWith(`${one.slice(7)}_`));
}

/** A symbol such as v0 or T_ij with its index set lower. */
function indexed(text) {
  const match = /^([A-Za-z])(?:(\d+)|_(\w+))(=.*)?$/.exec(text);
  return match ? [make("i", {}, match[1]), make("sub", {}, match[2] ?? match[3]), match[4] ?? ""] : text;
}

export { openTables as open };
