"""Surfaces over a grid: look-ups by index, nearest points, their derivatives, and numbers that are data of programs."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.codegen.backends.c.export import export_c
from kinemorph.codegen.backends.text.sympy_matrices import to_sympy
from kinemorph.codegen.backends.text.sympy_source import export_sympy
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import hessian, jacobian
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.graphs.tracing import trace
from kinemorph.codegen.loops.block_routines import routine
from kinemorph.codegen.storing import shared_numbers
from kinemorph.codegen.storing.recipes import Recalled, recalled, written
from kinemorph.vocabulary.blocks import Block
from kinemorph.vocabulary.frozen_array import FrozenArray
from kinemorph.vocabulary.grid_surfaces import Bicubic, Grid, NearestPoint, partials
from support.references.derivative_oracles import by_duals, run
from support.tools.program_runs import all_ways, assert_agrees

RNG = np.random.default_rng(7)


def grid(nx: int = 5, ny: int = 4, seed: int = 0) -> Grid:
    rng = np.random.default_rng([seed, nx, ny])
    nodes = rng.normal(size=(nx, ny, 4)) * [0.1, 0.05, 0.05, 0.02]
    return Grid(FrozenArray(nodes), (0.5, 0.7), (-1.0, -1.2))


HILLY = grid()
PLACES = np.concatenate([RNG.uniform([-1.6, -1.8], [1.6, 1.5], size=(40, 2)), [[np.nan, 0.0], [0.0, np.inf], [9, -9]]])
POINTS = np.column_stack([RNG.uniform([-1.6, -1.8, -0.1], [1.6, 1.5, 1.0], size=(60, 3)), RNG.uniform(0.0, 0.2, 60)])


def whole(block: Block) -> Program:
    return trace(lambda x: x[0].block(block, x), {"x": (block.n_in,)}, name=block.label)


def nearest(made: Grid = HILLY) -> NearestPoint:
    return NearestPoint(made, made.top)


def test_partial_derivatives_are_those_of_the_surface() -> None:
    """Each order is the slope of the one before, inside the grid and beyond its edges."""
    block, h = Bicubic(HILLY, 3), 1e-6
    found = dict(zip(partials(3), block.meaning(*PLACES[:40].T), strict=True))
    for (a, b), step in (
        ((1, 0), (h, 0.0)),
        ((0, 1), (0.0, h)),
        ((2, 0), (h, 0.0)),
        ((1, 1), (0.0, h)),
        ((1, 2), (0, h)),
    ):
        before = (a - 1, b) if step[0] else (a, b - 1)
        ends = [
            dict(zip(partials(3), block.meaning(*(PLACES[:40] + sign * np.array(step)).T), strict=True))
            for sign in (1, -1)
        ]
        assert np.allclose(found[a, b], (ends[0][before] - ends[1][before]) / (2 * h), atol=1e-7)
    beyond = block.meaning(9.0, 0.1)
    assert beyond[0] == Bicubic(HILLY).meaning(1.0, 0.1)[0] and beyond[1] == 0.0


def test_no_point_of_a_surface_is_above_its_top() -> None:
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 300), np.linspace(-1.2, 0.9, 300))
    highest = Bicubic(HILLY).meaning(x.ravel(), y.ravel())[0].max()
    assert highest <= HILLY.top < highest + 0.2


def test_the_nearest_point_is_one_and_high_points_are_not_searched() -> None:
    x, y, searched, *below = nearest().meaning(*POINTS.T)
    assert np.array_equal(below, Bicubic(HILLY, 1).meaning(*POINTS.T[:2]))
    f, fx, fy = Bicubic(HILLY, 1).meaning(x, y)
    close = searched == 1.0
    assert (close == (POINTS[:, 2] - POINTS[:, 3] <= HILLY.top)).all() and 10 < close.sum() < 50
    assert np.array_equal(x[~close], POINTS[~close, 0]) and np.array_equal(y[~close], POINTS[~close, 1])
    off = np.abs(x - POINTS[:, 0] + (f - POINTS[:, 2]) * fx) + np.abs(y - POINTS[:, 1] + (f - POINTS[:, 2]) * fy)
    assert (off[close] < 1e-13).sum() > 0.8 * close.sum()  # the others are deep below, where it has no single one


@all_ways
@pytest.mark.parametrize(
    "block", [Bicubic(HILLY), Bicubic(HILLY, 2), Bicubic(grid(2, 2), 3), nearest()], ids=lambda b: b.label
)
def test_every_backend_computes_surfaces_alike(way: str, block: Block) -> None:
    entries = PLACES if isinstance(block, Bicubic) else POINTS
    (expected,) = assert_agrees(way, whole(block), [entries], 1e-10)
    (by_loops,) = assert_agrees(way, routine(block), [entries], 1e-10)
    assert np.allclose(by_loops, expected, rtol=1e-10, atol=1e-10, equal_nan=True)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("block", [Bicubic(HILLY, 1), nearest()], ids=lambda block: block.label)
def test_derivatives_are_exact(mode: str, block: Block) -> None:
    program = whole(block)
    slope = jacobian(program, "out", "x", mode=mode)
    for x in ([0.13, -0.4, 0.3, 0.0], [0.4, 0.25, -0.05, 0.1], [0.4, 0.25, 9.0, 0.1], [5.0, 0.25, 0.1, 0.0]):
        at = np.array(x[: block.n_in])
        h = 1e-6 * np.eye(block.n_in)
        steps = [np.subtract(block.meaning(*(at + d)), block.meaning(*(at - d))) / 2e-6 for d in h]
        assert np.allclose(run(slope, at), np.array(steps).T, atol=1e-8)
        assert np.allclose(run(slope, at), by_duals(program, at), rtol=1e-12, atol=1e-13)


def test_second_derivatives_of_a_distance_are_symmetric() -> None:
    """The distance to the nearest point: its slope is the normal, and its curvature a symmetric matrix."""

    def distance(p: list) -> object:
        x, y, *_ = p[0].block(nearest(), [*p, 0.0])
        (f,) = x.block(Bicubic(HILLY), [x, y])
        return ((x - p[0]) ** 2.0 + (y - p[1]) ** 2.0 + (f - p[2]) ** 2.0).sqrt()

    program = trace(distance, {"p": (3,)}, name="distance")
    at = np.array([0.13, -0.4, Bicubic(HILLY).meaning(0.13, -0.4)[0] + 0.03])
    normal, bent = run(jacobian(program, "out", "p"), at), run(hessian(program, "out", "p"), at)
    assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
    assert np.allclose(bent, np.transpose(bent), atol=1e-12) and np.abs(bent @ np.ravel(normal)).max() < 1e-11


# ── numbers are data ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_large_map_is_no_longer_text() -> None:
    """A map of a quarter of a million heights became text of the program, number by number."""
    small, large = (build(whole(nearest(grid(n, n)))) for n in (6, 500))
    assert abs(len(large.source) - len(small.source)) < 200 and large.compile_seconds < 10 * small.compile_seconds + 1.0
    assert np.allclose(large(POINTS), np.stack(nearest(grid(500, 500)).meaning(*POINTS.T), axis=-1), atol=1e-12)


def test_all_functions_share_one_array() -> None:
    made = grid(7, 3)
    one, other = build(whole(Bicubic(made))), build(whole(Bicubic(grid(7, 3), 1)))
    one(PLACES[:2]), other(PLACES[:2])
    held = [array for (digest, _), array in shared_numbers._loaded.items() if digest == made.nodes.digest]
    assert len(held) == 1


def test_numbers_in_single_precision() -> None:
    block = Bicubic(HILLY, 1)
    found = build(whole(block), precision="float32")(PLACES[:40])
    assert found.dtype == np.float32
    assert np.allclose(found, np.stack(block.meaning(*PLACES[:40].T), axis=-1), atol=1e-5)


def test_code_from_the_cache_finds_its_numbers(tmp_path, monkeypatch) -> None:
    """Code of an earlier process refers to numbers that this one has not computed: they are on disk beside it."""
    monkeypatch.setenv("KINEMORPH_CACHE", str(tmp_path))
    block = Bicubic(grid(6, 5, seed=3), 1)
    traced: list[str] = []

    def make() -> Program:
        traced.append("traced")
        return whole(block)

    expected = build(recalled("a recipe", make))(PLACES[:5])
    (file,) = tmp_path.glob("*.numbers")
    for missing in (False, True):
        shared_numbers._loaded.clear()
        traced.clear()
        if missing:
            file.unlink()
        program = recalled("a recipe", make)
        assert isinstance(program, Recalled)
        assert build(program)(PLACES[:5]).tobytes() == expected.tobytes()
        assert traced == (["traced"] if missing else []) and file.exists()


def test_programs_with_other_numbers_have_other_keys() -> None:
    one, same, other = (whole(Bicubic(grid(seed=seed))) for seed in (1, 1, 2))
    assert one.key == same.key != other.key
    assert routine(Bicubic(grid(seed=1))).key != routine(Bicubic(grid(seed=2))).key


def test_sources_contain_the_numbers() -> None:
    number = repr(HILLY.nodes.array[2, 1, 0].item())
    program = whole(nearest())
    assert number in "".join(export_c([program], "near").values())
    assert "nearest1_x" in "".join(export_sympy([program], "near").values())


@pytest.mark.slow
def test_a_surface_in_sympy() -> None:
    sympy = pytest.importorskip("sympy")
    program = whole(Bicubic(grid(3, 3), 1))
    texts: dict = {}
    exec("".join(export_sympy([program], "hill").values()), texts)
    built = next(value for name, value in texts.items() if name.startswith("bicubic"))()
    found = to_sympy(program)["out"]
    for place in (-0.8, 0.1), (-0.1, -3.0), (0.2, 0.2):
        values = {sympy.Symbol(f"x{k + 1}", real=True): x for k, x in enumerate(place)}
        exact = np.ravel(Bicubic(grid(3, 3), 1).meaning(*place))
        assert np.allclose(np.array(found.subs(values), dtype=float).ravel(), exact, atol=1e-12)
        assert np.allclose(np.array(built.subs(values), dtype=float).ravel(), exact, atol=1e-12)


# ── frozen arrays ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_frozen_arrays_are_plain_data() -> None:
    given = np.arange(6.0).reshape(2, 3)
    one, same, other = FrozenArray(given), FrozenArray(((0, 1, 2), (3, 4, 5))), FrozenArray(given.T)
    assert one == same and hash(one) == hash(same) and one != other and one != given.tolist()
    given[0, 0] = 9.0
    assert one[0][0] == 0.0 and tuple(one)[1] == (3.0, 4.0, 5.0) and one.tolist()[0] == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="read-only"):
        one.array[0, 0] = 1.0
    assert written(one) == written(same) != written(other)
    assert FrozenArray.read([[1.0], [2.0, 3.0]], 2) is None and FrozenArray.read([["1"]], 2) is None
    assert (
        FrozenArray.read(one, 2) is one
        and FrozenArray.read(one, 1) is None
        and repr(one) == "<2 x 3 numbers from 0 to 5>"
    )
    assert np.asarray(one, dtype=np.float32).dtype == np.float32
