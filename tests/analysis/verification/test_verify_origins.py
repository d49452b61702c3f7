"""verify() knows the robot, not only the laws: a tree that is sound but another robot's is found, by the right checks.

Every mutation here is applied to the resolved tree that all formulations share, so each gives equations of motion that
obey the laws of mechanics and agree with each other. Only what is computed from the declaration can see it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import Pose, matrix_of
from kinemorph.algebra.inertia import Inertia, spatial
from kinemorph.algebra.vectors import scale
from kinemorph.analysis.verification import declared_model
from kinemorph.analysis.verification import verify as verification
from kinemorph.analysis.verification.verdict import Verification
from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.trees.motions import Move
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Attachment, Link, Tree
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.library import build
from kinemorph.model.parameter import Parameter, evaluate, evaluate_all
from kinemorph.model.robot import Robot
from support.robots.random_robots import random_axis, random_body, random_pose, random_robot, random_states
from support.tools.some_slow import first

POSES, MASS, ENERGY = "poses as declared", "mass as declared", "energy as declared"


def verify(robot: Robot, **options: Any) -> Verification:
    return verification.verify(derive(robot, backend="interpreter", **options), states=4)


# ── right models pass ─────────────────────────────────────────────────────────────────────────────────────────────────


def arm(kind: str, **root: Any) -> Robot:
    """A general arm of four bodies on a joint of one kind."""
    rng = np.random.default_rng(7)
    builder = RobotBuilder(f"arm_on_{kind}").add(*(random_body(rng, f"b{n}") for n in range(4)))
    builder.joint("root", kind, "world", "b0", **root)
    for n in (1, 2, 3):
        builder.joint(f"j{n}", "revolute", f"b{n - 1}", f"b{n}", placement=random_pose(rng), axis=random_axis(rng))
    return builder.frame("tool", "b3", placement=random_pose(rng)).build()


@pytest.mark.parametrize(
    "kind", ["free", *(pytest.param(k, marks=pytest.mark.slow) for k in ("revolute", "prismatic", "planar"))]
)
def test_a_base_far_from_the_origin_passes(kind: str) -> None:
    axis: dict[str, Any] = {"axis": (0.6, 0.0, 0.8)} if kind in ("revolute", "prismatic") else {}
    verdict = verify(arm(kind, translation=(1000.0, -700.0, 300.0), **axis))
    assert verdict.passed, str(verdict)


@pytest.mark.parametrize("kind", [pytest.param("spherical", marks=pytest.mark.slow), "planar"])
def test_unequal_armatures_pass(kind: str) -> None:
    verdict = verify(arm(kind, armature=(0.1, 0.5, 2.0)))
    assert verdict.passed, str(verdict)


def mixed_scales(*masses: float) -> Robot:
    """A chain of boxes of the same density."""
    rng = np.random.default_rng(3)
    builder = RobotBuilder("mixed_scales")
    for n, mass in enumerate(masses):
        edge = 0.2 * mass ** (1 / 3)
        builder.add(Body.box(f"b{n}", mass, (edge, 1.5 * edge, 0.5 * edge), (0.3 * edge, 0.0, -edge)))
        parent = f"b{n - 1}" if n else "world"
        builder.joint(f"j{n}", "revolute", parent, f"b{n}", placement=random_pose(rng), axis=random_axis(rng))
    return builder.build()


@pytest.mark.parametrize(
    "masses", [*(pytest.param(m, marks=pytest.mark.slow) for m in ((1e3, 1e-3), (1e-3, 1e3))), (1e-3, 1e3, 1e-3, 1e3)]
)
def test_mixed_scales_pass(masses: tuple[float, ...]) -> None:
    verdict = verify(mixed_scales(*masses))
    assert verdict.passed, str(verdict)


def test_parameters_and_loops_are_looked_at_too() -> None:
    for verdict in (verify(random_robot(9, most=8, symbolic=True), parameters="all"), verify(build("four_bar"))):
        assert verdict.passed, str(verdict)
        assert all(verdict[name].passed for name in (POSES, MASS, ENERGY))


# ── the yardstick itself ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("seed", range(8))
def test_one_pass_gives_what_each_body_by_itself_gives(seed: int) -> None:
    robot = random_robot(seed, most=12, symbolic=seed % 2 == 0)
    q = random_states(robot, seed, 2)[0]
    found = declared_model.as_declared(robot, q)
    for state in range(2):
        armature = [evaluate(x) for joint in robot.joints for x in joint.armature]
        M, potential = np.diag(armature), 0.0
        for body in robot.bodies:
            columns = [body_motion(robot, body.name, q[state], unit) for unit in np.eye(robot.nv)]
            T, J = np.array(matrix_of(columns[0][0])), np.array([twist for _, twist in columns]).T
            np.testing.assert_allclose(found.poses[body.name][state], T, rtol=0, atol=1e-13)
            inertia = Inertia(*evaluate_all((body.mass, body.com, body.inertia)))
            M = M + J.T @ np.array(spatial(inertia)) @ J
            potential -= inertia.mass * np.dot(evaluate_all(robot.gravity), (T @ [*inertia.com, 1.0])[:3])
        np.testing.assert_allclose(found.mass_matrix[state], M, rtol=0, atol=1e-13 * np.abs(M).max())
        assert found.potential[state] == pytest.approx(potential, rel=1e-12, abs=1e-12)
        assert np.all(found.mass_size[state] >= (1.0 - 1e-12) * np.diag(M))
        assert found.potential_size[state] >= (1.0 - 1e-12) * abs(potential)


def test_the_yardstick_knows_nothing_of_mechanics() -> None:
    """Nor of anything that rests on it: it imports the model and the algebra below it."""
    source = ast.parse(Path(declared_model.__file__).read_text(encoding="utf-8"))
    modules = {node.module or "" for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    modules |= {name.name for node in ast.walk(source) if isinstance(node, ast.Import) for name in node.names}
    own = {name for name in modules if name.startswith("kinemorph")}
    assert own
    assert all(name.startswith(("kinemorph.model.", "kinemorph.algebra.")) for name in own)


# ── wrong trees are found ─────────────────────────────────────────────────────────────────────────────────────────────

LENGTH = Parameter("length", 0.4, "m")


def subject() -> Robot:
    """A screw, a ball with rotors and a hinge: something of everything that can be lost on the way to a tree."""
    rng = np.random.default_rng(11)
    builder = RobotBuilder("subject").add(*(random_body(rng, f"b{n}") for n in range(3)))
    builder.joint("screw", "helical", "world", "b0", placement=random_pose(rng), axis=(0.6, 0.0, 0.8), pitch=0.1)
    builder.joint("ball", "spherical", "b0", "b1", placement=random_pose(rng), armature=(0.1, 0.2, 0.3))
    builder.joint("hinge", "revolute", "b1", "b2", translation=(LENGTH, 0.1, 0.2), axis=(0.0, 1.0, 0.0), armature=0.05)
    return builder.frame("tool", "b2", placement=random_pose(rng)).build()


def each_link(change: Callable[[Link], Link]) -> Callable[[Tree], Tree]:
    return lambda tree: replace(tree, links=tuple(change(link) for link in tree.links))


def with_offsets_doubled(link: Link) -> Link:
    return replace(link, placement=Pose(link.placement.R, scale(2.0, link.placement.p)))


def with_tool_moved(tree: Tree) -> Tree:
    at = tree.attachments["tool"]
    x, y, z = at.pose.p
    moved = Attachment(at.link, Pose(at.pose.R, (x, y + 1e-6, z)))
    return replace(tree, attachments={**tree.attachments, "tool": moved})


MUTATIONS: dict[str, tuple[Callable[[Tree], Tree], set[str]]] = {
    "gravity upside down": (lambda tree: replace(tree, gravity=scale(-1.0, tree.gravity)), {ENERGY}),
    "pitch ignored": (each_link(lambda link: replace(link, pitch=0.0)), {POSES, MASS, ENERGY}),
    "offsets doubled": (each_link(with_offsets_doubled), {POSES, MASS, ENERGY}),
    "inertia tensors doubled": (  # two formulations take the inertias of the bodies, not of the links
        each_link(lambda link: replace(link, sigma=scale(2.0, link.sigma))),
        {MASS, ENERGY, "formulation dalembert", "formulation quasicoordinates"},
    ),
    "armature dropped": (
        each_link(lambda link: replace(link, armature=(0.0,) * len(link.armature))),
        {MASS, ENERGY},
    ),
    "armature in the wrong order": (
        each_link(lambda link: replace(link, armature=link.armature[::-1])),
        {MASS, ENERGY},
    ),
    "frame moved by a micrometer": (with_tool_moved, {POSES}),
}


def resolve_as(monkeypatch: pytest.MonkeyPatch, change: Callable[[Tree], Tree]) -> None:
    """Every user of `resolve` is given the changed tree."""
    for module in ("kinemorph.deriving.making", "kinemorph.analysis.verification.declared_laws"):
        monkeypatch.setattr(
            f"{module}.resolve", lambda robot, lookup=None, **how: change(resolve(robot, lookup, **how))
        )


@pytest.mark.parametrize("parameters", [None, pytest.param("all", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", first(MUTATIONS, 2))
def test_a_sound_tree_of_another_robot_is_found(name: str, parameters: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    change, expected = MUTATIONS[name]
    resolve_as(monkeypatch, change)
    verdict = verify(subject(), parameters=parameters)
    assert {check.name for check in verdict.failures} == expected, str(verdict)


def test_the_subject_itself_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve_as(monkeypatch, lambda tree: tree)
    verdict = verify(subject())
    assert verdict.passed, str(verdict)


def test_joints_that_move_from_another_zero_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The motion of a link is shared by all formulations as the tree is."""
    move = Link.move

    def turned(link: Link, q: Any) -> Move:
        return move(replace(link, offset=link.offset + 0.1) if link.kind == "revolute" else link, q)

    monkeypatch.setattr(Link, "move", turned)
    verdict = verify(subject())
    assert {check.name for check in verdict.failures} == {POSES, MASS, ENERGY}, str(verdict)
    assert "'b2'" in verdict[POSES].note or "'tool'" in verdict[POSES].note


def test_a_wrong_gram_is_found_next_to_a_ton(monkeypatch: pytest.MonkeyPatch) -> None:
    def change(tree: Tree) -> Tree:
        *others, light = tree.links
        return replace(tree, links=(*others, replace(light, sigma=scale(1.0 + 1e-6, light.sigma))))

    resolve_as(monkeypatch, change)
    verdict = verify(mixed_scales(1e3, 1e-3))
    assert {check.name for check in verdict.failures} >= {MASS}
    assert "[j1, j1]" in verdict[MASS].note
