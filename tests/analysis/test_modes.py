"""poles() finds frequencies, damping and mode shapes: reference chains, closed forms, laws of modes, its files."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kinemorph.analysis.small_motions.linearize import linearize, second_order_matrices
from kinemorph.analysis.small_motions.poles import poles
from kinemorph.errors import KinemorphError, ShapeError, UnsupportedError
from kinemorph.model import library
from kinemorph.model.body import Body
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.library.choosing import choose
from kinemorph.plants.own_equations import first_order, second_order
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant

CHAINS = json.loads((Path(__file__).parents[1] / "data" / "hanging_chain_modes.json").read_text())


def oscillator(mass: float, damping: float, stiffness: float) -> Plant:
    return second_order(lambda q, v, a: [mass * a[0] + damping * v[0] + stiffness * q[0]], {"x": "m"})


SIZES = [pytest.param(n, marks=[pytest.mark.slow] * (n >= 100)) for n in CHAINS["inputs"]["N"]]


@pytest.mark.parametrize("n", SIZES)
def test_hanging_chains(n: int, record_property: Callable[[str, object], None]) -> None:
    expected = np.array(CHAINS["reference"]["omega_rad_s"][str(n)])
    found = poles(library.chain(n, 1.0 / n, 1.0 / n))
    assert len(found) == n
    error = float(np.abs(found.omega[: len(expected)] - expected).max())
    record_property("figure", ("poles", "hanging chain, largest error [rad/s]", error))
    assert error < CHAINS["tolerance_suggestion"]
    assert not found.alpha.any()
    assert (np.diff(found.omega) > 0.0).all()


def test_easydyn_double_pendulum() -> None:
    found = poles(library.double_pendulum())
    np.testing.assert_allclose(found.omega, [2.51580987, 6.50721723], atol=1e-8)
    np.testing.assert_allclose(found.frequency, [0.40040, 1.03566], atol=1e-5)
    np.testing.assert_array_equal(found.damping_ratio, 0.0)
    assert found.names == ("q1", "q2")
    assert found.units == ("rad", "rad")
    assert found.note == ""


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_entry_of_a_complex_shape_is_exactly_one(seed: int) -> None:
    K = np.array([[3.0, -1.0, 0.2], [-1.0, 2.0, -0.7], [0.2, -0.7, 1.5]])
    C = 0.2 * np.random.default_rng(seed).normal(size=(3, 3))

    def residual(q: list[object], v: list[object], a: list[object]) -> list[object]:
        return [a[i] + sum(C[i, j] * v[j] + K[i, j] * q[j] for j in range(3)) for i in range(3)]  # type: ignore[operator]

    found = poles(second_order(residual, {"x": "m", "y": "m", "z": "m"}))
    assert np.iscomplexobj(found.shapes)
    assert (found.shapes == 1.0).any(axis=1).all()
    assert np.abs(found.shapes).max() <= 1.0 + 1e-9


def test_shapes_diagonalize_mass_and_stiffness() -> None:
    robot = library.chain(6)
    found, matrices = poles(robot), second_order_matrices(robot)
    masses = found.shapes @ matrices.M @ found.shapes.T
    stiffness = found.shapes @ matrices.K @ found.shapes.T
    assert found.modal_mass is not None
    np.testing.assert_allclose(masses, np.diag(found.modal_mass), atol=1e-12)
    np.testing.assert_allclose(stiffness, np.diag(found.omega**2 * found.modal_mass), atol=1e-11)
    np.testing.assert_array_equal(np.abs(found.shapes).max(axis=1), 1.0)
    assert (found.shapes.max(axis=1) == 1.0).all()  # the largest entry is +1, so the sign is fixed


@pytest.mark.parametrize(
    ("mass", "damping", "stiffness"),
    [(2.0, 0.3, 5.0), (2.0, 20.0, 5.0), (1.0, 0.0, -4.0), (1.0, -0.2, 4.0), (3.0, 0.6, 0.0)],
)
def test_one_oscillator_has_the_roots_of_its_polynomial(mass: float, damping: float, stiffness: float) -> None:
    found = poles(oscillator(mass, damping, stiffness))
    roots = np.roots([mass, damping, stiffness])
    expected = sorted((root for root in roots if root.imag >= 0.0), key=lambda root: (root.imag, abs(root.real)))
    np.testing.assert_allclose(found.values, expected, atol=1e-13)
    np.testing.assert_allclose(np.sort_complex(found.all_values), np.sort_complex(roots), atol=1e-13)
    if damping**2 < 4.0 * mass * stiffness:
        ratio = damping / (2.0 * math.sqrt(mass * stiffness))
        np.testing.assert_allclose(found.damping_ratio, [ratio], atol=1e-14)
    np.testing.assert_allclose(found.modal_mass, mass)  # type: ignore[arg-type]


def test_damped_poles_solve_the_quadratic_problem() -> None:
    def law(q: list, v: list) -> list:
        return [-0.4 * v[0] + 0.1 * v[1] - 2.0 * q[0], -0.3 * v[1] + 0.1 * v[0]]

    found = poles(library.double_pendulum(), forces=law)
    matrices = second_order_matrices(library.double_pendulum(), forces=law)
    assert (found.alpha < 0.0).all()
    for value, shape in zip(found.values, found.shapes, strict=True):
        left = (value**2 * matrices.M + value * matrices.C + matrices.K) @ shape
        assert np.abs(left).max() < 1e-12 * np.abs(matrices.K).max()
        assert abs(shape[np.argmax(np.abs(shape))] - 1.0) < 1e-15
    np.testing.assert_allclose(found.vectors[:, 2:], found.values[:, None] * found.vectors[:, :2], atol=1e-12)


def test_a_rigid_motion_is_listed_once() -> None:
    free = poles(library.crane())
    assert len(free) == 2
    assert free.values[0] == 0.0
    np.testing.assert_allclose(free.shapes[0], [1.0, 0.0], atol=1e-12)
    assert free.modal_mass is not None
    assert free.modal_mass[0] == pytest.approx(3.0)
    assert free.omega[1] == pytest.approx(math.sqrt(9.81 * 1.5))
    damped = poles(library.crane(), forces=lambda v: [0.0 * v[0], -0.1 * v[1]])
    assert (damped.values == 0.0).sum() == 1
    assert len(damped) == 2


def test_inverted_pendulum_and_locked_joints() -> None:
    rate = math.sqrt(9.81)
    np.testing.assert_allclose(poles(library.pendulum(), q=[math.pi]).values, [rate, -rate], atol=1e-13)
    np.testing.assert_allclose(poles(library.crane(), locked="x").omega, [rate], atol=1e-13)


def test_rows_without_inertia_give_the_roots_of_the_whole_polynomial() -> None:
    # 2 x'' + x' + 4 x = p,  p' + 7 p + 0.1 x = 0
    system = second_order(
        lambda q, v, a: [2.0 * a[0] + v[0] + 4.0 * q[0] - q[1], v[1] + 7.0 * q[1] + 0.1 * q[0]], {"x": "m", "p": "Pa"}
    )
    expected = np.roots(np.polyadd(np.polymul([2.0, 1.0, 4.0], [1.0, 7.0]), [0.1]))
    np.testing.assert_allclose(np.sort_complex(poles(system).all_values), np.sort_complex(expected), atol=1e-11)
    undetermined = second_order(lambda q, v, a: [a[0] + q[0], 0.0 * a[1]], {"x": "m", "y": "m"})
    with pytest.raises(UnsupportedError, match="do not determine the motion"):
        poles(undetermined)


def test_states_of_equations_and_of_motors() -> None:
    A = np.array([[0.0, 1.0, 0.0], [-3.0, -0.2, 1.0], [0.5, 0.0, -2.0]])
    system = first_order(
        lambda x: [sum(a * b for a, b in zip(row, x, strict=True)) for row in A], {"a": "", "b": "", "c": ""}
    )
    found = poles(system)
    np.testing.assert_allclose(np.sort_complex(found.all_values), np.sort_complex(np.linalg.eigvals(A)), atol=1e-13)
    np.testing.assert_allclose(A @ found.shapes.T, found.shapes.T * found.values, atol=1e-13)
    assert found.modal_mass is None
    assert found.names == ("a", "b", "c")
    motor = plant(
        library.pendulum(),
        forces=lambda x: [2.0 * x[0]],
        states={"current": "A"},
        state_rates=lambda v, x: [-3.0 * x[0] - 2.0 * v[0]],
        account=True,  # energies that are only added up are no states of their own
    )
    expected = np.roots([1.0, 3.0, 9.81 + 4.0, 3.0 * 9.81])
    np.testing.assert_allclose(np.sort_complex(poles(motor).all_values), np.sort_complex(expected), atol=1e-12)


def test_window_table_and_files(tmp_path: Path) -> None:
    found = poles(library.chain(5))
    low, high = found.frequency[1] - 0.01, found.frequency[3] + 0.01
    some = linearize(library.chain(5)).poles(window=(low, high))
    np.testing.assert_allclose(some.values, found.values[1:4], atol=1e-12)
    row = found.rows()[0]
    assert list(row) == ["number", "alpha", "omega", "frequency", "damping_ratio", "modal_mass"]
    assert row["omega"] == found.omega[0]
    assert "imaginary part [rad/s]" in str(found)
    lst, mod = found.save(tmp_path / "chain")
    assert (lst.name, mod.name) == ("chain.lst", "chain.mod")
    numbers = np.loadtxt(lst, skiprows=1)
    np.testing.assert_array_equal(numbers[:, 2], found.omega)
    assert lst.read_text().split()[:5] == ["POLE", "ALPHA", "OMEGA", "FREQ", "DAMP_RATIO"]
    lines = [line.split() for line in mod.read_text().splitlines()]
    shapes = [float(words[1]) for words in lines if words[0] != "MODE"]
    np.testing.assert_array_equal(np.reshape(shapes, (5, 5)), found.shapes)
    assert found.save(tmp_path / "only.mod") == (tmp_path / "only.mod",)
    with pytest.raises(KinemorphError, match="cannot be written"):
        found.save(tmp_path / "nowhere" / "chain")


def test_numpy_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    for name in [name for name in sys.modules if name.startswith("scipy.")]:
        monkeypatch.setitem(sys.modules, name, None)
    assert len(poles(library.double_pendulum())) == 2
    assert len(poles(oscillator(1.0, 0.1, 4.0))) == 1


def test_what_is_no_equilibrium_is_noted_and_bad_input_told() -> None:
    assert "not an equilibrium" in poles(library.pendulum(), q=[1.0]).note
    with pytest.raises(UnsupportedError, match="expected the lower frequency first"):
        poles(library.pendulum(), window=(2.0, 1.0))
    with pytest.raises(UnsupportedError, match="expected two frequencies"):
        poles(library.pendulum(), window=3.0)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedError, match="q is given, but the Linearization has it"):
        poles(linearize(library.pendulum()), q=[0.0])
    with pytest.raises(ShapeError, match="expected a finite number"):
        poles(library.pendulum(), q=[math.inf])


@pytest.mark.parametrize("share", [0.5, 0.9, 1.1, 2.0])
def test_a_sleeping_top_falls_unless_it_spins_fast_enough(share: float) -> None:
    """A s^2 - i C spin s - m g l = 0 in axes at rest; the body's own axes turn at the spin (Lagrange's top)."""
    A, C, weight = 0.02 + 0.25, 0.01, 9.81 * 0.5
    inertia = ((0.02, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, C))
    top = RobotBuilder("top").add(Body("top", 1.0, (0.0, 0.0, 0.5), inertia)).joint("tip", "spherical", "world", "top")
    spin = share * 2.0 * math.sqrt(A * weight) / C
    roots = np.roots([A, -1j * C * spin, -weight]) - 1j * spin
    found = poles(top.build(), v=[0.0, 0.0, spin])
    listed = np.concatenate([roots, roots.conj()])
    assert max(np.abs(found.all_values - root).min() for root in listed) < 1e-8 * spin
    assert (found.alpha.max() > 1e-3) == (share < 1.0)


@pytest.mark.parametrize(("axis", "grows"), [(0, False), (1, True), (2, False)])
def test_a_free_body_is_unstable_about_its_middle_axis(axis: int, grows: bool) -> None:
    body = Body("stone", 2.0, (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.5)))
    stone = RobotBuilder("stone", gravity=(0.0, 0.0, 0.0)).add(body).joint("base", "free", "world", "stone").build()
    found = poles(stone, v=3.0 * np.eye(6)[3 + axis])
    growth = 3.0 * math.sqrt((2.0 - 1.0) * (2.5 - 2.0) / (1.0 * 2.5))
    assert found.alpha.max() == pytest.approx(growth if grows else 0.0, abs=1e-6)
    # deviations of place and attitude are carried around by the turning axes
    assert np.abs(found.all_values - 3.0j).min() < 1e-6


@pytest.mark.parametrize("name", ["double_pendulum", "four_bar", "crane", "puma"])
def test_energies_of_bodies_add_up_to_the_modal_mass(name: str) -> None:
    """The energies of the bodies, from their own velocities, sum up to psi^H M psi from the mass matrix."""
    found = poles(choose(name))
    energies = found.mode_energies()
    assert np.abs(energies.totals - found.modal_mass).max() < 1e-13 * np.abs(found.modal_mass).max()
    assert energies.shares.min() >= 0.0 and np.abs(energies.shares.sum(axis=1) - 1.0).max() < 1e-12
    assert len(energies.parts) == energies.shares.shape[1]
