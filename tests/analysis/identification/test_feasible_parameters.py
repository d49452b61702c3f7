"""`feasible_parameters`: another solver agrees, and so do closed forms, SciPy and the laws of mass distributions."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.optimize

from kinemorph.algebra.arrays import Array
from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.inertia import from_pseudo_inertia, pseudo_inertia
from kinemorph.analysis.identification.feasible.conditions import inside
from kinemorph.analysis.identification.feasible.feasible_parameters import Feasible, feasible_parameters
from kinemorph.analysis.identification.shares import data_shares
from kinemorph.analysis.identification.shifted_masses import changed
from kinemorph.bench.peers.robots import bench_twin
from kinemorph.deriving.dynamics import derive
from kinemorph.errors import ModelError, ShapeError
from kinemorph.mechanics.recursions.kinematics import forward_kinematics
from kinemorph.mechanics.recursions.regressors import OF_BODY
from kinemorph.mechanics.trees.resolve import resolve
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.configuration import neutral, random_configuration
from kinemorph.model.robot import Robot
from kinemorph.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from support.references.cone_fit import feasible_by_cones
from support.robots.random_robots import random_pose


def random_pseudo_inertia(rng: np.random.Generator) -> Array:
    """The pseudo-inertia of a body of about 2 kg and 0.3 m."""
    G = rng.normal(size=(4, 4)) * np.array([0.15, 0.15, 0.15, 1.0])[:, None]
    return G @ G.T + np.diag([0.003, 0.003, 0.003, 0.5])


def ten(P: Array) -> Array:
    return np.array(from_pseudo_inertia(P.tolist()))


def columns_of(*bodies: str) -> list[str]:
    return [f"{body}.{part}" for body in bodies for part in OF_BODY]


def random_problem(seed: int, rows: int) -> tuple[Array, Array, list[str], dict[str, float]]:
    """(R, z, columns, prior) of two bodies and the friction of a joint, whose Coulomb friction wants to be negative."""
    rng = np.random.default_rng(seed)
    columns = [*columns_of("one", "two"), *(f"j.{part}" for part in ("armature", "viscous", "coulomb", "offset"))]
    bodies = [random_pseudo_inertia(rng) for _ in range(2)]
    stretched = [np.eye(4) + 0.3 * rng.normal(size=(4, 4)) for _ in range(2)]
    prior = np.concatenate([*map(ten, bodies), [0.1, 0.0, 0.0, 0.0]])
    truth = np.concatenate([*(ten(G @ P @ G.T) for G, P in zip(stretched, bodies, strict=True)), [0.2, 0.5, -0.3, 0.7]])
    R = rng.normal(size=(rows, len(columns))) * 30.0
    z = R @ truth + rng.normal(size=rows)
    return R, z, columns, dict(zip(columns, prior.tolist(), strict=True))


def checked(found: Feasible) -> Feasible:
    """The result, after checks that it is a solution of real bodies."""
    assert not found.failure
    values = found.by_name
    for body in {name.removesuffix(".m") for name in values if name.endswith(".m")}:
        P = np.array(pseudo_inertia([values[f"{body}.{part}"] for part in OF_BODY]))
        assert np.linalg.eigvalsh(P)[0] > 0.0
    for name, value in values.items():
        assert value >= 0.0 or not name.endswith((".m", ".armature", ".viscous", ".coulomb"))
    assert np.all((found.data_share >= 0.0) & (found.data_share <= 1.0))
    return found


def apart(one: Feasible, other: Feasible, prior: dict[str, float]) -> float:
    """The largest difference of two results, relative to the sizes of the bodies."""
    size = np.array([max(abs(prior[name]), abs(one.by_name[name]), 1e-2) for name in one.columns])
    return float(np.abs((one.values - other.values) / size).max())


def both(R: Array, z: Array, columns: Any, model: Robot | None = None, **wishes: Any) -> tuple[Feasible, Feasible]:
    first, second = (solve(R, z, columns, model, **wishes) for solve in (feasible_parameters, feasible_by_cones))
    return checked(first), checked(second)


SHAPES = {
    "box": Box((0.02, 0.03, 0.04), Pose(IDENTITY.R, (0.2, 0.1, 0.0))),
    "sphere": Sphere(0.03, Pose(IDENTITY.R, (0.0, 0.1, 0.0))),
    "cylinder": Cylinder(0.02, 0.1, random_pose(np.random.default_rng(1))),
    "ellipsoid": Ellipsoid((0.01, 0.02, 0.05), random_pose(np.random.default_rng(2))),
}


@pytest.mark.parametrize(
    ("rows", "weight", "wishes"),
    [
        (60, 1.0, {}),
        (12, 1e-2, {}),  # fewer rows than unknowns
        (60, 1e-2, {"known": {"one.m": 6.0, "j.viscous": 0.4}}),
        (40, 1.0, {"shapes": {"one": SHAPES["box"], "two": SHAPES["ellipsoid"]}}),
    ],
)
def test_two_solvers_agree(rows: int, weight: float, wishes: dict[str, Any]) -> None:
    R, z, columns, prior = random_problem(rows, rows)
    first, second = both(R, z, columns, prior=prior, weight=weight, **wishes)
    assert apart(first, second, prior) < 1e-6
    assert first.by_name["j.coulomb"] < 1e-6 or rows < 60 or wishes  # it is at its bound where data are strong
    for name, value in wishes.get("known", {}).items():
        assert first.by_name[name] == pytest.approx(value, abs=1e-10)


def beyond_surface(shape: Any, center: Array) -> float:
    """How far a center (3,) [m] is beyond the surface of a shape, relative to the shape: negative inside."""
    local = np.array(shape.placement.R).T @ (center - np.array(shape.placement.p))
    if isinstance(shape, Box):
        return float(np.abs(local / (0.5 * np.array(shape.size))).max()) - 1.0
    if isinstance(shape, Cylinder):
        return max(float(np.hypot(*local[:2])) / shape.radius, abs(local[2]) / (0.5 * shape.length)) - 1.0
    radii = (shape.radius,) * 3 if isinstance(shape, Sphere) else shape.radii
    return float(np.linalg.norm(local / np.array(radii))) - 1.0


@pytest.mark.parametrize("kind", SHAPES)
def test_conditions_hold_where_centers_are_inside(kind: str) -> None:
    shape, rng, found = SHAPES[kind], np.random.default_rng(5), []
    for c in np.array(shape.placement.p) + rng.uniform(-0.06, 0.06, size=(300, 3)):
        mass = rng.uniform(0.5, 5.0)
        least = min(
            np.linalg.eigvalsh(np.einsum("i,ijk", mass * np.array([1.0, *c]), matrices))[0]
            for matrices in inside("body", shape)
        )
        found.append(beyond_surface(shape, c) <= 0.0)
        assert (least >= 0.0) == found[-1]
    assert 5 < sum(found) < 200


@pytest.mark.parametrize(
    "kind", ["box", "sphere", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("cylinder", "ellipsoid"))]
)
def test_centers_of_mass_stay_inside_their_shapes(kind: str) -> None:
    R, z, columns, prior = random_problem(3, 40)
    shape = SHAPES[kind]
    free = feasible_parameters(R, z, columns, prior=prior)
    found = checked(feasible_parameters(R, z, columns, prior=prior, shapes={"one": shape}))

    def beyond(result: Feasible) -> float:
        return beyond_surface(shape, result.values[1:4] / result.values[0])

    assert beyond(free) > 0.1
    assert -1e-5 < beyond(found) < 1e-9  # the constraint is active
    assert found.misfit > free.misfit


def test_a_measured_mass_alone_has_a_closed_form() -> None:
    rng = np.random.default_rng(7)
    P = random_pseudo_inertia(rng)
    columns, prior = columns_of("b"), dict(zip(columns_of("b"), ten(P).tolist(), strict=True))
    k, m1, m0, w = 3.0, 2.0 * P[3, 3], P[3, 3], 0.7
    R, z = np.zeros((1, 10)), np.array([k * m1])
    R[0, 0] = k
    # X^-1 = 1 + k^2 (m - m1) / w u u^T with m = u^T X u, m0 = u^T u
    m = np.roots([k * k * m0 / w, 1.0 - k * k * m0 * m1 / w, -m0]).max()
    c = P[:3, 3] / m0
    wanted = P + (m - m0) * np.outer([*c, 1.0], [*c, 1.0])
    for found in both(R, z, columns, prior=prior, weight=w):
        np.testing.assert_allclose(found.values, ten(wanted), rtol=1e-8, atol=1e-9)


def test_without_data_the_prior_remains() -> None:
    R, _, columns, prior = random_problem(5, 3)
    for found in both(0.0 * R, np.zeros(3), columns, prior=prior):
        np.testing.assert_allclose(found.values, [prior[name] for name in columns], atol=1e-9)
        assert found.data_share.max() < 1e-9
        assert found.divergence < 1e-12


def test_the_result_is_the_same_in_another_frame_and_in_other_units() -> None:
    R, z, columns, prior = random_problem(11, 9)
    body, values = columns[:10], np.array([prior[name] for name in columns[:10]])
    turned = changed(random_pose(np.random.default_rng(3))) @ np.diag([1e3, *[1e6] * 3, *[1e9] * 6])  # grams, mm
    one = feasible_parameters(R[:, :10], z, body, prior=dict(zip(body, values, strict=True)))
    there = dict(zip(body, turned @ values, strict=True))
    other = feasible_parameters(R[:, :10] @ np.linalg.inv(turned), z, body, prior=there)
    np.testing.assert_allclose(np.linalg.solve(turned, other.values), one.values, rtol=1e-6, atol=1e-8)
    assert other.divergence == pytest.approx(one.divergence, rel=1e-7)


def test_scipy_finds_the_same_minimum_of_a_small_problem() -> None:
    rng = np.random.default_rng(2)
    columns = [*columns_of("b"), "j.coulomb", "j.offset"]
    P0 = random_pseudo_inertia(rng)
    L0 = np.linalg.inv(np.linalg.cholesky(P0))
    R, box = rng.normal(size=(8, 12)) * 5.0, Box((0.1, 0.1, 0.1))
    z = R @ np.concatenate([ten(random_pseudo_inertia(rng)), [-0.1, 0.4]])
    scales = np.linalg.norm(z) / np.linalg.norm(R[:, 10:], axis=0)

    def parameters(u: Array) -> Array:
        C = np.zeros((4, 4))
        C[np.tril_indices(4)] = u[:10]
        return np.concatenate([ten(C @ C.T), u[10:]])

    def objective(u: Array) -> float:
        theta = parameters(u)
        X = L0 @ np.array(pseudo_inertia(theta[:10].tolist())) @ L0.T
        left = R @ theta - z
        return float(0.5 * left @ left + np.trace(X) - np.linalg.slogdet(X)[1] + 0.5 * np.sum((u[10:] / scales) ** 2))

    def room(u: Array) -> Array:
        theta = parameters(u)
        return np.concatenate([0.05 - theta[1:4] / theta[0], 0.05 + theta[1:4] / theta[0], u[10:11]])

    start = np.concatenate([np.linalg.cholesky(np.diag(np.diag(P0)))[np.tril_indices(4)], [0.1, 0.1]])
    options = {"ftol": 1e-14, "maxiter": 500}
    best = scipy.optimize.minimize(
        objective, start, method="SLSQP", constraints={"type": "ineq", "fun": room}, options=options
    )
    prior = dict(zip(columns, [*ten(P0), 0.0, 0.0], strict=True))
    found = checked(feasible_parameters(R, z, columns, prior=prior, shapes={"b": box}))
    np.testing.assert_allclose(found.values, parameters(best.x), rtol=2e-4, atol=2e-5)


def legs() -> Robot:
    """A free body with two legs whose frames differ by more than a reflection."""
    rng = np.random.default_rng(5)
    builder = RobotBuilder("legs").root("hull", "free")
    builder.add(Body.box("hull", 5.0, (0.4, 0.2, 0.1)))
    for side, y in (("left", 0.1), ("right", -0.1)):
        builder.add(Body.box(side, 1.0, (0.1, 0.05, 0.3), center=(0.02, 0.01, -0.1)))
        turned = Pose(random_pose(rng).R, (0.1, y, 0.0))
        builder.joint(f"{side}_hip", "revolute", "hull", side, axis=(0.0, 1.0, 0.0), placement=turned)
    return builder.build()


@pytest.mark.slow
def test_mirrored_limbs_are_mirror_images() -> None:
    robot = legs()
    dynamics = derive(robot, backend="interpreter")
    rng = np.random.default_rng(8)
    R = rng.normal(size=(20, len(dynamics.regressor_columns)))
    z = R @ dynamics.regressor_parameters + rng.normal(size=20)
    mirror = {"left": "right", "left_hip": "right_hip"}
    first, second = both(R, z, dynamics.regressor_columns, robot, mirrored=mirror)
    names = dynamics.regressor_columns
    assert apart(first, second, dict(zip(names, dynamics.regressor_parameters, strict=True))) < 1e-6
    values = first.by_name
    assert values["left_hip.viscous"] == pytest.approx(values["right_hip.viscous"], abs=1e-9)
    # the energies of mirrored motions are the same: compare pseudo-inertias in axes of the world
    placed = []
    for side in ("left", "right"):
        P = np.array(pseudo_inertia([values[f"{side}.{part}"] for part in OF_BODY]))
        T = np.eye(4)
        T[:3, :3] = forward_kinematics(resolve(robot), neutral(robot).tolist(), [side])[0].R
        placed.append(T @ P @ T.T)
    flip = np.diag([1.0, -1.0, 1.0, 1.0])
    np.testing.assert_allclose(flip @ placed[0] @ flip, placed[1], atol=1e-9)


def test_what_forces_do_not_show_stays_at_the_cad_values() -> None:
    robot = library.puma()
    dynamics = derive(robot)
    rng = np.random.default_rng(1)
    q = np.array([random_configuration(robot, rng) for _ in range(60)])
    Y = dynamics.regressor(q, *rng.normal(size=(2, 60, 6))).reshape(360, -1)
    R, names = np.linalg.qr(Y, mode="r"), dynamics.regressor_columns
    z = R @ dynamics.regressor_parameters * 1.1
    found = checked(feasible_parameters(R, z, names, robot))
    shares = dict(zip(names, found.data_share.tolist(), strict=True))
    assert found.by_name["link1.m"] == pytest.approx(13.0, rel=1e-6)
    assert shares["link1.m"] < 1e-6
    assert shares["joint2.viscous"] > 0.999
    assert found.misfit < 1e-2 * float(z @ z) / 360


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(25))
def test_two_solvers_agree_on_many_random_problems(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, weight = int(rng.integers(5, 80)), float(10.0 ** rng.uniform(-2.0, 1.0))
    R, z, columns, prior = random_problem(100 + seed, rows)
    center = np.array([prior[f"two.h{axis}"] for axis in "xyz"]) / prior["two.m"] + rng.uniform(-0.1, 0.1, size=3)
    placed = replace(SHAPES[rng.choice([*SHAPES])], placement=Pose(random_pose(rng).R, tuple(center.tolist())))
    wishes: list[dict[str, Any]] = [
        {},
        {"known": {"one.m": 1.1 * prior["one.m"], "j.armature": 0.15}},
        {"shapes": {"two": placed}},
        {"shapes": {"one": Sphere(0.5)}, "known": {"two.m": 0.9 * prior["two.m"]}},
    ]
    first, second = both(R, z, columns, prior=prior, weight=weight, **wishes[seed % 4])
    assert apart(first, second, prior) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1e-3, 0.1, 10.0])
def test_two_solvers_agree_on_a_panda_in_less_than_a_second(weight: float) -> None:
    robot = bench_twin("panda").robot
    dynamics = derive(robot)
    rng = np.random.default_rng(1)
    count, names = 2000, dynamics.regressor_columns
    q = np.array([random_configuration(robot, rng) for _ in range(count)])
    Y = dynamics.regressor(q, *rng.normal(size=(2, count, robot.nv))).reshape(-1, len(names))
    friction = {"armature": 0.1, "viscous": 0.5, "coulomb": 0.3, "offset": -0.2}
    nominal = dict(zip(names, dynamics.regressor_parameters.tolist(), strict=True))
    true = [friction.get(name.rpartition(".")[2], 1.2 * x) for name, x in nominal.items()]
    R = np.linalg.qr(np.column_stack([Y, Y @ true + 0.5 * rng.normal(size=len(Y))]), mode="r") / 0.5
    begun = time.process_time()
    first = checked(feasible_parameters(R[:-1, :-1], R[:-1, -1], names, robot, weight=weight))
    taken = time.process_time() - begun
    second = checked(feasible_by_cones(R[:-1, :-1], R[:-1, -1], names, robot, weight=weight))
    assert apart(first, second, nominal) < 1e-6
    assert taken < 1.0


def test_shares_of_data_are_parts_of_variances() -> None:
    R, prior = np.diag([1.0, 2.0, 0.0]), np.diag([1.0, 1.0, 4.0])
    np.testing.assert_allclose(data_shares(R, prior, np.eye(3)), [0.5, 0.8, 0.0])
    rng = np.random.default_rng(0)
    R, G, numbers = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=(5, 3))
    H = G @ G.T
    alone = np.einsum("ki,ij,kj->k", numbers, np.linalg.inv(H), numbers)
    together = np.einsum("ki,ij,kj->k", numbers, np.linalg.inv(H + R.T @ R), numbers)
    np.testing.assert_allclose(data_shares(R, H, numbers), 1.0 - together / alone, rtol=1e-9)
    fixed = data_shares(R, H, np.eye(3), equalities=np.array([[1.0, 0.0, 0.0]]))
    assert fixed[0] == 0.0
    assert fixed[1] > 0.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"weight": 0.0}, ModelError, "weight is 0.0, expected a number above 0"),
        ({"plane": "zz"}, ModelError, "plane is 'zz', expected one of xy, xz, yz"),
        ({"known": {"one.mass": 1.0}}, ModelError, "parameter 'one.mass': it is known, but is not among the columns"),
        ({"known": {"one.m": "heavy"}}, ModelError, "known: 'one.m' is 'heavy', expected a finite number"),
        ({"mirrored": {"one": "three"}}, ModelError, "part 'one': 'three' is given as its mirror image, expected two"),
        ({"mirrored": {"one": "two"}}, ModelError, "mirrored: 'one' needs the robot"),
        ({"shapes": {"onne": Sphere(1.0)}}, ModelError, "body 'onne': it has a shape .* Did you mean 'one'"),
        ({"shapes": {"one": Capsule(1.0, 1.0)}}, ModelError, "the shape for its center of mass is a Capsule"),
        ({"shapes": {"one": Sphere(-1.0)}}, ModelError, "expected numbers above 0"),
        ({"columns": ["a", "a"]}, ShapeError, "columns: a name occurs twice"),
        ({"columns": ["a", "b"]}, ShapeError, r"R has shape \(30, 24\) and z \(30,\); expected \(m, 2\)"),
    ],
)
def test_bad_input_is_one_sentence(change: dict[str, Any], error: type[Exception], message: str) -> None:
    R, z, columns, prior = random_problem(1, 30)
    given: dict[str, Any] = {"R": R, "z": z, "columns": columns, "prior": prior} | change
    with pytest.raises(error, match=message):
        feasible_parameters(**given)


def test_impossible_conditions_are_told() -> None:
    R, z, columns, prior = random_problem(1, 30)
    with pytest.raises(ShapeError, match=r"'one\.m' of body 'one' are missing; expected all ten parameters"):
        feasible_parameters(R[:, 1:], z, columns[1:], prior=prior)
    with pytest.raises(ShapeError, match="entries that are not finite numbers"):
        feasible_parameters(R * np.nan, z, columns, prior=prior)
    with pytest.raises(ModelError, match=r"body 'one': its mass in the prior is -1 kg"):
        feasible_parameters(R, z, columns, prior=prior | {"one.m": -1.0})
    found = feasible_parameters(R, z, columns, prior=prior, known={"one.m": -1.0})
    assert found.failure.startswith("no solution is found: ")
    wrong = legs()
    names = derive(wrong, backend="interpreter").regressor_columns
    with pytest.raises(ModelError, match=r"differ by 0\.2 m along the plane 'yz' at the neutral configuration"):
        feasible_parameters(
            np.eye(len(names)), np.zeros(len(names)), names, wrong, mirrored={"left": "right"}, plane="yz"
        )
    with pytest.raises(ModelError, match="contradicts other known values or mirrored parts"):
        both_known = {"left.m": 1.0, "right.m": 2.0}
        feasible_parameters(
            np.eye(len(names)), np.zeros(len(names)), names, wrong, mirrored={"left": "right"}, known=both_known
        )
