"""Gaits of the library's walkers as orbits of their automata, against closed forms and independent computations.

References: the rimless wheel in closed form (McGeer 1990, Coleman 1997); the compass at 3 degrees (Goswami, Thuilot and
Espiau 1996) and the simplest walker at 0.009 (Garcia, Chatterjee, Ruina and Coleman 1998) by DOP853 and Newton's method
on their published equations; SLIP by polar coordinates.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import Parameter, RobotBuilder, library
from kinemorph.errors import UnsupportedError
from kinemorph.model.elements.phases.automaton import Automaton, Edge, Phase
from kinemorph.model.system import System
from kinemorph.orbits import basin, bifurcation_diagram, continuation, periodic_orbit, return_map, switch_branch

COMPASS = (complex(-0.1997261268293673, 0.5444760620725699), 0.13157262411846538)
SIMPLEST = {
    "long": (3.882463752851374, (complex(-0.19009984106630765, 0.5575987766814171),) * 2),
    "short": (3.0961058680781635, (4.003864358929491, 0.4595895897975577)),
}
KNEED = (0.3486120, 0.5643282)  # [s] of a step: the knee locks, the heel strikes


@pytest.fixture(scope="module")
def compass():
    """The return map of the compass, with slopes by its slope."""
    return return_map(library.compass_walker(), parameters="slope").varying(["slope"])


@pytest.mark.slow
def test_the_compass_has_the_multipliers_of_its_equations_and_doubles_its_period_where_published(compass) -> None:
    """Three multipliers: the place along the ground and the guard, which is zero after a strike, do not count."""
    orbit = periodic_orbit(compass, z={"v.left": -1.1, "v.right": -0.37})
    assert orbit and orbit.residual < 1e-10
    assert compass.edges.edges == ("strike",) and compass.edges.shift == ("x", "z")
    assert orbit.period == pytest.approx(0.7343463911586737, abs=1e-10)
    np.testing.assert_allclose(orbit.multipliers[[0, 2]], COMPASS, atol=1e-8)
    branch = continuation(orbit, "slope", (0.05, 0.08), step=0.1, max_step=0.3)
    (doubling,) = branch.special
    assert doubling.kind == "doubling" and math.degrees(doubling.value) == pytest.approx(4.3908983, abs=1e-7)


@pytest.mark.slow
def test_slopes_of_the_return_map_are_those_of_differences(compass) -> None:
    """Also away from the orbit, by parameters, and for the duration."""
    z, h = compass.start * [1.02, 0.99, 0.95], 1e-5
    here, k = compass(z, compass.p), compass.p[0]
    assert not here.message
    for j in range(3):
        ahead, behind = (compass(z + side * h * np.eye(3)[j], compass.p) for side in (1.0, -1.0))
        np.testing.assert_allclose((ahead.z - behind.z) / (2.0 * h), here.by_z[:, j], atol=1e-7)
        assert (ahead.duration - behind.duration) / (2.0 * h) == pytest.approx(here.duration_by_z[j], abs=1e-7)
    ahead, behind = (compass(z, np.array([k + side * h])) for side in (1.0, -1.0))
    np.testing.assert_allclose((ahead.z - behind.z) / (2.0 * h), here.by_p[:, 0], atol=1e-6)
    assert (ahead.duration - behind.duration) / (2.0 * h) == pytest.approx(here.duration_by_p[0], abs=1e-6)


def test_what_is_not_a_cycle_of_edges_is_said() -> None:
    hopper = library.compass_walker()
    with pytest.raises(UnsupportedError, match="relabel is given, and the edges of the automaton"):
        return_map(hopper, relabel=lambda q: {"q": q})
    with pytest.raises(UnsupportedError, match=r"edges is 0, .* expected at least 1"):
        return_map(hopper, edges=0)
    with pytest.raises(UnsupportedError, match="cycles do not end after edges"):
        return_map(library.pendulum(), edges=1, period=1.0)
    never = Automaton((Phase("swing"),), (Edge("never", "swing", "swing", "2 + 0 * q.q1"),))
    with pytest.raises(UnsupportedError, match=r"takes 0 edges within 3 s; expected at least 1"):
        return_map(System(library.pendulum(), automaton=never), longest=3.0)


@pytest.mark.slow
def test_the_rimless_wheel_has_the_return_map_of_its_closed_form_from_spoke_to_spoke() -> None:
    """omega'^2 = cos^2(2 alpha) (omega^2 + 4 g sin(alpha) sin(slope) / l), its multiplier is cos^2(2 alpha) = 1/2."""
    wheel = return_map(library.rimless_wheel())
    assert [column.name for column in wheel.columns] == ["v.pitch"]
    for omega in (1.0, 1.3, 2.0):
        square = math.cos(math.pi / 4.0) ** 2 * (omega**2 + 4.0 * 9.81 * math.sin(math.pi / 8.0) * math.sin(0.08))
        assert wheel(np.array([omega]), wheel.p).z[0] == pytest.approx(math.sqrt(square), abs=1e-9)
    orbit = periodic_orbit(wheel)
    assert orbit.period == pytest.approx(1.034549811423174, abs=1e-9)
    assert orbit.multipliers[0] == pytest.approx(0.5, abs=1e-9)
    # a wheel that is too slow does not pass the top and rolls back: 0.975417 rad/s from the closed form
    found = basin(wheel, {"v.pitch": [0.9, 0.9753, 0.9756, 2.0]}, cycles=30)
    assert found.labels.tolist() == [-1, -1, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["long", "short"])
def test_the_simplest_walker_has_both_gaits(gait) -> None:
    period, multipliers = SIMPLEST[gait]
    orbit = periodic_orbit(library.simplest_walker(gait=gait))
    assert orbit.residual < 1e-8 and orbit.period == pytest.approx(period, abs=1e-8)
    np.testing.assert_allclose(np.abs(orbit.multipliers[:2]), np.abs(multipliers), atol=1e-7)
    assert orbit.multipliers[0] == pytest.approx(multipliers[0], abs=1e-6)
    assert orbit.stable is (gait == "long")


def test_the_start_of_a_cycle_moves_with_the_parameters_of_its_section() -> None:
    """A ball bounces on a table of height h: where the table is higher, the cycle begins higher, and is the same."""
    robot = RobotBuilder("ball").body("ball", mass=1.0).joint("z", "prismatic", "world", "ball", axis=(0, 0, 1)).build()
    bounce = Edge("bounce", "fall", "fall", "q.z - h", reset={"v.z": "-0.9 * v.z"}, impact="none")
    automaton = Automaton(Phase("fall"), bounce, known=(("h", Parameter("h", 0.3, "m")),))
    cycle = return_map(System(robot, automaton=automaton), parameters="h", q=[0.3], v=[2.0]).varying(["h"])
    found = cycle(cycle.start, cycle.p)
    assert [column.name for column in cycle.columns] == ["v.z"]
    assert found.z[0] == pytest.approx(0.9 * cycle.start[0], abs=1e-9) and found.by_z[0, 0] == pytest.approx(0.9)
    assert abs(found.by_p[0, 0]) < 1e-9 and abs(found.duration_by_p[0]) < 1e-9


@pytest.mark.slow
def test_the_simplest_walker_doubles_its_period_where_published_and_its_diagram_shows_the_cascade() -> None:
    orbit = periodic_orbit(library.simplest_walker())
    branch = continuation(orbit, "slope", (0.008, 0.016), step=0.1, max_step=0.2)
    assert branch.points[0].map.columns == orbit.map.columns
    (doubling,) = branch.special
    assert doubling.value == pytest.approx(0.015088438, abs=1e-8)
    twice = switch_branch(doubling, (0.01, 0.0158), max_step=0.2)
    assert twice.points[2].cycles == 2 and twice.points[2].stable
    diagram = bifurcation_diagram(
        library.simplest_walker(), "slope", np.linspace(0.009, 0.0181, 53), transient=150, keep=32
    )
    periods = diagram.periods(1e-4)
    assert not diagram.messages
    assert (periods[diagram.values < 0.0149] == 1).all()
    assert (periods[(diagram.values > 0.0152) & (diagram.values < 0.017)] == 2).all()
    assert 4 in periods


@pytest.mark.slow
def test_the_walker_with_knees_and_the_monopods_have_orbits() -> None:
    walker = periodic_orbit(library.kneed_walker())
    assert walker.stable and walker.residual < 1e-8 and walker.period == pytest.approx(KNEED[1], abs=1e-7)
    knee, heel = walker.trajectory.events  # the knee that the heel strike releases does not lock again at once
    assert (knee.name, heel.name) == ("knee", "heel") and knee.t == pytest.approx(KNEED[0], abs=1e-7)
    pieces = periodic_orbit(library.kneed_walker(), nodes=2)
    assert len(pieces.pieces) == 2 and pieces.period == pytest.approx(walker.period, abs=1e-9)
    np.testing.assert_allclose(np.abs(pieces.multipliers), np.abs(walker.multipliers), atol=1e-7)
    for make in (library.bolt_like, library.raptor_like):
        monopod = periodic_orbit(make())
        assert monopod.stable and monopod.residual < 1e-8, monopod.message
        assert monopod.map.edges.edges == ("touchdown", "liftoff")


@pytest.mark.slow
def test_slip_has_a_fold_and_a_doubling_on_one_branch_over_its_angle_of_attack() -> None:
    """Energy is conserved, so that one multiplier is 1 unless it is kept; the other one is that of the apex map."""

    def energy(q, v):
        return 9.81 * q[1] + 0.5 * (v[0] * v[0] + v[1] * v[1])

    free = periodic_orbit(library.slip_runner())
    np.testing.assert_allclose(free.multipliers, [1.0, -0.16130768626487857], atol=1e-6)
    orbit = periodic_orbit(library.slip_runner(), kept={"energy": energy})
    assert orbit.multipliers[0] == pytest.approx(-0.16130768626487857, abs=1e-6)
    assert orbit.period == pytest.approx(0.2525326138175419, abs=1e-10)
    branch = continuation(orbit, "attack", (math.radians(60.0), math.radians(75.0)))
    assert sorted(point.kind for point in branch.special) == ["doubling", "fold"]


@pytest.mark.slow
def test_a_basin_of_the_compass_is_that_of_single_runs() -> None:
    """The label of a start is that of a run which takes 30 steps or does not."""
    cycle = return_map(library.compass_walker())
    grid = {"q.right": np.linspace(-0.32, -0.22, 6), "v.left": np.linspace(-1.3, -0.95, 6)}
    found = basin(cycle, grid, cycles=30)
    (attractor,) = found.attractors
    np.testing.assert_allclose(attractor[0], cycle.start, atol=1e-3)
    walks = np.zeros((6, 6), dtype=int)
    for j, angle in enumerate(grid["q.right"]):
        for k, rate in enumerate(grid["v.left"]):
            run = cycle.motion(np.array([angle, rate, cycle.start[2]]), cycle.p, 40.0)
            walks[j, k] = 1 if len(run.events) >= 30 else -1
    assert (found.labels == walks).all() and 0.2 < found.share(1) < 0.8
