"""Folders of robot files that nobody here wrote: which of them are read, and whether the peers agree.

    python tests/support/peers/robots_read.py docs/robots_read.md FOLDER [FOLDER ...]

Every URDF, xacro, SDF and MJCF file below the folders is read, and its M, bias forces and accelerations are compared
at random states with those of a peer that reads the same file by its own parser: Pinocchio (URDF, xacro), MuJoCo
(MJCF), Drake (SDF, where it is installed). Each file has a time limit, in a process that may die of it. Nothing is
fetched; a folder is a collection, called by its name. Files below `.git`, `build` and the like are passed over.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SECONDS = 120.0  # the most time for one file
STATES = 3
CLOSE = 1e-9  # of the largest entry; of accelerations, times the condition number of M
ENDINGS = {".urdf": "urdf", ".xacro": "xacro", ".sdf": "sdf", ".world": "sdf"}
ROOTS = {"robot": "urdf", "mujoco": "mjcf", "sdf": "sdf", "gazebo": "sdf"}  # outermost elements of .xml files
PASSED = {".git", "build", "node_modules", "__pycache__"}
VERDICTS = ("agree", "kinematic", "peer cannot", "no peer", "disagree", "right", "strict", "died")


class Verdict(NamedTuple):
    """What came of a file.

    agree        read here and by the peer, and equal
    kinematic    read here for kinematics, because nothing that moves has a mass
    peer cannot  read here; the peer refuses it, or its accelerations are not finite
    no peer      read here; no peer is installed for the format, or nothing moves
    disagree     read here and by the peer, and not equal: `reason` has the errors
    right        refused here and by the peer, or a part that is no model
    strict       refused here, while the peer reads it and has finite accelerations: `reason` has the rule
    died         no answer within the time limit, or a crash
    """

    file: str
    format: str
    verdict: str
    reason: str = ""
    dropped: tuple[str, ...] = ()  # what does not act, by the rules of the warnings


# ── which files ───────────────────────────────────────────────────────────────────────────────────────────────────────


def robot_files(folder: Path) -> Iterator[tuple[Path, str]]:
    """All robot files below a folder, with their formats."""
    for path in sorted(folder.rglob("*")):
        if PASSED.intersection(path.parts) or not path.is_file():
            continue
        found = ENDINGS.get(path.suffix.lower()) or (_root_format(path) if path.suffix.lower() == ".xml" else None)
        if found:
            yield path, found


def _root_format(path: Path) -> str | None:
    """The format of an XML file by its outermost element."""
    from lxml import etree

    try:
        for _, element in etree.iterparse(str(path), events=("start",), recover=True):
            return ROOTS.get(etree.QName(element).localname)
    except (etree.XMLSyntaxError, OSError, ValueError):
        return None
    return None


# ── one file ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def judged(path: Path, format: str, root: Path) -> Verdict:
    """Reads a file here and by the peer."""
    from kinemorph.formats.loading import examine
    from kinemorph.formats.sources import Options

    name = path.relative_to(root.parent).as_posix()
    found = examine(path, options=Options(package_dirs=(root,)))
    dropped = tuple(sorted({f"{one.rule}: {one.problem}"[:160] for one in found.warnings}))
    robot = found.system.robot if found.system and not found.system.robot.is_kinematic else None
    peer = PEERS[format](path, robot)
    if found.system is None:
        first = found.errors[0]
        reason = f"[{first.rule}] {first.problem}"
        return Verdict(name, format, "strict" if peer.finite else "right", f"{reason} / peer: {peer.said}", dropped)
    if found.system.robot.is_kinematic and found.system.robot.nv:
        return Verdict(name, format, "kinematic", "", dropped)
    if peer.errors is None:
        return Verdict(name, format, "no peer" if peer.absent else "peer cannot", peer.said, dropped)
    close = all(error < CLOSE for error in peer.errors)
    texts = ", ".join(f"{what} {error:.1e}" for what, error in zip(("M", "h", "a"), peer.errors, strict=False))
    return Verdict(name, format, "agree" if close else "disagree", texts, dropped)


class Heard(NamedTuple):
    """What a peer says of a file: errors of M, bias and accelerations beside ours, or why there are none."""

    finite: bool  # the peer reads the file, and its accelerations are finite
    said: str = ""
    errors: tuple[float, ...] | None = None
    absent: bool = False  # there is no peer, or nothing to compare


def _random_state(robot: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    from kinemorph.model.configuration import Dice, random_configuration

    q = np.array(random_configuration(robot, Dice(int(rng.integers(1 << 30)))), dtype=float)
    v, tau = rng.normal(size=(2, robot.nv))
    return q, v, tau


def _ours(robot: Any, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(M, bias, accelerations) of our robot as a tree."""
    from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
    from kinemorph.mechanics.recursions.composite_bodies import mass_matrix
    from kinemorph.mechanics.recursions.newton_euler import bias_forces
    from kinemorph.mechanics.trees.resolve import resolve

    tree = resolve(replace(robot, loops=(), couplings=()))
    state = q.tolist(), v.tolist()
    found = mass_matrix(tree, state[0]), bias_forces(tree, *state), forward_dynamics(tree, *state, tau.tolist())
    M, h, a = (np.array(one, dtype=float) for one in found)
    return M, h, a


def _errors(mine: tuple[np.ndarray, ...], theirs: tuple[np.ndarray, ...]) -> list[float]:
    """Errors of M, bias and accelerations as shares of the largest entry; the last divided by the condition of M."""
    errors = [float(np.abs(x - y).max() / (np.abs(y).max() or 1.0)) for x, y in zip(mine, theirs, strict=True)]
    errors[2] /= max(float(np.linalg.cond(theirs[0])), 1.0)
    return errors


def _by_pinocchio(path: Path, robot: Any) -> Heard:
    """Pinocchio on a URDF; a xacro file is expanded by xacro itself."""
    import pinocchio as pin

    from kinemorph.model.conventions.conversions import to_convention

    try:
        if path.suffix.lower() == ".xacro":
            import xacro

            text = xacro.process_file(str(path)).toxml()
            model = pin.buildModelFromXML(text)
        else:
            model = pin.buildModelFromUrdf(str(path))
    except BaseException as error:  # a peer may raise whatever it likes
        return Heard(False, f"{type(error).__name__}: {error}".splitlines()[0][:120])
    data = model.createData()
    if model.nv == 0:
        return Heard(True, "nothing moves", absent=True)
    rng = np.random.default_rng(7)
    if robot is None:
        model.lowerPositionLimit[:], model.upperPositionLimit[:] = -1.0, 1.0
        q = pin.randomConfiguration(model)
        a = pin.aba(model, data, q, *rng.normal(size=(2, model.nv)))
        return Heard(bool(np.isfinite(a).all()), "reads it")
    unbounded = [model.names[k] for k in range(1, model.njoints) if model.joints[k].nq == 2 and model.joints[k].nv == 1]
    joints = [name for name in model.names if name != "universe"]
    if model.nv != robot.nv:
        return Heard(True, f"has {model.nv} velocities, here {robot.nv}", (1.0,))
    model.gravity.linear = np.array(robot.gravity, dtype=float)
    there_by = {"joints": joints, "unbounded": unbounded}
    worst = np.zeros(3)
    for _ in range(STATES):
        q, v, tau = _random_state(robot, rng)
        there, _ = to_convention(robot, "pinocchio", q, v, **there_by)
        B = to_convention(robot, "pinocchio", q, np.eye(robot.nv), **there_by)[1].T  # v there = B v
        upper = np.triu(pin.crba(model, data, there))
        M = upper + np.triu(upper, 1).T
        h = pin.rnea(model, data, there, B @ v, np.zeros(model.nv))
        a = pin.aba(model, data, there, B @ v, np.linalg.solve(B.T, tau))
        if not np.isfinite(a).all():
            return Heard(False, "accelerations are not finite")
        worst = np.maximum(worst, _errors(_ours(robot, q, v, tau), (B.T @ M @ B, B.T @ h, np.linalg.solve(B, a))))
    return Heard(True, "", tuple(worst.tolist()))


def _by_mujoco(path: Path, robot: Any) -> Heard:
    """MuJoCo on an MJCF file."""
    import mujoco

    from support.peers.mjcf_peers import worst

    mujoco.set_mju_user_warning(lambda message: None)
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        return Heard(False, str(error).splitlines()[0][:120])
    if model.nbody == 1:
        return Heard(False, "the world alone has geoms", absent=True)
    if model.nv == 0:
        return Heard(True, "nothing moves", absent=True)
    if robot is None:
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        return Heard(bool(np.isfinite(data.qacc).all()), "reads it")
    return Heard(True, "", worst(robot, model)[1:])


def _by_drake(path: Path, robot: Any) -> Heard:
    """Drake on an SDF file."""
    if find_spec("pydrake") is None:
        return Heard(True, "Drake is not installed", absent=True)
    from support.peers.drake_peer import DrakePeer, without_loops

    if robot is None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant

        plant = MultibodyPlant(0.0)
        try:
            Parser(plant).AddModels(str(path))
            plant.Finalize()
        except RuntimeError as error:
            return Heard(False, str(error).splitlines()[0][:120])
        return Heard(plant.num_velocities() > 0, "reads it")
    try:
        peer = DrakePeer(robot, without_loops(path, robot))
    except (RuntimeError, ValueError, StopIteration) as error:
        return Heard(False, str(error).splitlines()[0][:120])
    if robot.nv == 0:
        return Heard(True, "nothing moves", absent=True)
    if peer.plant.num_velocities() != robot.nv:
        return Heard(True, f"has {peer.plant.num_velocities()} velocities, here {robot.nv}", (1.0,))
    rng, found = np.random.default_rng(7), np.zeros(3)
    for _ in range(STATES):
        q, v, tau = _random_state(robot, rng)
        M, h = peer.mass_matrix(q), peer.bias_forces(q, v)
        a = np.linalg.solve(M, tau - h)
        if not np.isfinite(a).all():
            return Heard(False, "accelerations are not finite")
        found = np.maximum(found, _errors(_ours(robot, q, v, tau), (M, h, a)))
    return Heard(True, "", tuple(found.tolist()))


PEERS = {"urdf": _by_pinocchio, "xacro": _by_pinocchio, "mjcf": _by_mujoco, "sdf": _by_drake}


# ── many files ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Judge:
    """A process that judges files one after the other; it is replaced where it dies or takes too long.

    `script` is a Python file that answers with `judge_from_stdin` when it is called with --judge.
    """

    def __init__(self, script: str = __file__, seconds: float = SECONDS) -> None:
        self.script, self.seconds = script, seconds
        self._process: subprocess.Popen[str] | None = None

    def ask(self, path: Path, format: str, root: Path) -> Any:
        """The answer of the process to a file, a list; a text that says why there is none."""
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, self.script, "--judge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps([str(path), format, str(root)]) + "\n")
            process.stdin.flush()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            line = process.stdout.readline() if waiting.select(self.seconds) else ""
        if line:
            return json.loads(line)
        slow = process.poll() is None
        process.kill()
        process.wait()
        self._process = None
        return f"no answer in {self.seconds:g} s" if slow else "the process died"

    def verdict(self, path: Path, format: str, root: Path) -> Verdict:
        """The verdict on a file."""
        answer = self.ask(path, format, root)
        if isinstance(answer, str):
            return Verdict(path.relative_to(root.parent).as_posix(), format, "died", answer)
        return Verdict(*answer)


def judge_from_stdin(judged: Callable[[Path, str, Path], Any]) -> None:
    """Answers each line of stdin, a file as JSON, with a line: what `judged` says of it, or the error as a text."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # peers print to stdout
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        path, format, root = json.loads(line)
        try:
            verdict = judged(Path(path), format, Path(root))
        except Exception as error:
            verdict = f"{type(error).__name__}: {error}"[:300]
        answers.write(json.dumps(verdict) + "\n")
        answers.flush()


PAGE = """# Robot files of others, read and compared

{total} URDF, xacro, SDF and MJCF files of {folders} were read, and compared with a peer that reads the same file
by its own parser: Pinocchio (URDF, xacro), MuJoCo (MJCF) and Drake (SDF{drake}). M, bias forces and accelerations are
compared at {states} random states, as trees: without loops, couplings, contacts and drives. The column "acts" of
[mjcf_read.md](mjcf_read.md) compares drives.

{table}

| verdict | meaning |
|---|---|
| agree | read here and by the peer, and equal to {close:g} of the largest entry |
| kinematic | read here for kinematics, because nothing that moves has a mass; the peer's accelerations are not finite |
| peer cannot | read here; the peer refuses it, or its accelerations are not finite |
| no peer | read here; nothing moves, or no peer is installed for the format |
| disagree | read here and by the peer, and not equal; listed below |
| right | refused here and by the peer: a part that is no model, a file or package that is missing, a mistake |
| strict | refused here, while the peer reads it with finite accelerations; listed below |
| died | no answer within {seconds:g} s, or an error inside the program; listed below |

**{share:.1f} % of the files that a peer reads with finite accelerations are refused here** ({strict} of {read}).

Made by `python tests/support/peers/robots_read.py docs/robots_read.md FOLDER ...`. The collections are not part of this
project; large assets are missing in some copies, so that a few refusals are due to them.

## What does not act

Warnings by rule, with the number of files that have them: {dropped}.

## Refused, different or without an answer

| file | verdict | reason |
|---|---|---|
{rows}
"""


def table(collections: dict[str, list[Verdict]]) -> str:
    """The counts of verdicts by collection."""
    lines = ["| collection | files | " + " | ".join(VERDICTS) + " |", "|---|" + "---:|" * (len(VERDICTS) + 1)]
    total: Counter[str] = Counter()
    for name, rows in collections.items():
        counts = Counter(row.verdict for row in rows)
        total += counts
        lines.append(f"| {name} | {len(rows)} | " + " | ".join(str(counts[one]) for one in VERDICTS) + " |")
    lines.append(f"| **total** | {total.total()} | " + " | ".join(str(total[one]) for one in VERDICTS) + " |")
    return "\n".join(lines)


def page(collections: dict[str, list[Verdict]]) -> str:
    """The tables as a page of the docs."""
    rows = [row for found in collections.values() for row in found]
    counts = Counter(row.verdict for row in rows)
    read = counts["agree"] + counts["disagree"] + counts["strict"]
    rules = Counter(rule for row in rows for rule in {text.partition(":")[0] for text in row.dropped})
    listed = [row for row in rows if row.verdict in ("strict", "disagree", "died")]
    return PAGE.format(
        total=len(rows),
        folders=", ".join(collections),
        drake="" if find_spec("pydrake") else ", which was not installed",
        states=STATES,
        table=table(collections),
        close=CLOSE,
        seconds=SECONDS,
        share=100.0 * counts["strict"] / max(read, 1),
        strict=counts["strict"],
        read=read,
        dropped=", ".join(f"{rule} {count}" for rule, count in rules.most_common()),
        rows="\n".join(f"| {row.file} | {row.verdict} | {row.reason.replace('|', '/')} |" for row in listed),
    )


def main() -> None:
    """Judges all files of the folders, and writes the page."""
    target, *folders = sys.argv[1:]
    judge = Judge()
    collections: dict[str, list[Verdict]] = {}
    for folder in map(Path, folders):
        rows = collections.setdefault(folder.name, [])
        for path, format in robot_files(folder.resolve()):
            rows.append(judge.verdict(path, format, folder.resolve()))
        print(folder.name, dict(Counter(row.verdict for row in rows)), file=sys.stderr, flush=True)
    Path(target).write_text(page(collections), encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    judge_from_stdin(judged) if sys.argv[1:2] == ["--judge"] else main()
