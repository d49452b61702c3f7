"""The XML files of an FMU: modelDescription.xml of FMI 2.0 and 3.0, and buildDescription.xml of FMI 3.0."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import kinemorph
from kinemorph.model.units import BASES, parse_unit
from kinemorph.programs.fmi.variables import INDICATOR, Variable, clean, is_structured
from kinemorph.programs.job import Job

Dependencies = Mapping[int, Sequence[int]]  # the value references on which an output or a rate depends

LOGS = {
    "logEvents": "events of the model, and the end of its motion",
    "logStatusDiscard": "why a step ended before its time",
    "logStatusError": "why a function failed",
}
# the unit of a variable: units in which a tool may show its values, and their factors
SHOWN: dict[str, dict[str, float]] = {
    "rad": {"deg": 180.0 / math.pi},
    "rad/s": {"deg/s": 180.0 / math.pi, "rpm": 30.0 / math.pi},
    "rad/s^2": {"deg/s^2": 180.0 / math.pi},
}


class Fmu(NamedTuple):
    """What the description of an FMU contains."""

    job: Job
    identifier: str  # the name of its binary
    token: str
    variables: Sequence[Variable]
    dependencies: Dependencies
    sources: Sequence[str]  # the C files, in the order in which they are listed
    stops: bool  # whether an event may end the motion
    exchange: bool  # whether the rates of its states can be computed, which model exchange and derivatives need


def fmi3_description(fmu: Fmu) -> str:
    """The text of modelDescription.xml by FMI 3.0."""
    root = _root(fmu, "3.0", "instantiationToken")
    named = {"modelIdentifier": fmu.identifier, "canGetAndSetFMUState": "true", "canSerializeFMUState": "true"}
    if fmu.exchange:
        named["providesDirectionalDerivatives"] = "true"
        SubElement(root, "ModelExchange", {**named, "needsCompletedIntegratorStep": "true"})
    together = {"canHandleVariableCommunicationStepSize": "true"}
    together |= {"mightReturnEarlyFromDoStep": "true"} if fmu.stops else {}
    SubElement(root, "CoSimulation", named | together | _own_step(fmu))
    _head(root, fmu)
    listed = SubElement(root, "ModelVariables")
    for one in fmu.variables:
        SubElement(listed, "Float64", _attributes(one) | _values(fmu, one, derivative=one.rate_of))
    structure = SubElement(root, "ModelStructure")
    for tag, wanted in _structure(fmu).items():
        for one in wanted:
            on = fmu.dependencies.get(one.reference) if tag != "InitialUnknown" else None
            known = {} if on is None else {"dependencies": _words(on)}
            SubElement(structure, tag, {"valueReference": str(one.reference), **known})
    return _text(root)


def fmi2_description(fmu: Fmu) -> str:
    """The text of modelDescription.xml by FMI 2.0, in which variables are counted from 1."""
    made = [one for one in fmu.variables if one.description != INDICATOR]
    number = {one.reference: k for k, one in enumerate(made, start=1)}
    root = _root(fmu, "2.0", "guid")
    root.set("numberOfEventIndicators", str(len(fmu.variables) - len(made)))
    offered = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true"}
    offered |= {"providesDirectionalDerivative": "true"} if fmu.exchange else {}
    offered |= {"canNotUseMemoryManagementFunctions": "true"}
    kinds: dict[str, dict[str, str]] = {"ModelExchange": {}} if fmu.exchange else {}
    kinds["CoSimulation"] = {"canHandleVariableCommunicationStepSize": "true"}
    for tag, own in kinds.items():
        files = SubElement(SubElement(root, tag, {"modelIdentifier": fmu.identifier, **own, **offered}), "SourceFiles")
        for name in fmu.sources:
            SubElement(files, "File", name=name)
    _head(root, fmu)
    listed = SubElement(root, "ModelVariables")
    for one in made:
        attributes = _attributes(one)
        real = _values(fmu, one, derivative=None if one.rate_of is None else number[one.rate_of])
        initial = real.pop("initial", None)
        scalar = SubElement(listed, "ScalarVariable", attributes | ({"initial": initial} if initial else {}))
        SubElement(scalar, "Real", real)
    structure = SubElement(root, "ModelStructure")
    parts = {"Outputs": "Output", "Derivatives": "ContinuousStateDerivative", "InitialUnknowns": "InitialUnknown"}
    for tag, key in parts.items():
        unknowns = _structure(fmu)[key]
        if not unknowns:
            continue
        part = SubElement(structure, tag)
        for one in unknowns:
            on = fmu.dependencies.get(one.reference) if tag != "InitialUnknowns" else None
            known = {} if on is None else {"dependencies": _words([number[k] for k in on])}
            SubElement(part, "Unknown", {"index": str(number[one.reference]), **known})
    return _text(root)


def build_description(identifier: str, sources: Sequence[str]) -> str:
    """The text of sources/buildDescription.xml by FMI 3.0: one set of C99 files, which need the math library alone."""
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    built = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = SubElement(built, "SourceFileSet", language="C99")
    for name in sources:
        SubElement(files, "SourceFile", name=name)
    SubElement(built, "Library", name="m", external="true", description="the math library of C, where it is a file")
    return _text(root)


# ── parts that both versions have ─────────────────────────────────────────────────────────────────────────────────────


def _root(fmu: Fmu, version: str, token: str) -> Element:
    """The root element with the attributes of the whole model."""
    naming = "structured" if is_structured(fmu.variables) else "flat"
    root = Element("fmiModelDescription", fmiVersion=version, modelName=clean(fmu.job.name))
    root.set(token, fmu.token)
    root.set("generationTool", f"Kinemorph {kinemorph.__version__}")
    root.set("variableNamingConvention", naming)
    return root


def _own_step(fmu: Fmu) -> dict[str, str]:
    """The attribute for a method with steps of one size."""
    return {"fixedInternalStepSize": repr(float(fmu.job.first.h))} if fmu.job.first.fixed else {}


def _head(root: Element, fmu: Fmu) -> None:
    """Units, log categories and the default experiment."""
    names = dict.fromkeys(one.unit for one in fmu.variables if one.unit)
    units = SubElement(root, "UnitDefinitions")
    for unit in map(unit_definition, names):
        one = SubElement(units, "Unit", name=unit.name)
        if unit.powers is not None:
            factor = {"factor": repr(unit.factor)} if unit.factor != 1.0 else {}
            SubElement(one, "BaseUnit", {base: str(power) for base, power in unit.powers.items()} | factor)
        for name, scale in unit.shown.items():
            SubElement(one, "DisplayUnit", name=name, factor=repr(scale))
    logs = SubElement(root, "LogCategories")
    for name, text in LOGS.items():
        SubElement(logs, "Category", name=name, description=text)
    job = fmu.job
    times = {"startTime": repr(job.times[0]), "stopTime": repr(job.times[1])}
    if job.method.adaptive and not job.first.fixed:
        times["tolerance"] = repr(float(job.first.limits[0]))
    if isinstance(job.spacing, float):
        times["stepSize"] = repr(job.spacing)
    SubElement(root, "DefaultExperiment", times)


def _attributes(one: Variable) -> dict[str, str]:
    """The attributes of a variable that do not depend on the version."""
    found = {"name": one.name, "valueReference": str(one.reference), "description": one.description}
    return found | {"causality": one.causality, "variability": one.variability}


def _values(fmu: Fmu, one: Variable, derivative: int | None) -> dict[str, str]:
    """Unit, initial value and the state of a rate."""
    found = {"initial": one.initial} if one.initial else {}
    if one.unit:
        found["unit"] = one.unit
        found |= {"displayUnit": display_unit(one.unit)} if display_unit(one.unit) else {}
    if one.start is not None:
        found["start"] = repr(one.start)
    if derivative is not None:
        found["derivative"] = str(derivative)
    elif one.is_state and fmu.exchange:
        found["reinit"] = "true"
    return found


def _structure(fmu: Fmu) -> dict[str, list[Variable]]:
    """The variables in each part of the model structure, by the names of FMI 3.0."""
    return {
        "Output": [one for one in fmu.variables if one.causality == "output"],
        "ContinuousStateDerivative": [one for one in fmu.variables if one.rate_of is not None],
        "InitialUnknown": [one for one in fmu.variables if one.is_unknown_at_first],
        "EventIndicator": [one for one in fmu.variables if one.description == INDICATOR],
    }


def _words(numbers: Sequence[int]) -> str:
    return " ".join(map(str, sorted(numbers)))


def _text(root: Element) -> str:
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


# ── units by the exponents of the base units of SI, as FMI defines them; and units in which values are shown ──────────


class UnitDefinition(NamedTuple):
    """A unit: its factor and the exponents of base units, None where it is not known; and units to show values in."""

    name: str
    factor: float
    powers: dict[str, int] | None
    shown: dict[str, float]


def unit_definition(name: str) -> UnitDefinition:
    """The definition of a unit of a model. A unit that is not known has a name alone."""
    try:
        unit = parse_unit(name)
    except ValueError:
        return UnitDefinition(name, 1.0, None, {})
    powers = {base: power for base, power in zip(BASES, unit.powers, strict=True) if power}
    return UnitDefinition(name, float(unit.scale) * math.pi**unit.turns, powers, SHOWN.get(name, {}))


def display_unit(name: str) -> str:
    """The unit in which values of a unit are shown at first; empty for the unit itself."""
    return next(iter(SHOWN.get(name, {})), "")
