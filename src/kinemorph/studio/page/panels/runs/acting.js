// The elements that act in the runs of a model: gaits, controllers, drives, contacts. Gaits of coupled maps have a plot
// of the clusters in which their maps synchronize.

import { button, downloadLink, folded, make, refill, tableOf } from "../../elements.js";
import { sameInPython } from "../../same_in_python.js";
import { makeTask } from "../../tasks.js";

/** The place for the elements in a view; `show(elements)` lists them. */
export function makeActing(view) {
  const { studio } = view, task = makeTask(studio, "plot of clusters"), plot = make("section", { "aria-label": "Clusters" });
  const list = make("div", {}), few = (names) =>
    `${names.slice(0, 4).join(", ")}${names.length > 4 ? ` and ${names.length - 4} more` : ""}`;
  const draw = async (element) => {
    const { document: name } = studio.state, done = await task.run("plot_clusters", { document: name, element });
    if (!done || studio.state.document !== name) return;
    const { address } = done.file, alt = `Clusters of ${element} over the coupling, and its maps step by step`;
    refill(plot, make("img", { src: address, alt, class: "plot" }), downloadLink(done.file), sameInPython(done.data.same));
  };
  const row = ({ name, kind, acts_on: actsOn, drives, clusters }) => [
    button(name, () => studio.select({ kind: "element", name }), { kind: "quiet" }),
    clusters ? make("span", {}, kind, " ", button(`Plot clusters of ${name}`, () => draw(name), { kind: "quiet" })) : kind,
    few(actsOn), few(drives),
  ];
  let shown = null;
  return {
    element: make("div", {}, list, task.element, plot),
    show: (elements, document) => {
      if (shown !== document) refill(plot);
      shown = document;
      const head = ["name", "kind", "acts on", "drives"];
      refill(list, elements.length ? folded(`Elements that act (${elements.length})`,
        list.firstElementChild?.open ?? false, tableOf({ caption: "Elements", head, headed: true, rows: elements.map(row) })) : null);
    },
  };
}
