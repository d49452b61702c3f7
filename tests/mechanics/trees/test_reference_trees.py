"""Forty stored trees, computed elsewhere: mass matrix, bias forces and accelerations.

The file speaks MuJoCo's language: a free base has v = [linear velocity in the WORLD; angular velocity in the body], and
the order of the velocities is its own. With R the rotation of the base and B = blockdiag(R, 1):

    v_file = B v,   M = B^T M_file B,   tau = B^T tau_file,   a_body = R^T a_world - w x v_body
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.groups import Pose, quat_to_rotation
from kinemorph.deriving.dynamics import derive
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from support.tools.each_case import each_case

CASES = json.loads((Path(__file__).parents[2] / "data" / "random_trees.json").read_text())["cases"]
KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "spherical", "free": "free"}


def build(case: dict[str, Any]) -> Robot:
    builder = RobotBuilder("stored")
    for n, body in enumerate(case["bodies"]):
        builder.body(f"b{n}", body["mass"], com=body["com"], inertia=body["I_com"])
        kind = KINDS[body["type"]]
        data: dict[str, Any] = {}
        if kind != "free":  # a free body's place in the file is ignored there: q is absolute
            data["placement"] = Pose(quat_to_rotation(tuple(body["quat_wxyz"])), tuple(body["pos"]))
        if kind in ("revolute", "prismatic"):
            data["axis"] = body["axis"]
        parent = "world" if body["parent"] < 0 else f"b{body['parent']}"
        builder.joint(f"j{n}", kind, parent, f"b{n}", armature=body["armature"], **data)
    return builder.build()


RUNS = [(number, "interpreter") for number in range(len(CASES))] + [(number, "llvm") for number in range(0, 40, 8)]


@each_case(("number", "backend"), RUNS, parts=2)
def test_stored_tree(number: int, backend: Any, record_property: Any) -> None:
    case = CASES[number]
    robot, ref = build(case), case["ref"]
    nv = robot.nv
    q = np.concatenate([case["q"][str(n)] for n in range(case["n"])])
    v_file, tau_file = (np.concatenate([case[key][str(n)] for n in range(case["n"])]) for key in ("v", "tau"))

    # our place -> the file's place, then the change of the base's linear velocity
    order = np.concatenate([
        ref["dof_of_body"][n] + np.arange(robot.joint(f"j{n}").nv) for n in range(case["n"])
    ]).astype(int)  # fmt: skip
    B, rate = np.eye(nv), np.zeros(nv)
    for n, body in enumerate(case["bodies"]):
        if body["type"] == "free":
            at = robot.v_slice(f"j{n}").start
            R = np.array(quat_to_rotation(q[robot.q_slice(f"j{n}")][3:]))
            B[at : at + 3, at : at + 3] = R
            rate[at : at + 3] = np.cross(v_file[at + 3 : at + 6], R.T @ v_file[at : at + 3])  # w x v in the body
    v, tau = B.T @ v_file, B.T @ tau_file
    M_ref = B.T @ np.array(ref["M"])[np.ix_(order, order)] @ B
    a_ref = B.T @ np.array(ref["qdd"])[order] - rate

    dynamics = derive(robot, backend=backend)
    M, a = dynamics.mass_matrix(q), dynamics.forward_dynamics(q, v, tau)
    if ref["bias"] is None:  # the free trees: the stored acceleration implies it
        h_ref = tau - M_ref @ a_ref
    else:
        h_ref = np.array(ref["bias"])[order]
    errors = {
        "M": largest(M - M_ref) / largest(M_ref),
        "bias": largest(dynamics.bias_forces(q, v) - h_ref) / largest(h_ref),
        "acceleration": largest(a - a_ref) / largest(a_ref),
    }
    for name, error in errors.items():
        record_property("figure", ("stored trees", name, error))
    assert errors["M"] < 1e-12
    assert errors["bias"] < 1e-12
    assert errors["acceleration"] < min(1e-13 * np.linalg.cond(M_ref), 1e-8)


def test_the_free_trees_are_among_them() -> None:
    assert len(CASES) == 40
    assert sum(case["floating"] for case in CASES) == 10


def largest(x: Any) -> float:
    return float(np.abs(x).max())
