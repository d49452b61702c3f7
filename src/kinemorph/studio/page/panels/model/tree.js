// The tree of all parts of a model file: sections with their parts. Arrow keys move in it, as in other trees: right
// opens a section or goes into it, left closes it or goes back, Home and End go to the ends, Enter chooses.

import { make } from "../../elements.js";

/** The tree of a view {sections, path, opened}; `choose(path)` is called when a part is chosen. */
export function partTree(view, choose) {
  const tree = make("ul", { role: "tree", "aria-label": "Parts of the model", class: "tree" });
  tree.append(treeItem(view, choose, { name: "model", path: [] }));
  for (const section of view.sections) {
    if (section.present) tree.append(sectionItem(view, choose, section));
  }
  const items = () => [...tree.querySelectorAll('[role="treeitem"]')].filter((one) => !one.closest("[hidden]"));
  const current = tree.querySelector('[aria-selected="true"]') ?? tree.querySelector('[role="treeitem"]');
  current.tabIndex = 0;
  tree.addEventListener("keydown", (event) => moveInTree(event, items()));
  return tree;
}

/** A section with its parts; it is chosen itself where it is a single table or has values by name. */
function sectionItem(view, choose, section) {
  const whole = section.shape === "single" || section.shape === "values";
  const open = view.opened.has(section.key) || view.path[0] === section.key;
  const title = section.parts.length ? `${section.title} (${section.parts.length})` : section.title;
  const parts = whole ? [] : section.parts;
  const item = treeItem(view, (path) => (whole ? choose(path) : toggle()), { name: title, path: [section.key] });
  if (!parts.length) return item;
  const group = make("ul", { role: "group", hidden: !open }, parts.map((part) => treeItem(view, choose, part)));
  item.setAttribute("aria-expanded", String(open));
  item.append(group);
  const toggle = (on = group.hidden) => {
    group.hidden = !on;
    item.setAttribute("aria-expanded", String(on));
    if (on) view.opened.add(section.key); else view.opened.delete(section.key);
  };
  item.addEventListener("toggle-section", (event) => toggle(event.detail));
  return item;
}

/** One item: a part with its kind and the number of its findings. */
function treeItem(view, choose, { name, path, kind = "", findings = 0 }) {
  const chosen = JSON.stringify(path) === JSON.stringify(view.path);
  const label = make("span", { class: "label" }, name, kind ? make("span", { class: "help" }, ` ${kind}`) : null,
    findings ? make("span", { class: "error" }, ` ${findings} ${findings === 1 ? "finding" : "findings"}`) : null);
  const marks = { role: "treeitem", "aria-selected": String(chosen), tabIndex: -1, "aria-label": name };
  const item = make("li", marks, label);
  label.addEventListener("click", () => { choose(path); });
  item.addEventListener("keydown", (event) => {
    if (event.target !== item || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose(path);
  });
  return item;
}

/** Moves the focus along the shown items of a tree, and opens and closes sections. */
function moveInTree(event, items) {
  const at = items.indexOf(document.activeElement), item = items[at];
  if (at < 0) return;
  const expanded = item.getAttribute("aria-expanded"), parent = item.parentElement.closest('[role="treeitem"]');
  const tell = (on) => item.dispatchEvent(new CustomEvent("toggle-section", { detail: on }));
  let next = { ArrowDown: items[at + 1], ArrowUp: items[at - 1], Home: items[0], End: items.at(-1) }[event.key];
  if (event.key === "ArrowRight" && expanded === "false") tell(true);
  else if (event.key === "ArrowRight" && expanded === "true") next = items[at + 1];
  else if (event.key === "ArrowLeft" && expanded === "true") tell(false);
  else if (event.key === "ArrowLeft") next = parent;
  else if (!next) return;
  event.preventDefault();
  if (!next) return;
  for (const one of items) one.tabIndex = one === next ? 0 : -1;
  next.focus();
}
