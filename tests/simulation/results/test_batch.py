"""Many runs at once: each as if it were alone, whatever becomes of the others."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph import library
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.plants.own_equations import first_order
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.simulate_batch import simulate_batch
from support.robots.random_robots import random_states

swinging = plant(library.pendulum(), parameters=["m1", "l1"])
blowing_up = first_order(lambda x: [x[0] * x[0]], {"x": "m"}, start=[0.1], name="blowing_up")


def some_pendulums(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(count)
    return {"q": rng.uniform(-2.0, 2.0, (count, 1)), "p": rng.uniform(0.5, 2.0, (count, 2))}


@pytest.mark.parametrize(
    "options", [{"method": "rk4", "step": 0.01}, {"method": "dop853"}, {"method": "dormand_prince", "rtol": 1e-6}]
)
def test_each_state_is_as_in_a_run_of_its_own(options):
    given = some_pendulums(21)
    batch = simulate_batch(swinging, 3.0, output_step=0.13, **given, **options)
    assert batch.ok.all() and (batch.done == len(batch.t)).all() and batch.statistics.calls == 1
    assert batch.q.shape == (21, len(batch.t), 1)
    for k in (0, 7, 8, 20):
        alone = simulate(swinging, 3.0, output_step=0.13, q=given["q"][k], p=given["p"][k], **options)
        (segment,) = alone.segments
        assert np.array_equal(segment.t, batch.t)
        assert np.array_equal(segment.q, batch.q[k]) and np.array_equal(segment.v, batch.v[k])
        assert (alone.statistics.accepted, alone.statistics.rejected) == (batch.accepted[k], batch.rejected[k])


def test_a_state_does_not_depend_on_its_batch_nor_on_threads():
    given = some_pendulums(300)
    options = {"output_step": 0.3, "method": "dormand_prince"}
    whole = simulate_batch(swinging, 2.0, **given, **options)
    few = [5, 2, 211]
    part = simulate_batch(swinging, 2.0, **{key: values[few] for key, values in given.items()}, **options)
    assert np.array_equal(part.q, whole.q[few]) and np.array_equal(part.v, whole.v[few])
    many = {key: np.tile(values, (20, 1)) for key, values in given.items()}
    one, two = (simulate_batch(swinging, 2.0, threads=n, **many, **options) for n in (1, 2))
    assert np.array_equal(one.q, two.q) and np.array_equal(one.q[:300], whole.q)


def test_more_samples_than_one_call_holds():
    given = some_pendulums(5)
    long = simulate_batch(swinging, 3.0, output_step=0.004, method="dormand_prince", **given)
    assert long.statistics.calls == 3 and len(long.t) == 751
    alone = simulate(swinging, 3.0, output_step=0.004, method="dormand_prince", q=given["q"][4], p=given["p"][4])
    assert np.array_equal(alone.segments[0].q, long.q[4])


def test_free_bases_and_shared_values():
    builder = RobotBuilder("box").body("box", 2.0, inertia=(0.1, 0.2, 0.25))
    robot = builder.joint("base", "free", "world", "box").build()
    q, v, _, _ = random_states(robot, 0, 11)
    batch = simulate_batch(robot, 1.0, q=q, v=v, output_step=0.25, method="rk4", step=0.01)
    assert np.abs(np.linalg.norm(batch.q[..., 3:], axis=-1) - 1.0).max() < 1e-15
    same = simulate_batch(robot, 1.0, q=q, v=v[3], output_step=0.25, method="rk4", step=0.01)
    assert np.array_equal(same.q[3], batch.q[3]) and not np.array_equal(same.q[2], batch.q[2])


def test_values_by_name():
    batch = simulate_batch(swinging, 1.0, q={"q1": [0.5, 1.0, 1.5]}, p={"l1": 2.0})
    alone = simulate_batch(swinging, 1.0, q=[[0.5], [1.0], [1.5]], p=[1.0, 2.0])
    assert np.array_equal(batch.q, alone.q) and batch.p.tolist() == [[1.0, 2.0]] * 3


def test_a_state_that_fails_keeps_what_it_has_and_the_others_go_on():
    x = np.array([[0.1], [2.0], [0.2], [np.pi], [-1.0]])  # x = 1 / (1 / x0 - t): two of them never see t = 1
    batch = simulate_batch(blowing_up, 1.0, x=x, output_step=0.1)
    assert batch.ok.tolist() == [True, False, True, False, True]
    assert set(batch.failures) == {1, 3} and "t = 0.5 s" in batch.failures[1] and "'x'" in batch.failures[1]
    good = batch.ok
    assert np.abs(batch.x[good, -1, 0] - 1.0 / (1.0 / x[good, 0] - 1.0)).max() < 1e-7
    assert batch.done[3] == 4 and np.isnan(batch.x[3, 4:]).all()  # t = 0, 0.1, 0.2, 0.3 of 1 / pi
    assert np.isfinite(batch.x[3, :4]).all() and np.isfinite(batch.x[good]).all()
    assert batch.x[3, 3, 0] == pytest.approx(1.0 / (1.0 / np.pi - 0.3), rel=1e-6)


def test_a_step_far_too_large_is_said_state_by_state():
    batch = simulate_batch(blowing_up, 100.0, x=[[-1.0], [-1e9]], method="rk4", step=1.0, output_step=50.0)
    assert batch.ok.tolist() == [True, False] and batch.done.tolist() == [3, 1]
    assert "step=0.1" in batch.failures[1]


def test_a_state_may_be_given_up():
    rates = first_order(lambda x, p: [p[0] * x[1], -p[0] * x[0]], {"x": "", "y": ""}, parameters={"w": 1.0})
    turns = simulate_batch(rates, 50.0, x=[1.0, 0.0], p=[[1.0], [3000.0]], output_step=10.0, most_steps=500)
    assert turns.ok.tolist() == [True, False] and turns.status[1] == Status.BUDGET
    assert "most_steps" in turns.failures[1] and np.abs(turns.x[0, -1, 0] - np.cos(50.0)) < 1e-6
    fast = simulate_batch(
        rates, 20.0, x=[1.0, 0.0], p=[[1.0], [3000.0]], output_step=[0.1, 7.0], rtol=1e-10, atol=1e-10
    )
    assert fast.ok.all() and fast.statistics.calls > 1  # more steps than one call takes
    assert np.abs(fast.x[1, :, 0] - np.cos(3000.0 * fast.t)).max() < 1e-4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": np.zeros((3, 2))}, r"expected \(B, 1\)"),
        ({"q": np.zeros((3, 1)), "v": np.zeros((2, 1))}, "q has 3, v has 2"),
        ({"q": [[0.0], [np.nan]]}, "q 'q1' of state 1 is nan"),
        ({"p": {"l2": [1.0]}}, "no parameter 'l2'"),
    ],
)
def test_what_does_not_fit_is_said(given, message):
    with pytest.raises(ShapeError, match=message):
        simulate_batch(swinging, 1.0, **given)


def test_quaternions_of_any_length_are_brought_to_length_1():
    body = Body("top", 1.0, (0.0, 0.0, 0.5), ((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.01)))
    top = RobotBuilder("top").add(body).joint("tip", "spherical", "world", "top").build()
    q = np.array([[1.0, 0.1, 0.2, 0.0], [2.0, 0.2, 0.4, 0.0], [-0.3, 0.5, 0.1, 0.2]])
    many = simulate_batch(top, 0.5, q=q, v=[0.0, 0.0, 5.0], output_step=0.1)
    assert np.abs(np.linalg.norm(many.q, axis=-1) - 1.0).max() < 1e-15
    for k in range(3):
        assert np.array_equal(many.q[k], simulate(top, 0.5, q=q[k], v=[0.0, 0.0, 5.0], output_step=0.1).q)
    with pytest.raises(ShapeError, match="quaternion of 'tip' is zero"):
        simulate_batch(top, 0.5, q=[[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"q": [[0.1, 0.2], [0.1]]}, "rows of different lengths"),
        ({"q": {"q1": [1.0, 2.0, 3.0], "q2": [1.0, 2.0]}}, r"'q1' \(3,\), 'q2' \(2,\); expected the same number"),
        ({"method": "scipy:RK45"}, "works in single runs by `simulate` only"),
        ({"most_steps": -1}, "most_steps is -1; expected a number above 0"),
        ({"progress": 3}, r"progress is 3; expected a function progress\(t, h, failed\)"),
    ],
)
def test_what_is_not_a_batch_is_one_sentence(options, said):
    with pytest.raises((ShapeError, UnsupportedError), match=said):
        simulate_batch(library.double_pendulum(), 0.1, **options)


def test_locked_joints_of_a_batch_do_not_move():
    arm = plant(library.double_pendulum(), locked="q2")
    many = simulate_batch(arm, 1.0, q=[[0.4, 0.3], [1.0, -0.2]], v=[[1.0, 2.0], [0.0, -1.0]], output_step=0.5)
    assert (many.v[..., 1] == 0.0).all() and (np.ptp(many.q[..., 1], axis=1) == 0.0).all()
    assert np.array_equal(many.q[0], simulate(arm, 1.0, q=[0.4, 0.3], v=[1.0, 2.0], output_step=0.5).q)
