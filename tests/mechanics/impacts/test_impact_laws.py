"""Impact laws on bodies whose impacts are known in closed form: a rod, a rocking block, a cradle, a sphere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinemorph import Body, Robot, RobotBuilder
from kinemorph.errors import ModelError
from kinemorph.mechanics.impacts.contact_space import ContactRows
from kinemorph.mechanics.impacts.impact import Impacted, followed, impact
from kinemorph.mechanics.impacts.touch import Touch
from kinemorph.mechanics.recursions.kinematics import jacobian
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model.elements.contact.impact_laws import Energetic, ImpactLaw, Newton, Plastic, Poisson

FLAT_AXES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])  # the normal z and the tangent x of contacts in a plane


def flat_body(name: str, mass: float, inertia: float, points: dict[str, tuple[float, float]]) -> Robot:
    """A body that moves in the plane of x and z: its coordinates are x, z and the turn about y."""
    small = inertia * 0.6
    body = Body(name, mass=mass, inertia=((small, 0, 0), (0, inertia, 0), (0, 0, small)))
    builder = RobotBuilder(name).add(body, Body.point("a", 0.0), Body.point("b", 0.0))
    builder.joint("x", "prismatic", "world", "a", axis=(1, 0, 0)).joint("z", "prismatic", "a", "b", axis=(0, 0, 1))
    builder.joint("turn", "revolute", "b", name, axis=(0, 1, 0))
    for point, (x, z) in points.items():
        builder.frame(point, name, translation=(x, 0.0, z))
    return builder.build()


def rows_at(robot: Robot, q: list[float], points: list[str], mu: float, axes: np.ndarray = FLAT_AXES) -> ContactRows:
    tree = resolve(robot)
    J = [axes @ np.array(jacobian(tree, q, point, "local_world_aligned"), dtype=float)[:3] for point in points]
    return ContactRows([rows.tolist() for rows in J], [mu] * len(points))


def hit(robot: Robot, q: list[float], v: list[float], points: list[str], mu: float, law: ImpactLaw) -> Impacted:
    return impact(resolve(robot), q, v, rows_at(robot, q, points, mu), law)


# ── the rod of Painleve ───────────────────────────────────────────────────────────────────────────────────────────────


def rod_hit(law: ImpactLaw) -> tuple[float, Impacted]:
    """The rod of painleve_rod at 60 degrees, its tip at (0.5, -1) m/s: the tip's normal velocity after the impact."""
    rod = flat_body("rod", 1.0, 1.0 / 3.0, {"tip": (-1.0, 0.0)})
    q = [0.0, 0.0, -math.pi / 3.0]  # the center is above and to the right of the tip
    found = hit(rod, q, [0.5, -1.0, 0.0], ["tip"], 0.3, law)
    rows = np.array(rows_at(rod, q, ["tip"], 0.3).rows[0])
    return float(rows[0] @ found.v), found


@pytest.mark.parametrize(
    ("law", "after"), [(Newton(1.0), 1.0), (Poisson(1.0), 0.828626), (Energetic(1.0), 0.858998), (Plastic(), 0.0)]
)
def test_the_rod_leaves_as_its_law_says(law: ImpactLaw, after: float) -> None:
    assert rod_hit(law)[0] == pytest.approx(after, abs=1e-6)


def test_newton_with_friction_gains_energy_and_says_so() -> None:
    gains = {type(law).__name__: float(rod_hit(law)[1].gain) for law in (Newton(1.0), Poisson(1.0), Energetic(1.0))}
    assert gains["Newton"] == pytest.approx(0.018405, abs=1e-6) and gains["Poisson"] == gains["Energetic"] == 0.0
    assert rod_hit(Newton(1.0))[1].loss == 0.0 and rod_hit(Energetic(1.0))[1].loss > 0.0


# ── block and cradle ──────────────────────────────────────────────────────────────────────────────────────────────────


def rocked(width: float, height: float) -> tuple[float, np.ndarray]:
    """A block that rocks about its left corner when the right one hits: the share of its rate that is left, and both
    corners' normal velocities.
    """
    mass = 2.0
    corners = {"left": (-width / 2, -height / 2), "right": (width / 2, -height / 2)}
    block = flat_body("block", mass, mass * (width**2 + height**2) / 12.0, corners)
    rate = 1.0
    v = [rate * height / 2, -rate * width / 2, rate]  # turns about y at the left corner, which stands still
    q = [0.0, 0.0, 0.0]
    np.testing.assert_allclose(np.array(rows_at(block, q, ["left"], 0.8).rows[0]) @ v, 0.0, atol=1e-15)
    found = hit(block, q, v, ["left", "right"], 0.8, Plastic())
    corners_after = np.array([rows[0] for rows in rows_at(block, q, ["left", "right"], 0.8).rows]) @ found.v
    return float(found.v[2]) / rate, corners_after


def test_a_slender_block_rocks_on_and_a_wide_one_rests() -> None:
    """Housner: the share is 1 - 3/2 sin^2 of the angle between height and diagonal, as long as that is positive."""
    share, corners = rocked(1.0, 3.0)
    assert share == pytest.approx(0.85, abs=1e-12) and corners[0] > 0.1 and abs(corners[1]) < 1e-14
    share, corners = rocked(3.0, 2.0)
    assert abs(share) < 1e-14 and np.abs(corners).max() < 1e-14


def cradle(law: ImpactLaw, balls: int) -> list[float]:
    """The velocities of equal balls in a row after the first hits the others, which touch each other."""
    builder = RobotBuilder("cradle")
    for k in range(balls):
        builder.add(Body.sphere(f"ball{k}", 1.0, 0.1)).joint(
            f"x{k}", "prismatic", "world", f"ball{k}", axis=(1, 0, 0), translation=(0.2 * k, 0.0, 0.0)
        )
    robot = builder.build()
    rows = [[[float(j == k + 1) - float(j == k) for j in range(balls)], [0.0] * balls] for k in range(balls - 1)]
    start = [1.0, *[0.0] * (balls - 1)]
    return list(impact(resolve(robot), [0.0] * balls, start, ContactRows(rows, [0.0] * (balls - 1)), law).v)


@pytest.mark.parametrize("balls", [3, 5, 7])
@pytest.mark.parametrize("law", [Newton, Poisson, Energetic])
def test_the_cradle_at_once_and_in_sequence(law: type, balls: int) -> None:
    """At once the first ball is thrown back and the others move together, away from the mean velocity by e times."""
    rest = balls - 1
    for e in (1.0, 0.5):
        expected = [(1.0 - e * rest) / balls, *[(1.0 + e) / balls] * rest]
        np.testing.assert_allclose(cradle(law(e), balls), expected, atol=1e-13)
    np.testing.assert_allclose(cradle(law(1.0, in_sequence=True), balls), [*[0.0] * rest, 1.0], atol=1e-13)


# ── sliding in space ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_sliding_in_a_plane_of_space_is_planar_sliding() -> None:
    """A stop and a reversal along one tangent, where nothing moves along the other."""
    for mu, u_t in ((0.3, 0.5), (0.1, 0.2), (0.9, -0.4), (0.3, 0.0)):
        flat = np.array([[1.75, -1.299], [-1.299, 3.25]])
        W = np.zeros((3, 3))
        W[:2, :2], W[2, 2] = flat, 2.0
        planar = followed(Touch(flat.tolist(), [-1.0, u_t], mu), Energetic(0.8), 0.8)
        space = followed(Touch(W.tolist(), [-1.0, u_t, 0.0], mu), Energetic(0.8), 0.8)
        np.testing.assert_allclose(space, [*planar, 0.0], atol=1e-9)


def test_a_spinning_sphere_rolls_off_or_keeps_sliding() -> None:
    """A sphere on the ground: the normal impulse is (1 + e) m u_n, and friction ends the sliding if mu is enough."""
    m, e = 0.5, 0.6
    W = np.diag([1.0 / m, 3.5 / m, 3.5 / m])  # a solid sphere: 1/m + r^2 / (0.4 m r^2)
    u = np.array([-2.0, 0.3, -0.4])
    for mu in (0.05, 0.4):
        p = np.array(followed(Touch(W.tolist(), u.tolist(), mu), Newton(e), e))
        slide = mu * p[0] * np.array([-0.6, 0.8])
        stop = -u[1:] * m / 3.5
        assert p[0] == pytest.approx((1.0 + e) * m * 2.0, rel=1e-12)
        np.testing.assert_allclose(p[1:], slide if np.linalg.norm(slide) < np.linalg.norm(stop) else stop, atol=1e-9)


def test_a_contact_that_opens_gets_nothing() -> None:
    for law in (Plastic(), Newton(0.5), Poisson(0.5), Energetic(0.5)):
        assert followed(Touch([[1.0, 0.2], [0.2, 2.0]], [0.4, 1.0], 0.5), law, law.restitution) == [0.0, 0.0]


def test_a_restitution_beyond_its_range_is_refused() -> None:
    with pytest.raises(ModelError, match=r"Poisson: restitution is 1.2; expected a number from 0"):
        Poisson(1.2)


@pytest.mark.parametrize("law", [Newton, Poisson, Energetic])
def test_a_sphere_in_space_slides_on_or_stops(law: type) -> None:
    """Normal and friction do not act on each other: impulse -(1 + e) u_n / W_nn, and friction up to that of a stop."""
    dice = np.random.default_rng(3)
    for _ in range(60):
        e, mu, light = dice.uniform(0.0, 1.0), dice.uniform(0.0, 0.6), dice.uniform(0.2, 3.0)
        u = np.array([-dice.uniform(0.1, 4.0), *dice.normal(size=2) * 2.0])
        W = light * np.diag([1.0, 3.5, 3.5])
        hit = np.array(followed(Touch(W.tolist(), u.tolist(), mu), law(e), e), dtype=float)
        normal = -(1.0 + e) * u[0] / light
        slip = np.linalg.norm(u[1:])
        friction = -min(mu * normal, slip / (3.5 * light)) * u[1:] / slip
        np.testing.assert_allclose(hit, [normal, *friction], rtol=1e-9, atol=1e-9)
