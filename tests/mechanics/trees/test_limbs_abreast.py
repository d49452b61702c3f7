"""Limbs as lanes of one robot: what one state computes is what is computed written out, whatever limbs there are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph.bench.peers.robots import stored_robot
from kinemorph.codegen.backends.c.library import has_compiler
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.program import Program
from kinemorph.deriving.dynamics import derive
from kinemorph.deriving.limb_lanes import as_q, as_v, common, each, limb_program
from kinemorph.mechanics.recursions.articulated_bodies import forward_dynamics
from kinemorph.mechanics.trees.limbs import like_limbs
from kinemorph.mechanics.trees.reframing import reframe, regroup
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.choosing import choose
from kinemorph.model.parameter import Parameter
from kinemorph.model.robot import Robot
from support.robots.random_robots import joint_data, random_body, random_pose, random_states
from support.tools.some_slow import first

TWO, THREE = ("revolute", "revolute"), ("revolute", "prismatic", "revolute")


def spider(*limbs: tuple[int, tuple[str, ...]], base: str = "free") -> Robot:
    """A body with limbs: how many of each kind, and their joints. Mounts and bodies differ from limb to limb."""
    rng = np.random.default_rng(3)
    builder = RobotBuilder("spider").add(random_body(rng, "body")).joint("root", base, "world", "body")
    for number, (count, kinds) in enumerate(limbs):
        for limb in range(count):
            parent, of_joints = "body", np.random.default_rng(31 + number)  # the same for all limbs of a kind
            for k, kind in enumerate(kinds):
                name, data = f"{number}.{limb}.{k}", joint_data(of_joints, kind)
                if k == 0:
                    data["placement"] = random_pose(rng)
                builder.add(random_body(rng, f"b{name}")).joint(f"j{name}", kind, parent, f"b{name}", **data)
                parent = f"b{name}"
    return builder.build()


ROBOTS: dict[str, Any] = {
    "hexapod24": lambda: stored_robot("hexapod24"),
    "hexapod36": lambda: stored_robot("hexapod36"),
    "regular": lambda: choose("hexapod24").robot,
    "two": lambda: spider((2, THREE)),
    "three on a rail": lambda: spider((3, TWO), base="prismatic"),
    "four": lambda: spider((4, TWO)),
    "nine": lambda: spider((9, TWO)),
    "two kinds": lambda: spider((5, TWO), (2, ("spherical", "revolute"))),
    "one apart": lambda: spider((4, TWO), (1, ("revolute",) * 4)),
}


def close(ours: Any, exact: Any) -> bool:
    return bool(np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max())


@pytest.mark.parametrize("name", first(ROBOTS, 4))
def test_one_state_with_limbs_as_lanes(name: str) -> None:
    robot = ROBOTS[name]()
    dynamics, meant = derive(robot), derive(robot, backend="interpreter")
    q, v, a, _ = random_states(robot, 6, 3)
    for kind in ("forward_dynamics", "inverse_dynamics"):
        function = getattr(dynamics, kind)
        program = function.program
        assert isinstance(program, Program) and program.for_one is not None
        exact = getattr(meant, kind)(q, v, a)
        for k in range(3):
            once = function(q[k], v[k], a[k])
            assert close(once, exact[k])
            assert np.array_equal(once, function(q[k], v[k], a[k]))
        assert close(build(program.for_one, "interpreter")(q, v, a), exact)


@pytest.mark.skipif(not has_compiler(), reason="no C compiler (cc) found")
def test_limbs_in_c_and_in_batches() -> None:
    robot = spider((5, TWO), (3, ("revolute",)))
    q, v, tau, _ = random_states(robot, 1, 9)
    program = derive(robot).forward_dynamics.program
    assert isinstance(program, Program) and program.for_one is not None
    exact = build(replace(program), "interpreter")(q, v, tau)
    assert close(build(program.for_one, "c")(q, v, tau), exact)
    assert close(build(program.for_one)(q, v, tau), exact)


def test_a_wrench_on_the_body_and_bias_forces() -> None:
    robot = spider((4, TWO))
    q, v, _, _ = random_states(robot, 1, 2)
    w = np.random.default_rng(0).normal(size=(2, 1, 6))
    mass = Parameter("m", 2.0)
    for wrenches, folded in (("body", True), ("b0.2.1", False)):
        dynamics, meant = (derive(robot, wrenches=wrenches, backend=backend) for backend in ("llvm", "interpreter"))
        program = dynamics.bias_forces.program
        assert (program.for_one is not None) == folded  # one limb with a load is like no other
        assert close(dynamics.bias_forces(q[0], v[0], w[0]), meant.bias_forces(q, v, w)[0])
    weighed = replace(robot, parameters=(mass,), bodies=(replace(robot.bodies[0], mass=mass), *robot.bodies[1:]))
    assert derive(weighed).bias_forces.program.for_one is not None
    assert derive(weighed, parameters="m").bias_forces.program.for_one is None


def test_few_operations_stay_as_they_are() -> None:
    robot = spider((3, ("revolute",)), base="prismatic")
    assert like_limbs(regroup(reframe(resolve(robot))))
    program = derive(robot).inverse_dynamics.program
    assert isinstance(program, Program) and program.for_one is None


def test_any_function_of_a_tree() -> None:
    """Numbers and arrays of each limb, sums of them, limbs that wait for sums: twice around."""
    robot = spider((5, TWO), (2, THREE))
    tree = regroup(reframe(resolve(robot)))
    limbs = like_limbs(tree)
    q, v, tau, _ = random_states(robot, 4, 3)
    load = np.random.default_rng(1).normal(size=(3, 5))
    gains = np.linspace(1.0, 2.0, tree.nv)

    def twice(one: Any, q: Any, v: Any, tau: Any, load: Any, h: Any, gains: Any) -> dict[str, Any]:
        """Accelerations, the velocity they lead to, and accelerations again, damped by gains and the loads' sum."""
        total = one.of_all(1, load[0] * v[6])
        a = forward_dynamics(one, q, v, tau)
        after = [x + h[0] * y for x, y in zip(v, a, strict=True)]
        pushed = [t - g * x for t, g, x in zip(tau, gains, after, strict=True)]
        return {
            "a": forward_dynamics(one, q, after, pushed),
            "total": [total, 2.0 * total, one.of_all(1, load[0]), one.of_all(1, h[0])],
            "some": [*v[:7], *[0.0] * (one.nv - 7)],
        }

    along_v = as_v(tree, limbs)
    program = limb_program(
        *("twice", tree, limbs, twice),
        {"q": as_q(tree, limbs), "v": along_v, "tau": along_v, "load": each(limbs, 0, 1), "h": common(1)},
        {"a": along_v, "some": along_v, "total": common(4)},
        {"gains": (along_v, gains)},
    )
    h = np.full((3, 1), 0.1)
    plain = build(derive(robot, backend="interpreter").forward_dynamics.program, "interpreter")
    after = v + h * plain(q, v, tau)
    exact = plain(q, after, tau - gains * after)
    first = np.arange(5) * 2 + 6  # the first velocity of each limb of the first kind
    for backend in ("interpreter", "llvm"):
        a, some, total = build(program, backend)(q[0], v[0], tau[0], load[0], h[0])
        assert close(a, exact[0])
        assert np.array_equal(np.flatnonzero(some), [*range(6), *first])
        once = (load[0] * v[0, first]).sum()
        assert close(total, np.array([once, 2.0 * once, load[0].sum(), 5 * h[0, 0]]))
