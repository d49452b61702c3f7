// What the panel Live asks of the run.

/** Does something to the live run, and waits until it is done; returns its answer, or null where it was refused. */
export async function act(view, what, given = {}) {
  try {
    return await view.studio.ask("live_do", { document: view.document, do: what, given });
  } catch {
    return null;   // the page has shown the sentence
  }
}
