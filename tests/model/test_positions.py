"""Robots from position matrices (SEEDS.md 001-01, 001-07..09, 001-11, 001-15, 001-16), with references."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kinemorph import Parameter, PositionBuilder, System, derive, library, linearize, poles, simulate
from kinemorph.elements import PID
from kinemorph.errors import ModelError
from kinemorph.mechanics.formulations.driven_dynamics import state_formulation
from kinemorph.mechanics.formulations.table import FORMULATIONS
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.notation import (
    Coordinate,
    Rrotz,
    Tdisp,
    Trotx,
    Troty,
    Trotz,
    acos,
    asin,
    atan,
    cos,
    mth,
    sin,
    tiner,
    trot,
    vcoord,
    vec,
)
from support.robots.matrix_robots import matrix_robot


def double_pendulum() -> PositionBuilder:
    """The paper's double pendulum, section 4.5, as printed (E001-2: its 10 and 11 are l0 and l1)."""
    l0, l1 = 1.2, 1.1
    builder = PositionBuilder("double pendulum", gravity=(0.0, -9.81, 0.0))
    q0, q1 = builder.coordinate("q0"), builder.coordinate("q1", value=1.0)
    builder.body("upper", 1.1, tiner(1.0, 1.0, 1.1 * l0**2 / 12.0), T0G=Trotz(q0) * Tdisp(0, -l0 / 2, 0))
    lower = Trotz(q0) * Tdisp(0, -l0, 0) * Trotz(q1) * Tdisp(0, -l1 / 2, 0)
    return builder.body("lower", 0.9, tiner(1.0, 1.0, 0.9 * l1**2 / 12.0), T0G=lower)


def slider_crank() -> PositionBuilder:
    """CADyn's slider-crank with two dependents (SEEDS.md 3.1)."""
    builder = PositionBuilder("slider-crank", gravity=(0.0, -9.81, 0.0))
    q, lc, lr = builder.coordinate("q", value=1.0), 1.0, 2.0
    beta = builder.dependent("beta", asin(sin(q) * lc / lr))
    x = builder.dependent("x", lc * cos(q) + lr * cos(beta), "m")
    builder.body("crank", 1.0, tiner(0.1, 0.1, 0.0833), T0G=Trotz(q) * Tdisp(lc / 2, 0, 0))
    builder.body(
        "rod", 2.0, tiner(0.5, 0.5, 0.6667), T0G=Trotz(q) * Tdisp(lc, 0, 0) * Trotz(-q - beta) * Tdisp(1, 0, 0)
    )
    return builder.body("slider", 5.0, tiner(2.0, 2.0, 2.0), T0G=Tdisp(x, 0, 0))


REFERENCE = {  # DOP853 at 1e-13: t: q0 q1 qd0 qd1
    1: (-0.3646151161, 0.4549617253, -1.4481350293, 3.5456620061),
    2: (0.1456226237, -0.1467599406, -1.0796004793, 5.7429094798),
    3: (0.3056908578, -0.7668687213, -0.9702320414, 0.8016878144),
    4: (0.0268565780, -0.8649847844, 0.9172165385, -1.5358141586),
    5: (0.2426203647, 0.1655897690, 1.5295166145, -5.2962537299),
}


def test_the_papers_double_pendulum_meets_its_reference() -> None:
    """Equal beginnings are one chain, so that this is an ordinary robot of two hinges, without driven joints."""
    system = double_pendulum().system()
    assert system.robot.joint_names == ("q0", "q1") and not system.robot.driven
    start = derive(system.robot).forward_dynamics([0.0, 1.0], [0.0, 0.0], [0.0, 0.0])
    assert start == pytest.approx([2.34552, -15.6759], rel=1e-5)
    run = simulate(system, 5.0, output_step=1.0, rtol=1e-13, atol=1e-13)
    for t, state in REFERENCE.items():
        assert [*run.q[t], *run.v[t]] == pytest.approx(state, abs=1e-9), t
    found = poles(linearize(system, q=[0.0, 0.0]))
    frequencies = sorted(abs(value.imag) for value in found.values if value.imag > 0.0)
    assert frequencies == pytest.approx([2.51580987, 6.50721723], abs=1e-8)


def test_cadyns_slider_crank_meets_its_reference() -> None:
    builder = slider_crank()
    robot = builder.build()
    assert robot.q_names == ("q",) and [one.name for one in robot.dependents] == ["beta", "x"]
    assert derive(robot).forward_dynamics([1.0], [0.0], [10.0]) == pytest.approx([0.24484074], abs=1e-8)

    tight = {"rtol": 1e-12, "atol": 1e-12, "output_step": 1.0}
    first = simulate(builder.system(), 2.0, inputs=[10.0], **tight)
    last = simulate(builder.system(), 4.0, q=first.q[-1], v=first.v[-1], **tight)
    assert last.q[-1] == pytest.approx([13.736834332], abs=1e-8)
    assert last.v[-1] == pytest.approx([1.265003145], abs=1e-8)
    assert last["x"][-1] == pytest.approx(math.cos(last.q[-1][0]) + 2.0 * math.cos(last["beta"][-1]), rel=1e-12)


def test_the_slider_crank_moves_like_the_one_with_a_loop() -> None:
    """The same machine by joints: its loop is a constraint there, a formula here."""
    matrices, loops = derive(slider_crank().build()), derive(library.slider_crank())
    crank, v, torque = 1.0, 0.7, 3.0
    beta = math.asin(0.5 * math.sin(crank))
    turning = -v - 0.5 * math.cos(crank) * v / math.cos(beta)  # of the rod relative to the crank
    slid = math.cos(crank) + 2.0 * math.cos(beta)
    slide = -math.sin(crank) * v - 2.0 * math.sin(beta) * (0.5 * math.cos(crank) * v / math.cos(beta))
    at, moving = [crank, -crank - beta, slid - 3.0], [v, turning, slide]
    one = matrices.forward_dynamics([crank], [v], [torque])
    other = loops.forward_dynamics(at, moving, [torque, 0.0, 0.0])
    assert one[0] == pytest.approx(other[0], rel=1e-9)
    how = {"rtol": 1e-11, "atol": 1e-11, "output_step": 0.5}
    ours = simulate(matrices.robot, 2.0, q=[crank], v=[v], **how)
    theirs = simulate(loops.robot, 2.0, q=at, v=moving, **how)
    assert ours.q[:, 0] == pytest.approx(theirs.q[:, 0], abs=1e-8)
    assert ours.v[:, 0] == pytest.approx(theirs.v[:, 0], abs=1e-8)


def agreement(seed: int) -> float:
    """The largest relative difference of forward dynamics of a random matrix robot between the formulations."""
    robot = matrix_robot(seed)
    tree, rng = resolve(robot).at_time(0.4), np.random.default_rng(1000 + seed)
    q, v, tau = rng.normal(size=(3, robot.nv)).tolist()
    found = [
        np.array(state_formulation(robot, name).forward_dynamics(tree, q, v, tau), dtype=float) for name in FORMULATIONS
    ]
    return max(float(np.abs(one - found[0]).max() / np.abs(found[0]).max()) for one in found[1:])


def test_all_formulations_agree_on_random_matrices() -> None:
    """Dependents, shared parameters, references, quaternions and time; the sweep over 50 is slow."""
    assert max(map(agreement, range(4))) < 1e-11


@pytest.mark.slow
def test_all_formulations_agree_on_fifty_random_matrices() -> None:
    assert max(map(agreement, range(50))) < 1e-11


def test_motion_and_partial_velocities_are_those_of_the_positions() -> None:
    """vG and omega by partial velocities; aG by a central difference of vG along the motion."""
    dynamics = derive(slider_crank().build())
    assert dynamics.robot.body_names[:3] == ("crank", "rod", "slider")  # rows are the bodies as declared
    q, v, a, e = np.array([1.0]), np.array([2.0]), np.array([0.3]), 1e-6
    T, vG, omega, aG, omegad = dynamics.motion(q, v, a)
    d, theta = dynamics.partial_velocities(q)
    assert vG == pytest.approx(np.einsum("bkx,k->bx", d, v), abs=1e-12)
    assert omega == pytest.approx(np.einsum("bkx,k->bx", theta, v), abs=1e-12)
    assert T[2, :3, 3] == pytest.approx([math.cos(1.0) + 2.0 * math.cos(math.asin(math.sin(1.0) / 2.0)), 0, 0])
    ahead, behind = (dynamics.motion(q + s * e * v, v + s * e * a, a) for s in (1.0, -1.0))
    assert aG == pytest.approx((ahead[1] - behind[1]) / (2.0 * e), abs=1e-8)
    assert omegad == pytest.approx((ahead[2] - behind[2]) / (2.0 * e), abs=1e-8)


def test_rows_of_bodies_are_those_that_the_user_declared() -> None:
    """Massless bodies that carry them come last: vG[0] belongs to A, also where A sits on two joints."""
    builder = PositionBuilder("two", gravity=(0.0, -9.81, 0.0))
    x, y, z = builder.coordinates(["x", "y", "z"], "m")
    builder.body("A", 1.0, (0.1, 0.1, 0.1), T0G=Tdisp(x, y, 0))
    builder.body("B", 2.0, (0.1, 0.1, 0.1), TrefG=Tdisp(z, 0, 0), reference="A")
    robot = builder.build()
    assert robot.body_names == ("A", "B", "A.1")
    _, vG, *_ = derive(robot, backend="interpreter").motion([0.0] * 3, [1.0, 2.0, 4.0], [0.0] * 3)
    assert vG[:2].tolist() == [[1.0, 2.0, 0.0], [5.0, 2.0, 0.0]]


def test_a_matrix_of_sixteen_formulas_is_the_product_that_it_spells() -> None:
    """An mth made of a trot and a vec has no factors: it becomes a pose joint, with the same equations."""
    found = []
    for whole in (False, True):
        builder = PositionBuilder("one", gravity=(0.0, -9.81, 0.0))
        q0, q1 = builder.coordinates("q0 q1")
        T = Trotz(q0) * Tdisp(0.4, 0, 0) * Trotx(q1 + 0.3 * q0) * Tdisp(0, 0.3, 0)
        builder.body("b", 1.3, (0.2, 0.3, 0.4), T0G=mth(T.R, T.e) if whole else T)
        found.append(derive(builder.build(), backend="interpreter").forward_dynamics([0.3, 0.4], [1, -2], [0.1, 0.2]))
    assert found[1] == pytest.approx(found[0], rel=1e-12)


def test_dependents_are_columns_also_where_no_joint_is_driven() -> None:
    builder = PositionBuilder("hand")
    q = builder.coordinate("q", value=0.2)
    builder.dependent("height", sin(q), "m")
    builder.dependent("later", 3.0 + builder.time, "s")
    builder.body("x", 1.0, (1, 1, 1), T0G=Trotz(q))
    run = simulate(builder.system(), 1.0, v=[1.0])
    assert run["height"] == pytest.approx(np.sin(run["q.q"])) and np.ptp(run["height"]) > 0.5
    assert run["later"] == pytest.approx(3.0 + run.t)


def test_parameters_in_matrices_are_inputs() -> None:
    length = Parameter("l", 0.5)
    builder = PositionBuilder("p")
    q = builder.coordinate("q")
    builder.body("b", 2.0, (0.1, 0.1, 0.1), T0G=Troty(q) * Tdisp(0, 0, -length))
    dynamics = derive(builder.build(), parameters="all")
    assert dynamics.mass_matrix([0.3], [0.8]) == pytest.approx(np.array([[2.0 * 0.64 + 0.1]]), rel=1e-12)


def test_the_papers_expressions_work() -> None:
    """Section 4.1 of the EasyDyn paper."""
    a, b = vec(1.0, 2.0, 3.0), vec()
    b.put(3, 2, 1)
    assert tuple(a ^ b) == (-4.0, 8.0, -4.0) and a * b == 10.0
    assert tuple((2 * a + (b ^ vcoord(3, 4, 5))) / 3) == pytest.approx((8 / 3, -8 / 3, 4.0))
    assert tuple((a - b).unite()) == pytest.approx((-1 / math.sqrt(2), 0.0, 1 / math.sqrt(2)))
    R = Rrotz(0.2)
    assert R.r11 == pytest.approx(math.cos(0.2)) and tuple(R.inv() * (R * a)) == pytest.approx(tuple(a))
    T = Troty(0.1) * Tdisp(1, 0, 0)
    assert tuple(T * vec()) == pytest.approx((math.cos(0.1), 0.0, -math.sin(0.1)))
    assert tuple(T.inv() * (T * a)) == pytest.approx(tuple(a))
    assert tuple(tiner(1, 2, 3, 0.1) * a) == pytest.approx((1.2, 4.1, 9.0))
    with pytest.raises(TypeError, match="mth \\* float is not defined"):
        T * 2.0
    with pytest.raises(AttributeError, match="a trot has no 'r41'"):
        trot().r41  # noqa: B018


def wrong(make: Any) -> str:
    builder = PositionBuilder("wrong")
    q = builder.coordinate("q")
    make(builder, q)
    with pytest.raises(ModelError) as caught:
        builder.build()
    return str(caught.value)


BOX = (1.0, (0.1, 0.1, 0.1))


def test_bad_input_is_named() -> None:
    found = wrong(lambda b, q: b.body("a", *BOX, T0G=Trotx(Coordinate("qq", 0.0))))
    assert "body 'a': it names 'qq', and there is no such coordinate. Did you mean 'q'?" in found
    found = wrong(
        lambda b, q: b.body("a", *BOX, TrefG=Trotx(q), reference="c").body("c", *BOX, TrefG=Trotx(q), reference="a")
    )
    assert "references form a circle: a -> c -> a" in found
    assert "neither or both of T0G and TrefG" in wrong(lambda b, q: b.body("a", *BOX))
    assert "its reference is 'c', and there is no such body" in wrong(
        lambda b, q: b.body("a", *BOX, TrefG=Trotx(q), reference="c")
    )
    assert "expected a product of transforms" in wrong(lambda b, q: b.body("a", *BOX, T0G=np.eye(4)))
    found = wrong(lambda b, q: b.body("a", *BOX, T0G=mth(trot([[cos(q), 0, 0], [0, 1, 0], [0, 0, 1]]), vec())))
    assert "its matrix is not rigid: R R^T differs from 1 by" in found
    found = wrong(lambda b, q: (b.coordinate("idle"), b.body("a", *BOX, T0G=Trotx(q) * Tdisp(0, 0, 1))))
    assert "joint 'idle': its coordinate moves no mass" in found or "idle" in found
    found = wrong(lambda b, q: (b.coordinate("r"), b.body("a", *BOX, T0G=Trotx(q + b._coordinates["r"][0]))))
    assert "a motion of q and r together moves no mass" in found
    assert "its unit is 'deg', expected 'rad' or 'm'" in wrong(lambda b, q: b.coordinate("d", "deg"))


def test_formulas_that_are_finite_in_a_small_range_only_are_built_and_others_named() -> None:
    """Random configurations may lie outside the domain of acos; the values of the coordinates do not."""
    builder = PositionBuilder("domain")
    q = builder.coordinate("q", "m", value=20.5)
    builder.body("a", *BOX, T0G=Trotx(acos(q - 20.0)) * Tdisp(0, 0, 1))
    assert builder.build().nq == 1
    found = wrong(lambda b, q: b.body("a", *BOX, T0G=Trotx(acos(q * q + 2.0)) * Tdisp(0, 0, 1)))
    assert (
        "body 'a': a formula in its position, acos(add(mul(q, q), 2.0)), is nan at the initial values q = 0, " in found
    )


def test_dependents_without_a_value_at_the_start_are_named_and_texts_are_no_coordinates() -> None:
    def slide(b: Any, q: Any) -> None:
        length = b.coordinate("length", "m", 1.5)
        b.body("a", *BOX, T0G=Trotx(q) * Tdisp(0, 0, length) * Trotx(b.dependent("gamma", acos(length))))

    found = wrong(slide)
    assert "dependent 'gamma': its value is nan at the initial values length = 1.5, expected a finite number" in found
    assert "driven[0]" not in found
    with pytest.raises(TypeError, match="Trotz: 'qq' is a text, expected a number, a coordinate or a formula"):
        Trotz("qq")
    with pytest.raises(TypeError, match="Tdisp: 'x' is a text"):
        Tdisp(0, "x", 0)


def test_parameters_of_the_builder_and_atan() -> None:
    builder = PositionBuilder("tilted")
    q, length = builder.coordinate("q"), builder.parameter("length", 0.7, "m")
    assert length == Parameter("length", 0.7, "m")
    builder.body("a", *BOX, T0G=Trotz(q) * Trotx(atan(q / length)) * Tdisp(0, 0, length))
    robot = builder.build()
    assert [one.name for one in robot.parameters] == ["length"]
    T = derive(robot).pose("a")([0.3])
    angle = math.atan(0.3 / 0.7)
    assert T[2, 2] == pytest.approx(math.cos(angle), abs=1e-15) and T[2, 3] == pytest.approx(0.7 * math.cos(angle))


def test_a_pid_measures_the_rate_of_a_driven_joint() -> None:
    """kd on the joint itself and on the coordinate that it follows by a factor of 2 are the same controller."""
    builder = PositionBuilder("geared")
    q = builder.coordinate("q", value=0.4)
    builder.body("a", *BOX, T0G=Trotx(q) * Tdisp(0, 0, -1))
    builder.body("b", *BOX, T0G=Trotx(q) * Tdisp(0, 0, -1) * Trotx(2.0 * q) * Tdisp(0, 0, -0.3))
    robot = builder.build()
    ends = []
    for joint, gain in ((robot.driven[0].name, 1.0), ("q", 4.0)):
        pid = PID("pid", joint, kp=3.0 * gain, kd=0.5 * gain)
        ends.append(simulate(System(robot, (pid,)), 1.0, q=[0.4], rtol=1e-11, atol=1e-11).q[-1, 0])
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    free = simulate(robot, 1.0, q=[0.4]).q[-1, 0]
    assert abs(ends[0] - free) > 0.01
