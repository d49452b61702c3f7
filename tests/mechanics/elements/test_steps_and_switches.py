"""Laws at the end of a step and the memory of anchors, number by number."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import elements
from kinemorph.mechanics.elements.contact.anchors import Now, settled, switched
from kinemorph.mechanics.elements.contact.friction import FREE, SLIP, STICK, AnchorState, anchored
from kinemorph.mechanics.elements.forces.joint_laws import Stops
from kinemorph.mechanics.elements.law import law_of
from kinemorph.mechanics.steps.point_states import JointState, joint_slope, point_slope
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal
from support.cases.element_laws import Instant, arm

H = 1e-2
STATIC, KINETIC, K, C, SPEED = NUMBERS = (0.6, 0.4, 1e4, 50.0, 1e-3)
FORWARD = (1.0, 0.0, 0.0)


@pytest.mark.parametrize("q, side", [(1.1, 1.0), (-1.2, -1.0)])
def test_the_pivot_of_a_stop_has_its_spring_and_its_damper(q: float, side: float) -> None:
    stops = Stops(-1.0, 1.0, 100.0, 2.0, 0.01)
    joint = JointState(q, 0.3 * side)
    force, pivot = stops.linear(joint, H)
    assert force == pytest.approx(-side * (100.0 * (abs(q) - 1.0) + 2.0 * 0.3))
    assert pivot == pytest.approx(H * (2.0 + H * 100.0))
    assert (force, pivot) == pytest.approx(joint_slope(stops.force, joint, H))


def test_the_pivot_of_a_motor_has_the_friction_of_its_gears() -> None:
    """At standstill with a current: what gears take has the slope |T| (1 - efficiency) times that of the sign."""
    motor = elements.DCMotor("e", "hinge", 2.0, 0.05, inductance=1e-2, ratio=10.0, efficiency=0.7, slow=0.1)
    instant = Instant(arm(), [motor])
    instant.x = [3.0]
    ((_, law, _),) = law_of(motor).stiff(motor, instant.world(0.0, [0.0] * 4, [0.0] * 4).views[0]).joints
    force, pivot = law.linear(JointState(0.0, 0.0), H)
    T = 0.05 * (1e-2 * 3.0) / (1e-2 + H * 2.0)
    assert force == pytest.approx(10.0 * T)
    braking = 0.05 * H * 0.05 / (1e-2 + H * 2.0)
    assert pivot == pytest.approx(H * 100.0 * (braking + T * 0.3 * 1.5 / 0.1))


# ── anchors ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def now(mode: float, **changes: Any) -> Now:
    """A point at x = 2 m that its anchor, 1 mm behind, pulls with 10 N, pressed with 100 N."""
    memory = [mode, 1.999, 0.0, 0.0, *FORWARD]
    pulled = (-10.0, 0.0, 0.0)
    there = Now(memory, (2.0, 0.0, 0.0), (1e-3, 0.0, 0.0), (0.0, 0.0, 0.0), 1e-3, 100.0, pulled, 5e-3, NUMBERS)
    return there._replace(**changes)


def test_a_point_that_halts_sticks_where_the_spring_pulls_as_sliding_did() -> None:
    stretch = KINETIC * 100.0 / K
    halts = now(SLIP, friction=(-KINETIC * 100.0, 0.0, 0.0), stored=0.0)
    for change in (settled(now(SLIP, slip=(-1e-4, 0.0, 0.0), stored=0.0)), switched(halts, 3)):
        assert change.memory == pytest.approx([STICK, 2.0 - stretch, 0.0, 0.0, 0.0, 0.0, 0.0])
        assert change.lost == pytest.approx(-0.5 * K * stretch**2)


def test_a_spring_that_lets_go_or_leaves_the_ground_loses_its_energy() -> None:
    loose = settled(now(STICK, friction=(-61.0, 0.0, 0.0), slip=(0.0, 0.2, 0.0)))
    assert loose.memory == pytest.approx([SLIP, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0])  # as it moves
    assert loose.lost == pytest.approx(5e-3)
    still = settled(now(STICK, friction=(-61.0, 0.0, 0.0)))
    assert still.memory == pytest.approx([SLIP, 0.0, 0.0, 0.0, *FORWARD])  # as the spring is stretched
    gone = settled(now(STICK, depth=-1e-6))
    assert gone.memory == [FREE, *[0.0] * 6] and gone.lost == pytest.approx(5e-3)
    held = settled(now(STICK))
    assert held.memory == now(STICK).memory and held.lost == 0.0


def test_the_direction_of_sliding_turns_with_the_motion() -> None:
    turned = settled(now(SLIP, slip=(0.3, 0.4, 0.0), stored=0.0))
    assert turned.memory == pytest.approx([SLIP, 0.0, 0.0, 0.0, 0.6, 0.8, 0.0])
    slow = settled(now(SLIP, slip=(0.0, 0.5 * SPEED, 0.0), stored=0.0))
    assert slow.memory == now(SLIP).memory  # hardly moves: no direction to speak of


@pytest.mark.parametrize("share", [-0.25, 0.0, 1.0, 1e3])
def test_sliding_friction_is_kinetic_from_half_the_speed_on(share: float) -> None:
    held = AnchorState(SLIP, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), FORWARD)
    rubbed = anchored(NUMBERS, 100.0, (share * SPEED, 0.0, 0.0), held)
    assert rubbed.force == pytest.approx((-KINETIC * 100.0, 0.0, 0.0))


# ── a ball on an anchor: the way from it is added up from slip ────────────────────────────────────────────────────────


def rolling(height: float) -> tuple[Any, Any, Any]:
    """(instant, element, view) of a ball of 0.1 m that sticks, slipping along x."""
    robot = RobotBuilder("ball").add(Body.sphere("ball", 1.0, 0.1)).joint("j", "free", "world", "ball").build()
    element = elements.Contact("e", "ball", EasyDynNormal(1e4), Anchor(*NUMBERS), radius=0.1)
    instant = Instant(robot, [element])
    instant.x, instant.m = [1e-3, 0.0, 0.0], [STICK, *[0.0] * 6]
    world = instant.world(0.0, [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0], [0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    return instant, element, world.views[0]


def test_a_ball_slips_only_while_it_touches() -> None:
    for height, rate in ((0.099, 0.2), (0.101, 0.0)):
        _, element, view = rolling(height)
        assert law_of(element).effort(element, view).rates == pytest.approx([rate, 0.0, 0.0])


def test_the_anchor_of_a_ball_pulls_by_the_way_at_the_end_of_the_step() -> None:
    _, element, view = rolling(0.099)
    ((point, law, _),) = law_of(element).touching_points(element, view)
    end = replace(point, step=H)
    force, D = law.linear(end, H)
    assert force[0] == pytest.approx(-(K * (1e-3 + H * 0.2) + C * 0.2))
    assert D[0] == pytest.approx(H * (C + H * K))
    assert np.allclose(D, point_slope(law.force, end, end.step)[1], rtol=1e-9, atol=1e-9)


def test_slopes_of_a_point_that_has_not_moved_yet() -> None:
    """A law is asked at the start of a step, and its place moves by h for a unit of velocity all the same."""
    _, element, view = rolling(0.099)
    ((point, _, _),) = law_of(element).touching_points(element, view)

    def spring(there: Any) -> Any:
        x, y, z = there.position
        u, v, w = there.velocity
        return (-K * x - C * u, -2.0 * K * y - C * v, -3.0 * K * z - C * w)

    for step in (0.0, 0.4 * H, H):
        _, D = point_slope(spring, replace(point, step=step), H)
        diagonal = [H * (C + H * k) for k in (K, 2.0 * K, 3.0 * K)]
        assert np.allclose(D, [diagonal[0], 0.0, 0.0, diagonal[1], 0.0, diagonal[2]], rtol=1e-12)


def test_a_leg_that_is_seen_stretched_leaves_with_the_loss_of_its_spring() -> None:
    """After a step of one size a leg has left the ground a little late: what its spring holds then is lost."""
    robot = RobotBuilder("hip").add(Body.sphere("hip", 1.0, 0.1)).joint("j", "free", "world", "hip").build()
    leg = elements.SpringLeg("e", "hip", 200.0, 1.0)
    instant = Instant(robot, [leg])
    instant.m = [1.0, 0.0, 0.0, 0.0]
    for height, memory, lost in ((1.02, [0.0] * 4, 0.5 * 200.0 * 0.02**2), (0.98, instant.m, 0.0)):
        world = instant.world(0.0, [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0], [0.0] * 6)
        change = law_of(leg).settle(leg, world.views[0])
        assert list(change.memory) == memory and change.lost == pytest.approx(lost)
