"""Automata that cannot be meant are named before a run; those of the library say nothing."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from typing import Any

import pytest

from kinemorph import library
from kinemorph.elements import Automaton, DistanceConstraint, Edge, Hold, Phase, PrescribedMotion
from kinemorph.errors import AutomatonWarning
from kinemorph.formats.hints import phase_hints
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.simulation.simulate import simulate

HOLD = Hold("hold", "ball", axes="z")
DROP = Edge("drop", "held", "free", "0.5 - t")


def ball() -> Robot:
    builder = RobotBuilder("ball").add(Body.sphere("ball", 1.0, 0.1))
    builder.joint("z", "prismatic", "world", "ball")
    return builder.build()


def dropped(*edges: Edge, phases: tuple[Phase, ...] = (), elements: Any = (HOLD,)) -> System:
    """A ball that is held and dropped, with further edges and phases."""
    both = (Phase("held", "hold"), Phase("free"))
    return System(ball(), elements, automaton=Automaton((*both, *phases), (DROP, *edges)))


def warned(model: System, **options: Any) -> list[str]:
    """The warnings about the automaton of a short run."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulate(model, 0.1, **options)
    return [str(one.message) for one in caught if one.category is AutomatonWarning]


MORE = ("rimless_wheel", "simplest_walker", "compass_walker", "slip_runner")


@pytest.mark.parametrize("name", ["kneed_walker", *(pytest.param(name, marks=pytest.mark.slow) for name in MORE)])
def test_walkers_of_the_library_are_sound(name: str) -> None:
    assert warned(getattr(library, name)()) == []


def test_a_sound_automaton_says_nothing() -> None:
    assert warned(dropped()) == []


def test_a_phase_that_nothing_leaves_is_a_hint() -> None:
    (hint,) = phase_hints(dropped())
    assert hint.name == "free" and hint.sentence.startswith("no edge leaves it")
    assert phase_hints(dropped(Edge("catch", "free", "held", "q.z + 1"))) == []
    assert phase_hints(System(ball(), (HOLD,))) == []


def test_a_guard_that_has_fallen_before_the_run_is_named() -> None:
    (said,) = warned(dropped(Edge("land", "held", "free", "q.z - 0.2")))
    assert "guard of edge 'land' (q.z - 0.2) is -0.2 at the start" in said and "Begin in phase 'free'" in said
    assert warned(dropped(Edge("land", "held", "free", "q.z - 0.2")), q={"z": 0.3}) == []
    assert warned(dropped(Edge("land", "held", "free", "q.z - 0.2", when="q.z - 1.0"))) == []
    assert warned(dropped(Edge("land", "free", "held", "q.z - 0.2"))) == []  # of another phase


def test_a_guard_at_zero_that_falls_at_the_start_is_named() -> None:
    """It never falls through zero: a ball that starts on its ground would fall through it without a word."""
    bounce = Edge("bounce", "fall", "fall", "q.z", reset={"v.z": "-0.5 * v.z"}, impact="none")
    model = System(ball(), automaton=Automaton(Phase("fall"), bounce))
    for speed in (0.0, -1.0):  # it falls at once, or begins to fall
        (said,) = warned(model, v=[speed])
        assert "guard of edge 'bounce' (q.z) is 0 and falls at the start" in said
    assert warned(model, v=[1.0]) == []
    assert warned(model, q=[0.1]) == []


def test_a_phase_that_cannot_be_reached_is_named() -> None:
    (said,) = warned(dropped(phases=(Phase("lost"),)))
    assert "phase 'lost' cannot be reached" in said and "'held'" in said
    assert warned(dropped(Edge("end", "free", "lost", "q.z + 9.0", stop=True), phases=(Phase("lost"),))) == []


def test_two_edges_with_the_same_guard_are_named() -> None:
    (said,) = warned(dropped(Edge("also", "held", "free", "0.5-t")))
    assert "edges 'drop' and 'also' leave phase 'held' with the same guard" in said
    for guard in ("-t + 0.5", "1.0 - 2.0 * t", lambda t: 0.5 - t):  # the same zero, in other words
        (said,) = warned(dropped(Edge("also", "held", "free", guard)))
        assert "edges 'drop' and 'also' leave phase 'held' with the same guard" in said
    for guard in ("0.4 - t", "t - 0.5 + 1e-9 * q.z", "0.5 - t - 0.01 * q.z"):
        assert not any("same guard" in said for said in warned(dropped(Edge("also", "held", "free", guard))))
    split = (replace(DROP, when="v.z"), Edge("also", "held", "free", "0.5 - t", when="-v.z"))
    automaton = Automaton((Phase("held", "hold"), Phase("free")), split)
    assert warned(System(ball(), (HOLD,), automaton=automaton)) == []


def test_constraints_that_contradict_each_other_are_named() -> None:
    lengths = tuple(
        DistanceConstraint(f"rod{k}", "ball", "world", length=length, point_b=(0.0, 0.0, 2.0))
        for k, length in ((1, 2.0), (2, 1.5))
    )
    both = (Phase("held", ("rod1",)), Phase("free", ("rod1", "rod2")))
    (said,) = warned(System(ball(), lengths, automaton=Automaton(both, (DROP,))))
    assert "in phase 'free' the constraints 'rod1', 'rod2' contradict each other" in said
    driven = (HOLD, PrescribedMotion("move", "z", "0.1 * t"))
    found = warned(
        System(
            ball(),
            driven,
            automaton=Automaton(
                (Phase("free", ("move",)), Phase("held", ("hold", "move"))), (Edge("grip", "free", "held", "9.0 - t"),)
            ),
        )
    )
    assert len(found) == 1 and "in phase 'held' the constraints" in found[0] and "'hold.z'" in found[0]


def test_redundant_constraints_that_agree_say_nothing() -> None:
    twice = (HOLD, replace(HOLD, name="again"))
    automaton = Automaton((Phase("held", ("hold", "again"), locked="z"), Phase("free")), (DROP,))
    assert warned(System(ball(), twice, automaton=automaton)) == []


def compass(mass: float, sign: float) -> System:
    """The compass with another mass of the right leg, and with the right joint turning the other way."""
    model = library.compass_walker()
    robot = model.robot
    bodies = tuple(replace(body, mass=mass) if body.name == "right_leg" else body for body in robot.bodies)
    joints = tuple(replace(joint, axis=(0.0, -sign, 0.0)) if joint.name == "right" else joint for joint in robot.joints)
    q = [*model.settings.q[:3], sign * model.settings.q[3]]
    settings = replace(model.settings, q=tuple(q), v=(*model.settings.v[:3], sign * model.settings.v[3]))
    return replace(model, robot=replace(robot, bodies=bodies, joints=joints), settings=settings)


def test_a_relabeling_that_is_no_symmetry_is_named() -> None:
    assert warned(compass(5.0, 1.0)) == []
    (said,) = warned(compass(5.5, 1.0))
    assert "relabeling of edge 'strike'" in said and "no symmetry" in said
    heavier = compass(5.5, 1.0)
    assert warned(heavier) == warned(heavier) == [said]  # every run of the same system says so
    mirrored = compass(5.0, -1.0)
    assert any("no symmetry" in one for one in warned(mirrored))
    signed = (("left", "-right"), ("right", "-left"))
    automaton = mirrored.automaton
    assert automaton is not None
    edge = replace(automaton.edges[0], guard="q.left - q.right", when="-q.right - q.left", relabel=signed)
    assert warned(replace(mirrored, automaton=Automaton(automaton.phases, (edge,)))) == []
    assert math.isfinite(simulate(mirrored, 0.1).q[-1, 0])
