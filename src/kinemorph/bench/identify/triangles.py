"""From samples to a triangle: how fast recordings become information, beside Pinocchio's regressors and LAPACK.

Both sides factorize the same unknowns, ten parameters for each body and four for each velocity, block by block in the
same code. Pinocchio gives rows with all columns, to which armature and friction are added; ours have, for each torque,
only the columns that it depends on and that are independent. Times are CPU times on one thread.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.identification.information import GrowingTriangle
from kinemorph.analysis.identification.recording import Recording
from kinemorph.analysis.identification.rows import SAMPLES, Rows, torque_rows
from kinemorph.bench.identify.regressors import RegressorContest
from kinemorph.bench.speed.compile_times import peak_memory
from kinemorph.bench.speed.contest import AGREE, Peer
from kinemorph.bench.speed.evaluation_times import Arena
from kinemorph.bench.targets import judge_identify
from kinemorph.bench.timing import Pace, Row, Say, take_turns
from kinemorph.deriving.parameter_functions import moving_bodies
from kinemorph.mechanics.recursions.regressors import OF_VELOCITY

ROBOT = "panda"
CHUNK = 16_384  # samples of a recording, which is used again and again
MANY, FEW = 1_000_000, 50_000  # samples of the whole run, and of a quick one


def compare_triangles(pace: Pace, library: Path | None, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yields the row of the table; times are in µs per sample."""
    say(f"{ROBOT}: from samples to triangles")
    contest = RegressorContest(ROBOT, "matrix")
    peer = Arena(pace, library).peer(contest)
    rows = one_thread(contest)
    count = FEW if quick else MANY
    row: Row = {"kind": "triangle", "robot": ROBOT, "nv": contest.twin.robot.nv, "samples": count, "peer": peer.label}
    row["difference"] = difference(contest, rows, peer)
    if row["difference"] > AGREE:
        yield {**row, "ours_us": None, "target": "", "verdict": "differs, so it is not timed"}
        return
    recording, states = _chunk(contest, CHUNK)
    theirs = partial(_dense_triangle, contest, peer, states, recording)
    seconds = take_turns([partial(rows.information, [recording]), theirs], pace)
    ours_us, peer_us = (1e6 * one / CHUNK for one in seconds)
    found = json.loads(_in_child(count))
    row |= {"ours_us": ours_us, "peer_us": peer_us, "ratio": peer_us / ours_us, **found}
    yield row | judge_identify("triangle", row["ratio"], found["memory_mb"])._asdict()


def one_thread(contest: RegressorContest) -> Rows:
    """Our rows, made on one thread."""
    rows = torque_rows(contest.dynamics)
    assert rows.function is not None
    rows.function.threads = 1
    return rows


def _chunk(contest: RegressorContest, count: int) -> tuple[Recording, dict[str, Array]]:
    """A recording of random states with random torques, and the states as contests have them."""
    states = contest.states(count, seed=3)
    q, v, a = (states[name] for name in ("q", "v", "a"))
    tau = np.random.default_rng(4).normal(size=v.shape)
    return Recording("random", np.arange(float(count)), q, v, a, tau), states


def _dense_triangle(contest: RegressorContest, peer: Peer, states: dict[str, Array], recording: Recording) -> Array:
    """R of [Y y] with all columns: Pinocchio's, then armature, viscous and Coulomb friction and offset."""
    v, a, tau = recording.v, recording.a, recording.tau
    assert v is not None and a is not None and tau is not None
    nv = contest.twin.robot.nv
    own, at = len(OF_VELOCITY), np.arange(nv)
    growing: GrowingTriangle | None = None
    q_p, v_p, a_p = contest.peer_states(states)
    for start in range(0, len(tau), SAMPLES):
        part = slice(start, start + SAMPLES)
        Y = peer.results("regressor", q_p[part], v_p[part], a_p[part]).reshape(len(tau[part]), nv, -1)
        joints = np.zeros((len(Y), nv, nv, own))
        joints[:, at, at] = np.stack([a[part], v[part], np.sign(v[part]), np.ones_like(v[part])], axis=-1)
        whole = np.concatenate([Y, joints.reshape(len(Y), nv, -1)], axis=2).reshape(len(Y) * nv, -1)
        growing = growing or GrowingTriangle(whole.shape[1] + 1)
        growing.add(whole, tau[part].ravel())
    assert growing is not None
    return growing.value()


def difference(contest: RegressorContest, rows: Rows, peer: Peer) -> float:
    """The largest relative difference of our sums of products of columns from those of Pinocchio's rows."""
    recording, states = _chunk(contest, 400)
    R, z, rest = rows.information([recording]).weighted()
    ours = np.zeros((len(z) + 1, len(z) + 1))
    ours[:-1, :-1], ours[:-1, -1], ours[-1, -1] = R, z, np.sqrt(rest)
    theirs = _dense_triangle(contest, peer, states, recording)
    twin = contest.twin
    bodies = [body.name for body in moving_bodies(twin.robot)]
    inertial = 10 * (twin.model.njoints - 1)
    turned = twin.body_columns(theirs[None, :, :inertial], bodies)[0]
    theirs = np.column_stack([turned, theirs[:, inertial:]])
    products = [one.T @ one for one in (ours, theirs)]
    sizes = np.sqrt(np.diag(products[1]))
    sizes = np.maximum(sizes, 1e-6 * sizes.max())  # columns that no force depends on are rounding errors
    return float(np.abs((products[0] - products[1]) / np.outer(sizes, sizes)).max())


# ── a whole run in a process of its own ───────────────────────────────────────────────────────────────────────────────


def _in_child(count: int) -> str:
    code = f"from {__name__} import whole_run; whole_run({count})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1]


def whole_run(count: int) -> None:
    """Prints the CPU time [s] and the peak memory [MB] of a process that makes triangles of `count` samples."""
    import time

    contest = RegressorContest(ROBOT, "matrix")
    rows = one_thread(contest)
    recording, _ = _chunk(contest, CHUNK)
    start = time.process_time()
    parts = (recording.part(0, min(CHUNK, count - done)) for done in range(0, count, CHUNK))
    rows.information(parts)
    print(json.dumps({"seconds": time.process_time() - start, "memory_mb": peak_memory()}))
