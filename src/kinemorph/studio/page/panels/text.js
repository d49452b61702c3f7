// The panel Text: the file as text, with the numbers of its lines and its findings. A pause in typing applies the text;
// text with mistakes is kept as it is, and the picture shows the last good model.

import { button, make, refill } from "../elements.js";

const PAUSE = 900;   // after the last key, until the text is applied [ms]

/** Opens the panel in its place. */
function openText(host, studio) {
  const area = make("textarea", { class: "code", spellcheck: false, wrap: "off", autocapitalize: "off",
    "aria-label": "Text of the file" });
  const gutter = make("div", { class: "gutter", "aria-hidden": "true" });
  const findings = make("ol", { class: "findings", "aria-label": "Findings" });
  const told = make("p", { class: "help", role: "status" });
  const view = {
    studio, area, gutter, findings, told, document: null, base: "", revision: null, timer: 0, sending: false,
  };
  view.apply = button("Apply", () => applyText(view, { anyway: true }), { title: "Apply the text (Ctrl+Enter)", disabled: true });
  view.discard = button("Discard", () => resetText(view, studio.state),
    { disabled: true, title: "Back to the text of the file" });
  refill(host, make("div", { class: "row" }, view.apply, view.discard, told),
    make("div", { class: "editor" }, gutter, area), findings);
  area.addEventListener("input", () => textTyped(view));
  area.addEventListener("scroll", () => { gutter.scrollTop = area.scrollTop; });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      applyText(view, { anyway: true });
    }
  });
  const ends = [
    studio.on("select", (selection) => goToPart(view, selection)),
    studio.on("connection", (state) => { if (state === "open" && isTyped(view)) textTyped(view); }),
  ];
  const leaving = new AbortController();
  for (const event of ["pagehide", "visibilitychange"]) {   // a page that is left or hidden does not wait for the pause
    window.addEventListener(event, () => applyTyped(view), { capture: true, signal: leaving.signal });
  }
  return {
    update: (state) => { if (!host.hidden || view.document !== state.document) showText(view, state); },
    close: () => { clearTimeout(view.timer); leaving.abort(); ends.forEach((end) => end()); },
  };
}

/** Whether there is a text that was typed and is not that of the document yet. */
function isTyped({ area, base, document: name }) {
  return name !== null && area.value !== base;
}

/** Whether somebody else has changed the document since the typed text was begun. */
function isOvertaken({ studio: { state }, document: name, base }) {
  return state?.document === name && state.text !== base;
}

/** Applies a typed text without waiting for the pause, unless the document was changed elsewhere. */
function applyTyped(view) {
  if (isTyped(view) && !isOvertaken(view)) applyText(view).catch(() => {});
}

/** Shows the state of the document; a text that is being edited here stays. A text typed for another one is sent. */
function showText(view, state) {
  const { area } = view, typed = isTyped(view), dirty = typed && view.document === state.document;
  if (typed && !dirty) applyText(view);
  if (!dirty) resetText(view, state);
  else if (state.text === area.value) Object.assign(view, { base: state.text, revision: state.revision });
  else if (state.text !== view.base) {
    view.told.textContent = "The file was changed elsewhere. Apply replaces it by this text, Discard shows that one.";
  }
  showFindings(view, state);
  markDirty(view);
}

/** Shows the text of the document, with the cursor where it was. */
function resetText(view, state) {
  const { area } = view;
  clearTimeout(view.timer);
  const { selectionStart, selectionEnd, scrollTop } = area, same = view.document === state.document;
  Object.assign(view, { document: state.document, base: state.text, revision: state.revision });
  if (area.value !== state.text) {
    area.value = state.text;
    if (same) area.setSelectionRange(selectionStart, selectionEnd);
    area.scrollTop = same ? scrollTop : 0;
  }
  view.told.textContent = "";
  markDirty(view);
}

/** Notes that the text was typed in; it is applied after a pause. */
function textTyped(view) {
  markDirty(view);
  clearTimeout(view.timer);
  view.timer = setTimeout(() => applyTyped(view), PAUSE);
}

/**
 * Makes the text that of its document. Text with mistakes is taken, too: its findings are shown.
 *
 * A text that was changed elsewhere meanwhile is replaced only with `anyway`, which a button or a key asks for.
 */
async function applyText(view, { anyway = false } = {}) {
  clearTimeout(view.timer);
  const text = view.area.value, { document: name } = view;
  if (view.sending || text === view.base) return;
  view.sending = true;
  let applied = false;
  try {
    const base = anyway ? null : view.revision;
    const { revision } = await view.studio.edit({ verb: "set_text", text }, { document: name, base });
    applied = true;
    if (view.document === name) Object.assign(view, { base: text, revision });
    view.told.textContent = "";
  } catch (error) {
    view.told.textContent = `Not applied: ${error.message}`;
  } finally {
    view.sending = false;
    markDirty(view);
  }
  if (applied && view.document === name && view.area.value !== text) textTyped(view);
}

/** Shows whether there is something to apply, and the numbers of the lines. */
function markDirty(view) {
  const dirty = view.area.value !== view.base;
  view.apply.disabled = view.discard.disabled = !dirty;
  numberLines(view);
}

/** Numbers the lines; lines with findings are marked. */
function numberLines(view) {
  const count = view.area.value.split("\n").length, wrong = view.wrong ?? new Map();
  const key = `${count}:${[...wrong].join()}`;
  if (key === view.numbered) return;
  view.numbered = key;
  refill(view.gutter, Array.from({ length: count }, (_, k) =>
    make("div", { class: wrong.get(k + 1) ?? "" }, String(k + 1))));
  view.gutter.scrollTop = view.area.scrollTop;
}

/** Lists the findings; each is a button that goes to its line. */
function showFindings(view, state) {
  view.wrong = new Map(state.findings.map(({ line, severity }) => [line, severity]));
  const listed = ({ line, severity, problem, remedy, element }) => make("li", { class: severity },
    button(line ? `Line ${line}` : "File", () => goToLine(view, line), { kind: "quiet" }),
    ` ${element && severity !== "invitation" ? `${element}: ` : ""}${problem}. ${remedy}`);
  refill(view.findings, state.findings.map(listed));
  view.area.setAttribute("aria-invalid", String(state.findings.some((one) => one.severity === "error")));
  if (state.good_revision !== state.revision && state.findings.some((one) => one.severity !== "invitation")) {
    const none = state.assembly ? "The model has not been read without mistakes yet."
      : "There is no picture until the mistakes are corrected.";
    view.told.textContent ||= state.good_revision < 0 ? none : "The picture shows the last model without mistakes.";
  }
}

/** Puts the cursor on a line, counted from 1. */
function goToLine(view, line, focus = true) {
  const lines = view.area.value.split("\n"), at = Math.min(Math.max(line, 1), lines.length) - 1;
  const start = lines.slice(0, at).reduce((sum, one) => sum + one.length + 1, 0);
  if (focus) view.area.focus();
  view.area.setSelectionRange(start, start + lines[at].length);
  const height = view.area.scrollHeight / lines.length;
  view.area.scrollTop = Math.max(0, height * at - view.area.clientHeight / 3);
}

/** Shows the lines of the part that is selected elsewhere. */
function goToPart(view, selection) {
  if (!selection || document.activeElement === view.area) return;
  const name = selection.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const header = new RegExp(`^\\s*\\[\\w+\\.(?:${name}|"${name}")\\]`);
  const key = new RegExp(`^\\s*(?:${name}|"${name}")\\s*=`);
  const lines = view.area.value.split("\n"), headers = lines.findIndex((one) => header.test(one));
  const found = selection.kind === "parameter" ? lines.findIndex((one) => key.test(one)) : headers;
  if (found >= 0) goToLine(view, found + 1, false);
}

export { openText as open };
