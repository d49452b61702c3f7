"""The verdict of a report as a file, with the model that it is about: both are attached to the report.

The verdict is JSON: all rows of a signature, what is needed to repeat the runs, and digests (SHA-256) of the model, of
the settings, of the versions and of the verdict itself, so that a change by hand is found.
"""

from __future__ import annotations

import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from kinemorph import __version__
from kinemorph.analysis.signature import Repeat, Row, Signature, repeat_of, signature
from kinemorph.display.reports.signing.sealed import digest
from kinemorph.errors import KinemorphError, ModelWarning
from kinemorph.formats.loading import load_text, save
from kinemorph.formats.write_text import in_memory
from kinemorph.frozen import dataclass
from kinemorph.model.system import System
from kinemorph.simulation.results.trajectory import Trajectory

FORMAT, VERSION = "kinemorph verdict", 1
MODEL_FILE, VERDICT_FILE = "model.toml", "verdict.json"
PACKAGES = ("numpy", "llvmlite")


@dataclass(frozen=True, eq=False)
class SignedModel:
    """A model and its runs with their signature.

    `text`       the model as the text of a TOML file; empty where TOML cannot express it
    `dropped`    sentences about data of the model that the text does not have
    `repeats`    what is needed to carry out the runs again
    `digests`    SHA-256 of the model, the settings and the versions, in hexadecimal digits
    """

    signature: Signature
    text: str
    dropped: tuple[str, ...]
    repeats: tuple[Repeat, ...]
    versions: Mapping[str, str]
    digests: Mapping[str, str]

    def verdict(self) -> bytes:
        """The content of the file VERDICT_FILE."""
        data = {
            "format": FORMAT,
            "version": VERSION,
            "states": self.signature.states,
            "seed": self.signature.seed,
            "passed": self.signature.passed,
            "rows": [row.as_dict() for row in self.signature.rows],
            "runs": [repeat._asdict() for repeat in self.repeats],
            "dropped": list(self.dropped),
            "versions": dict(self.versions),
            "digests": dict(self.digests),
        }
        return _written({**data, "digest": digest(_written(data))})

    @property
    def files(self) -> dict[str, bytes]:
        """{name: content} of the files to attach: the verdict, and the model where there is a text of it."""
        model = {MODEL_FILE: self.text.encode()} if self.text else {}
        return {**model, VERDICT_FILE: self.verdict()}


def sign(
    system: System, runs: Mapping[str, Trajectory] | None = None, *, states: int = 8, seed: int = 0
) -> SignedModel:
    """A model and its runs, {name: run}, with their signature, at so many random states."""
    text, dropped = model_text(system)
    found = signature(system, runs, states=states, seed=seed)
    whole = system if text and not dropped else None
    repeats = tuple(_repeat(name, run, whole) for name, run in (runs or {}).items())
    used = versions()
    settings = {**asdict(system.settings), "states": states, "seed": seed, "runs": [one._asdict() for one in repeats]}
    digests = {"model": digest(text.encode()), "settings": digest(_written(settings))}
    digests["versions"] = digest(_written(used))
    return SignedModel(found, text, dropped, repeats, used, digests)


def _repeat(name: str, run: Trajectory, system: System | None) -> Repeat:
    """What a run of a system needs to be repeated; `system` is None where a file does not have all of it."""
    if system is None:
        return Repeat(name, {}, "the attached model lacks parts that act in it.")
    try:
        return repeat_of(name, run, system)
    except KinemorphError as error:
        return Repeat(name, {}, str(error))


def model_text(system: System) -> tuple[str, tuple[str, ...]]:
    """The model as TOML, and sentences about what TOML cannot express; "" where the text could not be read again."""
    path = Path(MODEL_FILE)
    try:
        with in_memory() as texts, warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            save(system, path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # doubts about values of the model are not about its file
            load_text(texts[path], "toml")
    except KinemorphError as error:
        return "", (str(error),)
    told = tuple(str(one.message) for one in found if issubclass(one.category, ModelWarning))
    return texts[path], tuple(text for text in told if "mesh" not in text)


def versions() -> dict[str, str]:
    """The versions of this package, of Python and of packages that compute, and the kind of processor."""
    found = {"kinemorph": __version__, "python": platform.python_version(), "platform": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # the package is part of a larger one
            found[name] = ""
    return found


def _written(data: Any) -> bytes:
    """Data as JSON whose bytes depend on the data alone."""
    return (json.dumps(data, indent=1, sort_keys=True, default=str) + "\n").encode()


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class VerdictProblem(Exception):
    """A verdict that cannot be read; the text says what is wrong with it."""


NUMBER_OPTIONS = ("step", "rtol", "atol", "until", "start", "output_step")  # of a run, beside its state and method


def _read_repeat(data: Mapping[str, Any]) -> Repeat:
    """What a run needs to be repeated. Only known options of known types are taken: a file cannot ask for others."""
    given = dict(data["options"])
    options: dict[str, Any] = {}
    if given:
        options = {key: None if given[key] is None else float(given[key]) for key in NUMBER_OPTIONS}
        options |= {key: [float(x) for x in given[key]] for key in "qv"}
        options["x"] = {str(name): float(x) for name, x in given["x"].items()}
        options["inputs"] = None if given["inputs"] is None else [float(x) for x in given["inputs"]]
        options["method"] = str(given["method"])
    return Repeat(str(data["name"]), options, str(data["problem"]))


@dataclass(frozen=True, eq=False)
class ReadVerdict:
    """A verdict that was read from a report; `intact` is false where its own digest does not fit."""

    signature: Signature
    repeats: tuple[Repeat, ...]
    dropped: tuple[str, ...]
    versions: Mapping[str, str]
    digests: Mapping[str, str]
    intact: bool


def read_verdict(data: bytes) -> ReadVerdict:
    """The verdict of the content of a file. Raises VerdictProblem where it is damaged or of a newer version."""
    try:
        found = json.loads(data)
    except ValueError as error:
        raise VerdictProblem("it is not JSON") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("version"), int):
        raise VerdictProblem("it is not a verdict of kinemorph")
    if found["version"] > VERSION:
        raise VerdictProblem(
            f"its version is {found['version']}, and this kinemorph reads up to {VERSION}: install a newer kinemorph"
        )
    try:
        own = found.pop("digest", "")
        return ReadVerdict(
            Signature(tuple(map(Row.from_dict, found["rows"])), int(found["states"]), int(found["seed"])),
            tuple(map(_read_repeat, found["runs"])),
            tuple(map(str, found["dropped"])),
            {str(key): str(value) for key, value in found["versions"].items()},
            {str(key): str(value) for key, value in found["digests"].items()},
            digest(_written(found)) == own,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise VerdictProblem("some of its entries are missing or of another type") from error
