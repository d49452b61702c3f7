"""Two and more views: points in space come back from their pictures, with the scatter that their covariances state.

Requirement 004-10: joint angles from lateral and ventral views, by reconstruction in space.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kinemorph.errors import RecordingWarning, ShapeError
from kinemorph.tracking import Filmed, View, calibrated, load_view, reconstruct

LATERAL = View.orthographic("lateral", look=(0, 1, 0), up=(0, 0, 1), scale=2e4, center=(320, 240))
VENTRAL = View.orthographic("ventral", look=(0, 0, 1), up=(0, -1, 0), scale=1.8e4, center=(300, 200))


def random_camera(name: str, seed: int, distance: float = 0.4, deviation: float | None = None) -> View:
    """A pinhole camera at a random place that looks at the origin, by its focal length and its pose alone."""
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    R = R if np.linalg.det(R) > 0.0 else -R
    K = np.array([[900.0, 3.0, 320.0], [0.0, 880.0, 240.0], [0.0, 0.0, 1.0]])
    P = K @ np.column_stack([R, [0.0, 0.0, distance]])
    return View.dlt(name, (P / P[2, 3]).ravel()[:11], deviation=deviation)


def cloud(n: int = 20, k: int = 6, seed: int = 0) -> np.ndarray:
    return 0.03 * np.random.default_rng(seed).normal(size=(n, k, 3))


def films(points: np.ndarray, views: list[View], noise: float = 0.0, seed: int = 0) -> list[Filmed]:
    rng = np.random.default_rng(seed)
    names = tuple(f"p{k}" for k in range(points.shape[1]))
    times = np.arange(len(points)) / 200.0
    found = []
    for view in views:
        pictures = view.project(points)
        found.append(Filmed(view.name, names, times, pictures + noise * rng.normal(size=pictures.shape)))
    return found


CAMERAS = [
    [LATERAL, VENTRAL],
    [random_camera("a", 1), random_camera("b", 2)],
    [random_camera("a", 3), random_camera("b", 4), random_camera("c", 5)],
    [LATERAL, random_camera("b", 6)],
]


@pytest.mark.parametrize("views", CAMERAS)
def test_points_come_back_from_their_pictures(views: list[View]) -> None:
    points = cloud()
    points[3, 2] = np.nan
    space = reconstruct(films(points, views), views)
    np.testing.assert_allclose(space.markers.positions, points, atol=1e-13)
    for residual in space.residuals.values():
        assert np.nanmax(np.abs(residual)) < 1e-8


def test_an_orthographic_view_shows_lengths_across_its_sight_at_its_scale() -> None:
    """Seen from its right side an animal that walks along x walks to the right; from below its left is up or down."""
    assert LATERAL.project([0.01, 0.5, 0.02]) == pytest.approx([320 + 200, 240 + 400])
    assert VENTRAL.project([0.01, 0.02, 0.5]) == pytest.approx([300 + 180, 200 - 360])
    slanted = View.orthographic("slanted", look=(1, 2, -2), up=(0, 0, 3), scale=1e3)
    assert slanted.matrix is not None
    rows = slanted.matrix[:2, :3] / 1e3
    np.testing.assert_allclose(rows @ rows.T, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(rows @ [1, 2, -2], 0.0, atol=1e-15)
    assert rows[1, 2] > 0.0


@pytest.mark.parametrize("views", [CAMERAS[0], CAMERAS[1]])
def test_covariances_are_those_of_many_noisy_recordings(views: list[View]) -> None:
    """4000 pictures of three points with noise of 0.5 px; variances agree to 5 in 100, 2 in 100 being their scatter."""
    known = [View(view.name, view.matrix, deviation=0.5) for view in views]
    still = np.repeat(cloud(1, 3, seed=4), 4000, axis=0)
    space = reconstruct(films(still, known, noise=0.5, seed=9), known)
    assert space.scatter == pytest.approx(1.0, abs=0.03)
    for k in range(3):
        sampled = np.cov(space.markers.positions[:, k].T)
        stated = space.covariances[:, k].mean(axis=0)
        size = np.sqrt(np.outer(np.diag(stated), np.diag(stated)))
        assert np.abs((sampled - stated) / size).max() < 0.06
    unknown = reconstruct(films(still, views, noise=0.5, seed=9), views)
    assert [*unknown.deviations.values()] == pytest.approx([0.5, 0.5], rel=0.03)
    np.testing.assert_allclose(unknown.covariances, space.covariances * space.scatter**2, rtol=1e-6)


def test_a_less_sharp_view_counts_less() -> None:
    """Two views share x: the estimate is the mean of both, weighted by the inverse squares of their deviations."""
    points = cloud(1, 1)
    sharp, dull = View("lateral", LATERAL.matrix, deviation=1.0), View("ventral", VENTRAL.matrix, deviation=3.0)
    both = films(points, [sharp, dull])
    shifted = Filmed("ventral", both[1].names, both[1].times, both[1].pictures + np.array([5.0, 0.0]))
    found = reconstruct([both[0], shifted], [sharp, dull]).markers.positions[0, 0, 0] - points[0, 0, 0]
    precision = np.array([2e4 / 1.0, 1.8e4 / 3.0]) ** 2
    assert found == pytest.approx(5.0 / 1.8e4 * precision[1] / precision.sum(), rel=1e-9)
    weights = np.zeros((1, 1))
    ignored = Filmed("ventral", shifted.names, shifted.times, shifted.pictures, weights)
    third = films(points, [random_camera("c", 8, deviation=1.0)])[0]
    space = reconstruct([both[0], ignored, third], [sharp, dull, random_camera("c", 8, deviation=1.0)])
    np.testing.assert_allclose(space.markers.positions, points, atol=1e-13)


def test_weights_of_points_are_inverse_variances() -> None:
    """A point whose pictures count a quarter has four times the variance, and a quarter of the weight."""
    shares = np.where(np.arange(6) == 2, 0.25, 1.0) * np.ones((20, 1))
    pairs = films(cloud(), [LATERAL, VENTRAL])
    both = [Filmed(film.view, film.names, film.times, film.pictures, shares) for film in pairs]
    space = reconstruct(both, [View(view.name, view.matrix, 1.0) for view in (LATERAL, VENTRAL)])
    np.testing.assert_allclose(space.markers.weights, shares, rtol=1e-12)


@pytest.mark.parametrize(("kind", "view"), [("dlt", random_camera("a", 1)), ("orthographic", LATERAL)])
def test_views_are_found_from_known_points(kind: str, view: View) -> None:
    """Without noise to rounding; with noise of 0.3 px the deviation is found, and errors shrink as points grow."""
    known = cloud(1, 40, seed=2)[0]
    exact = calibrated("a", known[:8], view.project(known[:8]), kind=kind)  # type: ignore[arg-type]
    np.testing.assert_allclose(exact.project(known), view.project(known), rtol=1e-10)
    assert exact.residual is not None and exact.residual < 1e-8
    errors = []
    for count in (40, 1000):
        known = cloud(1, count, seed=count)[0]
        noisy = view.project(known) + 0.3 * np.random.default_rng(count).normal(size=(count, 2))
        found = calibrated("a", known, noisy, kind=kind)  # type: ignore[arg-type]
        assert found.deviation == pytest.approx(0.3, rel=0.2)
        errors.append(float(np.sqrt(np.mean((found.project(cloud(1, 50)) - view.project(cloud(1, 50))) ** 2))))
    assert errors[1] < 0.5 * errors[0] and errors[0] < 0.5


@pytest.mark.parametrize(("kind", "count"), [("dlt", 7), ("orthographic", 5)])
def test_the_deviation_of_few_known_points_is_not_too_small(kind: str, count: int) -> None:
    """The mean of the found variances is the true one, although most of the errors is fitted away."""
    rng, view, found = np.random.default_rng(4), {"dlt": random_camera("a", 1), "orthographic": LATERAL}[kind], []
    for seed in range(100):
        known = cloud(1, count, seed=seed)[0]
        shown = view.project(known) + 0.05 * rng.normal(size=(count, 2))
        found.append(calibrated("a", known, shown, kind=kind).deviation)  # type: ignore[arg-type]
    assert np.mean(np.square(found)) == pytest.approx(0.05**2, rel=0.3)


def test_the_refined_calibration_leaves_the_least_squares_in_the_picture() -> None:
    """An independent minimizer of the picture errors, SciPy's, does not find a better one."""
    from scipy.optimize import least_squares

    view, known = random_camera("a", 1, distance=0.15), cloud(1, 12, seed=2)[0]
    noisy = view.project(known) + 2.0 * np.random.default_rng(1).normal(size=(12, 2))

    def errors(coefficients: np.ndarray) -> np.ndarray:
        P = np.append(coefficients, 1.0).reshape(3, 4)
        above = known @ P[:, :3].T + P[:, 3]
        return (above[:, :2] / above[:, 2:] - noisy).ravel()

    found = calibrated("a", known, noisy)
    scale = np.abs(view.coefficients)
    best = least_squares(errors, view.coefficients, x_scale=scale, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    assert np.sum(errors(found.coefficients) ** 2) == pytest.approx(2.0 * best.cost, rel=1e-8)


def test_pictures_are_saved_and_read_back(tmp_path: Path) -> None:
    film = films(cloud(), [LATERAL], noise=1.0)[0]
    again = load_view(film.save(tmp_path / "side.csv"), "lateral")
    assert again.names == film.names and again.view == "lateral"
    np.testing.assert_array_equal(again.pictures, film.pictures)
    path = tmp_path / "network.csv"
    path.write_text(
        "scorer,net,net,net,net,net,net\nbodyparts,toe,toe,toe,knee,knee,knee\n"
        "coords,x,y,likelihood,x,y,likelihood\n0,10,20,0.9,30,40,0.8\n1,11,21,0.1,31,41,0.7\n",
        encoding="utf-8",
    )
    found = load_view(path, "lateral", rate=100)
    assert found.names == ("toe", "knee")
    np.testing.assert_array_equal(found.times, [0.0, 0.01])
    np.testing.assert_array_equal(found.pictures[1], [[11, 21], [31, 41]])
    np.testing.assert_array_equal(found.weights, [[0.9, 0.8], [0.1, 0.7]])


# ── mistakes ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_views_without_calibration_are_refused() -> None:
    pictures = films(cloud(), [LATERAL, VENTRAL])
    with pytest.raises(ShapeError, match=r"view 'ventral' has no calibration\. Give known points"):
        reconstruct(pictures, [LATERAL, View("ventral")])
    with pytest.raises(ShapeError, match=r"view 'ventral' has no calibration: views are lateral"):
        reconstruct(pictures, [LATERAL])
    with pytest.raises(ShapeError, match=r"view 'side' has no calibration"):
        View("side").project([0.0, 0.0, 0.0])


def test_one_view_alone_and_views_from_the_same_side_are_refused() -> None:
    again = View.orthographic("again", look=(0, 1, 0), up=(1, 0, 1), scale=1e4)
    with pytest.raises(ShapeError, match="recordings of 1 view were given"):
        reconstruct(films(cloud(), [LATERAL]), [LATERAL])
    with pytest.raises(ShapeError, match="'lateral', 'again' look in the same direction"):
        reconstruct(films(cloud(), [LATERAL, again]), [LATERAL, again])
    with pytest.raises(ShapeError, match="two recordings are of the same view"):
        reconstruct(films(cloud(), [LATERAL, LATERAL, VENTRAL]), [LATERAL, VENTRAL])
    with pytest.raises(ShapeError, match="view 'ventral' has no deviation and others have one"):
        reconstruct(films(cloud(), [LATERAL, VENTRAL]), [View("lateral", LATERAL.matrix, 1.0), VENTRAL])


def test_frames_that_one_camera_lacks_are_left_out_and_told() -> None:
    side, below = films(cloud(), [LATERAL, VENTRAL])
    late = Filmed("ventral", below.names, below.times[4:] + 2e-4, below.pictures[4:])
    with pytest.warns(RecordingWarning, match="4 of 20 frames of a view have no frame at their time in the others"):
        space = reconstruct([side, late], [LATERAL, VENTRAL])
    np.testing.assert_allclose(space.markers.positions, cloud()[4:], atol=1e-13)
    early = Filmed("ventral", below.names, below.times - 1e-3, below.pictures)
    np.testing.assert_allclose(reconstruct([side, early], [LATERAL, VENTRAL]).markers.positions, cloud(), atol=1e-13)
    other = Filmed("ventral", below.names, below.times + 7.0, below.pictures)
    with pytest.raises(ShapeError, match=r"no frames at the same times \('lateral' 0 to 0.095 s, 'ventral' 7 to"):
        reconstruct([side, other], [LATERAL, VENTRAL])


def test_exchanged_views_are_told() -> None:
    a, b = (random_camera(name, seed, deviation=0.5) for name, seed in (("a", 1), ("b", 2)))
    first, second = films(cloud(50, 6), [a, b], noise=0.5)
    with pytest.warns(RecordingWarning, match=r"residuals are [\d.e+]+ times the stated deviations of the views"):
        reconstruct([replace(first, view="b"), replace(second, view="a")], [a, b])


def test_markers_that_are_confused_in_one_view_are_told() -> None:
    side, below = films(cloud(200, 8), [LATERAL, VENTRAL], noise=0.5)
    swapped = below.pictures[:, [1, 0, *range(2, 8)]]
    with pytest.warns(RecordingWarning, match=r"markers 'p0', 'p1' in different views do not show the same points"):
        reconstruct([side, Filmed("ventral", below.names, below.times, swapped)], [LATERAL, VENTRAL])


@pytest.mark.parametrize(
    ("points", "kind", "sentence"),
    [
        (cloud(1, 5)[0], "dlt", "5 known points were given; a calibration of the kind 'dlt' needs 6 or more"),
        (cloud(1, 3)[0], "orthographic", "3 known points were given; .* needs 4 or more"),
        (cloud(1, 9)[0] * [1, 1, 0], "dlt", "the known points lie in a plane, to 0 of their extent"),
        (np.ones((9, 3)), "dlt", "the known points lie in a plane"),
        (cloud(1, 9)[0], "dlt", "all pictures of the known points are at one place, .0, 0. px"),
        (cloud(1, 9)[0], "fisheye", "kind is 'fisheye'; expected one of dlt, orthographic"),
        (cloud(1, 9)[0, :, :2], "dlt", r"points have shape \(9, 2\) and pictures"),
    ],
)
def test_calibrations_that_cannot_be_made_are_refused(points: np.ndarray, kind: str, sentence: str) -> None:
    with pytest.raises(ShapeError, match=sentence):
        calibrated("side", points, np.zeros((len(points), 2)), kind=kind)  # type: ignore[arg-type]


def test_points_that_leave_a_central_view_open_are_refused() -> None:
    """All but one in a plane, or on two lines: other views have the same pictures of these points, and no others."""
    camera, points = random_camera("side", 1), cloud(1, 12)[0]
    flat, lines = points.copy(), np.zeros_like(points)
    flat[1:, 2] = 0.0
    lines[:6, 0] = points[:6, 0]
    lines[6:, 1:] = np.column_stack([points[6:, 1], np.full(6, 0.01)])
    for open_ones in (flat, lines):
        with pytest.raises(ShapeError, match="the 12 known points leave its calibration open"):
            calibrated("side", open_ones, camera.project(open_ones))


def test_a_camera_at_the_origin_is_calibrated() -> None:
    """Its matrix has a last entry of 0, by which the eleven coefficients would be divided."""
    camera = View("side", np.array([[1e3, 0.0, 320.0, 0.0], [0.0, 1e3, 240.0, 0.0], [0.0, 0.0, 1.0, 0.0]]))
    points = cloud(1, 12)[0] + np.array([0.0, 0.0, 0.5])
    found = calibrated("side", points, camera.project(points))
    np.testing.assert_allclose(found.project(points + 0.01), camera.project(points + 0.01), rtol=1e-9)
    with pytest.raises(ShapeError, match="the origin of the axes lies in the plane of the camera"):
        _ = camera.coefficients


def test_views_that_cannot_be_meant_are_refused() -> None:
    with pytest.raises(ShapeError, match="12 coefficients were given; expected the 11"):
        View.dlt("side", np.ones(12))
    with pytest.raises(ShapeError, match=r"its matrix has shape \(3, 3\)"):
        View("side", np.eye(3))
    for more in ({"up": (0, 0, 2)}, {"up": (0, 1)}, {"center": (1.0,)}, {"scale": np.inf}):
        with pytest.raises(ShapeError, match=r"expected two directions \(x, y, z\) that differ, a scale"):
            View.orthographic("side", **({"look": (0, 0, 1), "up": (0, 1, 0), "scale": 1.0} | more))  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="whose last row is not 0"):
        View("side", np.eye(3, 4) * [[1], [1], [0]])
    with pytest.raises(ShapeError, match="deviation is -1 px"):
        View.dlt("side", random_camera("a", 1).coefficients, deviation=-1.0)
