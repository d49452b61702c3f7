// Sheets: what a result has to show, as the parts that `display.faces.page` sends, drawn by one function for each kind.

import { make, tableOf } from "./elements.js";
import { polePlot } from "./pole_plot.js";

const TONES = { success: "verdict passed", warning: "verdict failed", note: "help", text: "" };

/**
 * The elements of a sheet. `beside(row)` gives an element at the end of each row of the first table that is not empty,
 * under the heading `besideHead`; `chosen(number)` is called for a point that is clicked, and `plots` gets every plot.
 */
export function sheetOf(parts, { beside = null, besideHead = "", chosen = () => {}, plots = [] } = {}) {
  let own = beside;
  return parts.map((part) => {
    if (part.kind === "facts") return tableOf({ caption: "", headed: true, rows: part.rows });
    if (part.kind === "text") return make("p", { class: TONES[part.tone], role: part.tone === "text" ? null : "status" }, part.text);
    if (part.kind === "points") {
      plots.push(polePlot(part.values, part.marked, chosen));
      return plots.at(-1).element;
    }
    const add = own;
    own = null;
    return tableOfPart(part, add, besideHead);
  });
}

/** A table of a sheet; words of verdicts have the color of what they say. */
function tableOfPart({ title, columns, rows, marked, note, colored }, beside, besideHead) {
  const cell = (text) => (colored && ["passed", "failed", "skipped"].includes(text)
    ? make("span", { class: `verdict ${text}` }, text) : text);
  return [tableOf({
    caption: title, head: beside ? [...columns, besideHead] : columns,
    rows: rows.map((row, k) => [...row.map(cell), ...(beside ? [beside(k)] : [])]),
    mark: (row, k) => ({ class: marked.includes(k) ? "marked" : null }),
  }), note ? make("p", { class: "help" }, note) : null];
}
