"""Bodies that nothing stops: named by a check of the model, and by a run in which they pass through the ground."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, library, simulate
from kinemorph.elements import Contact, EasyDynNormal, HeightFunction, HeightMap, Plane
from kinemorph.errors import GroundWarning
from kinemorph.formats.hints import contact_hints
from kinemorph.model.elements.contact.unstopped import unstopped_bodies
from kinemorph.simulation.running.ground_check import passages

SOIL = EasyDynNormal(1e4, 1e2)
QUICK = {"method": "semi_implicit_euler", "step": 1e-3, "output_step": 0.05}
GROUNDS = {
    "plane": Plane((0, 0, -0.5)),
    "function": HeightFunction(lambda x, y: -0.5 + 0.0 * x),
    "map": HeightMap(((-0.5,) * 4,) * 4),
}


def toppling(ground=GROUNDS["plane"]):
    """A foot on the ground that carries a trunk by a hinge, which has no contact; a sensor is fixed to the foot."""
    builder = RobotBuilder("toppler").add(Body.sphere("foot", 5.0, 0.1), Body.sphere("trunk", 1.0, 0.1, (0, 0, 0.6)))
    builder.add(Body.sphere("sensor", 0.1, 0.02, (0, 0, 0.1)))
    builder.joint("slide", "prismatic", "world", "foot", axis=(0, 0, 1))
    builder.joint("hinge", "revolute", "foot", "trunk", axis=(0, 1, 0)).joint("weld", "fixed", "foot", "sensor")
    contact = Contact("sole", "foot", SOIL, ground=ground, radius=0.1)
    return System(builder.build(), (contact,), replace(System(builder.build()).settings, q=(-0.4, 0.5)))


def test_a_run_in_which_a_body_passes_through_the_ground_names_it():
    """A robot turned over and its trunk, which had no contact, hung below the ground; nothing said so."""
    with pytest.warns(GroundWarning, match=r"body 'trunk' of 'toppler' passes through the ground at t = 0\.\d+ s, and"):
        run = simulate(toppling(), 1.5, **QUICK)
    height = 0.5 + run["q.slide"] + 0.6 * np.cos(run["q.hinge"])
    for ground in GROUNDS.values():
        plant = replace(run.segments[0].plant, elements=toppling(ground).elements)
        (found,) = passages([replace(run.segments[0], plant=plant)])
        assert found.body == "trunk" and found.depth == pytest.approx(-height.min())
        assert found.t == run.t[np.argmax(height < 0.0)]


def test_bodies_that_are_stopped_or_far_away_are_not_named():
    system = toppling()
    assert unstopped_bodies(system.robot, system.elements) == ("trunk",)  # the sensor is welded to the foot
    head = Contact("head", "trunk", SOIL, ground=GROUNDS["plane"], point=(0, 0, 0.6), radius=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulate(replace(system, elements=(*system.elements, head)), 0.2, **QUICK)
        simulate(system, 0.2, **QUICK)  # it has not fallen yet
        simulate(system.robot, 0.2, **QUICK)  # there is no ground


def test_a_body_that_begins_below_a_ground_does_not_pass_through_it():
    """A trunk that hangs in a pit from the beginning of a run is meant to be there."""
    system = toppling()
    hung = replace(system, settings=replace(system.settings, q=(-0.4, 3.1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = simulate(hung, 0.2, **QUICK)
    assert run["q.slide"].max() + 0.6 * np.cos(run["q.hinge"]).max() < -0.5


def test_a_body_that_floats_beside_a_robot_that_stands_is_named_by_a_check():
    system = toppling()
    (hint,) = contact_hints(system)
    assert hint[:2] == ("body", "trunk") and "no contact stops it at the ground that other bodies touch" in hint[2]
    builder = RobotBuilder("two").add(
        Body.sphere("a", 1.0, 0.1), Body.sphere("b", 1.0, 0.1), Body.sphere("arm", 1, 0.1)
    )
    builder.joint("a", "free", "world", "a").joint("b", "free", "world", "b")
    builder.joint("arm", "revolute", "world", "arm", axis=(0, 1, 0), translation=(1, 0, 2))
    two = System(builder.build(), (Contact("ground", "a", SOIL, radius=0.1),))
    assert unstopped_bodies(two.robot, two.elements) == ("b",)  # the arm hangs on the world, high above
    assert unstopped_bodies(two.robot, ()) == ()
    builder = RobotBuilder("arm").add(Body.sphere("stand", 1.0, 0.1), Body.sphere("hand", 1.0, 0.1, (1, 0, 0)))
    builder.joint("bolts", "fixed", "world", "stand").joint("turn", "revolute", "stand", "hand", axis=(0, 1, 0))
    arm = System(builder.build(), (Contact("palm", "hand", SOIL, radius=0.1),))
    assert unstopped_bodies(arm.robot, arm.elements) == ()  # a stand that is fixed to the world stays there


def test_a_walker_that_falls_is_told_and_one_that_walks_is_not() -> None:
    """A run in which the hip fell 1.5 m below the feet was just finished."""
    walker = library.compass_walker()
    with warnings.catch_warnings():
        warnings.simplefilter("error", GroundWarning)
        simulate(walker, 2.0)
    with pytest.warns(GroundWarning, match=r"'compass_walker' falls: from t = .*\(stance\), by up to .* stop=True"):
        simulate(walker, 2.0, v=[0.2 * rate for rate in walker.settings.v])
