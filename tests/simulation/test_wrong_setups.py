"""Set-ups that cannot give a right motion end or warn by name; sound ones say nothing."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from kinemorph import Body, Robot, RobotBuilder, System, elements, library, load_text, simulate
from kinemorph.bench.standing.kinemorph_run import elements as standing_elements
from kinemorph.bench.standing.problem import standing
from kinemorph.errors import ChatterWarning, EnergyWarning, GainWarning, ImpactWarning, SlowRunWarning
from kinemorph.formats.toml.templates import TEMPLATES

TELLING = (ChatterWarning, EnergyWarning, GainWarning, ImpactWarning, SlowRunWarning)
Setup = Callable[[], Any]


def arm(inertia: float = 2.4e-4) -> Robot:
    """A shoulder and a light wrist."""
    builder = RobotBuilder("arm").add(Body.box("upper", 4.0, (0.5, 0.1, 0.1), (0.25, 0.0, 0.0)))
    builder.add(Body("wrist", 0.3, (0.0, 0.0, 0.0), ((inertia, 0, 0), (0, inertia, 0), (0, 0, inertia))))
    builder.joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    builder.joint("roll", "revolute", "upper", "wrist", translation=(0.5, 0, 0), axis=(1, 0, 0))
    return builder.build()


def ball() -> Robot:
    builder = RobotBuilder("ball").add(Body.sphere("ball", 0.1, 0.03))
    return builder.root("ball", "free").build()


def held(**options: Any) -> System:
    """The arm with a sampled PD."""
    given: dict[str, Any] = {"kp": 200.0, "kd": 30.0, "every": 1e-3, "reference": 0.3} | options
    return System(arm(), (elements.PD("pd", ("shoulder", "roll"), **given),))


def dropped(stiffness: float, restitution: float = 0.8) -> System:
    """A ball above the ground."""
    law = elements.HuntCrossley.bouncing(stiffness, restitution, 1.0)
    return System(ball(), (elements.Contact("floor", "ball", law, radius=0.03),))


def sprung(stiffness: float, damping: float = 0.0) -> System:
    """A pendulum at the end of a stiff spring."""
    spring = elements.Spring("spring", "tip", "world", stiffness, 0.5, damping, point_b=(0.5, 0.0, 0.3))
    return System(library.pendulum(), (spring,))


def driven(ratio: float) -> System:
    """A pendulum behind a gear of a motor with much back-EMF."""
    motor = elements.DCMotor("motor", library.pendulum().v_names[0], 1.0, 0.5, inertia=1e-6, ratio=ratio)
    return System(library.pendulum(), (motor,))


FREE = {name: library.build(name) for name in ("pendulum", "double_pendulum", "scara", "puma")}
FREE["chain"] = library.chain(5)
UP = {"q": [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]}
WRONG: dict[str, Setup] = {
    **{f"sampled PD, kd {kd:g}": lambda kd=kd: simulate(held(kd=kd), 1.0) for kd in (1.0, 3.0, 10.0, 100.0)},
    **{f"sampled PD, every {T:g}": lambda T=T: simulate(held(every=T), 1.0) for T in (1e-4, 3e-3, 0.02)},
    **{f"sampled PD, kp {kp:g}": lambda kp=kp: simulate(held(kp=kp, kd=0.1), 1.0) for kp in (1e4, 1e6)},
    **{
        f"PD at rk4, kd {kd:g}": lambda kd=kd: simulate(held(kd=kd, every=None), 1.0, method="rk4", step=1e-3)
        for kd in (10.0, 100.0)
    },
    **{
        f"{name} at {method}, step {h:g}": lambda name=name, method=method, h=h: simulate(
            FREE[name], 20.0, q=[1.5] * FREE[name].nq, method=method, step=h
        )
        for name, method, h in (
            ("pendulum", "rk4", 0.7),
            ("pendulum", "semi_implicit_euler", 0.5),
            ("double_pendulum", "rk4", 0.2),
            ("double_pendulum", "leapfrog", 0.1),
            ("chain", "rk4", 0.1),
            ("chain", "heun", 0.03),
            ("scara", "rk4", 1.0),
            ("puma", "rk4", 1.0),
        )
    },
    **{
        f"ball, {k:g} N/m, at {method}": lambda k=k, method=method: simulate(
            dropped(k), 1.0, method=method, step=1e-3, **UP
        )
        for k, method in ((3e7, "rk4"), (1e8, "rk4"), (1e7, "semi_implicit_euler"), (1e7, "leapfrog"), (1e9, "heun"))
    },
    **{
        f"ball, {k:g} N/m, steps of 1 ms": lambda k=k, e=e: simulate(dropped(k, e), 1.0, step=1e-3, **UP)
        for k, e in ((1e6, 1.0), (1e7, 0.9), (1e8, 0.8), (1e9, 0.9))
    },
    **{
        f"spring, {k:g} N/m, at {method}": lambda k=k, c=c, method=method: simulate(
            sprung(k, c), 1.0, q=[0.3], method=method, step=1e-3
        )
        for k, c, method in ((1e8, 0.0, "rk4"), (1e7, 1e4, "heun"), (1e8, 0.0, "leapfrog"), (0.0, 1e5, "rk4"))
    },
    **{
        f"motor, {n:g}:1, at rk4": lambda n=n: simulate(driven(n), 1.0, q=[0.3], v=[1.0], method="rk4", step=1e-3)
        for n in (100.0, 300.0, 1000.0)
    },
    **{
        f"stiff damper, {c:g} N s/m, at dop853": lambda c=c: simulate(sprung(0.0, c), 1e3, q=[0.3], method="dop853")
        for c in (1e5, 1e6)
    },
    **{
        f"ball, {k:g} N/m, implicit, step {h:g}": lambda k=k, h=h: simulate(
            dropped(k, 1.0), 1.0, method="implicit_contact", step=h, **UP
        )
        for k, h in ((1e6, 1e-3), (1e5, 5e-3), (3e5, 2e-3), (1e10, 1e-3), (1e12, 1e-3))
    },
    **{
        f"PD without damping, kp {kp:g}, implicit": lambda kp=kp: simulate(
            held(kp=kp, kd=0.0, every=None), 1.0, method="implicit_contact", step=2e-3
        )
        for kp in (200.0, 2000.0)
    },
}
FEW = (
    "sampled PD, kd 10",
    "PD at rk4, kd 10",
    "pendulum at rk4, step 0.7",
    "ball, 1e+07 N/m, steps of 1 ms",
    "motor, 100:1, at rk4",
)


def told(setup: Setup, hear: Callable[[], None] = lambda: None) -> tuple[bool, list[str]]:
    """Whether the run ended as asked, and what was said about it; `hear` is called with each warning."""
    said: list[str] = []

    def listen(message: Any, *_: Any, **__: Any) -> None:
        if isinstance(message, TELLING):
            said.append(str(message))
            hear()

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = listen
        run = setup()
    return run.outcome.ok, [*said, run.outcome.message]


@pytest.mark.parametrize("name", FEW)
def test_a_wrong_set_up_ends_or_warns(name: str) -> None:
    finished, said = told(WRONG[name])
    assert not finished or any(said), name
    assert any("'" in sentence for sentence in said), said  # by name


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WRONG if name not in FEW])
def test_every_wrong_set_up_ends_or_warns_within_seconds(name: str) -> None:
    """The first sentence counts: a run that has warned may go on for as long as it takes."""
    begun = time.process_time()
    heard: list[float] = []
    finished, said = told(WRONG[name], lambda: heard.append(time.process_time() - begun))
    assert not finished or any(said), name
    assert any("'" in sentence for sentence in said), said
    assert min([*heard, time.process_time() - begun]) < 10.0


def test_there_are_forty_wrong_set_ups() -> None:
    assert len(WRONG) >= 40


# ── sound ones ────────────────────────────────────────────────────────────────────────────────────────────────────────

METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "rk4": {"method": "rk4", "step": 1e-3},
    "leapfrog": {"method": "leapfrog", "step": 1e-3},
    "loose": {"rtol": 1e-3, "atol": 1e-3},
    "rodas": {"method": "rodas", "rtol": 1e-6},
}
BUILT = ("pendulum", "double_pendulum", "crane", "scara", "puma", "four_bar", "slider_crank", "five_bar")


STANDING = standing("hexapod24", "dropped")


def lifted() -> System:
    """An arm behind a gear motor, with an encoder and a sampled PID: the example of the motor."""
    builder = RobotBuilder("arm").add(Body.rod("arm", 0.5, 0.4, center=(0.0, 0.0, -0.2)))
    arm = builder.joint("elbow", "revolute", "world", "arm", axis=(0.0, -1.0, 0.0)).build()
    plate = {"voltage": 12.0, "no_load_speed": 510.6, "stall_torque": 0.1226, "inductance": 1e-3, "inertia": 1.05e-6}
    motor = elements.DCMotor.from_nameplate("motor", "elbow", ratio=66.0, efficiency=0.8, voltage_limit=12.0, **plate)
    gains = {"kp": 40.0, "ki": 120.0, "kd": 2.0, "filter": 0.01, "lower": -12.0, "upper": 12.0}
    pid = elements.PID(
        "pid", reads="encoder.position", drives="motor", reference="goal", anti_windup="clamp", every=0.002, **gains
    )
    encoder = elements.Encoder("encoder", joint="elbow", counts=2000.0, ratio=66.0, every=0.002)
    return System(arm, (elements.Setpoint("goal", 1.5), encoder, pid, motor))


def on_slope(friction: Any) -> System:
    """A block with four points of contact on a slope of 20 degrees."""
    robot = RobotBuilder("block").add(Body.box("block", 1.0, (0.1, 0.1, 0.02))).root("block", "free").build()
    slope = elements.Plane(normal=(0.342, 0.0, 0.94))
    law = elements.HuntCrossley(1e4, 1.0, exponent=1.0)
    corners = [(x, y, -0.01) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]
    feet = [elements.Contact(f"c{k}", "block", law, friction, slope, point) for k, point in enumerate(corners)]
    return System(robot, tuple(feet))


def sound() -> dict[str, Setup]:
    """Runs that are right: robots of the library by several methods and starts, balls, arms and organisms."""
    found: dict[str, Setup] = {}
    for name in BUILT:
        for method, options in METHODS.items():
            for k in range(4):
                v = [0.3 * (k - 1)]

                def run(name: str = name, options: dict[str, Any] = options, v: list[float] = v) -> Any:
                    robot = library.build(name)
                    if robot.is_open:
                        return simulate(robot, 2.0, v={robot.v_names[0]: v[0]}, **options)
                    return simulate(robot, 2.0, q={robot.q_names[0]: 0.5 + v[0]}, **options)

                found[f"{name}, {method}, {k}"] = run
    for stiffness in (1e3, 1e4, 1e7, 1e9):
        for restitution in (0.2, 0.5, 0.8):
            found[f"ball {stiffness:g} {restitution:g}"] = lambda k=stiffness, e=restitution: simulate(
                dropped(k, e), 1.0, **UP
            )
    for kd in (0.05, 0.1, 0.2):
        for T in (1e-4, 5e-4):
            found[f"sampled PD {kd:g} {T:g}"] = lambda kd=kd, T=T: simulate(held(kp=2.0, kd=kd, every=T), 1.0)
    for kp in (2.0, 20.0, 200.0):
        for kd in (0.3, 3.0, 30.0):
            found[f"PD {kp:g} {kd:g}"] = lambda kp=kp, kd=kd: simulate(held(kp=kp, kd=kd, every=None), 1.0)
    for ratio in (1.0, 10.0, 100.0):
        found[f"motor {ratio:g}"] = lambda n=ratio: simulate(driven(n), 1.0, q=[0.3], v=[1.0])
    for gait in ("rhythmic", "maps"):
        for until in (2.0, 5.0, 10.0):
            found[f"crawler {gait} {until:g}"] = lambda gait=gait, until=until: simulate(library.crawler(gait), until)
    found["jansen walker"] = lambda: simulate(library.jansen_walker(), 2.0)
    for kind, template in TEMPLATES.items():
        found[f"new {kind}"] = lambda text=template.text: simulate(load_text(text.replace("NAME", "mine"), "toml"), 2.0)
    for name in ("n_four_bar", "bricard", "spatial_slider_crank", "andrews_squeezer", "flyball_governor"):
        found[f"reference {name}"] = lambda name=name: simulate(getattr(library, name)(), 0.1)
    for method in (None, "implicit_contact", "centered_contact"):
        step = {} if method is None else {"method": method, "step": 1e-3}
        found[f"hexapod that stands, {method or 'default'}"] = lambda step=step: simulate(
            System(STANDING.robot, standing_elements(STANDING)), 1.0, q=STANDING.q, **step
        )
    found["motor with a sampled PID"] = lambda: simulate(lifted(), 1.5)
    for friction in (elements.Anchor(0.8, 0.6, 1e4, 50.0), elements.Regularized(0.8)):
        found[f"block on a slope, {type(friction).__name__}"] = lambda friction=friction: simulate(
            on_slope(friction), 1.0, q=[0.0, 0.0, 0.01, 1.0, 0.0, 0.0, 0.0]
        )
    found["PD at semi-implicit Euler"] = lambda: simulate(
        System(library.pendulum(), (elements.PD("pd", library.pendulum().v_names, kp=20.0, kd=1.0, reference=1.0),)),
        2.0,
        method="semi_implicit_euler",
        step=1e-3,
    )
    return found


SOUND = sound()
SOME = (
    "pendulum, rk4, 2",
    "double_pendulum, leapfrog, 3",
    "four_bar, loose, 1",
    "ball 10000 0.5",
    "sampled PD 0.1 0.0005",
)


@pytest.mark.parametrize("name", SOME)
def test_a_sound_set_up_says_nothing(name: str) -> None:
    assert told(SOUND[name]) == (True, [""])


@pytest.mark.slow
def test_no_sound_set_up_says_anything() -> None:
    loud = {name: said for name, run in SOUND.items() if (said := told(run)) != (True, [""])}
    assert not loud
    assert len(SOUND) >= 200
