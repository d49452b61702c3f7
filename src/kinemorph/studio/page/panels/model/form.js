// The form of a part: one control for every key that the schema allows. Keys that the file has stand first, the others
// can be added. A change is sent when a control is left or confirmed; the server reads the text, with its unit.

import { askText, button, choice, dialog, entry, field, freshId, make, refill, tick } from "../../elements.js";

/** Draws the form of a part anew in `view.form`, with `more` below it; the control that has the focus keeps its text. */
export function drawForm(view, form, ...more) {
  const { activeElement: active } = document, inside = view.form.contains(active) && active.dataset.path !== undefined;
  const typed = inside && active.value !== active.dataset.shown ? active.value : null;
  const range = inside && active.setSelectionRange ? [active.selectionStart, active.selectionEnd] : null;
  refill(view.form, partForm(view, form), more);
  view.form.inert = false;
  if (!inside) return null;
  const control = [...view.form.querySelectorAll("[data-path]")].find((one) => one.dataset.path === active.dataset.path);
  if (typed !== null && control) control.value = typed;   // what is being typed stays
  control?.focus();
  if (range && control?.setSelectionRange) control.setSelectionRange(...range);
  return null;
}

/** The form of a part, as the server describes it. */
function partForm(view, form) {
  const heading = make("h2", {}, form.title);
  const said = form.help;
  return make("div", { class: "form" }, heading, said ? make("p", { class: "help" }, said) : null,
    sentences(form), groupFields(view, form, ""));
}

/** The fields of a table: what the file has or needs, and behind a button what may be added. */
function groupFields(view, table, around) {
  const key = JSON.stringify(table.path), rows = table.fields ?? [];
  const shown = rows.filter((one) => one.present || one.required), rest = rows.filter((one) => !shown.includes(one));
  const more = make("div", { class: "more", hidden: !view.more.has(key) }, rest.map((one) => row(view, one, around)));
  const opener = button(`More keys${around ? ` of ${around}` : ""} (${rest.length})`, () => {
    more.hidden = !more.hidden;
    opener.setAttribute("aria-expanded", String(!more.hidden));
    if (more.hidden) view.more.delete(key); else view.more.add(key);
  }, { kind: "quiet", "aria-expanded": String(!more.hidden) });
  const adder = table.kind === "names" ? button(`Add to ${table.label}`, () => addName(view, table)) : null;
  return [shown.map((one) => row(view, one, around)), adder, rest.length ? [opener, more] : null];
}

/** The row of a field; `around` are the labels of the tables around it, which its accessible name begins with. */
function row(view, one, around) {
  const name = `${around} ${one.label}`.trim();
  const several = one.alternatives && one.alternatives.some((way) => !way.variant);
  const ways = several && one.present ? writtenAs(view, one, name) : null;
  if (one.kind === "list") return listRow(view, one, name, ways);
  if (one.kind === "table" || one.kind === "names") return tableRow(view, one, name, ways);
  const path = JSON.stringify(one.path), refused = view.refused.get(path);
  const control = makeControl(view, one);
  control.dataset.path = path;
  control.dataset.shown = control.value;
  if (refused) control.value = refused.text;
  const told = one.present ? "" : one.inherited ? `${shortly(one.inherited.value)}, from ${one.inherited.source}`
    : one.default !== null && one.default !== undefined ? `${shortly(one.default)} if it is left out` : "";
  const line = field(one.label, control, {
    help: [one.help, told].filter(Boolean).join(" "), unit: one.unit,
    error: refused ? refused.message : (one.findings ?? []).map(sentence).join(" "),
  });
  control.setAttribute("aria-label", name);
  const remove = one.present && !one.required ? removeButton(view, one, name) : null;
  line.querySelector(".entry").append(...[namesButton(view, one, name), remove].filter(Boolean));
  if (ways) line.append(ways);
  return line;
}

/** The control of a single value. */
function makeControl(view, one) {
  const send = (text) => (one.variant ? sendKind(view, one, text) : sendField(view, one, text));
  if (one.kind === "choice" || one.kind === "flag") {
    const values = one.kind === "flag" ? ["true", "false"] : one.choices;
    const wrong = one.present && !values.includes(one.text) ? [one.text] : [];
    return choice([...(one.required ? [] : [["", "(left out)"]]), ...wrong, ...values], one.text, send);
  }
  if (one.kind === "text" && String(one.text).includes("\n")) {
    const rows = Math.min(12, one.text.split("\n").length + 1);
    const area = make("textarea", { class: "code", rows, spellcheck: false, onchange: () => send(area.value) });
    area.value = one.text;
    return area;
  }
  const counts = one.present ? "" : shortly(one.inherited?.value ?? one.default ?? "");
  const control = entry(one.text, send, { placeholder: counts });
  if (one.kind === "number") control.inputMode = "text";
  return one.names?.length ? withNames(control, one.names) : control;
}

/** An entry that offers names of parts. */
function withNames(control, names) {
  const list = make("datalist", { id: freshId("names") }, names.map((one) => make("option", { value: one })));
  control.setAttribute("list", list.id);
  queueMicrotask(() => control.after(list));
  return control;
}

/** A button that asks for several names at once, for a key that may be a list of names; null for other keys. */
function namesButton(view, one, name) {
  if (!one.several || (one.names ?? []).length < 2) return null;
  return button(`Choose ${name}`, () => askNames(view, one, name), { icon: "Choose", kind: "quiet" });
}

/** Asks which names a list shall have, and sets it; names that it has already keep their order. */
function askNames(view, one, name) {
  const before = (one.fields?.length ? one.fields.map(({ value }) => value) : [one.value]).filter(Boolean).map(String);
  const names = [...one.names].sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const chosen = new Set(before), boxes = make("div", { class: "columns names", role: "group", "aria-label": name });
  const fill = () => refill(boxes, names.map((text) =>
    tick(text, chosen.has(text), (on) => (on ? chosen.add(text) : chosen.delete(text)))));
  fill();
  const all = button("Choose all", () => {
    names.forEach((text) => chosen.add(text));
    fill();
  });
  const take = () => [...before, ...names.filter((text) => !before.includes(text))].filter((text) => chosen.has(text));
  dialog(`Choose ${name}`, [make("div", { class: "row" }, all), boxes], [["OK", take, "main"]], (value) => {
    if (value) view.studio.edit({ verb: "set", path: one.path, value });
  });
}

/** A list: one control for each item; items are added at the end and removed one by one. */
function listRow(view, one, name, ways) {
  if (!one.present && !one.required) return addRow(view, one, name);
  const free = one.most === null || one.most === undefined || one.most !== one.least;
  const items = one.fields.map((item) => {
    const line = row(view, { ...item, required: true, unit: free ? item.unit : "" }, name);
    if (free && one.fields.length > one.least) line.append(removeButton(view, item, `${name} ${item.label}`));
    return line;
  });
  const names = namesButton(view, one, name);
  const insert = () => view.studio.edit({ verb: "insert", path: one.path, value: one.blank });
  const add = free && items.length < (one.most ?? Infinity) ? button(`Add item to ${name}`, insert) : null;
  return make("fieldset", { class: "list" }, legend(view, one, name), help(one), ways, sentences(one),
    make("div", { class: free ? "" : "vector" }, items), add || names ? make("div", { class: "row" }, add, names) : null);
}

/** A table in the part, such as a pose. */
function tableRow(view, one, name, ways) {
  if (!one.present && !one.required) return addRow(view, one, name);
  return make("fieldset", {}, legend(view, one, name), help(one), ways, sentences(one), groupFields(view, one, name));
}

/** The heading of a list or a table, with a button that removes it. */
function legend(view, one, name) {
  return make("legend", {}, one.label, one.unit ? ` [${one.unit}]` : "",
    one.present && !one.required ? removeButton(view, one, name) : null);
}

/** A list or a table that the file does not have yet. */
function addRow(view, one, name) {
  const way = one.alternatives?.find(({ kind }) => kind === "names") ?? one.alternatives?.[0];   // names explain values
  const zeros = Array.from({ length: one.least ?? 0 }, () => one.blank);
  const blank = way?.blank ?? one.default ?? (one.kind === "list" ? zeros : {});
  return make("div", { class: "field" }, make("span", {}, one.label), make("div", { class: "entry" },
    button(`Add ${name}`, () => view.studio.edit({ verb: "set", path: one.path, value: blank }))),
  one.help ? make("p", { class: "help" }, one.help) : null);
}

/** The ways in which a key may be written, to choose from. */
function writtenAs(view, one, name) {
  const ways = one.alternatives, at = ways.findIndex((way) => way.chosen);
  const options = ways.map((way, k) => [String(k), way.title]);
  const rewrite = (k) => view.studio.edit({ verb: "set", path: one.path, value: ways[Number(k)].blank });
  return make("label", { class: "ways help" }, "written as ",
    choice(options, String(at), rewrite, { "aria-label": `${name} written as` }));
}

/** A button that removes a key or an item. */
function removeButton(view, one, name) {
  const remove = () => view.studio.edit({ verb: "unset", path: one.path });
  return button(`Remove ${name}`, remove, { icon: "×", kind: "quiet" });
}

/** Asks for a name and adds a value with it. */
async function addName(view, table) {
  const name = await askText(`Add to ${table.label}`, "Name");
  if (name) await view.studio.edit({ verb: "set", path: [...table.path, name], value: table.blank });
}

/** Sends what a control shows; an empty text removes a key that is not needed. A refused text stays with its reason. */
async function sendField(view, one, text) {
  const path = JSON.stringify(one.path);
  if (text === "" && !one.required) {
    view.refused.delete(path);
    if (one.present) await view.studio.edit({ verb: "unset", path: one.path });
    return;
  }
  try {
    const state = await view.studio.connection.ask("set_field", { document: view.document, path: one.path, text });
    view.refused.delete(path);
    view.studio.take(state);
  } catch (error) {
    view.refused.set(path, { text, message: error.message });
    markWrong(view, path, error.message);
  }
}

/** Gives the table around a field another kind. */
async function sendKind(view, one, kind) {
  const args = { document: view.document, path: one.path.slice(0, -1), kind };
  view.studio.take(await view.studio.ask("set_kind", args));
}

/** Marks a control whose text was refused. */
function markWrong(view, path, message) {
  const control = [...view.form.querySelectorAll("[data-path]")].find((found) => found.dataset.path === path);
  if (!control) return view.studio.say(message, "error");
  const line = control.closest(".field"), id = `${control.id}-refused`;
  for (const old of line.querySelectorAll(".error")) old.remove();
  line.append(make("p", { class: "error", role: "alert", id }, message));
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", id);
  return null;
}

/** The findings of a list, a table or the whole form. */
function sentences(one) {
  return (one.findings ?? []).map((finding) => make("p", { class: "error" }, sentence(finding)));
}

/** A finding as a sentence. */
function sentence({ problem, remedy }) {
  return `${problem}. ${remedy}`;
}

/** The help of a list or a table. */
function help(one) {
  return one.help ? make("p", { class: "help" }, one.help) : null;
}

/** A value in a few words. */
function shortly(value) {
  return Array.isArray(value) ? `[${value.map(shortly).join(", ")}]` : String(value);
}
