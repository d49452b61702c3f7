"""Poles, damping and mode shapes of a plant near a state.

A pole  lambda = alpha + i omega  and its mode shape psi are a motion  exp(lambda t) psi  of the linearized plant;
`eigenproblems` computes them. Of two conjugate poles the one with positive omega is listed; a pole at zero is listed
once for each of its mode shapes. Poles are sorted by omega.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.small_motions.eigenproblems import Complex, Motions, poles_of_linearization, poles_of_pencil
from kinemorph.analysis.small_motions.linearize import Linearization, Model, linearize, write_text
from kinemorph.analysis.small_motions.plant_derivatives import Point, closed_point, is_singular, slopes_of
from kinemorph.errors import UnsupportedError
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import named_parameters
from kinemorph.plants.robot_plant import plant as as_plant
from kinemorph.plants.user_laws import Law
from kinemorph.sheet import Field, Note, Part, Points, Pose, Said, Sheet, Table, Verdict, fields, hidden, said
from kinemorph.shown import Shown
from kinemorph.simulation.stepping.chosen_start import state_at

if TYPE_CHECKING:
    from kinemorph.analysis.small_motions.mode_energies import ModeEnergies

GIVEN = said("the given state")
GROW = ("{n} of {m} poles grows: unstable.", "{n} of {m} poles grow: unstable.")
POLE = Field("number", "pole")
COLUMNS = ("alpha", "omega", "frequency", "damping_ratio")  # of `Poles.rows`, after the number
PHASES = 1e-9  # smaller imaginary parts of mode shapes are rounding
ON_AXIS = 1e-7  # a real part below this, relative to the largest pole, is zero: rounding moves double poles that far


@dataclass(frozen=True, eq=False, repr=False)
class Poles(Shown):
    """The n poles of a plant near a state, sorted by omega. Made by `poles`.

    `values`        (n,): lambda = alpha + i omega [1/s]; of two conjugate poles the one with omega > 0
    `shapes`        (n, k): row j is the mode shape psi of pole j in the k coordinates `names`; its largest entry is 1;
                    real where all shapes are real, else complex
    `modal_mass`    (n,): conj(psi)^T M psi [kg or kg m^2]; None without mass matrix
    `vectors`       (n, ns): the motion of each pole in all states s = [w, v, x], scaled like its shape
    `note`          a remark on the poles; "" where there is none
    `place`         what the state is; `about` as text: "the given state", "the equilibrium at elbow = 0.3"
    """

    values: Complex
    shapes: npt.NDArray[Any]
    modal_mass: Array | None
    vectors: Complex
    names: tuple[str, ...]
    units: tuple[str, ...]
    plant: Plant
    point: Point
    note: str = ""
    place: Said = GIVEN

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<Poles of '{self.plant.name}': {len(self)}>"

    @property
    def about(self) -> str:
        """What the state is about which the plant moves: "the given state", "the equilibrium at elbow = 0.3"."""
        return str(self.place)

    @property
    def q(self) -> Array:
        """The configuration about which the plant moves, shape (nq,)."""
        return self.point.q

    @property
    def alpha(self) -> Array:
        """The growth rates, the real parts of the poles [1/s], shape (n,); negative where a motion decays."""
        return self.values.real

    @property
    def on_axis(self) -> float:
        """The size of a real part [1/s] up to which rounding alone may explain it."""
        return ON_AXIS * float(np.abs(self.values).max(initial=0.0))

    @property
    def growing(self) -> npt.NDArray[np.bool_]:
        """Which poles have a positive real part that is not explained by rounding, shape (n,)."""
        return self.alpha > self.on_axis

    @property
    def omega(self) -> Array:
        """The angular frequencies, the imaginary parts of the poles [rad/s], shape (n,)."""
        return self.values.imag

    @property
    def frequency(self) -> Array:
        """The frequencies omega / 2 pi [Hz], shape (n,)."""
        return np.asarray(self.values.imag / (2.0 * math.pi))

    @property
    def damping_ratio(self) -> Array:
        """The damping ratios -alpha / |lambda|, shape (n,); 0 for a pole at zero."""
        sizes = np.abs(self.values)
        return np.asarray(np.where(sizes > 0.0, -self.alpha / np.where(sizes > 0.0, sizes, 1.0), 0.0) + 0.0)

    @property
    def all_values(self) -> Complex:
        """All poles: `values`, then the conjugates of those with omega > 0."""
        return np.concatenate([self.values, self.values[self.omega > 0.0].conj()])

    def rows(self) -> list[dict[str, float]]:
        """One dict for each pole: number (from 1), alpha, omega, frequency, damping_ratio and, if any, modal_mass."""
        columns = {"alpha": self.alpha, "omega": self.omega, "frequency": self.frequency}
        columns["damping_ratio"] = self.damping_ratio
        if self.modal_mass is not None:
            columns["modal_mass"] = self.modal_mass
        return [
            {"number": k + 1, **{name: float(column[k]) for name, column in columns.items()}} for k in range(len(self))
        ]

    def sheet(self) -> Sheet:
        """The table of poles, where they lie, and how many grow."""
        rows, growing = self.rows(), np.flatnonzero(self.growing).tolist()
        columns = (POLE, *fields(" ".join(list(rows[0])[1:] if rows else COLUMNS)))
        title = "Poles; of conjugate pairs the upper one"
        told = said(*GROW, n=len(growing), m=len(self))
        caption = "Poles in the complex plane, with lines of constant damping ratio and of constant frequency."
        parts: list[Part] = [hidden(q=self.q), Note(said("Linearized about {state}.", state=self.place))]
        if rows:
            parts += [Verdict(not growing, told if growing else "No pole grows.")]
            parts += [Points(self.values, growing, caption, note=self.note)]
        table = Table("poles", columns, [tuple(row.values()) for row in rows], title, marked=growing)
        parts += [Note(self.note, "note", "note"), table, *self._pose()]
        return Sheet("Poles of", self.plant.name, parts)

    def modes_sheet(self, count: int) -> Sheet:
        """The shapes of the first `count` modes: a row for each coordinate, a column for each mode."""
        rows, modes = self.rows(), range(min(count, len(self)))
        heads = [said("{k}: {size}", k=k + 1, size=float(self.frequency[k])) for k in modes]
        columns = (Field("", "coordinate", form="name"), *(Field("", head, "Hz", ".4f") for head in heads))
        names = [f"{name} [{unit}]" for name, unit in zip(self.names, self.units, strict=True)]
        shapes = [(name, *(_entry(self.shapes[k][row]) for k in modes)) for row, name in enumerate(names)]
        coordinates = [{"name": name, "unit": unit} for name, unit in zip(self.names, self.units, strict=True)]
        modal = [{"number": k + 1, "real": self.shapes[k].real, "imaginary": self.shapes[k].imag} for k in modes]
        parts: tuple[Part, ...] = (
            hidden(q=self.q, poles=rows, coordinates=coordinates, shapes=modal),
            Note(said("Linearized about {state}.", state=self.place)),
            Note(self.note, "note", "note"),
            Table("", columns, shapes),
            *self._pose(),
        )
        return Sheet("Mode shapes of", self.plant.name, parts)

    def _pose(self) -> tuple[Pose, ...]:
        """The robot where it was linearized; none for a plant of equations."""
        robot = self.plant.robot
        return (Pose(robot, self.q, said("{robot} where it was linearized", robot=robot.name)),) if robot else ()

    def _lines(self, titles: Sequence[str], width: int, form: str) -> list[str]:
        """The table of `rows` as lines of text, below their titles; `width` and `form` format a number."""
        rows = [list(row.values()) for row in self.rows()]
        head = [f"{title:>{width if k else 5}}" for k, title in enumerate(titles[: 5 + (self.modal_mass is not None)])]
        lines = [f"{row[0]:5d}" + "".join(f"{value:{width}{form}}" for value in row[1:]) for row in rows]
        return ["".join(head), *lines]

    def mode_energies(self) -> ModeEnergies:
        """How the kinetic energy of each mode is shared among the bodies of the robot; see `mode_energies`."""
        from kinemorph.analysis.small_motions.mode_energies import mode_energies

        return mode_energies(self)

    def save(self, path: str | os.PathLike[str]) -> tuple[Path, ...]:
        """Writes text files in EasyDyn's format: path.lst, the poles, and path.mod, the mode shapes.

        A path that ends in .lst or .mod writes that file alone. Returns the paths written.
        """
        target = Path(path)
        wanted = [target.suffix] if target.suffix in (".lst", ".mod") else [".lst", ".mod"]
        texts = {".lst": self._poles_text, ".mod": self._shapes_text}
        return tuple(
            write_text(target if target.suffix == suffix else Path(f"{target}{suffix}"), texts[suffix]())
            for suffix in wanted
        )

    def _poles_text(self) -> str:
        titles = ("POLE", "ALPHA", "OMEGA", "FREQ", "DAMP_RATIO", "MODAL_MASS")
        return "\n".join(self._lines(titles, 25, ".16e")) + "\n"

    def _shapes_text(self) -> str:
        lines = []
        for k, row in enumerate(self.rows()):
            lines.append(f"MODE {k + 1}  ALPHA {row['alpha']:.16e}  OMEGA {row['omega']:.16e}")
            width = max(len(name) for name in self.names)
            for name, entry in zip(self.names, self.shapes[k], strict=True):
                lines.append(f"  {name:{width}}{entry.real:25.16e}{entry.imag:25.16e}")
        return "\n".join(lines) + "\n"


def _entry(entry: complex) -> complex | float:
    """An entry of a mode shape; a real number where its imaginary part is rounding."""
    return complex(entry) if abs(entry.imag) >= PHASES else float(entry.real)


def poles(
    model: Model | Linearization,
    q: Any = None,
    v: Any = None,
    x: Any = None,
    u: Any = None,
    *,
    t: float = 0.0,
    p: Any = None,
    m: Any = None,
    forces: Law | None = None,
    locked: str | Sequence[str] = (),
    window: tuple[float, float] | None = None,
) -> Poles:
    """Poles and mode shapes of a plant near a state; see `linearize` for the arguments.

    Where none of q, v, x and m is given, the state is an equilibrium near the initial state of the model, as
    `equilibrium` finds it; or the initial state itself, where its motion is steady, or no equilibrium is found. `about`
    says which. Where a state is given, and moves on, `note` says so.

    `window` = (low, high) keeps the poles with frequencies between these two values [Hz].
    """
    if isinstance(model, Linearization):
        _refuse(q=q, v=v, x=x, u=u, p=p, m=m, forces=forces, locked=locked or None)
        return _finished(model.plant, model.point, poles_of_linearization(model), model.is_steady, window)
    plant = as_plant(model, forces=forces, locked=locked, parameters=named_parameters(model, p))
    if q is None and v is None and x is None and m is None:
        from kinemorph.analysis.small_motions.usual_point import usual_point

        point, place, why = usual_point(plant, u=u, p=p, t=t)
        found = poles(plant, **vars(point), window=window)
        return replace(found, place=place, note=why and f"{why} {found.note}")
    given = state_at(model, plant, t, q=q, v=v, x=x, u=u, p=p, m=m)
    slopes, point = slopes_of(plant), closed_point(plant, **given, t=t)
    if plant.dynamics is None and not point.v.any():  # equations may lack inertia, which does not matter at rest
        rest = slopes.residual(point)
        blocks = slopes.blocks(point, np.zeros(slopes.n))
        if is_singular(blocks.z):
            still = bool(np.abs(rest).max(initial=0.0) <= 1e-7)
            return _finished(plant, point, poles_of_pencil(slopes, point), still, window)
    linear = linearize(plant, **vars(point), outputs=())
    return _finished(plant, point, poles_of_linearization(linear), linear.is_steady, window)


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise UnsupportedError(f"poles: {name} is given, but the Linearization has it already. Leave {name} out.")


# ── order and scale ───────────────────────────────────────────────────────────────────────────────────────────────────


def _finished(plant: Plant, point: Point, motions: Motions, still: bool, window: tuple[float, float] | None) -> Poles:
    """The poles with conjugates listed once, sorted by omega, with scaled shapes and modal masses.

    `still` tells whether the state is an equilibrium or a steady motion; `window` are the lowest and highest frequency
    to list [Hz].
    """
    slopes, nv = slopes_of(plant), plant.nv
    values, vectors = motions.values.copy(), motions.vectors.T
    size = np.abs(values).max(initial=0.0)
    values[np.abs(values.imag) <= 1e-14 * size] = values[np.abs(values.imag) <= 1e-14 * size].real
    keys = [(round(float(value.imag), 12), abs(value.real), -value.real) for value in values]
    order = [k for k in sorted(range(len(values)), key=keys.__getitem__) if values[k].imag >= 0.0]
    if window is not None:
        low, high = _checked_window(window)
        order = [k for k in order if low <= values[k].imag / (2.0 * math.pi) <= high]
    values, vectors = values[order] + 0.0, vectors[order]
    columns = plant.v if nv else plant.x
    vectors = np.array([_scaled(row, nv or plant.ns) for row in vectors], dtype=complex).reshape(vectors.shape)
    shapes: npt.NDArray[Any] = vectors[:, :nv] if nv else vectors
    if not np.abs(shapes.imag).max(initial=0.0) > 1e-14:
        shapes = shapes.real + 0.0
    masses = None
    if nv:
        M = slopes.mass(point, slopes.blocks(point, np.zeros(slopes.n)))
        masses = np.einsum("ki,ij,kj->k", shapes.conj(), M, shapes).real
    note = "" if still else "The state is not an equilibrium: these are the poles of the linear equations there."
    units = tuple(column.unit.removesuffix("/s") for column in columns)
    names = tuple(column.name for column in columns)
    return Poles(values, shapes, masses, vectors, names, units, plant, point, note)


def _scaled(motion: Complex, count: int) -> Complex:
    """A motion (ns,) divided by the largest of its first `count` entries, which becomes exactly 1.

    Of entries that are equally large within rounding, the first counts. Nothing changes where all are zero.
    """
    sizes = np.abs(motion[:count])
    if not sizes.max(initial=0.0) > 0.0:
        return motion
    largest = int(np.flatnonzero(sizes >= (1.0 - 1e-9) * sizes.max())[0])
    scaled: Complex = motion / motion[largest]
    scaled[largest] = 1.0
    return scaled


def _checked_window(window: Any) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in window)
    except (TypeError, ValueError):
        raise UnsupportedError(f"poles: window is {window!r}; expected two frequencies [Hz], as (0.0, 10.0).") from None
    if not low <= high:
        raise UnsupportedError(f"poles: window is ({low}, {high}) Hz; expected the lower frequency first.")
    return low, high
