"""Limbs that are alike: which are, and that one program in a loop does for all what each would have for itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, exp_so3
from kinemorph.bench.peers.robots import stored_robot
from kinemorph.codegen.building.function import CompiledFunction
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import LoopProgram
from kinemorph.deriving import making
from kinemorph.deriving.dynamics import derive
from kinemorph.mechanics.trees.limbs import like_limbs
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.mechanics.trees.tree import Tree
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.choosing import choose
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from support.robots.random_robots import joint_data, random_body, random_pose, random_states, uneven_armature
from support.tools.some_slow import first

QUARTER = Pose(((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), (0.1, 0.0, 0.2))
LIMBS = {
    "revolute": ("revolute", "revolute", "revolute"),
    "prismatic": ("prismatic", "revolute"),
    "helical": ("helical", "universal"),
    "cylindrical": ("cylindrical", "prismatic"),
    "spherical": ("spherical", "revolute"),
    "planar": ("planar", "revolute"),
}


def crawler(kinds: tuple[str, ...], base: str, *, general: bool = True, base_mass: Any = 2.0) -> Robot:
    """A base with three legs of the same joints; mounts, bodies, pitches and rotor inertias differ from leg to leg."""
    rng = np.random.default_rng(29)
    builder = RobotBuilder("crawler").add(replace(random_body(rng, "base"), mass=base_mass))
    builder.joint("root", base, "world", "base")
    for leg in range(3):
        parent, of_joints = "base", np.random.default_rng(31)  # the same for all legs
        for k, kind in enumerate(kinds):
            name, data = f"{leg}.{k}", joint_data(of_joints, kind)
            if not general:
                data |= {"placement": QUARTER, "child_placement": IDENTITY, "axis": (0.0, 0.0, 1.0)}
            if k == 0:
                around = Pose(exp_so3((0.0, 0.0, float(leg))), (0.1 * leg, 0.3, 0.0))
                data["placement"] = random_pose(rng) if general else around
            if kind == "helical":
                data["pitch"] = 0.1 + 0.05 * leg
            builder.add(random_body(rng, f"b{name}"))
            data["armature"] = [leg * x for x in uneven_armature(kind)]
            builder.joint(f"j{name}", kind, parent, f"b{name}", **data)
            parent = f"b{name}"
    return builder.build()


def links_of(robot: Robot) -> Tree:
    return regroup(reframe(resolve(robot)))


def limbs_of(robot: Robot) -> list[tuple[int, int, int]]:
    """(first link, links of a limb, how many limbs)."""
    return [(one.first, len(one.links[0]), one.count) for one in like_limbs(links_of(robot))]


def written_and_looped(monkeypatch: pytest.MonkeyPatch, robot: Robot, **options: Any) -> list[CompiledFunction]:
    """Derivatives of forward dynamics, written out and in loops."""
    made = []
    monkeypatch.setattr(making, "MOST_PAIRS", 10**9)
    monkeypatch.setattr(making, "MOST_FACTORS", 10**9)
    for most in (10**9, -1):
        monkeypatch.setattr(making, "MOST_COLUMNS", most)
        made.append(derive(robot, **options).forward_dynamics_derivatives)
    assert isinstance(made[0].program, Program) and isinstance(made[1].program, LoopProgram)
    return made


def shared_programs(function: CompiledFunction) -> int:
    """How many of the called programs are for copies of limbs: one for each kind and stage."""
    return sum(", copies " in program.name for program in function.program.programs)


# ── which are alike ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_legs_of_the_benchmark_robots_are_alike() -> None:
    assert limbs_of(stored_robot("hexapod24")) == [(1, 3, 6)]
    assert limbs_of(stored_robot("hexapod36")) == [(1, 5, 6)]
    assert limbs_of(choose("puma").robot) == [] == limbs_of(choose("chain:7").robot)


def test_numbers_may_differ_and_nothing_else() -> None:
    tree = links_of(stored_robot("hexapod24"))
    (limbs,) = like_limbs(tree)

    def found(**changes: Any) -> list[tuple[int, int, int]]:
        link = replace(tree.links[5], **changes)
        changed = like_limbs(replace(tree, links=(*tree.links[:5], link, *tree.links[6:])))
        return [(one.first, one.count, len(one.own)) for one in changed]

    assert found() == [(1, 6, len(limbs.own))]
    assert found(mass=tree.links[5].mass + 1.0) == [(1, 6, len(limbs.own) + 1)]
    assert [row[:2] for row in found(kind="prismatic")] == [(7, 4)]


def test_a_limb_with_a_load_is_like_no_other() -> None:
    tree = links_of(stored_robot("hexapod24"))
    assert like_limbs(tree, apart=[0]) == like_limbs(tree) != []
    assert like_limbs(tree, apart=[18]) == []


def test_links_declared_across_limbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """First all hips, then all feet: the coordinates of a limb do not stand together, but limbs are equally far apart.
    A limb at another distance is not one of them.
    """
    builder = RobotBuilder("spread")
    rng = np.random.default_rng(3)
    builder.add(random_body(rng, "base")).joint("root", "free", "world", "base")
    for part, parent in (("hip", "base"), ("foot", "hip{}")):
        for leg in range(3):
            builder.add(random_body(rng, f"{part}{leg}"))
            builder.joint(f"j{part}{leg}", "revolute", parent.format(leg), f"{part}{leg}", placement=QUARTER)
    robot = builder.build()
    tree = links_of(robot)
    assert [link.parent for link in tree.links] == [-1, 0, 0, 0, 1, 2, 3]
    (limbs,) = like_limbs(tree)
    assert limbs.places == ((1, 4), (2, 5), (3, 6)) and limbs.velocities == {6: 1, 9: 1}
    written, looped = written_and_looped(monkeypatch, robot, backend="interpreter")
    q, v, tau, _ = random_states(robot, 1, 2)
    for ours, exact in zip(looped(q, v, tau), written(q, v, tau), strict=True):
        assert np.abs(ours - exact).max() <= 1e-11 * max(1.0, np.abs(exact).max())
    apart = (*tree.links[:6], replace(tree.links[6], q=tree.nq, v=tree.nv))
    assert [one.count for one in like_limbs(replace(tree, links=apart, nq=tree.nq + 1, nv=tree.nv + 1))] == [2]


# ── that they do the same ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("general", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["general", "along axes"])
@pytest.mark.parametrize("base", first(["free", "revolute", "fixed"], 1))
@pytest.mark.parametrize("kinds", LIMBS)
def test_one_for_all_gives_what_is_written_out(
    monkeypatch: pytest.MonkeyPatch, kinds: str, base: str, general: bool
) -> None:
    robot = crawler(LIMBS[kinds], base, general=general)
    q, v, tau, _ = random_states(robot, 1, 3)
    written, looped = written_and_looped(monkeypatch, robot, backend="interpreter")
    assert shared_programs(looped) == (0 if base == "fixed" else 2)
    condition = np.linalg.cond(derive(robot, backend="interpreter").mass_matrix(q)).max()
    for ours, exact in zip(looped(q, v, tau), written(q, v, tau), strict=True):
        assert np.abs(ours - exact).max() <= 1e-13 * condition * max(1.0, np.abs(exact).max())


@pytest.mark.slow
def test_two_kinds_of_limbs_and_a_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three legs and, on a neck, two arms; a wrench on the base leaves all alike, one on a leg only the arms."""
    rng = np.random.default_rng(8)
    builder = RobotBuilder("walker").add(random_body(rng, "base")).joint("root", "free", "world", "base")
    for parent, names, joints in (
        ("base", ("a", "b", "c"), ("revolute", "revolute")),
        ("base", ("neck",), ("revolute",)),
        ("neck0", ("left", "right"), ("spherical", "prismatic")),
    ):
        for name in names:
            at = parent
            for k, kind in enumerate(joints):
                builder.add(random_body(rng, f"{name}{k}"))
                placement = Pose(QUARTER.R, tuple(rng.normal(size=3)))
                builder.joint(f"{name}{k}j", kind, at, f"{name}{k}", placement=placement)
                at = f"{name}{k}"
    robot = builder.build()
    q, v, tau, _ = random_states(robot, 2, 5)
    w = rng.normal(size=(5, 1, 6))
    for body, kinds in ((None, 2), ("base", 2), ("b1", 1)):
        wrenches, loads = ((), ()) if body is None else ((body,), (w,))
        # the programs agree by the interpreter; compiled, the one with both kinds is enough
        backend = "interpreter" if body else "llvm"
        written = written_and_looped(monkeypatch, robot, wrenches=wrenches, backend="interpreter")[0]
        looped = written_and_looped(monkeypatch, robot, wrenches=wrenches, backend=backend)[1]
        assert shared_programs(looped) == 2 * kinds
        exact = written(q, v, tau, *loads)
        for ours, theirs in zip(looped(q, v, tau, *loads), exact, strict=True):
            assert np.abs(ours - theirs).max() <= 1e-11 * np.abs(theirs).max()
        for ours, theirs in zip(looped(q[0], v[0], tau[0], *(x[0] for x in loads)), exact, strict=True):
            assert np.abs(ours - theirs[0]).max() <= 1e-11 * np.abs(theirs).max()


def test_where_a_parameter_is_named_limbs_are_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = crawler(LIMBS["revolute"], "free", base_mass=Parameter("m", 3.0))
    q, v, tau, _ = random_states(robot, 4, 2)
    fixed = written_and_looped(monkeypatch, robot, backend="interpreter")[1]
    written, looped = written_and_looped(monkeypatch, robot, backend="interpreter", parameters="m")
    assert (shared_programs(fixed), shared_programs(looped)) == (2, 0)
    for p in (3.0, 7.0):
        for ours, exact in zip(looped(q, v, tau, [p]), written(q, v, tau, [p]), strict=True):
            assert np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max()
