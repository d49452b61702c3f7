"""The data of a job that its program carries, whatever the language: sizes, places, names, numbers and sentences.

A target writes these tables in its language, and its driver reads them. Nothing here depends on a language.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import NamedTuple

from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.user_laws import Column
from kinemorph.programs.job import SAMPLES, Job
from kinemorph.programs.sentences import sentences, watch_sentences
from kinemorph.simulation.march.guards import MOST_QUICK, RESOLUTION
from kinemorph.simulation.march.layout import LOG_LENGTH, Status, log_width
from kinemorph.simulation.march.start import coordinate_moves
from kinemorph.simulation.results.columns import per_second
from kinemorph.simulation.results.event_log import LogFormat
from kinemorph.simulation.running.patience import HOPELESS
from kinemorph.simulation.running.switches import MOST_SWITCHES, log_format
from kinemorph.simulation.stepping.domains import EDGE, NEAR
from kinemorph.simulation.stepping.failures import FAR, RUN_AWAY, SENSELESS
from kinemorph.simulation.stepping.gimbal_lock import AT, CLOSE

STATE, GIVEN = ("q", "v", "x", "m"), ("u", "p")  # groups of a sample, and groups that are given
KINDS = ("crossing", "reset", "stop", "switch", "edge", "impact", "rest")  # of events; programs know them by number
PLACES = ("t", "h", "base", "s", "m", "m_next", "clock", "accepted", "rejected")  # arrays in the memory of a march
BARE = str.maketrans({chr(code): " " for code in (*range(32), 127)})  # control characters, which mark gaps


class Mark(NamedTuple):
    """The events of one guard: their name and kind, whether the state jumps, and when they count as rest.

    `shortest` [s], `least` and `stays` are those of `Paced`; `least` is 0 for guards whose events never mean rest.
    """

    name: str
    kind: int
    jumps: int
    shortest: float
    least: int
    stays: int


class DomainRow(NamedTuple):
    """The domain of a formula: its ends, whether its derivative is infinite there, and the message beyond it."""

    low: float
    high: float
    steep: int
    sentence: str


class GimbalRow(NamedTuple):
    """A gimbal: the index in q of its second angle, one of its singular angles [rad], and the message there."""

    second: int
    angle: float
    sentence: str


class JobTables(NamedTuple):
    """All tables of a job. Sizes and constants are named numbers; the others are arrays."""

    name: str  # of the plant
    method: str
    sizes: dict[str, int]
    constants: dict[str, float]
    statuses: dict[str, int]
    memory: tuple[float, ...]  # of the march, at the initial state before elements have sampled
    u: tuple[float, ...]
    p: tuple[float, ...]
    limits: tuple[float, ...]
    times: tuple[float, ...]  # sample times after the start [s]; empty where they are regular
    clocks: tuple[tuple[float, float, float], ...]  # first, step and parts of each clock
    moves: tuple[tuple[int, int], ...]  # of each coordinate: the first velocity that moves it, and how many do
    columns: tuple[tuple[str, str], ...]  # name and unit of q, v, x, m, u and p, one after the other
    curves: tuple[str, ...]  # titles of the columns of a .res file after t; empty for coordinates it cannot have
    header: str  # the first line of a file of comma-separated values
    variables: tuple[str, ...]  # names of the entries of s = [w, v, x] in messages; "" for entries that only follow
    owners: tuple[str, ...]  # the element to which each number of the memory belongs
    marks: tuple[Mark, ...]
    domains: tuple[DomainRow, ...]
    gimbals: tuple[GimbalRow, ...]
    kinds: tuple[str, ...]
    sentences: dict[str, str]


def job_tables(job: Job) -> JobTables:
    """The tables of a job."""
    plant, first = job.plant, job.first
    plan = first.plan
    form = log_format(first.watch) if first.watch else None
    sizes = {
        **{name: plant.sizes[name] for name in ("nq", "nv", "nx", "nm", "np", "ns", "nc")},
        "nu": plant.given,
        "row": plant.nq + plant.nv + plant.nx + len(plant.m),
        "memory": plan.size,
        "samples": SAMPLES,
        "guards": job.guards.count if job.guards else 0,
        "log_length": job.guards.log_length if job.guards else LOG_LENGTH,
        "log_width": log_width(plant),
        "clocks": len(plant.ticks),
        "domains": len(job.domains),
        "gimbals": len(job.gimbals),
        "user": int(job.user is not None),
        "scene": int(job.drawing is not None),
        "times": 0 if isinstance(job.spacing, float) else len(job.spacing),
        **{f"at_{name}": plan.starts[name] for name in PLACES},
    }
    return JobTables(
        bare(plant.name),
        bare(job.method.name),
        sizes,
        _constants(job),
        {status.name.lower(): int(status) for status in Status},
        tuple(first.memory.tolist()),
        tuple(first.u[: plant.given].tolist()),
        tuple(first.p.tolist()),
        tuple(first.limits.tolist()),
        () if isinstance(job.spacing, float) else job.spacing,
        tuple((tick.instants.first, tick.instants.step, tick.instants.parts) for tick in plant.ticks),
        tuple(coordinate_moves(job.plant)),
        tuple(_columns(job)),
        tuple(_curves(job)),
        _header(job),
        tuple(_variables(job)),
        tuple(bare(column.name.partition(".")[0]) for column in plant.m),
        tuple(_marks(job, form)) if form else (),
        tuple(_domains(job)),
        tuple(_gimbals(job)),
        KINDS,
        {name: text.replace(plant.name, bare(plant.name)) for name, text in sentences(job).items()},
    )


def bare(text: str) -> str:
    """A text of a model on one line, without the control characters that mark gaps in sentences."""
    return text.translate(BARE)


def _constants(job: Job) -> dict[str, float]:
    """The numbers of a run that are not sizes."""
    return {
        "start": job.times[0],
        "until": job.times[1],
        "spacing": job.spacing if isinstance(job.spacing, float) else 0.0,
        "most_events": min(job.most_events, 1e300),
        "fixed": float(job.first.fixed),
        "adaptive": float(job.method.adaptive),
        "robot": float(job.plant.robot is not None),
        "impulses": float(bool(job.plant.contact_guards)),
        "resolution": RESOLUTION,
        "most_quick": float(MOST_QUICK),
        "most_switches": float(MOST_SWITCHES),
        "senseless": SENSELESS,
        "run_away": RUN_AWAY,
        "far": FAR,
        "domain_edge": EDGE,
        "domain_near": NEAR,
        "gimbal_edge": AT,
        "gimbal_near": CLOSE,
        "hopeless": float(HOPELESS),
    }


def _columns(job: Job) -> Iterator[tuple[str, str]]:
    for group in (*STATE, *GIVEN):
        for column in job.columns(group):
            yield bare(f"{group}.{column.name}"), bare(column.unit)


def _header(job: Job) -> str:
    """The names of the columns of a sample with their units, as in files that `Trajectory.save` writes."""
    columns = [Column("t", "s")]
    columns += [Column(f"{g}.{c.name}", c.unit) for g in STATE for c in getattr(job.plant, g)]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(bare(column.title) for column in columns)
    return line.getvalue()


def _curves(job: Job) -> Iterator[str]:
    """The titles of the columns of EasyDyn's .res file, as `simulation.files.easydyn` orders them.

    There are none where a coordinate is not moved by a velocity of its own, as those of quaternions.
    """
    plant = job.plant
    if [first for first, _ in coordinate_moves(plant)] != list(range(plant.nv)) or not plant.nv:
        return
    for q, v in zip(plant.q, plant.v, strict=True):
        yield bare(Column(f"q.{q.name}", q.unit).title)
        yield bare(Column(f"v.{v.name}", v.unit).title)
        yield bare(Column(f"a.{v.name}", per_second(v.unit)).title)
    for group in ("u", "x"):
        for column in job.columns(group):
            yield bare(Column(f"{group}.{column.name}", column.unit).title)


def _variables(job: Job) -> Iterator[str]:
    plant = job.plant
    for group, columns in (("q", plant.v), ("v", plant.v), ("x", plant.x)):
        for column in columns:
            yield "" if group == "x" and column.name in ACCOUNT else bare(f"{group} '{column.name}'")


def _domains(job: Job) -> Iterator[DomainRow]:
    for domain, sentence in zip(job.domains, watch_sentences(job)[0], strict=True):
        yield DomainRow(*domain.ends, int(domain.op in ("acos", "asin")), sentence)


def _gimbals(job: Job) -> Iterator[GimbalRow]:
    for gimbal, sentence in zip(job.gimbals, watch_sentences(job)[1], strict=True):
        yield GimbalRow(gimbal.second, gimbal.angle, sentence)


def _marks(job: Job, form: LogFormat) -> Iterator[Mark]:
    watch = job.first.watch
    assert watch is not None and job.guards is not None
    for k in range(job.guards.count):
        mark, paced = form.marks[k], watch.paced.get(k)
        rest = (0.0, 0, 0) if paced is None else (paced.shortest, paced.least, int(paced.stays))
        yield Mark(bare(mark.name), KINDS.index(mark.kind), int(mark.jumps), *rest)
