"""Laws of contact: energy, slopes, what stays finite, nearest points, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kinemorph import derive, simulate
from kinemorph.algebra.dual import Direction
from kinemorph.analysis.audit import audit
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.contact.contacts import ContactLaw
from kinemorph.mechanics.elements.contact.friction import regularized
from kinemorph.mechanics.elements.contact.grounds import interpolated, nearest, slopes, surface
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.mechanics.elements.contact.spheres import EVEN
from kinemorph.mechanics.elements.contact.spheres import nearest as nearest_axes
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal, HuntCrossley
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import HeightMap, Plane
from kinemorph.model.elements.contact.pair_contacts import PairContact
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.plants import plant
from kinemorph.plants.instant import LocalInstant
from support.cases.contact_cases import (
    ANCHOR,
    COULOMB,
    EASYDYN,
    GRID,
    HERTZ,
    HILLS,
    JACK_Q,
    JACK_V,
    TILTED,
    ball,
    jack,
    particle,
    slope,
    systems,
)
from support.tools.each_case import each_case

SYSTEMS = dict(systems())
RNG = np.random.default_rng(4)


def anchored_memory(p) -> np.ndarray:
    """Contacts that stick, stretched, and slide in turn."""
    m = np.zeros(len(p.m))
    for k in range(0, len(m), 7):
        m[k : k + 7] = [1.0 + (k // 7) % 2, 0.05, -0.04, 0.01, 0.6, 0.8, 0.0]
    return m


QUICK = ("easydyn powers", "spheres")  # to compile the others takes longer


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in SYSTEMS])
def test_energy_closes(name: str) -> None:
    closes(SYSTEMS[name], q=JACK_Q, v=JACK_V)


@pytest.mark.slow
def test_energy_closes_with_anchors() -> None:
    """A block that lands, slides, halts, swings on its spring, and is let go."""
    contact = Contact("foot", "block", EASYDYN, ANCHOR, slope(np.radians(12.0)))
    run = closes(System(particle(), (contact,)), q=[0.0, 0.1], v=[-1.5, 0.0])
    assert {event.name.removeprefix("foot.") for event in run.events} == {"touches", "leaves", "lets go", "halts"}


@pytest.mark.slow
def test_energy_closes_together() -> None:
    elements = [element for name, system in SYSTEMS.items() for element in system.elements if name != "spheres"]
    renamed = [replace(element, name=f"{element.name}{k}") for k, element in enumerate(elements)]
    closes(System(jack(), tuple(renamed)), q=JACK_Q, v=JACK_V)


def closes(system: System, until: float = 0.5, **start):
    """Runs a system at a tight tolerance and looks at its energy."""
    run = simulate(plant(system, account=True), until, rtol=1e-12, atol=1e-12, **start)
    assert run.outcome.ok, run.outcome.message
    assert any(run[f"{element.name}.touching"].any() for element in system.elements)
    check = next(check for check in audit(run, tolerance=1e-9).checks if check.name == "energy balance")
    assert check.status == "passed" and check.worst is not None, check
    return run


@each_case("name", SYSTEMS)
def test_exact_slopes_are_those_of_differences(name: str) -> None:
    """By dual numbers, along random directions, and away from kinks: where differences of two sizes agree."""
    p = plant(SYSTEMS[name])
    m, seen = anchored_memory(p).tolist(), 0
    for _ in range(6):
        q = p.initial("q", JACK_Q + np.concatenate([[0, 0, -0.1], 0.05 * RNG.normal(size=6)])).tolist()
        s = np.concatenate([np.zeros(8), JACK_V + 0.3 * RNG.normal(size=8), 0.01 * RNG.normal(size=p.nx)])
        way = RNG.normal(size=len(s))

        def rate(s, q=q):
            return p.laws.rate(LocalInstant(0.0, q, list(s), m, [0.0] * p.nu, []))

        along = Direction()
        exact = np.array(along.tangents(rate(along.all_moved(s.tolist(), way.tolist()))))
        fine, coarse = (
            np.subtract(rate((s + h * way).tolist()), rate((s - h * way).tolist())) / (2 * h) for h in (1e-6, 3e-6)
        )
        scale = np.abs(exact).max()
        if np.abs(fine - coarse).max() < 1e-6 * scale:
            seen += 1
            assert np.abs(exact - fine).max() < 1e-6 * scale
        if seen == 2:
            return
    raise AssertionError("kinks everywhere")


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_compiled_slopes_are_those_of_dual_numbers(name: str) -> None:
    p = plant(SYSTEMS[name])
    q, m = p.initial("q", JACK_Q - [0, 0, 0.1, 0, 0, 0, 0, 0, 0]), anchored_memory(p)
    s = np.concatenate([np.zeros(8), JACK_V, np.full(p.nx, 0.01)])
    slope = build(jacobian(p.rate, "out", "s"))(0.0, q, s, m, np.zeros(p.nu), ())
    for k, unit in enumerate(np.eye(len(s)).tolist()):
        along = Direction()
        dual = along.all_moved(s.tolist(), unit)
        rates = p.laws.rate(LocalInstant(0.0, q.tolist(), dual, m.tolist(), [0.0] * p.nu, []))
        assert np.allclose(slope[:, k], along.tangents(rates), rtol=1e-9, atol=1e-9 * np.abs(slope).max())


@pytest.mark.parametrize("friction", [None, COULOMB, ANCHOR], ids=["smooth", "coulomb", "anchor"])
@pytest.mark.parametrize(
    "ground",
    [Plane(), TILTED, HILLS, pytest.param(GRID, marks=pytest.mark.slow)],
    ids=["level", "tilted", "hills", "grid"],
)
def test_slopes_are_finite_on_kinks(friction, ground) -> None:
    """At the moment of touching and at rest, on the edge between creeping and sliding, in every mode."""
    height, n = surface(ground)((0.0, 0.0, 0.0))
    foot = -height * np.array(n)
    for normal in (EASYDYN, HERTZ, EasyDynNormal(1e4, 1e3, 2.0, 1.5)):
        p = plant(System(ball(), (Contact("c", "ball", normal, friction, ground, radius=0.1),)))
        for depth, speed in ((0.0, 0.0), (0.0, COULOMB.speed), (1e-300, 0.0), (1e-3, 0.0), (1e-3, COULOMB.speed)):
            q = p.initial("q", [*(foot + (0.1 - depth) * np.array(n)), 1, 0, 0, 0]).tolist()
            for mode in (0.0, 1.0, 2.0) if friction is ANCHOR else (0.0,):
                m = [mode, *[0.0] * (len(p.m) - 1)][: len(p.m)]
                for k in (0, 2, 6, 8, 10):
                    s = [speed if i == 6 else 0.0 for i in range(p.ns)]
                    along = Direction()
                    s[k] = along.moved(s[k])
                    found = p.laws.rate(LocalInstant(0.0, q, s, m, [0.0] * p.nu, []))
                    assert np.isfinite(along.tangents(found)).all()


@pytest.mark.parametrize("normal", [EASYDYN, HERTZ, EasyDynNormal(5e4, 4e3, 1.5, 1.2)])
def test_ground_pushes_and_never_pulls(normal) -> None:
    law = normal_law(normal)
    for rate in (-50.0, -1.0, 0.0, 2.0):
        assert law(-1e-3, rate).force == 0.0  # damping alone does not push above it
        deep = law(2e-3, rate)
        assert deep.force >= 0.0 and deep.dissipated >= 0.0
        assert (deep.force == 0.0) == (rate == -50.0)
        step = 1e-7
        by_depth = (law(2e-3 + step, rate).force - law(2e-3 - step, rate).force) / (2 * step)
        by_rate = (law(2e-3, rate + step).force - law(2e-3, rate - step).force) / (2 * step)
        slopes = [deep.pushing * deep.by_depth, deep.pushing * deep.by_rate]
        assert np.allclose(slopes, [max(by_depth, 0.0), by_rate], rtol=1e-5)
        assert law.at_rest(2e-3) == pytest.approx(law(2e-3, 0.0).force, rel=1e-15) and law.at_rest(0.0) == 0.0


def test_equation_19_and_20() -> None:
    """The numbers of the paper's formulas by hand: K 5e4, C 1e5, f 0.6, v_lim 0.1 mm/s."""
    pressed = normal_law(EasyDynNormal(5e4, 1e5))(2e-3, 0.1)
    assert abs(pressed.force - (5e4 * 2e-3 + 1e5 * 2e-3 * 0.1)) < 1e-12
    slow, fast = (regularized(0.6, 1e-4, 100.0, (0.0, v, 0.0)).force[1] for v in (5e-5, 3.0))
    assert abs(slow + 30.0) < 1e-12 and abs(fast + 60.0) < 1e-12


def test_laws_at_the_end_of_a_step() -> None:
    """D is symmetric and positive, and the slope of the force by a velocity that moves the point, too; where the point
    goes deeper, D is the secant to the force of the depth at the start.
    """

    class End:
        """A point at the end of a step, seen in the world's own axes."""

        def __init__(self, start, velocity, step):
            self.velocity, self.step = tuple(velocity), step
            self.position = tuple(np.asarray(start) + step * np.asarray(velocity))

        def into(self, vector):
            return tuple(vector)

    p = plant(System(ball(), ()))
    scene_of = _scenes(p)
    for friction in (None, COULOMB, ANCHOR):
        element = Contact("c", "ball", EASYDYN, friction, TILTED)
        view = scene_of(element, [0.0, 0.0, -0.01, 1, 0, 0, 0], memory=[1.0, 0.01, 0.0, 0.0, 0, 0, 0])
        (place,) = ContactLaw().touching_points(element, view)
        n, start, h = np.array(surface(TILTED)((0.0, 0.0, 0.0)).normal), np.array([0.0, 0.0, -0.01]), 1e-3
        along = 0.01 * np.cross(n, [0.0, 1.0, 0.0])
        deeper = place.law.linear(End(start, along - 0.1 * n, h), h)
        still = n @ place.law.force(End(start, along, 0.0))  # the force of the depth at the start
        (xx, xy, xz, yy, yz, zz), secant = deeper[1], (n @ deeper[0] - still) / 0.1
        assert n @ [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]] @ n == pytest.approx(h * secant, rel=1e-9)
        u = along + 0.1 * n
        leaving = replace(place.law, start=place.law.start._replace(rise=0.1))
        force, D = leaving.linear(End(start, u, h), h)
        full = np.array([[D[0], D[1], D[2]], [D[1], D[3], D[4]], [D[2], D[4], D[5]]])
        assert np.linalg.eigvalsh(full).min() >= -1e-12
        assert np.allclose(force, place.law.force(End(start, u, h)))
        shifts = 1e-6 * np.eye(3)
        slope = np.stack(
            [
                np.subtract(place.law.force(End(start, u + d, h)), place.law.force(End(start, u - d, h))) / 2e-6
                for d in shifts
            ],
            axis=1,
        )
        across = np.eye(3) - np.outer(n, n)
        assert np.allclose(n @ full @ n, -h * n @ slope @ n, rtol=1e-6)
        assert np.allclose(across @ full @ across, -h * across @ slope @ across, rtol=1e-5, atol=1e-9)


def _scenes(p):
    from kinemorph.mechanics.elements.ensemble import ensemble
    from kinemorph.mechanics.elements.instant import SystemInstant
    from kinemorph.mechanics.trees.resolve import resolve

    def view(element, q, memory):
        cast = ensemble(p.robot, (element,))
        m = memory[: len(cast.memory)]
        return SystemInstant(cast, resolve(p.robot), 0.0, q, [0.0] * 6, [0.0] * len(cast.states), m, (), {}).views[0]

    return view


# ── geometry ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nearest_point_of_terrain() -> None:
    for ground in (HILLS, GRID):
        height = ground.height if ground is HILLS else interpolated(ground)
        for _ in range(4):
            x, y = RNG.uniform(-1.0, 1.0, 2)
            f, fx, fy = slopes(height, float(x), float(y))
            n = np.array([-fx, -fy, 1.0]) / np.sqrt(1 + fx * fx + fy * fy)
            for lift in (-0.02, 0.15):
                found = nearest(height, tuple(map(float, np.array([x, y, f]) + lift * n)))
                assert abs(found.height - lift) < 1e-9
                assert np.abs(np.array(found.normal) - n).max() < 1e-7


def test_height_map_is_smooth_and_goes_on_level() -> None:
    height, step = interpolated(GRID), 1e-6
    for i in range(9):
        for j in range(8):
            x, y = -1.6 + 0.4 * i, -1.7 + 0.5 * j
            assert abs(height(x, y) - GRID.heights[i][j]) < 1e-13
            before, after = (np.array(slopes(height, x + d, y + d)) for d in (-step, step))
            assert np.abs(before - after).max() < 1e-5
    assert height(-9.0, -9.0) == GRID.heights[0][0]
    assert height(9.0, 9.0) == GRID.heights[-1][-1]


def test_nearest_points_of_axes() -> None:
    grid = np.linspace(0.0, 1.0, 201)
    for case in range(40):
        a, b = RNG.normal(size=(2, 2, 3))
        if case % 4 == 0:
            b = a + np.array([0.3, 0.1, 0.2])  # parallel
        found = nearest_axes(*([tuple(map(float, end)) for end in ends] for ends in (a, b)))
        eps = EVEN * (np.sum((a[1] - a[0]) ** 2) + np.sum((b[1] - b[0]) ** 2))
        one = a[0] + grid[:, None, None] * (a[1] - a[0])
        other = b[0] + grid[None, :, None] * (b[1] - b[0])
        phi = ((one - other) ** 2).sum(-1) + eps * ((grid[:, None] - 0.5) ** 2 + (grid[None] - 0.5) ** 2)
        least = float(np.sum(np.subtract(found.a, found.b) ** 2)) + found.extra
        assert least <= phi.min() + 1e-15
        assert least >= phi.min() - 0.02 * np.sqrt(phi.min()) - 1e-3
        if case % 4 == 0:
            assert np.allclose(np.add(found.a, found.b), a.mean(0) + b.mean(0))


def test_pairs_push_each_other() -> None:
    """Momentum of a free body is not changed by what its parts do to each other."""
    p = plant(SYSTEMS["capsules of two limbs"])
    world = p.outputs["limbs.normal"]
    q, v = p.initial("q", JACK_Q).tolist(), JACK_V.tolist()
    assert world(0.0, q, v, [], [], [0.0] * p.nu, []) > 10.0
    free = plant(jack())
    change = np.subtract(
        *(one.laws.rate(LocalInstant(0.0, q, [*[0.0] * 8, *v], [], [0.0] * one.nu, []))[8:] for one in (p, free))
    )
    forces = derive(jack()).mass_matrix(np.array(q)) @ change  # J^T F of what limbs do to each other
    assert np.abs(forces).max() > 1.0
    assert np.abs(forces[:6]).max() < 1e-12 * np.abs(forces).max() * 10


def test_parameters_of_parts_are_inputs() -> None:
    k = Parameter("k", 1e4)
    system = System(ball(), (Contact("c", "ball", EasyDynNormal(k), radius=0.1),))
    p = plant(system, parameters="all")
    assert "k" in [column.name for column in p.p]


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────────────────────

HOLE = float("nan")
BAD = {
    "no such body or frame. Did you mean 'left'?": {"body": "lft"},
    "friction: static is 0.3 and kinetic 0.4": {"friction": Anchor(0.3, 0.4, 1e3)},
    "ground: the normal of the plane is zero": {"ground": Plane(normal=(0.0, 0.0, 0.0))},
    "has a hole: heights[1][0] is nan": {"ground": HeightMap(((0.0, 0.0), (HOLE, 0.0)))},
    "has 1 x 3 heights; expected at least 2 x 2": {"ground": HeightMap(((0.0, 0.0, 0.0),))},
    "rows of 2 and of 3 heights; expected a regular grid": {"ground": HeightMap(((0.0, 0.0), (0.0, 0.0, 0.0)))},
    "both ends of its capsule are at (0.0, 0.0, 0.0)": {"end": (0.0, 0.0, 0.0), "radius": 0.1},
    "samples is 1": {"end": (0.0, 0.0, 0.1), "radius": 0.1, "samples": 1},
}


@each_case("says", BAD)
def test_bad_contacts_are_refused(says: str) -> None:
    data = {"body": "left", "normal": EASYDYN, **BAD[says]}
    with pytest.raises(ModelError) as error:
        plant(System(jack(), (Contact("foot", **data),)))
    assert says in str(error.value)
    assert "element 'foot'" in str(error.value)
    assert len(error.value.problems) == 1


def test_bad_pairs_and_restitutions_are_refused() -> None:
    with pytest.raises(ModelError, match="both radii are 0"):
        plant(System(jack(), (PairContact("pair", "left", "right", HERTZ, 0.0, 0.0),)))
    with pytest.raises(ModelError, match=r"restitution is 1.2"):
        HuntCrossley.bouncing(1e4, 1.2, 1.0)
