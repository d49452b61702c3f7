"""The verb `doctor`: a report on this installation."""

from __future__ import annotations

from typing import Annotated

import typer

from kinemorph.cli.application import FAILED, WELL, Json, flag, put, say, verb


@verb
def doctor(
    clear_cache: Annotated[
        bool, flag("--clear-cache", "Empty the cache of compiled code, and do nothing else.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Checks this installation: Python, packages, LLVM and its target CPU, SIMD width, cache, and a self-test."""
    from kinemorph.cli import installation

    if clear_cache:
        state = installation.clear_cache()
        put(state, as_json, installation.cleared_sheet)
        raise typer.Exit(FAILED if state["files"] else WELL)
    data = installation.installation()
    for sentence in data["outdated"]:
        say(f"problem: {sentence}")
    put(data, as_json, installation.installation_sheet)
    raise typer.Exit(WELL if data["ok"] else FAILED)
