"""Listings: the model file, a Python program that simulates it, and commands."""

from __future__ import annotations

from kinemorph.algebra.arrays import Array
from kinemorph.display.faces.document import Block, Listing, Paragraph, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.reports.signing.verdicts import MODEL_FILE, model_text
from kinemorph.display.reports.subject import Subject
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory

MOST_LINES = 220  # lines of the model file that are printed, about four pages
PYTHON = """\
import kinemorph

system = kinemorph.load("{file}")
print(kinemorph.verify(system))

run = kinemorph.simulate(
    system, {until:g}{options}
)
print(run)
print(kinemorph.audit(run))
run.plot(path="curves.png")
run.save("run.npz")
"""
COMMANDS = """\
kinemorph info {file}
kinemorph verify {file}
kinemorph simulate {file} --time {until:g}{start} --save run.npz
kinemorph analyze {file} equilibrium
kinemorph analyze {file} poles
kinemorph program {file} --to c --output program
kinemorph report {file} run.npz --output report.pdf
kinemorph verify --report report.pdf
"""


def chapter(subject: Subject, words: Words) -> Section | None:
    """The model as TOML, and what to do with it in Python and at a command line."""
    text, dropped = model_text(subject.model)
    run = next(iter(subject.runs.values()), None)
    until = subject.model.settings.time if run is None else float(run.t[-1])
    known = {"file": MODEL_FILE, "until": until}
    lines = text.splitlines()
    blocks: list[Block] = []
    if text:
        blocks.append(Listing("\n".join(lines[:MOST_LINES]), "toml", words("The model file {file}", file=MODEL_FILE)))
    if len(lines) > MOST_LINES:
        more = words("{n} more lines of the model file are not printed.", n=len(lines) - MOST_LINES)
        blocks.append(Paragraph(more, "note"))
    if dropped:
        blocks.append(Paragraph(words("Some parts of the model are functions, which a file cannot express."), "note"))
    start = {} if run is None else _start(run, subject.model)
    at = "".join(f",\n    {group}=[{', '.join(f'{x:.9g}' for x in values)}]" for group, values in start.items())
    python = PYTHON.format(**known, options=_options(run) + at)
    given = "".join(f" --{group}={','.join(f'{x:.9g}' for x in values)}" for group, values in start.items())
    return Section(
        "listings",
        words("Listings"),
        [
            *blocks,
            Listing(python, "python", words("A Python program that simulates the model")),
            Listing(COMMANDS.format(**known, start=given), "", words("The same at a command line")),
        ],
    )


def _start(run: Trajectory, system: System) -> dict[str, Array]:
    """The configuration and the velocity at which a run begins, where they are not those of the model."""
    first = run.segments[0]
    usual = dict(zip("qv", system.initial_state(), strict=True))
    found = {group: getattr(first, group)[0] for group in "qv"}
    return {group: at for group, at in found.items() if at.shape != usual[group].shape or (at != usual[group]).any()}


def _options(run: Trajectory | None) -> str:
    """The options of `simulate` with which a run was made, as far as they are not the defaults."""
    if run is None:
        return ""
    settings = run.settings
    options = [f'method="{run.statistics.method}"']
    if settings.get("step"):
        options.append(f"step={settings['step']:g}")
    elif settings.get("rtol"):
        options += [f"{name}={settings[name]:g}" for name in ("rtol", "atol") if settings.get(name)]
    return "".join(f", {option}" for option in options)
