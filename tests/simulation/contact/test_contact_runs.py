"""Contact in runs, against closed forms: hops, bounces, slopes, rolling, and Painleve's rod."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from kinemorph import Guard, equilibrium, linearize, simulate
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.elements.contact.contact_laws import Anchor, EasyDynNormal, HuntCrossley, Regularized
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.elements.contact.grounds import Plane
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.plants import plant
from kinemorph.plants.instant import LocalInstant
from kinemorph.plants.programs import Plant
from support.cases.contact_cases import ANCHOR, COULOMB, EASYDYN, SLOPE, G, ball, particle, runner, slope
from support.robots.reference_robots import reference

INCLINE = reference("incline_friction")["reference"]
NORMAL = np.array([np.sin(SLOPE), np.cos(SLOPE)])  # in x and z
DOWN = np.array([np.cos(SLOPE), -np.sin(SLOPE)])
STIFF = EasyDynNormal(1e5, 1e5)
SUNK = -G * np.cos(SLOPE) / 1e5 * NORMAL  # at rest on the slope
V_LIM = 1e-4


MU, KINETIC = Parameter("mu", 0.8), Parameter("kinetic", 0.7)


@cache
def sliding() -> Plant:
    """A block of 1 kg on the slope, with regularized friction."""
    return plant(
        System(particle(), (Contact("foot", "block", STIFF, Regularized(MU, V_LIM), slope()),)), parameters="all"
    )


@cache
def sticking() -> Plant:
    """The same with an anchor."""
    friction = Anchor(MU, KINETIC, 1e6, 2e3)
    return plant(System(particle(), (Contact("foot", "block", STIFF, friction, slope()),)), parameters="all")


@cache
def rolling(k: float) -> Plant:
    """A round body of 1 kg on the slope, k m r^2 about the axis it rolls on: a ball (0.4), a disk (0.5), a hoop (1)."""
    contact = Contact("foot", "ball", STIFF, Regularized(MU, 1e-3), slope(), radius=0.1)
    across = 0.4 if k == 0.4 else 0.5 * k
    builder = RobotBuilder("round").body("ball", 1.0, inertia=(0.01 * across, 0.01 * k, 0.01 * across))
    return plant(System(builder.joint("free", "free", "world", "ball").build(), (contact,)), parameters="all")


@cache
def hopping() -> Plant:
    """The runner."""
    given = reference("slip_runner")["inputs"]
    return plant(runner(given["m"], given["k"], given["l0"], float(np.radians(given["alpha_deg"]))))


# ── the spring-mass runner ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_spring_mass_runner_has_its_fixed_points() -> None:
    case = reference("slip_runner")
    given, tolerance = case["inputs"], case["tolerance_suggestion"]
    p = hopping()
    apex = Guard("apex", lambda v: v[1], direction="falling", stop=True)

    def hop(height):
        speed = np.sqrt(2.0 * (given["E"] / given["m"] - given["g"] * height))
        run = simulate(p, 3.0, q=[0, height], v=[speed, 0], events=[apex], output_step=3.0, rtol=1e-13, atol=1e-13)
        assert [event.name for event in run.events] == ["leg.touchdown", "leg.liftoff", "apex"]
        return run

    def returned(height):
        return float(hop(height).q[-1, 1])

    for wanted in case["reference"]["fixed_points"]:
        near = wanted["apex_height"] + 1e-4 * np.array([1.0, -1.0])  # the secant rule finds it from here
        misses = [returned(height) - height for height in near]
        for _ in range(6):
            last = near[1] - misses[1] * (near[1] - near[0]) / (misses[1] - misses[0])
            near, misses = np.array([near[1], last]), [misses[1], returned(last) - last]
            if abs(misses[1]) < 1e-9:
                break
        run = hop(near[1])
        slope_there = (returned(near[1] + 1e-5) - returned(near[1] - 1e-5)) / 2e-5
        assert abs(near[1] - wanted["apex_height"]) < tolerance
        assert abs(run.v[-1, 0] - wanted["apex_speed"]) < tolerance
        assert abs(run.t[-1] - wanted["period"]) < tolerance
        assert abs(slope_there - wanted["slope_return_map"]) < tolerance


def test_runner_with_fixed_steps_hops_as_well() -> None:
    wanted = reference("slip_runner")["reference"]["fixed_points"][0]
    start = {"q": [0, wanted["apex_height"]], "v": [wanted["apex_speed"], 0]}
    run = simulate(hopping(), wanted["period"], method="rk4", step=1e-5, **start)
    assert np.abs(run.q[-1, 1] - wanted["apex_height"]) < 1e-4
    assert run["leg.stance"].max() == 1.0


# ── bounces ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("restitution", [0.3, pytest.param(0.8, marks=pytest.mark.slow)])
def test_hunt_crossley_keeps_the_share_that_was_asked_for(restitution: float) -> None:
    """Exactly without weight; with it a little less, as the time of contact, k^(-2/5)."""
    stiffness = Parameter("k", 1e6)
    normal = HuntCrossley.bouncing(stiffness, restitution, 2.0)
    p = plant(
        System(particle(), (Contact("ground", "block", normal),)),
        forces=lambda u: [0.0, u[0]],
        inputs={"lift": "N"},
        parameters="all",
    )
    missing = {}
    for lift, k in ((G, 1e6), (0.0, 1e6), (0.0, 1e8)):
        start = {"q": [0, 0.05], "v": [0, -np.sqrt(4.0 - 2 * (G - lift) * 0.05)], "inputs": [lift], "p": {"k": k}}
        run = simulate(p, 0.3 if lift else 0.06, rtol=1e-11, atol=1e-13, **start)
        left = np.sqrt(run.v[-1, 1] ** 2 + 2 * (G - lift) * run.q[-1, 1])
        missing[lift, k] = restitution - left / 2.0
    assert abs(missing[G, 1e6]) < 1e-8
    assert abs(missing[0.0, 1e8] / missing[0.0, 1e6] / 100.0**-0.4 - 1.0) < 0.05


@pytest.mark.slow
def test_bounces_of_a_ball_and_newtons_law() -> None:
    """Restitution of Hunt and Crossley grows towards 1 with smaller impacts; the first is as Newton's."""
    case = reference("bouncing_ball")
    height, first = case["inputs"]["h0"], case["reference"]["impact_times"][0]
    normal = HuntCrossley.bouncing(1e9, case["inputs"]["restitution"], G * first)
    top = Guard("top", lambda v: v[1], direction="falling")
    system = System(particle(), (Contact("ground", "block", normal),))
    run = simulate(system, 7.5, q=[0, height], events=[top], rtol=1e-10, atol=1e-12)
    tops = [event.before["q"][1] for event in run.events if event.t > 0.1]
    assert abs(tops[0] - case["reference"]["apex_heights"][0]) < 1e-4 * height
    shares = [np.sqrt(b / a) for a, b in pairwise([height, *tops])]
    assert all(a < b for a, b in pairwise(shares))


# ── a block on a slope ────────────────────────────────────────────────────────────────────────────────────────────────


def test_anchored_block_stays_for_1000_s_to_the_last_bit() -> None:
    for options in ({"method": "rodas"}, {"method": "linearly_implicit_euler", "step": 0.1}):
        run = simulate(sticking(), 1000.0, q=SUNK, output_step=1.0, **options)
        (segment,) = run.segments
        assert run.outcome.ok and not run.events
        assert segment.m[0, 0] == 1.0
        assert (segment.m == segment.m[0]).all()  # mode, anchor, direction: bitwise
        stretch = segment.q[-1] - segment.m[-1, [1, 3]]
        assert abs(stretch @ DOWN - G * np.sin(SLOPE) / 1e6) < 1e-12
        assert np.abs(np.diff(segment.q[-500:], axis=0)).max() < 1e-15


def test_anchored_block_comes_to_rest_by_default() -> None:
    """Steps of one size that take contact at their end: it lands, slides, halts, and stays."""
    contact = Contact("foot", "block", EasyDynNormal(2e4, 8e4), Anchor(0.8, 0.7, 2e4, 200.0), slope())
    run = simulate(System(particle(), (contact,)), 2.0, q=[0.0, 1e-3], v=0.4 * DOWN)
    assert run.statistics.method.endswith("contact")
    assert set(run.m[:, 0]) == {0.0, 1.0, 2.0}
    assert (run.m[-50:] == run.m[-1]).all() and run.m[-1, 0] == 1.0
    assert abs(run["foot.friction"][-1] - G * np.sin(SLOPE)) < 1e-3
    assert abs(run["foot.normal"][-1] - G * np.cos(SLOPE)) < 0.02


def test_regularized_block_creeps_by_its_closed_form() -> None:
    run = simulate(sliding(), 1000.0, q=SUNK, output_step=1.0, method="rodas")
    creep = V_LIM * np.tan(SLOPE) / 0.8
    assert np.abs(run.v[1:] @ DOWN - creep).max() < 1e-12
    assert abs((run.q[-1] - run.q[1]) @ DOWN - 999.0 * creep) < 1e-12


@pytest.mark.parametrize("row", INCLINE["release_from_rest"], ids=lambda row: f"mu={row['mu']:.4g}")
def test_release_from_rest(row) -> None:
    """Stick and slip as hard Coulomb's, but for what regularizing costs: V_LIM."""
    mu = row["mu"]
    run = simulate(sliding(), 1.0, q=SUNK, p={"mu": mu}, method="rodas", rtol=1e-9)
    way, speed = (run.q[-1] - run.q[0]) @ DOWN, run.v[-1] @ DOWN
    if row["stick"]:
        assert abs(speed - V_LIM * np.tan(SLOPE) / mu) < 1e-9
        assert way < V_LIM
    else:
        assert 0.0 <= speed - row["v_at_1s"] < V_LIM
        assert 0.0 <= way - row["s_at_1s"] < V_LIM
    assert abs(run["foot.normal"][-1] / G - row["normal_per_mg"]) < 1e-6
    assert abs(run["foot.friction"][-1] / G - row["fric_per_mg"]) < 1e-6


@pytest.mark.parametrize("row", INCLINE["pushed_up"], ids=lambda row: f"mu={row['mu']:.4g}")
def test_pushed_up_the_slope(row) -> None:
    """With an anchor: it halts, sticks where static friction can hold it, and slides back otherwise."""
    top = Guard("top", lambda v: DOWN[0] * v[0] + DOWN[1] * v[1], direction="rising")
    start = {"q": SUNK, "v": -row["v0_up"] * DOWN, "p": {"mu": row["mu"], "kinetic": row["mu"]}}
    run = simulate(sticking(), 1.0, events=[top], method="rodas", rtol=1e-9, **start)
    halt = next(event for event in run.events if event.name == "foot.halts")
    assert abs(halt.t - row["t_stop"]) < 1e-6
    assert abs((run.q[0] - halt.before["q"]) @ DOWN - row["s_stop"]) < 1e-6
    names = [event.name for event in run.events]
    assert ("foot.lets go" in names) is not row["sticks"]
    if row["sticks"]:
        assert abs(run.v[-1] @ DOWN) < 1e-9
    else:
        loose = next(event for event in run.events if event.name == "foot.lets go")
        speed = row["acc_down_after"] * (1.0 - loose.t) + loose.before["v"] @ DOWN
        assert abs(run.v[-1] @ DOWN - speed) < 1e-4


@pytest.mark.parametrize("mu", [0.5779276194588153, 0.577])
def test_loaded_anchor_has_coulombs_threshold(mu: float) -> None:
    anchor = SUNK - G * np.sin(SLOPE) / 1e6 * DOWN
    m = {"foot.mode": 1.0, "foot.anchor_x": anchor[0], "foot.anchor_z": anchor[1]}
    run = simulate(sticking(), 1.0, q=SUNK, m=m, p={"mu": mu, "kinetic": mu}, method="rodas")
    slides = mu < INCLINE["critical_mu"]
    assert run.m[-1, 0] == (2.0 if slides else 1.0)
    assert abs(run.v[-1] @ DOWN - (G * (np.sin(SLOPE) - mu * np.cos(SLOPE)) if slides else 0.0)) < 1e-9


def test_static_friction_is_the_limit_and_kinetic_what_is_left() -> None:
    """A block on level ground is pushed ever harder."""
    contact = Contact("foot", "block", STIFF, Anchor(0.6, 0.4, 1e5, 600.0))
    push = {"forces": lambda t: [2.0 * t, 0.0]}
    run = simulate(System(particle(), (contact,)), 4.0, q=[0, -G / 1e5], method="rodas", rtol=1e-9, **push)
    (loose,) = run.events
    assert loose.name == "foot.lets go"
    assert abs(2.0 * loose.t - 0.6 * G) < 0.01
    after = run.t > loose.t + 0.05
    assert np.abs(run["foot.friction"][after] - 0.4 * G).max() < 1e-5


# ── rolling ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "friction",
    [pytest.param(Regularized(0.3, V_LIM), marks=pytest.mark.slow), Anchor(0.3, 0.3, 1e5, 500.0)],
    ids=["coulomb", "anchor"],
)
def test_ball_slides_until_it_rolls(friction) -> None:
    row = INCLINE["ball_flat"]
    system = System(ball(), (Contact("foot", "ball", STIFF, friction, radius=0.1),))
    start = {"q": [0, 0, 0.1 - G / 1e5, 1, 0, 0, 0], "v": [row["v0"], 0, 0, 0, 0, 0]}
    run = simulate(system, 0.6, method="rodas", rtol=1e-8, **start)
    assert abs(np.hypot(*run.v[-1, [0, 2]]) - row["v_roll"]) < 2e-4
    before = run.t < row["t_roll"] - 1e-3
    assert np.abs(run["foot.friction"][before] - 0.3 * G).max() < 1e-3
    after = run.t > row["t_roll"] + 0.1
    assert run["foot.friction"][after].max() < 0.01 * G


@pytest.mark.parametrize("share", [0.99, 1.01])
@pytest.mark.parametrize("kind", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_what_is_round_rolls_on_a_slope_where_friction_is_enough(share: float, kind: int) -> None:
    row = INCLINE["rolling"][kind]
    mu = share * row["mu_min"]
    center = (0.1 - G * np.cos(SLOPE) / 1e5) * NORMAL
    run = simulate(
        rolling(row["k"]), 1.0, q=[center[0], 0, center[1], 1, 0, 0, 0], p={"mu": mu}, method="rodas", rtol=1e-8
    )
    world = run["foot.friction"][-1] / run["foot.normal"][-1]
    rolls = share > 1.0
    assert bool(world < mu * (1.0 - 1e-3)) == rolls
    speed = np.linalg.norm(run.v[-1, :3])
    wanted = row["acc_roll"] if rolls else G * (np.sin(SLOPE) - mu * np.cos(SLOPE))
    assert abs(speed - wanted) < 2e-3


# ── Painleve's rod ────────────────────────────────────────────────────────────────────────────────────────────────────


def rod(mu: float, stiffness: float = 1e5) -> System:
    """A rod of 1 kg and 2 m in the vertical plane; at an angle -theta its left end is below."""
    builder = RobotBuilder("rod").add(Body.massless("rail")).add(Body.massless("slide"))
    builder = builder.add(Body.rod("rod", 1.0, 2.0, axis="x"))
    builder = builder.joint("x", "prismatic", "world", "rail", axis=(1, 0, 0))
    builder = builder.joint("z", "prismatic", "rail", "slide", axis=(0, 0, 1))
    robot = builder.joint("turn", "revolute", "slide", "rod", axis=(0, 1, 0)).build()
    return System(robot, (Contact("tip", "rod", EasyDynNormal(stiffness), Regularized(mu, 1e-3), point=(-1, 0, 0)),))


@pytest.mark.parametrize(
    "row", reference("painleve_rod")["reference"]["p_samples"], ids=lambda row: f"p={row['p']:.2f}"
)
def test_normal_acceleration_of_painleves_rod(row) -> None:
    """How the tip's acceleration answers to the normal force: p, also where it is below 0."""
    p, theta = plant(rod(row["mu"])), row["theta"]
    tip = []
    for depth in (0.0, 1e-3):
        q = [0.0, np.sin(theta) - depth, -theta]
        (_, z, turn) = p.laws.rate(LocalInstant(0.0, q, [0.0] * 3 + [-1.0, 0.0, 0.0], [], [0.0] * 3, []))[3:6]
        tip.append(z + turn * np.cos(theta))
    assert abs((tip[1] - tip[0]) / (1e5 * 1e-3) - row["p"]) < 1e-9


def test_painleves_rod_jams_and_jumps() -> None:
    """Where rigid bodies have no answer the spring has one: the tip digs in until it slides no more, and is thrown up.

    It takes a few milliseconds and 25 times the weight; with less friction it slides on under 4 times the weight.
    """
    theta = 1.1
    for mu, jams in ((1.0, False), (2.0, True)):
        start = {"q": [0.0, np.sin(theta) - 1e-5, -theta], "v": [-1.0, 0.0, 0.0]}
        run = simulate(rod(mu, 1e6), 0.06, method="rodas", rtol=1e-8, output_step=1e-4, **start)
        assert run.outcome.ok, run.outcome.message
        assert np.isfinite(run.q).all() and np.isfinite(run["tip.normal"]).all()
        assert bool(run["tip.normal"].max() > 20.0 * G) == jams
        slides = np.gradient(run.q[:, 0] - np.cos(run.q[:, 2]), run.t)[run.t < 0.005] < -0.01
        assert slides.all() == (not jams)
        assert (run["tip.touching"][-1] == 0.0) == jams


# ── rest and small motions ────────────────────────────────────────────────────────────────────────────────────────────


def test_equilibrium_and_linear_equations_on_the_ground() -> None:
    system = System(particle(2.0), (Contact("foot", "block", EASYDYN, COULOMB),))
    depth = 2.0 * G / EASYDYN.stiffness
    for start in (0.3, -0.01):  # from the air, and from below
        found = equilibrium(system, q=[0.0, start])
        assert found and abs(found.q[1] + depth) < 1e-12
    linear = linearize(system, found.q)
    assert abs(linear.A[3, 1] + EASYDYN.stiffness / 2.0) < 1e-6
    assert abs(linear.A[3, 3] + EASYDYN.damping * depth / 2.0) < 1e-9
    assert abs(linear.A[2, 2] + COULOMB.coefficient * G / COULOMB.speed) < 1e-9


def test_equilibrium_on_a_slope_needs_an_anchor() -> None:
    flat = Plane(normal=(0.2, 0.0, 1.0))
    assert not equilibrium(System(particle(), (Contact("foot", "block", EASYDYN, COULOMB, flat),)), q=[0, -1e-3])
    system = System(particle(), (Contact("foot", "block", EASYDYN, ANCHOR, flat),))
    found = equilibrium(system, q=[0.0, -1e-3], m={"foot.mode": 1.0})
    assert found and found.stable
    along = np.array([1.0, -0.2]) / np.hypot(1.0, 0.2)
    assert abs(found.q @ along - G * 0.2 / np.hypot(1.0, 0.2) / ANCHOR.stiffness) < 1e-12
