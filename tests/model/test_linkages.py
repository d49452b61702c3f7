"""Linkages of the library: closed at q = 0, of the right mobility, on the right branch, with the data they state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from kinemorph import derive, library, simulate
from kinemorph.algebra.groups import act
from kinemorph.deriving.dynamics import Dynamics
from kinemorph.errors import ModelError
from kinemorph.model.changes.reroot import body_motion
from kinemorph.model.library.walking_linkages import KLANN_LENGTHS
from kinemorph.model.robot import Robot
from kinemorph.model.system import System, as_robot
from kinemorph.plants import plant
from support.references import reduced_linkages as by_hand

# name: (degrees of freedom, bodies, loops)
SHAPES: dict[str, tuple[int, int, int]] = {
    "slider_crank": (1, 3, 1),
    "five_bar": (2, 4, 1),
    "pantograph_leg": (2, 6, 2),
    "klann": (1, 5, 2),
    "jansen": (1, 7, 3),
    "n_four_bar": (1, 5, 2),
    "bricard": (1, 5, 1),
    "spatial_slider_crank": (1, 3, 1),
    "andrews_squeezer": (1, 7, 3),
}


def made(name: str) -> Robot | System:
    return getattr(library, name)()


def mobility(d: Dynamics, q: Sequence[float]) -> int:
    J = d.constraint_jacobian(q, *([d.nominal_parameters] if d.parameters else []))
    return int(d.robot.nv - np.linalg.matrix_rank(J, tol=1e-9))


@pytest.mark.parametrize("name", SHAPES)
def test_they_stand_closed_at_zero_with_their_mobility(name: str) -> None:
    model = made(name)
    robot, (freedom, bodies, loops) = as_robot(model), SHAPES[name]
    assert (len(robot.bodies), len(robot.loops)) == (bodies, loops)
    d = derive(robot, backend="interpreter")
    assert np.abs(d.constraint_error(np.zeros(robot.nq))).max() < 1e-15
    assert mobility(d, np.zeros(robot.nq)) == freedom
    if isinstance(model, System) and model.settings.v:  # and the speeds of the start keep it closed
        assert np.abs(d.constraint_jacobian(np.zeros(robot.nq)) @ model.settings.v).max() < 1e-14


def opened(model: Robot | System, until: float, **options: object) -> tuple[float, float, np.ndarray]:
    """(the largest opening [m or rad], its largest rate, q at the end) of a run from the model's own start."""
    found = simulate(model, until, output_step=until / 20, **options)
    assert found.outcome.ok, found.outcome.message
    (segment,) = found.segments
    d = derive(as_robot(model), backend="interpreter")
    errors = [np.abs(d.constraint_error(q)).max() for q in segment.q]
    rates = [np.abs(d.constraint_jacobian(q) @ v).max() for q, v in zip(segment.q, segment.v, strict=True)]
    return max(errors), max(rates), segment.q[-1]


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("jansen", 2.0),
        pytest.param("klann", 20.0, marks=pytest.mark.slow),
        pytest.param("five_bar", 20.0, marks=pytest.mark.slow),
        pytest.param("pantograph_leg", 20.0, marks=pytest.mark.slow),
        pytest.param("slider_crank", 20.0, marks=pytest.mark.slow),
        pytest.param("spatial_slider_crank", 20.0, marks=pytest.mark.slow),
        pytest.param("bricard", 13.0, marks=pytest.mark.slow),
    ],
)
def test_they_move_and_stay_closed(name: str, until: float) -> None:
    error, rate, q = opened(made(name), until)
    assert np.abs(q).max() > 1e-2  # it has moved
    assert error < 1e-11 and rate < 1e-9


# ── Klann and Jansen ──────────────────────────────────────────────────────────────────────────────────────────────────


def in_units(robot: Robot, unit: float) -> np.ndarray:
    """Where the foot stands at q = 0, x and z in units of the linkage."""
    foot = robot.frame("foot")
    T, _ = body_motion(robot, foot.body, np.zeros(robot.nq), np.zeros(robot.nv))
    return np.array(act(T, foot.placement.p))[[0, 2]] / unit


@pytest.mark.parametrize(
    ("leg", "x", "z"),
    [(library.klann, (-105.0, -31.0), (-64.0, -31.0)), (library.jansen, (-71.5, -3.6), (-91.8, -69.4))],
)
def test_the_foot_goes_where_it_is_known_to(
    leg: Callable[..., Robot], x: tuple[float, float], z: tuple[float, float]
) -> None:
    angles = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    feet = np.array([in_units(leg(scale=0.01, angle=angle), 0.01) for angle in angles])
    assert feet.min(axis=0) == pytest.approx([x[0], z[0]], abs=0.6)
    assert feet.max(axis=0) == pytest.approx([x[1], z[1]], abs=0.6)


def test_bars_weigh_as_stated() -> None:
    # 25 x 6 mm of aluminum at 4 mm per unit: crank, rocker, upper rocker, rod, leg
    masses = [body.mass for body in library.klann().bodies]
    assert masses == pytest.approx([0.028, 0.038, 0.055, 0.120, 0.189], abs=6e-4)
    bars = (15.0, 50.0, 61.9, 41.5, 40.1, 55.8, 39.3, 39.4, 36.7, 65.7, 49.0)
    assert library.jansen().total_mass == pytest.approx(0.15 * 0.005185 * sum(bars))


@pytest.mark.parametrize(("leg", "hand"), [(library.klann, by_hand.klann), (library.jansen, by_hand.jansen)])
@pytest.mark.parametrize("angle", [0.3, 2.0, 4.5])
def test_their_accelerations_against_one_equation(
    leg: Callable[..., Robot], hand: Callable[..., by_hand.Bodies], angle: float
) -> None:
    unit, density, rate, torque = 0.007, 0.3, 4.0, 0.2
    robot = leg(unit, density, angle)
    d = derive(robot, backend="interpreter")
    q, crank = np.zeros(robot.nq), robot.v_slice("crank_joint").start
    _, _, null = np.linalg.svd(d.constraint_jacobian(q))
    v = null[-1] * rate / null[-1][crank]
    tau = np.zeros(robot.nv)
    tau[crank] = torque
    expected = by_hand.acceleration(hand(unit, density), angle, rate, torque=torque)
    assert d.forward_dynamics(q, v, tau)[crank] == pytest.approx(expected, rel=1e-8)


# ── the others ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_pantograph_carries_two_ways_apart() -> None:
    robot = library.pantograph_leg()
    d = derive(robot, backend="interpreter")
    _, _, null = np.linalg.svd(d.constraint_jacobian(np.zeros(6)))
    J = d.jacobian("foot", reference="local_world_aligned")(np.zeros(6))
    height, reach = (robot.v_slice(f"{nut}_nut_joint").start for nut in ("height", "reach"))
    ways = null[-2:].T @ np.linalg.inv(null[-2:, [height, reach]].T)  # of all joints, for each nut
    assert np.allclose((J @ ways)[:3], [[0.0, 4.0], [0.0, 0.0], [-3.0, 0.0]])
    assert np.allclose(d.pose("foot")(np.zeros(6))[:3, 3], (4 * 0.1, 0.0, -3 * 0.08))


def test_data_that_cannot_be_assembled_are_a_sentence() -> None:
    for call, words in (
        (lambda: library.jansen(lengths=(1.0, 2.0)), r"jansen: lengths is 1, 2, expected 13 numbers above 0"),
        (lambda: library.klann(scale=0.0), r"klann: scale is 0, expected a number above 0"),
        (
            lambda: library.klann(lengths=(60.0, *KLANN_LENGTHS[1:])),
            r"klann: two bars of .* apart",
        ),
        (lambda: library.five_bar(ground=3.0), r"five_bar: two bars of 0\.35 m and 0\.35 m"),
        (lambda: library.pantograph_leg(start=(0.2, 0.2)), r"pantograph_leg: two bars of .* apart"),
        (
            lambda: library.spatial_slider_crank((0.08, 0.2)),
            r"the length of the rod is 0\.2 m, expected more than 0\.22",
        ),
        (lambda: library.n_four_bar(0), r"n is 0, expected 1 to"),
        (lambda: library.slider_crank((1.0, -2.0)), r"slider_crank: lengths is 1, -2"),
        (lambda: library.build("bricard"), r"'bricard' is a System.*library\.bricard\(\)"),
    ):
        with pytest.raises(ModelError, match=words):
            call()


def test_systems_carry_their_own_start() -> None:
    system = library.n_four_bar(3)
    assert plant(system).start["v"][:4] == (-1.0,) * 4
    assert library.andrews_squeezer(0.0).element("motor").effort == 0.0
    assert [type(element).__name__ for element in library.flyball_governor().elements] == ["Spring", "Spring"]
