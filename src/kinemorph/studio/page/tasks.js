// Work that takes long: the server returns the number of a task at once, then progress, then the result by pushes; see
// jobs/page_tasks.py. `startTask` is the bare task, `makeTask` a place of a panel that shows one.

import { button, make, refill } from "./elements.js";

const LOST = "The connection was lost meanwhile. Start again.";

/**
 * Asks for work of a worker; a promise of {data, file, warnings}. `onProgress(progress)` is called five times a second.
 *
 * The promise has the member `cancel()`. It is rejected with a sentence where the work fails or is cancelled; the error
 * has the `state` "failed" or "cancelled". Unless `quiet`, warnings and failures are shown at the bottom of the page.
 */
export function startTask(studio, name, args = {}, onProgress = () => {}, { quiet = false } = {}) {
  const early = [], offs = [];   // messages may come before the number is known
  let number = null, take = null, cut = () => {};
  offs.push(studio.on("task", (message) => {
    if (number === null) early.push(message);
    else if (message.task === number) take(message);
  }), studio.on("connection", () => cut(new Error(LOST))));
  const asked = (quiet ? studio.connection : studio).ask(name, args).then(({ task }) => task);
  const result = asked.then((task) => new Promise((resolve, reject) => {
    cut = reject;
    take = (message) => {
      if (message.state === "working") return onProgress(message.progress);
      if (!quiet) for (const warning of message.warnings ?? []) studio.say(warning, "warning");
      if (message.state === "done") return resolve(message);
      if (message.state === "failed" && !quiet) studio.say(message.sentence, "error");
      return reject(Object.assign(new Error(message.sentence), { state: message.state, warnings: message.warnings }));
    };
    number = task;
    for (const message of early) if (message.task === task) take(message);
  })).finally(() => offs.forEach((off) => off()));
  result.cancel = async () => studio.ask("cancel_task", { task: await asked });
  return result;
}

/**
 * A place that shows the progress of one task at a time: {element, busy(), run(ask, args), close()}.
 *
 * `label` names the work, such as "verification". `run` asks the server to start and resolves to its last message,
 * {data, file, warnings}, or to null where the work failed or was cancelled, which the place says.
 */
export function makeTask(studio, label) {
  const bar = make("progress", { max: 1, "aria-label": `Progress of ${label}` });
  const doing = make("p", { class: "help" });
  const said = make("div", { role: "status" });
  const stop = button(`Cancel ${label}`, () => current.cancel());
  const working = make("div", { class: "task", hidden: true }, bar, doing, stop);
  let current = null;

  /** Shows how far the work is. */
  function show({ fraction, phase, elapsed, doing: text }) {
    if (fraction === null || fraction === undefined) bar.removeAttribute("value");
    else bar.value = fraction;
    doing.textContent = `${text || phase} (${Math.round(elapsed)} s)`;
  }

  /** Says how the work ended, with its warnings. */
  function tell(sentence, kind, warnings) {
    refill(said, sentence ? make("p", { class: kind }, sentence) : null,
      (warnings ?? []).map((text) => make("p", { class: "help" }, text)));
  }

  /** Starts work and waits for its end. */
  async function run(ask, args) {
    if (current) return null;
    refill(said);
    bar.removeAttribute("value");
    doing.textContent = "waiting";
    working.hidden = false;
    current = startTask(studio, ask, args, show, { quiet: true });
    try {
      const message = await current;
      tell("", "", message.warnings);
      return message;
    } catch (error) {
      const cancelled = error.state === "cancelled";
      tell(error.message || "It was cancelled.", cancelled ? "help" : "error", error.warnings);
      return null;
    } finally {
      current = null;
      working.hidden = true;
    }
  }

  return { element: make("div", {}, working, said), busy: () => current !== null, run, close: () => current?.cancel() };
}
