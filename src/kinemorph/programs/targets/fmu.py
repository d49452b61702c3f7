"""A job as a functional mock-up unit by FMI 2.0 or 3.0, for co-simulation and for model exchange.

modelDescription.xml    names, units, causality and structure of the variables
sources/                the program in C: its model, its driver, and the functions of FMI; buildDescription.xml
binaries/               libraries of these sources, for each system for which there is a compiler
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import pattern
from kinemorph.codegen.graphs.program import Program
from kinemorph.errors import ModelWarning, users_level
from kinemorph.programs.drivers import as_bytes, compiled_files, driver_texts
from kinemorph.programs.fmi.binaries import binaries, checked_systems
from kinemorph.programs.fmi.description import Dependencies, Fmu, build_description, fmi2_description, fmi3_description
from kinemorph.programs.fmi.observed import observe, observed_columns
from kinemorph.programs.fmi.package import packed
from kinemorph.programs.fmi.variables import OBSERVED, Variable, variables
from kinemorph.programs.job import Job
from kinemorph.programs.targets.c import all_foreign_names, c_name, library_texts
from kinemorph.simulation.integrators.asked_inputs import at_state, slope_at_state

WRITERS = {2: fmi2_description, 3: fmi3_description}
DATA = """/* What the functions of FMI know of this FMU. Emitted by Kinemorph. */
#ifndef {capitals}_FMU_DATA_H
#define {capitals}_FMU_DATA_H

#define {capitals}_TOKEN "{token}" /* that of the model description */
#define {capitals}_OUTPUTS {outputs} /* the number of outputs besides q, v and x */

#endif
"""


def fmu_name(job: Job) -> str:
    """The name of a job with which all names in its sources begin; names of the standard begin with `fmi`."""
    name = c_name(job)
    return f"model_{name}" if name.lower().startswith(("fmi", "fmu")) else name


def write_fmu2(job: Job, systems: str | Sequence[str] | None = None) -> dict[str, bytes]:
    """{file name: bytes} of the FMU of a job by FMI 2.0; for `systems` see `fmi.binaries.checked_systems`."""
    return {f"{fmu_name(job)}.fmu": packed(fmu_files(job, 2, checked_systems(systems)))}


def write_fmu3(job: Job, systems: str | Sequence[str] | None = None) -> dict[str, bytes]:
    """{file name: bytes} of the FMU of a job by FMI 3.0; for `systems` see `fmi.binaries.checked_systems`."""
    return {f"{fmu_name(job)}.fmu": packed(fmu_files(job, 3, checked_systems(systems)))}


def fmu_files(job: Job, version: int, systems: Sequence[str]) -> dict[str, str | bytes]:
    """{path: content} of everything in an FMU, with libraries for these systems.

    Warns where there is none, since most tools cannot compile the sources themselves.
    """
    name = fmu_name(job)
    exchange = _has_rates(job)
    made = [one for one in variables(job) if exchange or not one.is_for_exchange]
    outputs = observe(job.plant) if observed_columns(job.plant) else None
    texts = _source_texts(job, name, version, outputs)
    listed = compiled_files(texts)
    stops = job.most_events < 1e300 or bool(job.guards)
    fmu = Fmu(job, name, "", made, _dependencies(job, made, outputs), listed, stops, exchange)
    token = _token(texts, WRITERS[version](fmu))
    texts[f"{name}_fmu_data.h"] = DATA.format(
        capitals=name.upper(), token=token, outputs=len(observed_columns(job.plant))
    )
    files: dict[str, str | bytes] = {"modelDescription.xml": WRITERS[version](fmu._replace(token=token))}
    files |= {f"sources/{file}": text for file, text in texts.items()}
    if version == 3:
        files["sources/buildDescription.xml"] = build_description(name, listed)
    built = binaries(texts, name, systems, version)
    if not built:
        warnings.warn(
            f"FMU '{name}' has its sources and no library for any system. Install a C compiler `cc`, or zig by "
            "`pip install kinemorph[fmu]`; or import the FMU with a tool that compiles sources.",
            ModelWarning,
            stacklevel=users_level(),
        )
    return files | built


def _has_rates(job: Job) -> bool:
    """Whether the rates of the state are finite at the start: equations without inertia need a method of their own."""
    first, u = job.first, np.zeros(job.plant.nu)
    u[: len(first.u)] = first.u  # code of the user gives the others
    y = np.concatenate([first.state.q, first.state.v, first.state.x])
    rates = np.zeros(len(y))
    build(job.plant.flow, "interpreter").raw(rates, np.array(job.times[0]), y, first.m, u, first.p)
    return bool(np.isfinite(rates).all())


def _source_texts(job: Job, name: str, version: int, outputs: Program | None) -> dict[str, str]:
    """{file name: text} of the C files, except for the one with the token."""
    texts = library_texts(job, name, exchange=True)
    texts = {file: text for file, text in texts.items() if not file.startswith(f"{name}_program.")}
    if outputs is not None:
        forms = {"observe": at_state(job.plant, outputs), "observe_forward": slope_at_state(job.plant, outputs)}
        programs = [replace(one, name=f"{name}_{form}") for form, one in forms.items()]
        foreign = all_foreign_names(job, name)
        texts |= export_c(programs, f"{name}_outputs", file=f"{name}_outputs", foreign=foreign)
    other = f"{name}_fmi{5 - version}."
    return texts | {file: text for file, text in driver_texts("fmi", name).items() if not file.startswith(other)}


def _token(texts: dict[str, str], description: str) -> str:
    """A token in the form of a GUID that depends on the sources and the description alone."""
    digest = hashlib.sha256()
    for text in (*(f"{file}\n{texts[file]}" for file in sorted(texts)), description):
        digest.update(as_bytes(text))
    word = digest.hexdigest()
    return "{" + "-".join((word[:8], word[8:12], word[12:16], word[16:20], word[20:32])) + "}"


def _dependencies(job: Job, made: Sequence[Variable], outputs: Program | None) -> Dependencies:
    """The states, inputs and the time on which outputs and rates depend, by value references."""
    found: dict[int, Sequence[int]] = {one.reference: [one.reference] for one in made if one.is_state}
    states = [one.reference for one in made if one.is_state]
    inputs = [one.reference for one in made if one.causality == "input"]
    rates = [one.reference for one in made if one.rate_of is not None]
    if rates:
        found |= _felt(job.plant.flow, rates, states, inputs)
    if outputs is not None:
        observed = [one.reference for one in made if one.description in OBSERVED]
        found |= _felt(outputs, observed, states, inputs)
    return found


def _felt(program: Program, unknowns: Sequence[int], states: Sequence[int], inputs: Sequence[int]) -> Dependencies:
    """The references on which each output of a program (t, y, m, u, p) depends: time, states and inputs."""
    known = {"t": [0], "y": states, "u": inputs}
    sizes = {port.name: port.size for port in program.inputs}
    felt = {port: pattern(program, "out", port).reshape(len(unknowns), sizes[port]) for port in known if sizes[port]}
    found: dict[int, Sequence[int]] = {}
    for k, unknown in enumerate(unknowns):
        places = [(port, int(j)) for port, rows in felt.items() for j in np.flatnonzero(rows[k])]
        if any(port == "u" and j >= len(inputs) for port, j in places):  # code of the user may depend on everything
            found[unknown] = [0, *states, *inputs]
        else:
            found[unknown] = [known[port][j] for port, j in places]
    return found
