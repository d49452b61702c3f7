// The Python and the command that do what a panel has done; see panels/same_in_python.py.

import { copyable, folded } from "./elements.js";

/** A part that can be unfolded, with the Python and the command {python, command} as texts to copy. */
export function sameInPython({ python, command }, open = false) {
  return folded("The same in Python and as a command", open, python ? copyable("Python", python) : null,
    command ? copyable("Command", command) : null);
}
