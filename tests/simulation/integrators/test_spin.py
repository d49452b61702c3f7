"""Bodies that spin: their velocities are measured in moving axes, and no step makes momentum or energy of that."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kinemorph import Body, RobotBuilder, System, elements, load, simulate
from kinemorph.algebra.quaternions import direction_to_rotation
from support.tools.each_case import each_case

pytestmark = pytest.mark.filterwarnings("ignore::kinemorph.errors.EnergyWarning")  # steps are coarse on purpose
SOFT = ("implicit_contact", "implicit_contact_2", "implicit_contact_3")
CENTERED = ("centered_contact", "centered_contact_2", "centered_contact_3")
METHODS = (*SOFT, *CENTERED, "extrapolated_contact", "moreau", "semi_implicit_euler")
MASS, MOMENT = 1.0, np.diag((13.0, 10.0, 5.0)) / 12.0  # of a box of 1, 2 and 3 m
SPIN = (17.0, 18.0, 17.0)  # 30 rad/s


def contact(body: str, method: str, height: float = 0.0, radius: float = 0.0) -> Any:
    """A contact of a body with the ground, of the kind that the method is for."""
    ground, rigid = elements.Plane(point=(0.0, 0.0, height)), method == "moreau"
    normal = elements.Rigid(0.0) if rigid else elements.HuntCrossley(1e5, 1.0)
    friction = elements.Coulomb(0.8) if rigid else elements.Regularized(0.8, 1e-3)
    return elements.Contact("sole", body, normal, friction, ground, radius=radius)


def flying_box(method: str, com: tuple[float, ...], step: float, duration: float) -> tuple[np.ndarray, ...]:
    """Linear momentum, angular momentum about the center of mass, both in the world, and energy, at all samples."""
    builder = RobotBuilder("box", gravity=(0.0, 0.0, 0.0)).add(Body.box("box", MASS, (1.0, 2.0, 3.0), com))
    system = System(builder.joint("flies", "free", "world", "box").build(), (contact("box", method, -1000.0),))
    run = simulate(system, duration, v=[3.0, 0.0, 1.0, *SPIN], method=method, step=step)
    R = np.array([direction_to_rotation(q[3:]) for q in run.q])
    u, w = run.v[:, :3] + np.cross(run.v[:, 3:], com), run.v[:, 3:]
    energy = 0.5 * MASS * (u * u).sum(1) + 0.5 * (w @ MOMENT * w).sum(1)
    return np.einsum("nij,nj->ni", R, MASS * u), np.einsum("nij,nj->ni", R, w @ MOMENT), energy


def largest_change(vectors: np.ndarray) -> float:
    return float(np.linalg.norm(vectors - vectors[0], axis=-1).max() / np.linalg.norm(vectors[0]))


@each_case("method", METHODS)
def test_a_body_in_flight_keeps_its_momentum(method: str) -> None:
    """MuJoCo's implicit integrator loses 8 % of the energy and 3 % of the angular momentum."""
    p, L, energy = flying_box(method, (0.0, 0.0, 0.0), 1e-3, 0.25)
    assert largest_change(p) < 1e-12
    assert largest_change(L) < (1e-9 if method == "extrapolated_contact" else 1e-12)
    assert energy == pytest.approx(energy[0], rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("com", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.1)])
@pytest.mark.parametrize("method", METHODS)
def test_a_body_in_flight_keeps_its_momentum_for_a_second(method: str, com: tuple[float, ...]) -> None:
    p, L, energy = flying_box(method, com, 1e-3, 1.0)
    mixed = method == "extrapolated_contact"  # of results whose axes have turned by different angles
    assert largest_change(p) < (1e-9 if mixed and any(com) else 1e-12)
    assert largest_change(L) < (1e-9 if mixed else 1e-12)
    assert energy == pytest.approx(energy[0], rel=1e-4)


@pytest.mark.parametrize("step", [1e-3, 4e-3])
@each_case("method", [method for method in METHODS if method != "semi_implicit_euler"])
def test_a_ball_rolls_as_far_as_it_turns(method: str, step: float) -> None:
    """It used to go 3.75 m at 1 ms, and beyond all bounds at 4 ms."""
    radius, spin = 0.1, 30.0
    builder = RobotBuilder("ball").add(Body.sphere("ball", 1.0, radius)).joint("rolls", "free", "world", "ball")
    depth = 0.0 if method == "moreau" else 9.81 / 1e5
    start = {"q": [0.0, 0.0, radius - depth, 1.0, 0.0, 0.0, 0.0], "v": [radius * spin, 0.0, 0.0, 0.0, spin, 0.0]}
    run = simulate(
        System(builder.build(), (contact("ball", method, radius=radius),)), 1.0, **start, method=method, step=step
    )
    assert run.q[-1][:2] == pytest.approx([3.0, 0.0], abs=1e-3)
    assert run.v[-1][3:] == pytest.approx([0.0, spin, 0.0], rel=1e-3)


@each_case("method", ["implicit_contact", "extrapolated_contact", "semi_implicit_euler"])
def test_planar_joints_turn_their_velocities_too(method: str) -> None:
    builder = RobotBuilder("puck", gravity=(0.0, 0.0, 0.0)).add(Body.sphere("puck", MASS, 0.1))
    system = System(builder.joint("glides", "planar", "world", "puck").build(), (contact("puck", method, -1000.0),))
    run = simulate(system, 0.5, v=[3.0, 0.0, 30.0], method=method, step=1e-3)
    assert run.q[-1] == pytest.approx([1.5, 0.0, 15.0], abs=1e-9)


@pytest.mark.parametrize("method", ["implicit_contact", "centered_contact", "moreau"])
def test_a_top_on_a_spherical_joint_keeps_its_angular_momentum(method: str) -> None:
    builder = RobotBuilder("top", gravity=(0.0, 0.0, 0.0)).add(Body.box("top", MASS, (1.0, 2.0, 3.0), (0.0, 0.0, 0.5)))
    robot = builder.joint("ball", "spherical", "world", "top").build()
    run = simulate(System(robot, (contact("top", method, -1000.0),)), 0.25, v=SPIN, method=method, step=1e-3)
    about = MOMENT + MASS * 0.25 * np.diag((1.0, 1.0, 0.0))
    L = [direction_to_rotation(q) @ (about @ w) for q, w in zip(run.q, run.v, strict=True)]
    assert largest_change(np.array(L)) < 1e-12


@each_case("kind", ["free", "free on a hinge", "spherical with armature", "corner on a plane"])
@each_case("method", ["extrapolated_contact", "centered_contact"])
def test_steps_of_half_the_size_have_the_expected_error(method: str, kind: str) -> None:
    """The order stays with a locked velocity in moving axes, on a moving parent, and with the inertia of a rotor."""
    builder = RobotBuilder("box").add(Body.box("box", 2.0, (0.1, 0.2, 0.3), (0.05, 0.02, -0.1)))
    start: dict[str, Any] = {"v": [1.0, 0.0, 0.3, 2.0, 1.0, 2.0], "locked": ("joint.vy",)}
    if kind == "free on a hinge":
        builder.add(Body.box("base", 1.0, (0.1, 0.2, 0.3), (0.0, 0.05, 0.1)))
        builder.joint("hinge", "revolute", "world", "base", axis=(1, 0, 0)).joint("joint", "free", "base", "box")
        start = {"v": [2.0, 1.0, -0.5, 0.3, 3.0, -2.0, 4.0]}
    elif kind == "free":
        builder.joint("joint", "free", "world", "box")
    elif kind == "corner on a plane":
        builder.joint("joint", "free", "world", "box").frame("corner", "box", translation=(0.1, 0.2, 0.3))
    else:
        builder.joint("joint", "spherical", "world", "box", armature=(0.01, 0.02, 0.03))
        start = {"v": [3.0, -2.0, 4.0]}
    model = System(builder.build())
    if kind == "corner on a plane":
        model = replace(model, elements=(elements.PointOnPlane("rail", "corner", origin=(0.0, 0.0, 1.0)),))
        start = {"q": {"joint.x": 0.0}, "v": {"joint.wz": 4.0, "joint.wx": 3.0, "joint.vx": 1.0}}
    exact = simulate(model, 0.2, **start, method="dop853", rtol=1e-11, atol=1e-12)
    steps = (4e-3, 2e-3)
    runs = [simulate(model, 0.2, **start, method=method, step=step) for step in steps]
    last = [np.concatenate([run.q[-1], run.v[-1]]) for run in (exact, *runs)]
    coarse, fine = (float(np.abs(one - last[0]).max()) for one in last[1:])
    order = 2 if method == "extrapolated_contact" or kind == "corner on a plane" else 1
    assert coarse / fine == pytest.approx(2.0**order, rel=0.2) and fine < (2e-3 if order == 2 else 2e-2)
    if kind == "free":  # also where results in axes that have turned by different angles are combined
        assert not any(run.v[:, 1].any() for run in runs)


# ── beside MuJoCo ─────────────────────────────────────────────────────────────────────────────────────────────────────

LIMBS = """
<mujoco><option gravity="0 0 0" timestep="0.001"/><worldbody>
  <body name="base"><freejoint/><inertial pos="0.02 0 0" mass="2" diaginertia="0.02 0.03 0.04"/>
    <body pos="0.2 0 0"><joint type="hinge" axis="0 0 1"/>
      <inertial pos="0.2 0 0" mass="0.5" diaginertia="0.001 0.01 0.01"/>
      <body pos="0.4 0 0"><joint type="hinge" axis="0 1 0"/>
        <inertial pos="0.15 0 0" mass="0.3" diaginertia="0.001 0.005 0.005"/></body></body>
    <body pos="-0.2 0 0"><joint type="ball"/>
      <inertial pos="-0.2 0 0.1" mass="0.5" diaginertia="0.002 0.01 0.012"/></body></body>
</worldbody></mujoco>"""


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_limbs_in_flight_change_momentum_no_more_than_in_mujoco(method: str, tmp_path: Any) -> None:
    """At about 10 rad/s for 1 s, with steps of 1 ms, on the mean of sixty states; MuJoCo computes the momenta."""
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(LIMBS)
    data = mujoco.MjData(model)
    (tmp_path / "limbs.xml").write_text(LIMBS)
    system = System(load(tmp_path / "limbs.xml").robot, (contact("base", method, -1000.0),))
    rng = np.random.default_rng(0)

    def momenta(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        mujoco.mj_subtreeVel(model, data)
        return np.array([data.subtree_linvel[1] * model.body_subtreemass[1], data.subtree_angmom[1]])

    ratios = []
    for _ in range(60):
        q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *rng.normal(size=2), 1.0, 0.0, 0.0, 0.0])
        v = np.concatenate([rng.normal(size=3), 6.0 * rng.normal(size=8)])
        before = momenta(q, v)
        for _ in range(1000):
            mujoco.mj_step(model, data)
        theirs = momenta(data.qpos.copy(), data.qvel.copy()) - before
        run = simulate(system, 1.0, q=q, v=v, method=method, step=1e-3)
        turned = direction_to_rotation(run.q[-1][3:7]) @ run.v[-1][:3]
        ours = momenta(run.q[-1], np.array([*turned, *run.v[-1][3:]])) - before
        ratios.append(np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1))
    assert (np.exp(np.mean(np.log(ratios), axis=0)) < 1.01).all()  # of linear and of angular momentum
