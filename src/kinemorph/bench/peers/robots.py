"""The robots of the tables, each with its twin: the same robot as a Pinocchio model.

Pinocchio reads Panda, ANYmal and Talos from their URDFs, and our robot is made from its model, so that both sides
compute the same thing. The hexapods and chains have general inertias, and the chains also general axes, so that no
entry is zero by chance. Any built-in robot can be named, too.
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.algebra.groups import Pose, quat_to_rotation
from kinemorph.errors import MissingExtraError, ModelError, UnsupportedError
from kinemorph.formats import ENDINGS
from kinemorph.formats.loading import load
from kinemorph.model.body import Body
from kinemorph.model.joint import JOINT_KINDS, Joint
from kinemorph.model.library.choosing import CHOICE, choose
from kinemorph.model.robot import Robot
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin

STORED = Path(__file__).parent / "bench_robots.json"
URDFS = "cmeel.prefix/share/example-robot-data/robots"


def pinocchio() -> Any:
    """The imported package `pinocchio`. Raises MissingExtraError if it is not installed."""
    try:
        import pinocchio
    except ImportError:
        raise MissingExtraError("pin", "bench") from None
    return pinocchio


# ── robots that are public URDFs ──────────────────────────────────────────────────────────────────────────────────────


def _urdf(path: str, *, free: bool = False, locked: tuple[str, ...] = ()) -> Any:
    """A pinocchio.Model from a URDF of the package example-robot-data, without meshes.

    `free` adds a free joint at the base; `locked` joints are fixed at zero.
    """
    pin = pinocchio()
    found = robot_file(path)
    model = pin.buildModelFromUrdf(str(found), *([pin.JointModelFreeFlyer()] if free else []))
    if locked:
        model = pin.buildReducedModel(model, [model.getJointId(name) for name in locked], pin.neutral(model))
    return model


def robot_file(path: str) -> Path:
    """The path of a file of the package example-robot-data; raises where the package or the file is missing."""
    try:
        package = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtraError("example-robot-data", "bench") from None
    found = Path(str(package.locate_file(f"{URDFS}/{path}")))
    if not found.is_file():
        raise ModelError(
            f"robot file '{path}' is not in the installed 'example-robot-data' {package.version}; expected it in "
            f"{URDFS}. Install version 5, or leave the robot out."
        )
    return found


def _panda() -> Any:
    return _urdf("panda_description/urdf/panda.urdf", locked=("panda_finger_joint1", "panda_finger_joint2"))


def _anymal() -> Any:
    return _urdf("anymal_b_simple_description/robots/anymal.urdf", free=True)


def _talos() -> Any:
    return _urdf("talos_data/robots/talos_reduced.urdf", free=True)


# ── robots that are stored or made here ───────────────────────────────────────────────────────────────────────────────


@cache
def _stored(path: Path) -> dict[str, Any]:
    try:
        robots = json.loads(path.read_text(encoding="utf-8"))["robots"]
    except OSError as error:
        raise ModelError(f"file '{path}' cannot be read: {error.strerror}. Give another file of robots.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"file '{path}' cannot be read as stored robots ({type(error).__name__}: {error}); expected JSON with "
            "an object under the key 'robots'. Give another file with --robots, or leave --robots out."
        ) from None
    return dict(robots)


def stored_robot(name: str, path: Path = STORED) -> Robot:
    """The robot of this name in a file like `bench_robots.json`.

    It is made without RobotBuilder, which refuses inertias that no real body has.
    """
    bodies, joints = [], []
    for n, link in enumerate(_stored(path)[name]["links"]):
        row = JOINT_KINDS[link["kind"]]
        bodies.append(Body(f"b{n}", link["mass"], tuple(link["com"]), _rows(link["inertia_at_com"])))
        joints.append(
            Joint(
                f"j{n}",
                link["kind"],
                "world" if link["parent"] < 0 else f"b{link['parent']}",
                f"b{n}",
                Pose(_rows(link["rotation"]), tuple(link["translation"])),
                axis=tuple(link["axis"]),
                damping=(0.0,) * row.nv,
                armature=(0.0,) * row.nv,
                lower=(-np.inf,) * row.nq,
                upper=(np.inf,) * row.nq,
            )
        )
    return Robot(name, tuple(bodies), tuple(joints))


def _rows(matrix: Any) -> Any:
    return tuple(map(tuple, matrix))


def general_chain(n: int) -> Robot:
    """A chain of n hinges with random axes, offsets and inertias, the same for the same n."""
    rng = np.random.default_rng([n, 29])
    bodies, joints = [], []
    for k in range(n):
        second = rng.uniform(0.005, 0.03, size=3)  # second moments of mass, so that the triangle inequalities hold
        Q: Any = np.array(quat_to_rotation(_direction(rng, 4)))
        R = quat_to_rotation(_direction(rng, 4))
        inertia = Q @ np.diag(second.sum() - second) @ Q.T
        bodies.append(
            Body(
                f"b{k}",
                rng.uniform(0.5, 2.0),
                tuple((rng.normal(size=3) * 0.1).tolist()),
                _rows(((inertia + inertia.T) / 2).tolist()),
            )
        )
        joints.append(
            Joint(
                f"j{k}",
                "revolute",
                f"b{k - 1}" if k else "world",
                f"b{k}",
                Pose(R, tuple((rng.normal(size=3) * 0.3).tolist())),
                axis=_direction(rng, 3),
                damping=(0.0,),
                armature=(0.0,),
                lower=(-np.inf,),
                upper=(np.inf,),
            )
        )
    return Robot(f"chain{n}", tuple(bodies), tuple(joints))


def _direction(rng: np.random.Generator, size: int) -> Any:
    direction = rng.normal(size=size)
    return tuple((direction / np.linalg.norm(direction)).tolist())


# ── by name ───────────────────────────────────────────────────────────────────────────────────────────────────────────

MODELS: dict[str, Callable[[], Any]] = {"panda": _panda, "anymal": _anymal, "talos": _talos}
ROBOTS: dict[str, Callable[[], Robot]] = {
    "hexapod24": lambda: stored_robot("hexapod24"),
    "hexapod36": lambda: stored_robot("hexapod36"),
    "chain50": lambda: stored_robot("chain50"),
    "chain200": lambda: general_chain(200),
}
BENCH_SET = ("panda", "anymal", "hexapod24", "hexapod36", "talos", "chain50", "chain200")
QUICK_SET = ("panda", "hexapod36")


def bench_twin(name: str, file: Path | None = None) -> PinocchioTwin:
    """The robot of this name with its Pinocchio twin.

    The name is searched in `file`, then among the robots of the tables; else it is a model file or a built-in robot.
    """
    pinocchio()
    from kinemorph.bench.peers.pinocchio_twin import twin_of_model, twin_of_robot

    if file is not None and name in _stored(file):
        return twin_of_robot(stored_robot(name, file))
    if name in MODELS:
        return twin_of_model(MODELS[name](), name)
    if name in ROBOTS:
        return twin_of_robot(ROBOTS[name]())
    robot = load(name).robot if name.lower().endswith(tuple(ENDINGS)) else _built_in(name)
    if not robot.is_open:
        raise UnsupportedError(
            f"robot '{name}' has loops or coupled joints; the tables compare open trees. Leave it out."
        )
    return twin_of_robot(robot)


def _built_in(name: str) -> Robot:
    if name.partition(":")[0] not in CHOICE:
        hint = did_you_mean(name, (*BENCH_SET, *CHOICE))
        built_in = ", ".join(CHOICE)
        raise ModelError(
            f"there is no robot '{name}'.{hint} Robots of the tables: {', '.join(BENCH_SET)}; built-in: {built_in}."
        )
    return choose(name).robot
