"""Modules on the ground: which corners touch, what docking hides, wheels, organisms put down, drives of hinges."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from kinemorph.algebra.groups import IDENTITY, Pose, act, compose
from kinemorph.display.charts.crawl_pictures import center_of_mass_path
from kinemorph.errors import ModelError
from kinemorph.model.body import Body
from kinemorph.model.elements import PD, ComputedTorque, Contact, Rhythmic
from kinemorph.model.library.modular import crawler, organism9
from kinemorph.model.modules import (
    Assembly,
    Docking,
    Module,
    ModuleType,
    active_wheel,
    backbone,
    cube,
    ground_contacts,
    hinge_drives,
    hinges,
    on_ground,
    put_down,
    scout,
)
from kinemorph.model.shapes import Capsule
from kinemorph.simulation.simulate import simulate
from support.cases.paper_organism import paper_organism

D = 0.105
REACH = 0.46 * D  # from the middle of a Backbone to its faces


def places(assembly: Assembly, contacts: list[Contact]) -> np.ndarray:
    """Where contacts are in the initial configuration, (n, 3) [m]."""
    poses = assembly.poses()
    return np.array([act(poses[contact.body.split("_")[0]], contact.point) for contact in contacts], dtype=float)


def test_a_backbone_touches_with_the_lower_corners_of_its_halves() -> None:
    one = put_down(Assembly("one", (Module("m0", backbone()),)))
    found = ground_contacts(one)
    assert len(found) == 8 and {contact.body for contact in found} == {"m0_rear", "m0_front"}
    at = places(one, found)
    np.testing.assert_allclose(at[:, 2], 0.0, atol=1e-15)
    np.testing.assert_allclose(np.abs(at[:, 1]), REACH, atol=1e-15)
    np.testing.assert_allclose(sorted(set(np.abs(at[:, 0]).round(12))), [0.12 * D, REACH])
    assert len(ground_contacts(one, around=True)) == 16
    assert float(one.poses()["m0"].p[2]) == pytest.approx(REACH)


def test_corners_between_docked_modules_are_left_out() -> None:
    pair = Assembly("pair", (Module("m0", backbone()), Module("m1", backbone()))).dock("m0", 3, "m1", 4)
    names = {contact.name for contact in ground_contacts(pair)}
    everything = {contact.name for contact in ground_contacts(pair, docked=True)}
    assert len(names) == 12 and names < everything and len(everything) == 16
    hidden = places(pair, [c for c in ground_contacts(pair, docked=True) if c.name not in names])
    np.testing.assert_allclose(np.abs(hidden[:, 0] - 0.5 * D), 0.04 * D, atol=1e-12)  # both sides of where they meet
    # what a joint module holds is no rigid body
    cubes = Assembly("cubes", (Module("m0", cube()), Module("m1", cube())))
    assert len(ground_contacts(cubes.dock("m0", 3, "m1", 4, joint="revolute"))) == 8
    assert len(ground_contacts(cubes.dock("m0", 3, "m1", 4))) == 4


def test_nine_modules_have_fifty_corners_below() -> None:
    organism = crawler().assembly
    assert organism is not None
    assert [(d.a, d.side_a, d.b, d.side_b) for d in organism.dockings] == [
        (d.a, d.side_a, d.b, d.side_b) for d in paper_organism().dockings
    ]
    found = ground_contacts(organism)
    assert len(found) == 50
    np.testing.assert_allclose(places(organism, found)[:, 2], 0.0, atol=1e-15)
    # no corner that is left out lies outside of those that are kept
    whole = places(organism, ground_contacts(organism, docked=True))
    for axis in (0, 1):
        assert np.ptp(whole[:, axis]) == pytest.approx(np.ptp(places(organism, found)[:, axis]))


def test_modules_that_are_turned_touch_with_what_is_below() -> None:
    pair = Assembly("pair", (Module("m0", backbone()), Module("m1", backbone()))).dock("m0", 3, "m1", 4, turn=1)
    found = ground_contacts(put_down(pair))
    np.testing.assert_allclose(places(put_down(pair), found)[:, 2], 0.0, atol=1e-12)
    assert {contact.body.split("_")[0] for contact in found} == {"m0", "m1"}


def test_wheels_touch_as_balls_and_plates_do_not() -> None:
    car = put_down(Assembly("car", (Module("m0", active_wheel()), Module("m1", scout()))).dock("m0", 5, "m1", 4))
    rims = [contact for contact in ground_contacts(car) if contact.radius]
    assert [contact.body for contact in rims] == ["m0_left_wheel", "m0_right_wheel"]
    assert not any("plate" in contact.body for contact in ground_contacts(car))
    assert float(car.poses()["m0"].p[2]) == pytest.approx(0.05)  # on its wheels


def test_a_capsule_touches_with_a_ball_at_either_end() -> None:
    """Its length is that between the middles of the two."""
    lying = Pose(((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)), (0.0, 0.0, 0.1))
    log = ModuleType("Log", "G", (replace(Body.sphere("log", 1.0, 0.1), shapes=(Capsule(0.04, 0.2, lying),)),))
    feet = ground_contacts(Assembly("log", (Module("m0", log),)))
    assert [foot.radius for foot in feet] == [0.04, 0.04]
    np.testing.assert_allclose([foot.point for foot in feet], [(-0.1, 0.0, 0.1), (0.1, 0.0, 0.1)], atol=1e-15)


def test_every_organism_is_put_down_by_itself() -> None:
    tilted = Pose(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)), (1.0, 0.0, 3.0))
    two = Assembly("two", (Module("m0", backbone(), IDENTITY), Module("m1", backbone(), tilted)))
    low = put_down(two, 0.2)
    assert [float(low.poses()[name].p[2]) for name in ("m0", "m1")] == pytest.approx([0.2 + REACH] * 2)
    assert low.poses()["m1"].R == tilted.R


def test_drives_stay_within_the_effort_of_hinges_and_hold_the_rest() -> None:
    mixed = Assembly("mixed", (Module("m0", backbone()), Module("m1", scout()), Module("m2", active_wheel())))
    gait = Rhythmic("gait", hinges(mixed)[:2])
    drive, hold = hinge_drives(mixed, gait)
    assert isinstance(drive, PD) and drive.joints == ("m0_hinge", "m1_hinge") and drive.reference == ("gait",)
    assert drive.upper == (7.0, 7.0) and drive.lower == (-7.0, -7.0)
    assert isinstance(hold, PD) and hold.joints == ("m1_dock", "m2_hinge")  # wheels are left alone
    (law,) = hinge_drives(mixed, gait, law="computed torque")
    assert isinstance(law, ComputedTorque) and law.kd == (2.0 * math.sqrt(400.0),)
    with pytest.raises(
        ModelError, match=r"'gait' drives joint 'm7_hinge'; expected revolute joints of the modules of assembly 'mix"
    ):
        hinge_drives(mixed, Rhythmic("gait", ("m7_hinge",)))
    with pytest.raises(ModelError, match=r"'gait' has no joints"):
        hinge_drives(mixed, Rhythmic("gait"))
    with pytest.raises(ModelError, match=r"law is 'pid'; expected 'pd' or"):
        hinge_drives(mixed, gait, law="pid")  # type: ignore[arg-type]


def test_the_center_of_mass_of_modules_is_the_mean_of_their_middles() -> None:
    organism = put_down(paper_organism())
    system = organism.system()
    middle = np.mean([compose(pose).p for pose in organism.poses().values()], axis=0)
    np.testing.assert_allclose(center_of_mass_path(system.robot, np.array([system.settings.q]))[0], middle, atol=1e-15)


def test_a_system_is_put_on_the_ground() -> None:
    """What begins where its assembly stands is put down; what begins elsewhere stays there; others are refused."""
    floating = organism9()
    placed = on_ground(floating)
    assert len(placed.elements) == len(ground_contacts(floating.assembly))
    assert placed.settings.q[2] < floating.settings.q[2]
    assert placed.settings.q == organism9(ground=True).settings.q
    lifted = replace(floating, settings=replace(floating.settings, q=(0.0, 0.0, 1.0, *floating.settings.q[3:])))
    assert on_ground(lifted).settings.q == lifted.settings.q
    with pytest.raises(ModelError, match="not made of modules"):
        on_ground(replace(floating, assembly=None))


@pytest.mark.parametrize("mass", [0.05, 1.0, 10.0])
def test_default_gains_carry_modules_of_any_mass(mass: float) -> None:
    """Row D10: with 60 N m/rad whatever they weigh, heavy modules hung down. Here each has motors for its mass."""
    kind = backbone(mass=mass)
    strong = replace(kind, joints=tuple(replace(one, effort=20.0 * mass) for one in kind.joints))
    arm = Assembly("arm", tuple(Module(f"m{k}", strong) for k in range(2)), (Docking("m0", 3, "m1", 4),))
    still = Rhythmic("gait", hinges(arm), 0.0)
    (drive,) = hinge_drives(arm, still)
    assert drive.kp == pytest.approx((60.0 * mass,)) and drive.kd == pytest.approx((1.5 * mass,))
    held = simulate(arm.system([still, drive], root="fixed"), 1.0)
    assert np.degrees(np.abs(held.q[-1]).max()) < 2.0  # as far as Backbones


def test_an_effort_given_as_a_number_is_one_entry() -> None:
    """Row D10: Joint(..., effort=1.5) was accepted, and hinge_drives broke on it."""
    kind = backbone()
    weak = replace(kind, joints=tuple(replace(one, effort=1.5, lower=[-1.0]) for one in kind.joints))
    alone = Assembly("alone", (Module("m0", weak),))
    (drive,) = hinge_drives(alone, Rhythmic("gait", hinges(alone)))
    assert drive.upper == (1.5,) and drive.lower == (-1.5,) and weak.joints[0].lower == (-1.0,)
