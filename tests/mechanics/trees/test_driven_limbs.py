"""Alike limbs with driven joints as lanes of one state: what they compute is what is computed written out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, PositionBuilder, Robot, RobotBuilder, derive, library
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.program import Program
from kinemorph.elements import PID
from kinemorph.mechanics.trees.limbs import like_limbs
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.parameter import Parameter
from kinemorph.notation import TIME, Coordinate, Tdisp, Troty, Trotz, sin
from kinemorph.plants.robot_plant import plant

FUNCTIONS = ("forward_dynamics", "inverse_dynamics", "bias_forces")


def crab(legs: int = 4, *, power: Any = lambda leg: 2.0, across: Any = None) -> Robot:
    """A free body with legs of two hinges; a third hinge and a rotor in the body follow them by own numbers."""
    builder = RobotBuilder("crab").add(Body.box("body", 3.0, (0.4, 0.3, 0.1))).joint("root", "free", "world", "body")
    gear = Parameter("gear", 7.0)
    for leg in range(legs):
        hip, knee = Coordinate(f"hip{leg}"), Coordinate(f"knee{leg}")
        for part in ("thigh", "shank", "foot", "rotor"):
            builder.add(Body.box(f"{part}{leg}", 1.0 + 0.1 * leg, (0.05, 0.06, 0.3)))
        place = (0.2 * (leg % 2) - 0.1, 0.1 * leg, 0.0)
        builder.joint(f"hip{leg}", "revolute", "body", f"thigh{leg}", axis=(0, 0, 1), translation=place)
        builder.joint(f"knee{leg}", "revolute", f"thigh{leg}", f"shank{leg}", axis=(0, 1, 0), translation=(0, 0, -0.3))
        follows = sin(hip) * (0.4 + 0.1 * leg) + knee ** power(leg)
        other = Coordinate(f"knee{(leg + 1) % legs}") if across == "leg" and leg == 0 else 0.0
        builder.joint(
            f"toe{leg}", "revolute", f"shank{leg}", f"foot{leg}", axis=(1, 0, 0), driven=follows + other,
            translation=(0, 0, -0.3),
        )  # fmt: skip
        turns = (gear if leg else 5.0) * hip
        if across == "time":
            turns = turns + sin(TIME)
        builder.joint(f"spin{leg}", "revolute", "body", f"rotor{leg}", axis=(0, 0, 1), driven=turns, translation=place)
    if across == "body":
        builder.add(Body.box("mast", 1.0, (0.1, 0.1, 0.5)))
        builder.joint("mast", "revolute", "body", "mast", axis=(1, 0, 0), driven=2.0 * Coordinate("hip0"))
    return builder.build()


def close(ours: Any, exact: Any) -> bool:
    return bool(np.abs(ours - exact).max() <= 1e-11 * np.abs(exact).max())


@pytest.mark.parametrize("make", [library.amru5, crab], ids=["amru5", "crab"])
def test_one_state_with_limbs_as_lanes(make: Any) -> None:
    """Straight-line code in the interpreter is the definition; numbers of formulas differ from leg to leg."""
    robot = make()
    dynamics, rng = derive(robot), np.random.default_rng(4)
    for name in FUNCTIONS:
        program = getattr(dynamics, name).program
        assert isinstance(program, Program) and program.for_one is not None
        assert program.for_one.ops < 0.4 * program.ops
        q = initial_configuration(robot) + 0.01 * rng.normal(size=(3, robot.nq))
        v, tau = rng.normal(size=(2, 3, robot.nv))
        state = (q, v, tau)[: len(program.inputs)]
        exact = build(replace(program), "interpreter")(*state)
        for k in range(3):
            assert close(getattr(dynamics, name)(*(x[k] for x in state)), exact[k])


def test_amru5_takes_a_fifth_of_the_operations() -> None:
    program = derive(library.amru5()).forward_dynamics.program
    assert isinstance(program, Program) and program.for_one is not None and 5 * program.for_one.ops < 1.05 * program.ops
    (legs,) = like_limbs(derive(library.amru5())._maker.prepared_tree)
    assert (legs.count, len(legs.links[0])) == (6, 10)  # with the rotor that turns in the body


@pytest.mark.parametrize("across", ["leg", "body", "time"])
def test_formulas_that_join_limbs_are_written_out(across: str) -> None:
    """A formula with coordinates of two legs, a body that follows a leg, and a motion along the time."""
    robot = crab(across=across)
    program = derive(robot).forward_dynamics.program
    assert isinstance(program, Program)
    found = [one.count for one in like_limbs(derive(robot)._maker.prepared_tree)]
    assert found == {"leg": [2], "body": [3], "time": [4]}[across]
    if across == "time":
        assert program.for_one is None
        return
    rng = np.random.default_rng(1)
    state = (initial_configuration(robot), *rng.normal(size=(2, robot.nv)))
    exact = build(replace(program), "interpreter")(*(x[None] for x in state))[0]
    assert close(derive(robot).forward_dynamics(*state), exact)


def test_an_exponent_is_part_of_the_form_of_a_formula() -> None:
    robot = crab(power=lambda leg: 2.0 + (leg > 1))
    assert [one.count for one in like_limbs(derive(robot)._maker.prepared_tree)] == [2, 2]


def test_robots_from_matrices_have_limbs() -> None:
    """Three arms, each with a tip that turns by twice its angle."""
    builder = PositionBuilder("pair")
    height = builder.coordinate("height", "m")
    turn = builder.coordinate("turn")
    builder.body("body", 2.0, (0.1, 0.2, 0.3), T0G=Tdisp(0, 0, height) * Trotz(turn))
    for k in range(3):
        angle = builder.coordinate(f"angle{k}")
        arm = Tdisp(0.1 * k, 0.0, 0.0) * Troty(angle) * Tdisp(0.2, 0.0, 0.0)
        builder.body(f"arm{k}", 1.0, (0.1, 0.1, 0.1), TrefG=arm, reference="body")
        builder.body(
            f"tip{k}", 1.0, (0.1, 0.1, 0.1), TrefG=arm * Troty(2.0 * angle) * Tdisp(0.1, 0, 0), reference="body"
        )
    (arms,) = like_limbs(derive(builder.build())._maker.prepared_tree)
    assert (arms.count, len(arms.links[0])) == (3, 2)


OPTIONS: list[dict[str, Any]] = [{"controller": "continuous"}, {"motor": "second"}, {"screws": "self-locking"}]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, *OPTIONS], ids=str)
def test_the_contact_step_of_amru5(options: Any) -> None:
    """Motors, a PID and a gait that name all legs, contacts and the account of energy: legs as lanes of one state."""
    model = plant(library.amru5_walk(**options), account=True)
    programs = [model.implicit_step(1)] if options else [model.implicit_step(2), model.rate]
    rng = np.random.default_rng(2)
    for program in programs:
        assert program.for_one is not None and program.for_one.ops < 0.25 * program.ops
        given = {port.name: 0.01 * rng.normal(size=port.shape) for port in program.inputs}
        given |= {"base": np.array(model.start["q"]) + 0.003 * rng.normal(size=model.nq), "t": np.array(1.7)}
        given["m"] = given["m"] + np.array(model.start["m"])
        if "h" in given:
            given["h"] = np.array(1e-3)
        state = list(given.values())
        exact = build(replace(program), "interpreter")(*(array[None] for array in state))
        ours = build(program)(*state)
        pairs = zip(ours, exact, strict=True) if isinstance(ours, tuple) else [(ours, exact)]
        for one, other in pairs:
            one, other = np.reshape(one, -1), np.reshape(other[0], -1)
            assert close(one, other)
            if one.size == model.ns:
                assert one[-2:] == pytest.approx(other[-2:], rel=1e-10)


def test_a_controller_with_channels_of_the_body_too_is_written_out() -> None:
    walk = library.amru5_walk()
    assert plant(walk).rate.for_one is not None
    pid = next(one for one in walk.elements if isinstance(one, PID))
    more = PID("own", ("q2", "q6"), kp=1.0)
    assert plant(replace(walk, elements=(*walk.elements, more))).rate.for_one is None
    single = replace(
        pid, joints=pid.joints[:17], drives=pid.drives[:17], kp=pid.kp[:17], ki=pid.ki[:17], kd=pid.kd[:17]
    )
    few = tuple(single if one is pid else one for one in walk.elements)
    assert plant(replace(walk, elements=few)).rate.for_one is None
