"""Warns of data in a model file that have no effect in a run, once for each file in a process."""

from __future__ import annotations

import warnings
from typing import Any

from kinemorph.errors import InactiveWarning, users_level
from kinemorph.model.elements.inactive import inactive_data
from kinemorph.model.system import System
from kinemorph.words import as_sentence

_reported: set[tuple[str, str, tuple[str, ...]]] = set()  # (file, robot, sentences)


def warn_of_inactive(model: Any, *, driven: bool) -> None:
    """Warns once of data in the model file that have no effect; `driven` says that the run has inputs or forces."""
    if not isinstance(model, System) or not model.source:
        return
    data = inactive_data(model, driven=driven)
    found = data.joint_sentences + data.other_sentences
    key = (model.source, model.name, tuple(found))
    if not found or key in _reported:
        return
    _reported.add(key)
    warnings.warn(
        f"'{model.name}': some data of {model.source} do not act in this run; each is listed with its remedy. "
        f"{'. '.join(map(as_sentence, found))}. system.run({{'time': 1.0}}) runs with limits, friction and contacts "
        "with the ground, as `kinemorph simulate` does.",
        InactiveWarning,
        stacklevel=users_level(),
    )
