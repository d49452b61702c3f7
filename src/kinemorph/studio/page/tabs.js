// Tabs: a list of panels of which one is shown. Arrow keys move along the list, Home and End go to its ends; Enter or
// the space bar shows the panel, so that nothing is computed for panels that are only passed.

import { freshId, make } from "./elements.js";

/**
 * Tabs for `entries`, [{key, title, help}], and the places in which their panels are shown.
 *
 * `shown(key, host)` is called when a tab is chosen; `host` is its empty place at the first time. Returns
 * {list, hosts, choose(key), chosen()}: the elements of the list and of the places.
 */
export function makeTabs(label, entries, shown) {
  const list = make("div", { role: "tablist", "aria-label": label, class: "tablist" });
  const hosts = make("div", { class: "tabhosts" });
  const rows = entries.map(({ key, title, help }) => {
    const id = freshId("tab");
    const tab = make("button", {
      type: "button", role: "tab", id, "aria-selected": "false", "aria-controls": `${id}-panel`, tabIndex: -1,
      title: help ?? null, onclick: () => choose(key),
    }, title);
    const host = make("section", {
      role: "tabpanel", id: `${id}-panel`, "aria-labelledby": id, class: `panel ${key}`, hidden: true, tabIndex: -1,
    });
    list.append(tab);
    hosts.append(host);
    return { key, tab, host };
  });
  let current = null;

  /** Shows a panel. */
  function choose(key) {
    const row = rows.find((one) => one.key === key) ?? rows[0];
    if (row.key === current) return;
    current = row.key;
    for (const one of rows) {
      const on = one === row;
      one.tab.setAttribute("aria-selected", String(on));
      one.tab.tabIndex = on ? 0 : -1;
      one.host.hidden = !on;
    }
    row.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    shown(row.key, row.host);
  }

  list.addEventListener("keydown", (event) => {
    const at = rows.findIndex((one) => one.tab === document.activeElement), last = rows.length - 1;
    const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const row = rows[(next + rows.length) % rows.length];
    for (const one of rows) one.tab.tabIndex = one === row ? 0 : -1;
    row.tab.focus();
  });
  list.addEventListener("focusout", () => {   // the shown panel is where Tab arrives the next time
    for (const one of rows) one.tab.tabIndex = one.key === current ? 0 : -1;
  });
  return { list, hosts, choose, chosen: () => current };
}
