"""Rigid contacts, event by event: closed forms of sliding, rolling, bouncing and rocking, and energy that balances."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinemorph import RobotBuilder, System, equilibrium, linearize, poles, sensitivities, simulate, simulate_batch
from kinemorph.algebra.scalar import cos, sin
from kinemorph.elements import (
    Anchor,
    Contact,
    Coulomb,
    HuntCrossley,
    PairContact,
    Plane,
    Regularized,
    Rigid,
    TorsionSpring,
)
from kinemorph.errors import ModelError, ShapeError, UnsupportedError
from kinemorph.model.body import Body, diagonal
from kinemorph.model.library.rigid_contacts import (
    GRAVITY,
    cradle,
    falling_rod,
    rigid_ball,
    sliding_block,
    stacked_blocks,
    standing_block,
)
from kinemorph.model.library.walkers.planar import turning
from kinemorph.model.parameter import Parameter
from kinemorph.plants import plant
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.failures import explained
from kinemorph.simulation.stepping.stepper import Stepper
from support.robots.reference_robots import reference

INCLINE = reference("incline_friction")["reference"]
SLOPE = math.radians(30.0)
DOWN = np.array([math.cos(SLOPE), -math.sin(SLOPE)])  # along the slope, in x and z
RADIUS = 0.5
QUICK = {"method": "dormand_prince"}  # compiles faster than the default


@pytest.fixture(scope="module")
def block():
    return plant(sliding_block(mu=Parameter("mu", 0.5)), parameters=["mu"], account=True)


@pytest.fixture(scope="module")
def disc():
    """A body that rolls in the x-z plane: its moment of inertia is k m r^2, its ground has the normal (nx, 0, nz)."""
    k, mu, nx, nz = (Parameter(*pair) for pair in (("k", 0.4), ("mu", 0.3), ("nx", 0.0), ("nz", 1.0)))
    builder = RobotBuilder("disc", gravity=GRAVITY)
    moment = k * RADIUS**2
    builder.add(Body("disc", 1.0, inertia=diagonal(moment, moment, moment)))
    turning(builder, "disc")
    contact = Contact("rim", "disc", Rigid(), Coulomb(mu), Plane(normal=(nx, 0.0, nz)), radius=RADIUS)
    return plant(System(builder.build(), (contact,)), parameters=["k", "mu", "nx", "nz"], account=True)


@pytest.fixture(scope="module")
def rocker():
    return plant(standing_block(Parameter("w", 1.0), Parameter("h", 3.0)), parameters=["w", "h"], account=True)


def tilted(turn: float, width: float, height: float) -> list[float]:
    """The configuration of a block that is turned by a small angle [rad] about its right edge, at x = width / 2."""
    c, s = math.cos(turn), math.sin(turn)
    return [0.5 * (width - width * c + height * s), 0.5 * (width * s + height * c), turn]


# ── friction ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("case", INCLINE["release_from_rest"], ids=lambda case: f"mu={case['mu']:.3f}")
def test_block_released_on_an_incline(block, case) -> None:
    run = simulate(block, 1.0, p={"mu": case["mu"]})
    assert run.outcome.kind == "finished" and not run.events
    assert run["foot.mode"][-1] == (1.0 if case["stick"] else 2.0)
    assert run.q[-1] == pytest.approx(case["s_at_1s"] * DOWN, abs=1e-9)
    assert run.v[-1] == pytest.approx(case["acc"] * DOWN, abs=1e-9)
    assert run["foot.normal"] / 9.81 == pytest.approx(case["normal_per_mg"], abs=1e-9)
    assert run["foot.friction"] / 9.81 == pytest.approx(case["fric_per_mg"], abs=1e-9)


def test_threshold_of_sticking_is_sharp(block) -> None:
    for factor, mode in ((1.0 - 1e-6, 2.0), (1.0 + 1e-6, 1.0)):
        run = simulate(block, 0.1, p={"mu": factor * INCLINE["critical_mu"]})
        assert run["foot.mode"][-1] == mode


@pytest.mark.parametrize("case", INCLINE["pushed_up"], ids=lambda case: f"mu={case['mu']}")
def test_block_pushed_up_an_incline(block, case) -> None:
    end = case["return_time"] or 1.0
    run = simulate(block, end, p={"mu": case["mu"]}, v=-case["v0_up"] * DOWN)
    (halt,) = run.events
    assert halt.name == "foot.halts" and halt.t == pytest.approx(case["t_stop"], abs=1e-9)
    assert np.hypot(*halt.after["q"]) == pytest.approx(case["s_stop"], abs=1e-9)
    if case["sticks"]:
        assert run.q[-1] == pytest.approx(-case["s_stop"] * DOWN, abs=1e-9) and not run.v[-1].round(12).any()
    else:
        assert run.q[-1] == pytest.approx([0.0, 0.0], abs=1e-9)
        assert run.v[-1] == pytest.approx(case["return_speed"] * DOWN, abs=1e-9)
    assert run.energy.balance == pytest.approx(run.energy.balance[0], abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("case", INCLINE["rolling"], ids=lambda case: case["body"])
def test_bodies_roll_or_slide_down_an_incline(disc, case) -> None:
    normal = {"nx": math.sin(SLOPE), "nz": math.cos(SLOPE)}
    q = {"x": RADIUS * math.sin(SLOPE), "z": RADIUS * math.cos(SLOPE)}
    for factor in (1.0 + 1e-6, 0.5):
        mu = factor * case["mu_min"]
        run = simulate(disc, 1.0, p={"k": case["k"], "mu": mu, **normal}, q=q)
        acc = case["acc_roll"] if factor > 1.0 else 9.81 * (math.sin(SLOPE) - mu * math.cos(SLOPE))
        assert run["rim.mode"][-1] == (1.0 if factor > 1.0 else 2.0) and not run.events
        assert run.v[-1, :2] == pytest.approx(acc * DOWN, abs=1e-9)


def test_sliding_ball_begins_to_roll(disc) -> None:
    case = INCLINE["ball_flat"]
    run = simulate(disc, 1.0, p={"k": case["k"], "mu": case["mu"]}, q={"z": RADIUS}, v={"x": case["v0"]})
    (halt,) = run.events
    assert halt.name == "rim.halts" and halt.t == pytest.approx(case["t_roll"], abs=1e-9)
    assert run.v[-1] == pytest.approx([case["v_roll"], 0.0, case["v_roll"] / RADIUS], abs=1e-9)
    lost = 0.5 * case["v0"] ** 2 - 0.7 * case["v_roll"] ** 2  # 7/10 m v^2 of a rolling ball
    assert run.energy.dissipated[-1] == pytest.approx(lost, abs=1e-8)


@pytest.mark.slow
def test_spinning_ball_in_space() -> None:
    """Momentum about points of the ground is conserved, so that the ball rolls at v0 - 2/7 of the first slip."""
    run = simulate(rigid_ball(height=0.0), 1.0, v=[3.0, 1.0, 0.0, 2.0, -20.0, 7.0])
    v, w = np.array([3.0, 1.0, 0.0]), np.array([2.0, -20.0, 7.0])
    slip = v + np.cross(w, [0.0, 0.0, -0.1])
    expected = v - 2.0 / 7.0 * slip
    moved = np.diff(run.q[-2:, :3], axis=0)[0] / (run.t[-1] - run.t[-2])
    assert run["ground.mode"][-1] == 1.0
    assert moved == pytest.approx(expected, abs=1e-7)
    halt = next(event for event in run.events if event.name == "ground.halts")
    assert halt.t == pytest.approx(np.linalg.norm(slip) / (3.5 * 0.3 * 9.81), abs=1e-6)


# ── impacts ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_ball_bounces_to_rest_and_goes_on() -> None:
    case = reference("bouncing_ball")
    builder = RobotBuilder("ball", gravity=GRAVITY).add(Body.point("ball", 1.0))
    builder.joint("z", "prismatic", "world", "ball", axis=(0.0, 0.0, 1.0))
    contact = Contact("ground", "ball", Rigid(case["inputs"]["restitution"]))
    run = simulate(plant(System(builder.build(), (contact,)), account=True), 15.0, q=[case["inputs"]["h0"]], **QUICK)
    found = case["reference"]
    impacts = [event for event in run.events if event.kind == "impact"]
    assert [event.t for event in impacts[:10]] == pytest.approx(found["impact_times"], abs=1e-9)
    assert [-event.before["v"][0] for event in impacts[:10]] == pytest.approx(found["impact_speeds_before"], abs=1e-9)
    assert run.outcome.kind == "finished" and run.t[-1] == 15.0
    assert run["m.ground.rest"][-1] == pytest.approx(found["zeno_time"], abs=1e-9)
    assert impacts[-1].t == pytest.approx(found["zeno_time"], abs=1e-5)  # bounces below 1e-6 s are summed
    assert run["ground.normal"][-1] == pytest.approx(9.81, abs=1e-9) and abs(run.q[-1, 0]) < 1e-12
    assert run.energy.dissipated[-1] == pytest.approx(98.1, abs=1e-8)


def test_standing_block_keeps_the_share_of_housner(rocker) -> None:
    """A slender block keeps 1 - 3/2 sin^2 of its rate at each impact; a flat block rests at once."""
    run = simulate(rocker, 2.0, q=tilted(0.1, 1.0, 3.0), p={"w": 1.0, "h": 3.0})
    impacts = [event for event in run.events if event.kind == "impact"]
    assert len(impacts) == 3
    for event in impacts:
        assert event.after["v"][2] / event.before["v"][2] == pytest.approx(0.85, abs=1e-12)
    assert [event.name for event in impacts] == ["left.touches", "right.touches", "left.touches"]
    assert run.energy.balance == pytest.approx(run.energy.balance[0], abs=1e-8)
    run = simulate(rocker, 6.0, q=tilted(0.1, 1.0, 3.0), p={"w": 1.0, "h": 3.0})  # ever smaller impacts, then rest
    assert [run["left.mode"][-1], run["right.mode"][-1]] == [1.0, 1.0] and not run.v[-1].round(12).any()
    assert run.q[-1] == pytest.approx([0.0, 1.5, 0.0], abs=1e-6) and run.energy.kinetic[-1] < 1e-20
    run = simulate(rocker, 1.0, q=tilted(0.1, 1.5, 1.0), p={"w": 1.5, "h": 1.0})
    assert len(run.events) == 1 and not run.v[-1].round(12).any()
    assert [run["left.mode"][-1], run["right.mode"][-1]] == [1.0, 1.0]
    assert run["left.normal"][-1] + run["right.normal"][-1] == pytest.approx(9.81, abs=1e-9)


def test_energy_of_a_tumbling_block_never_rises(rocker) -> None:
    run = simulate(rocker, 1.5, q=[0.0, 1.5, 0.7], v=[1.0, 0.0, -2.0], p={"w": 1.0, "h": 1.0}, rtol=1e-10, atol=1e-12)
    whole = run.energy.kinetic + run.energy.potential
    assert len([event for event in run.events if event.kind == "impact"]) > 1
    assert np.diff(whole).max() < 1e-8
    assert run.energy.balance == pytest.approx(run.energy.balance[0], abs=1e-8)
    for event in run.events:
        if event.kind == "impact":
            assert event["energy_loss"] > -1e-12


@pytest.mark.slow
def test_tossed_boxes_obey_all_laws() -> None:
    """Boxes of any spin, friction and restitution: no corner is below the ground, none pulls, energy only falls, and
    they come to rest, most of them after tens of impacts.
    """
    mu, e = Parameter("mu", 0.4), Parameter("e", 0.3)
    builder = RobotBuilder("box", gravity=GRAVITY).add(Body.box("box", 1.0, (0.4, 0.2, 0.3)))
    turning(builder, "box")
    places = [(0.2 * i, 0.0, 0.15 * j) for i in (-1, 1) for j in (-1, 1)]
    names = [f"corner{k}" for k in range(4)]
    corners = [Contact(name, "box", Rigid(e), Coulomb(mu), point=at) for name, at in zip(names, places, strict=True)]
    box = plant(System(builder.build(), tuple(corners)), parameters=["mu", "e"], account=True)
    rng, impacts = np.random.default_rng(5), 0
    for _ in range(40):
        start = {"q": [0.0, rng.uniform(0.3, 1.0), rng.uniform(-3.0, 3.0)], "v": rng.normal(size=3) * [2.0, 1.0, 5.0]}
        p = {"mu": rng.uniform(0.05, 1.2), "e": rng.choice([0.0, 0.3, 0.7])}
        run = simulate(box, 6.0, **start, p=p, output_step=0.02)
        assert run.outcome.kind == "finished" and np.abs(run.v[-1]).max() < 1e-9, p
        assert min(run[f"{name}.gap"].min() for name in names) > -2e-9
        assert min(run[f"{name}.normal"].min() for name in names) > -1e-6
        assert np.diff(run.energy.kinetic + run.energy.potential).max() < 1e-7
        assert run.energy.balance == pytest.approx(run.energy.balance[0], abs=1e-6)
        impacts += sum(event.kind == "impact" for event in run.events)
    assert impacts > 1000


@pytest.mark.parametrize(
    ("in_sequence", "share"),
    [
        (True, (0.0, 0.0, 1.0)),
        pytest.param(False, (-1 / 3, 2 / 3, 2 / 3), marks=pytest.mark.slow),
    ],
)
def test_cradle(in_sequence: bool, share: tuple[float, ...]) -> None:
    run = simulate(cradle(3, in_sequence=in_sequence), 0.5, q=[-0.3, 0.0, 0.0], **QUICK)
    first = run.events[0]
    assert first.kind == "impact" and first.after["v"] == pytest.approx(
        first.before["v"][0] * np.array(share), abs=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_stacked_blocks_rest(count: int) -> None:
    run = simulate(stacked_blocks(count), 1.0, **QUICK)
    assert not run.events and np.abs(run.v).max() < 1e-12
    for k in range(1, count + 1):
        for side in ("left", "right"):
            assert run[f"block{k}_{side}.normal"][-1] == pytest.approx((count - k + 1) * 9.81 / 2.0, abs=1e-9)


@pytest.mark.slow
def test_table_in_space_lands_and_slides() -> None:
    """Four feet are one too many: their forces are shared, and a table that falls on its feet comes to rest on them."""
    builder = RobotBuilder("table", gravity=GRAVITY).add(Body.box("table", 1.0, (1.0, 1.0, 0.4)))
    builder.joint("free", "free", "world", "table")
    places = [(x, y) for x in (-0.5, 0.5) for y in (-0.5, 0.5)]
    feet = [Contact(f"foot{k}", "table", Rigid(), Coulomb(0.5), point=(*place, -0.2)) for k, place in enumerate(places)]
    table = plant(System(builder.build(), tuple(feet)), account=True)
    level = [0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]
    run = simulate(table, 0.2, q=level)
    assert [run[f"foot{k}.normal"][-1] for k in range(4)] == pytest.approx([9.81 / 4.0] * 4, abs=1e-9)
    for start in ({"q": level, "v": [1.0, 0.5, 0.0, 0.0, 0.0, 1.0]}, {"q": [0.0, 0.0, 0.5, 1.0, 0.1, 0.05, 0.02]}):
        run = simulate(table, 1.0, **start)
        assert np.abs(run.v[-1]).max() < 1e-9 and run.q[-1, 2] == pytest.approx(0.2, abs=1e-9)
        assert run.energy.balance == pytest.approx(run.energy.balance[0], abs=1e-7)


# ── Painleve's rod ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_rod_without_possible_forces_takes_an_impact_without_collision() -> None:
    """At theta = 1 and mu = 2, p is -0.85: the rod that slides to the left cannot stay in contact, nor leave it."""
    turn = math.pi / 2.0 - 1.0
    rod = plant(falling_rod(mu=Parameter("mu", 2.0)), parameters=["mu"])
    start = {"q": [0.0, math.cos(turn), turn], "v": [-1.0, 0.0, 0.0]}
    run = simulate(rod, 0.2, **start, **QUICK)
    assert run.outcome.kind == "finished" and np.isfinite(run.v).all()
    first = run.events[0]
    assert first.kind == "impact" and first.t < 1e-4  # the surfaces overlap by 1e-9 m
    tip = first.after["v"][:2] - first.after["v"][2] * np.array([math.cos(turn), -math.sin(turn)])
    assert tip == pytest.approx([0.0, 0.0], abs=1e-9) and first["energy_loss"] > 0.0
    run = simulate(rod, 0.05, **start, **QUICK, p={"mu": 0.5})  # p is positive: it slides
    assert not run.events and run["tip.mode"][0] == 2.0
    p = 1.0 + 3.0 * math.cos(1.0) ** 2 - 3.0 * 0.5 * math.sin(1.0) * math.cos(1.0)
    assert run["tip.normal"][0] == pytest.approx(9.81 / p, abs=1e-9)


def test_failures_of_rigid_contacts_are_named() -> None:
    """A rod that is about to jam, and an impact without a solution; runs end with these sentences."""
    theta, turn = math.atan(2.0), math.pi / 2.0 - math.atan(2.0)  # where mu = 4/3 is critical
    rod = plant(falling_rod(mu=4.0 / 3.0 - 1e-6))
    stepper = Stepper(rod, q=[0.0, math.sin(theta), turn], v=[-1.0, 0.0, 0.0])
    sentence = explained(stepper, Status.STUCK)
    assert "contact 'tip' jams (Painleve): with friction mu = 1.33333" in sentence and "pitch = 0.4636" in sentence
    stepper._store(None, np.zeros(3), np.full(3, np.nan), np.zeros(0))
    assert "impulses of the contacts that touch at once were not found" in explained(stepper, Status.INFINITE)


@pytest.mark.slow
def test_friction_and_restitution_that_no_contact_has_are_refused() -> None:
    """A ball with restitution 2 rose to four times its height, and one with mu = -1 was pushed by friction."""
    ball = rigid_ball()
    for name, value in (("restitution", 2.0), ("restitution", -0.1), ("mu", -1.0)):
        named = {f"ground.{name}": value}
        with pytest.raises(ShapeError, match=f"p 'ground.{name}' is {value:g}; expected a number"):
            simulate(ball, 0.1, p=named)
        with pytest.raises(ShapeError, match=f"p 'ground.{name}' is {value:g}"):
            simulate_batch(ball, 0.1, p={f"ground.{name}": [0.5, value]}, output_step=0.1)


# ── time-stepping ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_time_stepping_converges_to_the_events(rocker) -> None:
    start = {"q": tilted(0.1, 1.0, 3.0), "p": {"w": 1.0, "h": 3.0}}
    exact = simulate(rocker, 0.7, **start, rtol=1e-10, atol=1e-12)
    errors = []
    for step in (2e-3, 5e-4):
        run = simulate(rocker, 0.7, **start, method="moreau", step=step)
        errors.append(np.abs(run.q[-1] - exact.q[-1]).max())
        assert run["left.gap"].min() > -2.0 * step
    assert errors[1] < 0.5 * errors[0] < 2e-3


@pytest.mark.parametrize("step", [1e-3, pytest.param(1e-4, marks=pytest.mark.slow)])
def test_time_stepping_leaves_a_stack_at_rest(step: float) -> None:
    """Gaps that were above 0 by rounding had no contact: at steps of 0.1 ms a block moved sideways by 0.16 mm."""
    run = simulate(stacked_blocks(3), 1.0, method="moreau", step=step)
    assert run.outcome and np.abs(run.q - run.q[0]).max() < 1e-12


# ── batches ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
def test_batch_equals_single_runs(rocker) -> None:
    q = np.array([tilted(turn, 1.0, 3.0) for turn in (0.05, 0.1, 0.2)])
    p = np.array([[1.0, 3.0]] * 3)
    tight = {"rtol": 1e-11, "atol": 1e-12}
    batch = simulate_batch(rocker, 2.0, q=q, p=p, **tight)
    for k in range(3):
        run = simulate(rocker, 2.0, q=q[k], p=p[k], **tight)
        assert batch.q[k, -1] == pytest.approx(run.q[-1], abs=1e-9)
        assert [event.name for event in batch.events[k]] == [event.name for event in run.events]
        assert [event.t for event in batch.events[k]] == pytest.approx([event.t for event in run.events], abs=1e-9)
        assert [event.kind for event in batch.events[k]] == ["impact"] * len(run.events)


# ── what is refused ───────────────────────────────────────────────────────────────────────────────────────────────────


def mass() -> RobotBuilder:
    builder = RobotBuilder("mass", gravity=GRAVITY).add(Body.point("block", 1.0))
    builder.joint("z", "prismatic", "world", "block", axis=(0.0, 0.0, 1.0))
    return builder


def foot(*laws, name: str = "foot", **data) -> Contact:
    return Contact(name, "block", *laws, **data)


SOFT, RIGID = HuntCrossley(1e4), Rigid()


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ((foot(Rigid(1.2)),), "restitution is 1.2; expected a number from 0"),
        ((foot(Rigid(0.5, "plastic")),), "the law is plastic and restitution is 0.5"),
        ((foot(Rigid(0.5, "elastic")),), "law is 'elastic'; expected one of"),
        ((foot(Rigid(shortest=-1.0)),), "shortest is -1; expected a number above 0 and below 1"),
        ((foot(RIGID, Regularized(0.5)),), "expected None or Coulomb"),
        ((foot(RIGID, Coulomb(-0.1)),), "coefficient is -0.1"),
        ((foot(SOFT, Coulomb(0.5)),), "friction is Coulomb and the normal force is soft"),
        ((foot(RIGID), foot(SOFT, name="heel")), "and contact 'heel' is HuntCrossley"),
        ((foot(RIGID), foot(Rigid(0.0, "newton"), name="heel")), "law of impacts is energetic, that of 'heel' newton"),
        ((foot(SOFT, Anchor(0.5, 0.5, 1e4), ground=Plane(on="block")),), "plane is on 'block'"),
        ((foot(RIGID, ground=Plane(on="blok")),), "blok"),
        ((PairContact("foot", "block", "block2", RIGID, 0.1, 0.1),), "block2"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_bad_input(contacts, message: str) -> None:
    with pytest.raises(ModelError, match="(?s)" + message.replace("(", r"\(")):
        plant(System(mass().build(), contacts))


def test_methods_that_cannot_take_rigid_contacts_are_refused() -> None:
    system = System(mass().build(), (foot(RIGID),))
    with pytest.raises(UnsupportedError, match="has rigid contacts, and methods for contact are for soft contacts"):
        simulate(system, 1.0, method="implicit_contact")
    with pytest.raises(UnsupportedError, match="has rigid contacts, whose constraints come and go"):
        simulate(system, 1.0, loops="partitioning")
    with pytest.raises(UnsupportedError, match="is for rigid contacts, and 'mass' has none"):
        simulate(mass().build(), 1.0, method="moreau", step=1e-3)
    with pytest.raises(UnsupportedError, match="method 'moreau' takes steps in which contacts open and close"):
        sensitivities(system, 1.0, initial="all", method="moreau", step=1e-3)


def test_equilibrium_linearization_and_poles_hold_contacts_that_touch() -> None:
    """They took rigid contacts as open without a word: a block that rests on the ground fell."""
    builder = RobotBuilder("block").body("carriage", mass=0.5).body("block", mass=1.5)
    builder.joint("x", "prismatic", "world", "carriage", axis=(1, 0, 0))
    builder.joint("z", "prismatic", "carriage", "block", axis=(0, 0, 1))
    spring = TorsionSpring("pull", "x", 50.0, 0.3)
    smooth = System(builder.build(), (foot(Rigid(), None), spring))
    rests = equilibrium(smooth)
    assert rests and rests.stable and rests.q == pytest.approx([0.3, 0.0], abs=1e-9)
    assert poles(smooth, q=[0.3, 0.0]).omega == pytest.approx([math.sqrt(50.0 / 2.0)])
    rates = np.linalg.eigvals(linearize(smooth, q=[0.3, 0.0]).A).imag
    assert sorted(rates) == pytest.approx([-5.0, 0.0, 0.0, 5.0], abs=1e-9)
    falls = equilibrium(smooth, q=[0.1, 0.5])
    assert not falls and "stay open: foot. Give a q at which they touch." in falls.message
    sticks = System(builder.build(), (foot(Rigid(), Coulomb(0.8)), spring))
    assert equilibrium(sticks, q=[0.1, 0.0]).q == pytest.approx([0.1, 0.0])  # 10 N are less than 0.8 times the weight


def test_a_start_below_the_ground_says_how_far_to_move() -> None:
    """It said that constraints are violated, and advised to name coordinates."""
    system = System(mass().build(), (foot(Rigid()),))
    with pytest.raises(ShapeError, match=r"'foot.normal' by 0.25.*gaps of at least 0. Move the bodies out by 0.25 m"):
        simulate(system, 0.1, q=[-0.25], **QUICK)


@pytest.mark.slow
def test_a_point_that_begins_to_slide_gently_takes_few_steps() -> None:
    """Friction turned with the first micrometers per second, which took 14,145 steps here, and minutes for a box."""
    builder = RobotBuilder("puck").body("a", mass=0.3).body("b", mass=0.3).body("block", mass=0.4)
    builder.joint("x", "prismatic", "world", "a", axis=(1, 0, 0)).joint("y", "prismatic", "a", "b", axis=(0, 1, 0))
    builder.joint("z", "prismatic", "b", "block", axis=(0, 0, 1))
    grip, masses, begins = 0.5 * 0.4 * 9.81, np.array([1.0, 0.7]), 0.1  # [N], [kg], [s]

    def force(t):
        size = grip * (1.0 + 0.2 * (t - begins))
        return [size * cos(3.0 * t), size * sin(3.0 * t), 0.0]

    def rate(t, state):
        v = state[2:]
        return [*v, *((np.array(force(t)[:2]) - grip * v / np.hypot(*v)) / masses)]

    run = simulate(System(builder.build(), (foot(Rigid(), Coulomb(0.5)),)), 0.6, forces=lambda t: force(t))
    assert run.events[0].name == "foot.slips" and run.events[0].t == pytest.approx(begins, abs=1e-9)
    assert run.statistics.accepted < 3000
    later, first = 1e-4, np.array(force(begins)[:2]) / grip  # nothing has moved by more than rounding errors yet
    v = 0.5 * 0.2 * grip * later**2 * first
    exact = solve_ivp(rate, (begins + later, 0.6), [0.0, 0.0, *v], method="Radau", rtol=1e-9, atol=1e-13)
    assert [*run.q[-1, :2], *run.v[-1, :2]] == pytest.approx(exact.y[:, -1], abs=2e-6)


def test_contacts_with_the_same_problem_are_named_in_one_sentence() -> None:
    """Eight corners of a box gave the same sentence eight times."""
    corners = tuple(foot(Rigid(1.5), name=f"c{k}") for k in range(3))
    with pytest.raises(ModelError) as caught:
        simulate(System(mass().build(), corners), 0.1)
    assert str(caught.value).startswith("element 'c0', 'c1', 'c2': normal: restitution is 1.5;")
    assert str(caught.value).count("restitution") == 1 and len(caught.value.problems) == 3


def test_time_steps_have_contact_forces() -> None:
    """The columns were 0 without a word. A block that slides has its weight, and mu times it against its velocity."""
    run = simulate(sliding_block(slope=0.0, mu=0.3), 0.5, q=[0.0, 0.0], v=[2.0, 0.0], method="moreau", step=1e-3)
    assert run["foot.normal"][10:] == pytest.approx(9.81, rel=1e-9) and run["foot.touching"][10:].all()
    assert run["foot.force_x"][10:] == pytest.approx(-0.3 * 9.81, rel=1e-9)
    falls = simulate(sliding_block(slope=0.0, mu=0.3), 0.6, q=[0.0, 1.0], method="moreau", step=1e-3, output_step=1e-3)
    assert falls["foot.normal"].sum() * 1e-3 == pytest.approx(0.6 * 9.81, rel=1e-3)  # all impulses stop the fall


def test_python_takes_over_often_where_steps_may_be_long() -> None:
    """Ctrl-C acts between calls of the compiled march: 20,000 steps of a box with eight corners took a minute."""
    stepper = Stepper(System(mass().build(), (foot(Rigid()),)), method="rk4", step=1e-4, q=[1.0])
    first = stepper.through(np.array([1.0]), 1.0)
    assert first.status is Status.BUDGET and sum(stepper.counts) == 200
    while stepper.through(np.array([1.0]), 1.0).status is Status.BUDGET:
        pass
    assert stepper.state.t == 1.0 and abs(stepper.state.q[0]) < 1e-9 and stepper.tries > 200
