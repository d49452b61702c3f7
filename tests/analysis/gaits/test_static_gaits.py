"""`static_gait`: torques by virtual work, foot loads by balance of moments, margins, and what users see."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import derive, library
from kinemorph.analysis.gaits.static_gait import support_margin
from kinemorph.elements import Hold
from kinemorph.errors import ModelError, UnsupportedError
from kinemorph.orbits import static_gait

TURN = np.linspace(0.0, 2.0 * math.pi, 721)


@pytest.fixture(scope="module")
def turned():
    return static_gait(library.bolt_like(), {"crank_joint": TURN}, friction=0.6, limit=25.0)


def test_the_torque_is_the_slope_of_the_potential_energy(turned):
    """003-15: the foot stands, so that the motor alone does work: tau = dV / d crank."""
    energy = derive(library.bolt_like().robot).energy
    V = np.array([energy(q, np.zeros(turned.plant.nv))[1] for q in turned.q])
    slope = np.gradient(V, TURN, edge_order=2)
    assert turned.torques["crank_joint"][1:-1] == pytest.approx(slope[1:-1], abs=2e-3)
    assert np.ptp(V) > 1.0


def test_the_foot_carries_the_weight(turned):
    robot = turned.plant.robot
    weight = 9.81 * sum(float(getattr(body.mass, "value", body.mass)) for body in robot.bodies)
    assert turned.loads["stance.z"] == pytest.approx(np.full(len(TURN), weight), rel=1e-9)
    assert np.abs(turned.loads["stance.x"]).max() < 1e-9
    assert turned.margins["stance cone"] == pytest.approx(0.6 * turned.loads["stance.z"], rel=1e-9)


@pytest.mark.parametrize("name", ["bolt_like", "raptor_like"])
def test_a_static_gait_stays_within_the_torque_of_the_motor(name):
    """Static gaits of both monopods within 25 N m, over a whole turn of the crank."""
    gait = static_gait(getattr(library, name)(), {"crank_joint": TURN[::10]}, friction=0.6, limit=25.0)
    assert gait, gait.message
    assert gait.margins["crank_joint torque"].min() > 20.0
    assert gait.unbalanced.max() < 1e-9


def two_feet():
    """RABBIT on both of its feet."""
    rabbit = library.rabbit()
    phases = (replace(rabbit.automaton.phases[0], elements=("stance", "other")),)
    elements = (*rabbit.elements, Hold("other", "right_foot", axes="xz"))
    return replace(rabbit, elements=elements, automaton=replace(rabbit.automaton, phases=phases))


def test_loads_of_two_feet_balance_the_weight_and_its_moment():
    joints = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee")]
    gait = static_gait(two_feet(), {"pitch": np.linspace(-0.2, 0.2, 5)}, motors=joints, friction=0.6)
    robot, front, rear = gait.plant.robot, gait.loads["stance.z"], gait.loads["other.z"]
    com = np.array([derive(robot).center_of_mass(q) for q in gait.q])[:, 0]
    feet = np.array([[derive(robot).pose(f"{side}_foot")(q)[0, 3] for side in ("left", "right")] for q in gait.q])
    assert front + rear == pytest.approx(np.full(5, 32.0 * 9.81), rel=1e-9)
    assert front * feet[:, 0] + rear * feet[:, 1] == pytest.approx(32.0 * 9.81 * com, abs=1e-7)
    assert gait.loads["stance.x"] + gait.loads["other.x"] == pytest.approx(np.zeros(5), abs=1e-7)
    inside = np.minimum(com - feet.min(axis=1), feet.max(axis=1) - com)
    assert gait.margins["support"] == pytest.approx(inside, abs=1e-9)


def test_the_margin_of_support_is_the_distance_to_the_polygon():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])
    assert support_margin(np.array([0.5, 0.4]), square) == pytest.approx(0.4)
    assert support_margin(np.array([2.3, 0.5]), square) == pytest.approx(-0.3)
    assert support_margin(np.array([0.5, 7.0]), square[:2]) == pytest.approx(0.5)


def test_what_does_not_balance_is_named():
    gait = static_gait(library.rabbit(), {"left_knee": [0.3, 0.4]})
    assert not gait and "is not in equilibrium at 2 of 2 postures" in gait.message
    weak = static_gait(library.bolt_like(), {"crank_joint": TURN[::40]}, limit=1.0)
    assert not weak and "the margin 'crank_joint torque'" in weak.message


def test_mistakes_are_named():
    bolt = library.bolt_like()
    with pytest.raises(UnsupportedError, match="lists of the same length"):
        static_gait(bolt, {"crank_joint": [0.0, 1.0], "x": [0.0]})
    with pytest.raises(ModelError, match=r"no phase 'stanc'. Did you mean 'stance'"):
        static_gait(bolt, {"crank_joint": [0.0]}, phase="stanc")
    with pytest.raises(UnsupportedError, match=r"has no posture at crank_joint = 0, x = 0"):
        static_gait(bolt, {"crank_joint": [0.0], "x": [0.0], "z": [5.0]})
