"""Forces, moments and states of user code obey mechanics: Newton and Euler, virtual power, derivatives, stiff lags.

SEEDS 001-02, 001-09. Most of it runs in the interpreter, with Python functions in place of the user's code in C.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import kinemorph
from kinemorph import Parameter, Robot, RobotBuilder, System
from kinemorph.algebra.groups import Pose, exp_so3
from kinemorph.codegen.building.compile import build
from kinemorph.elements import PID, DCMotor
from kinemorph.errors import InterfaceWarning, ModelWarning
from kinemorph.programs import Job, UserCode, make_job
from kinemorph.programs.targets.fmu import fmu_files
from kinemorph.simulation.integrators.asked_inputs import at_state, slope_at_state
from support.tools.program_languages import WRITERS, has_language, run_program

COM, MASS = np.array([0.05, -0.2, 0.12]), 2.0
INERTIA = np.array([[0.3, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.2]])
EARTH = np.array([0.0, 0.0, -9.81])


def stone() -> Robot:
    """A free body whose origin is not its center of mass."""
    builder = RobotBuilder("stone").body("stone", mass=MASS, inertia=INERTIA, com=COM)
    return builder.joint("base", "free", "world", "stone").build()


def crane() -> Robot:
    """A crane that turns, tilts and reaches out: its joints are at offset and inclined frames."""
    builder = RobotBuilder("crane")
    load = Parameter("load", 0.7, unit="kg")
    for name, mass in (("tower", 4.0), ("boom", 2.0), ("slide", load)):
        builder.body(name, mass=mass, inertia=(0.2, 0.3, 0.1), com=(0.1, 0.05, -0.07))
    first, second = Pose(exp_so3((0.1, 0.2, 0.0)), (0.2, 0.1, 0.0)), Pose(exp_so3((0.0, 0.4, -0.3)), (0.0, 0.3, 0.5))
    third = Pose(exp_so3((0.5, 0.0, 0.2)), (0.4, 0.0, 0.1))
    builder.joint("turn", "revolute", "world", "tower", axis=(0.0, 0.0, 1.0), placement=first)
    builder.joint("tilt", "revolute", "tower", "boom", axis=(0.0, 1.0, 0.0), placement=second)
    builder.joint("reach", "prismatic", "boom", "slide", axis=(1.0, 0.0, 0.0), placement=third)
    return builder.build()


def rates_of(job: Job, table: Mapping[str, Callable[..., Any]]) -> Callable[..., np.ndarray]:
    """The rates of y = [q, v, x] at (t, y, m, u, p) with functions in place of the user's code."""
    return build(at_state(job.plant, job.plant.flow), "interpreter", foreign=table)


def test_forces_on_a_free_body_obey_newton_and_euler() -> None:
    """The force acts at the origin, both are in the axes of the world, and quaternions may have any length."""
    rng = np.random.default_rng(1)
    force, moment = rng.normal(size=3), rng.normal(size=3)

    def efforts(t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any, position: Any, R: Any, dp: Any, w: Any) -> Any:
        assert np.allclose(np.ravel(position), q[:3], atol=1e-15) and np.allclose(R.reshape(3, 3), turned, atol=1e-14)
        assert np.allclose(np.ravel(dp), turned @ v[:3]) and np.allclose(np.ravel(w), turned @ v[3:])
        return np.concatenate([force, moment, np.zeros(6)])

    rates = rates_of(make_job(stone(), 1.0, user=True), {"user_efforts": efforts})
    for length in (1.0, 1.7):
        q, v = rng.normal(size=7), rng.normal(size=6)
        q[3:] *= length / np.linalg.norm(q[3:])
        turned = Rotation.from_quat([*q[4:], q[3]]).as_matrix()
        F, M, w = turned.T @ force, turned.T @ moment, v[3:]
        turning = np.linalg.solve(INERTIA, M - np.cross(COM, F) - np.cross(w, INERTIA @ w))
        center = F / MASS + turned.T @ EARTH  # the acceleration of the center of mass, in the axes of the body
        origin = center - np.cross(turning, COM) - np.cross(w, np.cross(w, COM))
        found = rates(0.3, [*q, *v], [], np.zeros(6), [])
        assert np.abs(found[7:] - np.concatenate([origin - np.cross(w, v[:3]), turning])).max() < 1e-12
        assert np.abs(found[:3] - turned @ v[:3]).max() < 1e-14


SPATIAL = {
    "c": {
        "user.c": """#include "user.h"
void user_efforts(const user_instant *now, user_loads *add)
{
    const double *R = now->rotation[BODY_stone], *w = now->angular_velocity[BODY_stone];
    for (int k = 0; k < 3; ++k) {
        add->force[BODY_stone][k] = 1.0 + k - 0.3 * now->velocity[BODY_stone][k] + 2.0 * R[3 * k + 1] + now->t;
        add->moment[BODY_stone][k] = 0.5 * k - 0.2 * w[k] + 0.7 * R[3 * k] - 0.4 * now->position[BODY_stone][k];
    }
}
"""
    },
    "python": {
        "user.py": """import numpy as np
def user_efforts(now, add):
    R = now.rotation[0]
    add.force[0] = [1, 2, 3] - 0.3 * now.velocity[0] + 2 * R[:, 1] + now.t
    add.moment[0] = 0.5 * np.arange(3) - 0.2 * now.angular_velocity[0] + 0.7 * R[:, 0] - 0.4 * now.position[0]
"""
    },
    "matlab": {
        "user_efforts.m": """function add = user_efforts(now, add)
    R = now.rotation(:, :, now.names.BODY.stone);
    add.force(:, 1) = [1; 2; 3] - 0.3 * now.velocity(:, 1) + 2 * R(:, 2) + now.t;
    add.moment(:, 1) = [0; 0.5; 1] - 0.2 * now.angular_velocity(:, 1) + 0.7 * R(:, 1) - 0.4 * now.position(:, 1);
end
"""
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("language", SPATIAL)
def test_a_spinning_body_with_user_code_moves_as_newton_and_euler_say(language: str, tmp_path: Path) -> None:
    """Programs in all languages against SciPy, which integrates the equations of the body written by hand."""
    if missing := has_language(language):
        pytest.skip(missing)
    for name, text in SPATIAL[language].items():
        (tmp_path / name).write_text(text)
    start, speed = [0.1, -0.2, 0.3, 0.5, 0.5, -0.5, 0.5], [0.4, -0.1, 0.2, 3.0, -2.0, 1.0]
    job = make_job(stone(), 0.3, method="rk4", step=0.005, q=start, v=speed, output_step=0.3, user=True)
    with pytest.warns(InterfaceWarning, match="not known"):
        program = WRITERS[language](job, tmp_path)
    found, _ = run_program(program)

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        """Of position, quaternion (w, x, y, z), and velocity of the origin and angular velocity, in the body's axes."""
        a, b, c, d = y[3:7]
        v, w = y[7:10], y[10:]
        R = Rotation.from_quat([b, c, d, a]).as_matrix()
        F = R.T @ (np.array([1.0, 2.0, 3.0]) - 0.3 * R @ v + 2.0 * R[:, 1] + t)
        M = R.T @ (np.array([0.0, 0.5, 1.0]) - 0.2 * R @ w + 0.7 * R[:, 0] - 0.4 * y[:3])
        turning = np.linalg.solve(INERTIA, M - np.cross(COM, F) - np.cross(w, INERTIA @ w))
        origin = F / MASS + R.T @ EARTH - np.cross(turning, COM) - np.cross(w, np.cross(w, COM)) - np.cross(w, v)
        spin = 0.5 * np.array([[-b, -c, -d], [a, -d, c], [d, a, -b], [-c, b, a]]) @ w
        return np.concatenate([R @ v, spin, origin, turning])

    wanted = solve_ivp(rates, (0.0, 0.3), [*start, *speed], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    assert np.abs(found[-1, 1:14] - wanted).max() < 1e-8


def test_forces_on_the_bodies_of_a_chain_have_the_power_of_joint_torques() -> None:
    """What a force F and a moment M do is what torques J^T [F; M] do; J is the difference of the poses by q."""
    job = make_job(crane(), 1.0, user=True, parameters=["load"])
    rng = np.random.default_rng(2)
    loads, seen = rng.normal(size=18), {}

    def efforts(*now: Any) -> np.ndarray:
        seen.update(position=np.reshape(now[7], (3, 3)), R=np.reshape(now[8], (3, 3, 3)))
        return np.concatenate([loads, now[5]])  # generalized forces that are those of the inputs

    rates, h = rates_of(job, {"user_efforts": efforts}), 1e-6
    q, v = rng.normal(size=3), rng.normal(size=3)

    def poses(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rates(0.0, [*q, *v], [], np.zeros(3), [0.7])
        return seen["position"].copy(), seen["R"].copy()

    torques, at = np.zeros(3), poses(q)[1]
    for j, e in enumerate(np.eye(3)):
        (far, turned), (near, back) = poses(q + h * e), poses(q - h * e)
        spin = [(turned[k] - back[k]) / (2 * h) @ at[k].T for k in range(3)]
        turning = np.array([[S[2, 1], S[0, 2], S[1, 0]] for S in spin])
        torques[j] = loads[:9] @ ((far - near) / (2 * h)).ravel() + loads[9:] @ turning.ravel()
    plain = make_job(crane(), 1.0, parameters=["load"])
    wanted = build(plain.plant.flow, "interpreter")(0.0, [*q, *v], [], torques, [0.7])
    assert np.abs(rates(0.0, [*q, *v], [], np.zeros(3), [0.7])[3:] - wanted[3:]).max() < 1e-7
    given = build(plain.plant.flow, "interpreter")(0.0, [*q, *v], [], torques + 2.0, [0.7])
    assert np.abs(rates(0.0, [*q, *v], [], np.ones(3), [0.7])[3:] - given[3:]).max() < 1e-7


BEHIND = {
    "c": {
        "user.c": """#include "user.h"
void user_efforts(const user_instant *now, user_loads *add) { (void)now, (void)add; }
void user_rates(const user_instant *now, double *rates)
{
    rates[STATE_a] = -now->states[STATE_a], rates[STATE_b] = -2.0 * now->x[X_user_b];
}
void user_sample(const user_instant *now, double *memory)
{
    memory[MEMORY_hold] += now->memory[MEMORY_other];
}
"""
    },
    "python": {
        "user.py": """def user_efforts(now, add):
    pass
def user_rates(now):
    return [-now.states[0], -2.0 * now.states[1]]
def user_sample(now):
    return [now.memory[0] + now.memory[1], now.memory[1]]
"""
    },
}


@pytest.mark.parametrize("language", ["python", pytest.param("c", marks=pytest.mark.slow)])
def test_states_and_memory_of_a_user_are_behind_those_of_elements(language: str, tmp_path: Path) -> None:
    """A motor with a current and a sampled PID come first; states decay as exp, and memory that is not set stays."""
    if missing := has_language(language):
        pytest.skip(missing)
    for name, text in BEHIND[language].items():
        (tmp_path / name).write_text(text)
    control = PID("control", reads="q.q1", drives="motor", reference=1.0, kp=2.0, ki=1.0, every=0.05)
    system = System(kinemorph.library.pendulum(), (control, DCMotor("motor", "q1", 1.0, 0.1, 0.1, inductance=0.5)))
    code = UserCode(states={"a": 1.0, "b": 2.0}, memory={"hold": 3.0, "other": 5.0}, sample_every=0.1)
    job = make_job(system, 0.35, method="rk4", step=0.01, output_step=0.35, user=code)
    with pytest.warns(InterfaceWarning, match="not known"):
        found, _ = run_program(WRITERS[language](job, tmp_path))
    names = [f"{group}.{column.name}" for group in "qvxm" for column in getattr(job.plant, group)]
    last = dict(zip(names, found[-1, 1:], strict=True))
    assert abs(last["x.user.a"] - np.exp(-0.35)) < 1e-9 and abs(last["x.user.b"] - 2.0 * np.exp(-0.7)) < 1e-8
    assert (last["m.user.hold"], last["m.user.other"], last["m.user.samples"]) == (23.0, 5.0, 4.0)


@pytest.mark.parametrize("robot", [stone, crane])
def test_slopes_of_user_code_are_differences_in_all_directions(robot: Callable[[], Robot]) -> None:
    """Directional derivatives with respect to states, inputs and parameters, where the code reads all of them."""
    code = UserCode(states={"lag": 0.2})
    job = make_job(robot(), 1.0, user=code, parameters="all")
    plant, rng = job.plant, np.random.default_rng(3)
    mix = rng.normal(size=(400, 400))

    def smooth(count: int, *now: Any) -> np.ndarray:
        given = np.concatenate([np.ravel(part) for part in now])
        return np.sin(mix[:count, : len(given)] @ np.tanh(given))

    nb = plant.sizes["nb"]
    table = {"user_efforts": lambda *now: smooth(6 * nb + plant.nv, *now), "user_rates": lambda *now: smooth(1, *now)}
    rates = rates_of(job, table)
    slope = build(slope_at_state(plant, plant.flow), "interpreter", foreign=table)
    y, u, p = rng.normal(size=plant.nq + plant.nv + 1), rng.normal(size=plant.given), 1.0 + rng.random(len(plant.p))
    for group in range(4):  # states, inputs, parameters, all of them
        along = [rng.normal(size=len(part)) * (group in (k, 3)) for k, part in enumerate((y, u, p))]
        h = 1e-5
        there, back = (
            rates(0.4, *(part + s * h * d for part, d in zip((y,), along[:1], strict=True)), [], u + s * h * along[1],
                  p + s * h * along[2])
            for s in (1.0, -1.0)
        )  # fmt: skip
        wanted = (there - back) / (2 * h)
        found = slope(0.4, y, [], u, p, *along)
        assert np.abs(found - wanted).max() < 1e-6 * (1.0 + np.abs(wanted).max())


@pytest.mark.parametrize(
    "method, worst", [("rodas", 1e-5), ("newmark", 2e-3), pytest.param("radau", 1e-8, marks=pytest.mark.slow)]
)
def test_a_force_of_the_user_that_depends_on_time_is_followed(method: str, worst: float) -> None:
    """A mass under the force 2 cos(3 t), and a lag of 1 ms behind cos(3 t), by steps of 20 ms.

    Newton's matrices contain the user's part, and so does the derivative by time, which Rosenbrock's methods need.
    """
    builder = RobotBuilder("cart").body("mass", mass=2.0, inertia=(1.0, 1.0, 1.0))
    builder.joint("slide", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0))
    step = None if method == "radau" else 0.02
    exact = {"rtol": 1e-9, "atol": 1e-11} if method == "radau" else {}
    job = make_job(builder.build(), 1.0, method=method, step=step, user=UserCode(states={"lag": 1.0}), **exact)
    table = {
        "user_efforts": lambda t, *rest: np.array([2.0 * np.cos(3.0 * t[0]), *np.zeros(6)]),
        "user_rates": lambda t, q, v, x, *rest: (np.cos(3.0 * t) - x[:1]) / 1e-3,
    }
    first, times = job.first, np.zeros(256)
    times[0] = 1.0
    started, _ = build(job.start, "interpreter", foreign=table)(first.memory, 1.0, np.zeros((2, 1)), [0.0], [])
    march = build(job.march, "interpreter", foreign=table)
    rows = march(started, times, 1.0, 1.0, first.limits, [0.0], [])[1]
    w, T = 3.0, 1e-3
    lag = (np.cos(w) + w * T * np.sin(w)) / (1.0 + (w * T) ** 2)
    assert np.abs(rows[0, :3] - [(1.0 - np.cos(w)) / w**2, np.sin(w) / w, lag]).max() < worst


def test_the_description_of_an_fmu_has_everything_that_code_may_read(tmp_path: Path) -> None:
    """Rates that user code may change depend on the time, all states and all inputs; others as the equations say."""
    (tmp_path / "user.c").write_text('#include "user.h"\nvoid user_efforts(const user_instant *n, user_loads *a) {}\n')
    robot = kinemorph.library.double_pendulum()
    told = {}
    for code in (None, UserCode(source=tmp_path / "user.c")):
        with pytest.warns(ModelWarning, match="no library"):
            text = str(fmu_files(make_job(robot, 1.0, user=code), 3, [])["modelDescription.xml"])
        told[code is None] = [
            line.split('"')[1::2] for line in text.splitlines() if "<ContinuousStateDerivative" in line
        ]
    assert [on for _, on in told[True]] == ["3", "4", "1 2 3 4 5 6", "1 2 3 4 5 6"]
    assert [on for _, on in told[False]] == ["3", "4", "0 1 2 3 4 5 6", "0 1 2 3 4 5 6"]
