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
from kinemorph.plants.robot_plant import shared_plant
from kinemorph.simulation.running.buried_start import buried_start
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


def dice(ground=GROUNDS["plane"]):
    """A free ball of 2 kg with a contact, and a free cube of 1 kg that touches with its corners."""
    builder = RobotBuilder("dice").add(Body.sphere("ball", 2.0, 0.1), Body.box("cube", 1.0, (0.2, 0.2, 0.2)))
    builder.root("ball", "free").root("cube", "free")
    cube = builder.build().body("cube").shapes[0]
    return System(
        builder.build(),
        (
            Contact("round", "ball", SOIL, ground=ground, radius=0.1),
            Contact("edged", "cube", SOIL, shape=cube, ground=ground),
        ),
    )


@pytest.mark.parametrize("ground", GROUNDS)
def test_a_start_inside_the_ground_is_named_with_its_depth_and_force(ground):
    plant = shared_plant(dice(GROUNDS[ground]))
    turn = (np.cos(np.pi / 8), np.sin(np.pi / 8), 0.0, 0.0)  # 45 degrees: the cube stands on an edge
    edge, weight = 0.1 * np.sqrt(2.0), 3.0 * 9.81
    high = np.array([0, 0, 0.5, 1, 0, 0, 0, 1, 0, 0.5, *turn])
    low, deep = high.copy(), high.copy()
    low[2], deep[9] = -0.5 + 0.1 - 0.02, -0.5 + edge - 0.3
    assert buried_start(plant, high[None]) is None
    assert buried_start(plant, low[None]) is None  # 20 mm: seven weights
    for q in (deep[None], np.stack([high, low, deep, high])):
        found = buried_start(plant, q)
        assert found.contact == "edged" and found.depth == pytest.approx(0.3, abs=1e-9)
        force = 1e4 * (2 * 0.3 + 4 * (0.3 - edge) + 2 * (0.3 - 2.0 * edge))  # of two, four and two corners
        assert found.weights == pytest.approx(force / weight, rel=1e-9)


def test_a_run_that_begins_inside_the_ground_says_so_and_one_above_does_not():
    with pytest.warns(GroundWarning, match=r"'dice' begins inside the ground: 'round' by about 400 mm, where its"):
        simulate(dice(), 1e-3, q={"ball_root.z": -0.8}, **QUICK)
