"""Checks raw input: every method returns valid data and records each problem that it finds.

Reading does not stop at the first problem. The reader records the part, the value found, what was expected and the
remedy, and returns a valid replacement, so that the rest of the robot is checked too.
"""

from __future__ import annotations

import math
from typing import Any, TypeGuard

import numpy as np

from kinemorph.algebra.groups import IDENTITY, Pose
from kinemorph.algebra.vectors import Mat, det3
from kinemorph.errors import Problem
from kinemorph.model.body import NO_INERTIA, Matrix, Vector, diagonal
from kinemorph.model.joint import Axis
from kinemorph.model.parameter import Formula, Parameter, Value, evaluate, evaluate_all

UNIT_TOLERANCE = 1e-9  # accepted error of the length of an axis, and of R R^T = 1 for a rotation
CLEAN = 8.0 * float(np.finfo(float).eps)  # a smaller error is not corrected, so that reading twice changes nothing
LARGEST = 1e100  # of any number except limits: larger numbers overflow in the equations of motion
LONGEST = 60  # characters; a longer value is cut in messages

COORDINATE_AXES = (*IDENTITY.R, *((-x, -y, -z) for x, y, z in IDENTITY.R))
NESTED = (tuple, list, np.ndarray)  # types that count as several numbers


class Reader:
    """Reads one part of a robot after another and collects the problems, in the order of reading.

    A robot with `problems` cannot be built. `questionable` holds numbers that no real body can have, although the
    equations of motion exist: the builder refuses them, in a file they give a warning.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.questionable: list[Problem] = []
        self.subject = ("robot", "")  # kind and name of the part that is being read
        self.key = ""  # the argument of the part that is being read
        self.symbolic = False  # whether a number was a parameter or a formula

    def part(self, kind: str, name: object) -> None:
        """Sets the part that is read next, by its kind ("joint") and name."""
        self.subject, self.key = (kind, name if isinstance(name, str) else short(name)), ""

    def at(self, key: str) -> str:
        """Sets the argument of the part that is read next, and returns its name for messages."""
        self.key = key
        return key

    def note(self, what: str, remedy: str, rule: str = "data") -> None:
        """Records a problem with the argument that is being read."""
        self.problems.append(Problem(*self.subject, what, remedy, self.key, rule=rule))

    def reference(self, what: str, raw: Any) -> str:
        """The name of another part, which has to be text. Whether that part exists is checked later."""
        if not isinstance(raw, str):
            self.note(f"{what} is {short(raw)}, expected text", "Give a name in quotes.")
            return short(raw)
        return raw

    def name(self, raw: Any) -> str:
        """The name of a new part: printable text, not empty, without spaces at its ends."""
        text = self.reference("the name", raw)
        if isinstance(raw, str) and (not raw or raw != raw.strip() or not raw.isprintable()):
            self.note(f"the name is {short(raw)}, expected printable text without spaces around it", "Rename it.")
        return text

    # ── numbers ───────────────────────────────────────────────────────────────────────────────────────────────────

    def number(self, what: str, raw: Any, *, instead: float = 0.0, infinite: bool = False) -> Value:
        """A finite Value, or `instead` with a problem; `infinite` also allows plus and minus infinity (for limits)."""
        if isinstance(raw, (Parameter, Formula)):
            value: Value = raw
            self.symbolic = True
            try:
                nominal = float(evaluate(raw))
            except (TypeError, ValueError, ArithmeticError, KeyError, AttributeError) as error:
                problem = f"{what} is the formula {short(raw)}, which fails: {_cut(str(error))}"
                self.note(problem, "Correct the formula.")
                return instead
        elif isinstance(raw, (bool, np.bool_)) or not isinstance(raw, (int, float, np.integer, np.floating)):
            self.note(f"{what} is {short(raw)}, expected a number", "Give a float, a Parameter or a formula of them.")
            return instead
        else:
            value = nominal = float(raw)
        if math.isnan(nominal) or (math.isinf(nominal) and not infinite):
            remedy = "Check for a missing value or a division by 0."
            self.note(f"{what} is {_shown(value)}, expected a finite number", remedy)
            return instead
        if abs(nominal) > LARGEST and not infinite:
            problem = f"{what} is {_shown(value)}, expected at most {LARGEST:g}, so that products do not overflow"
            self.note(problem, "Give a smaller number.")
            return instead
        return value

    def literal(self, what: str, raw: Any, *, instead: float = 0.0, infinite: bool = False) -> float:
        """A float; for a parameter or a formula, `instead` with a problem."""
        if isinstance(raw, (Parameter, Formula)):
            problem = f"{what} is {short(raw)}, expected a plain number, because it cannot depend on parameters"
            self.note(problem, "Give a float.")
            return instead
        return float(evaluate(self.number(what, raw, instead=instead, infinite=infinite)))

    def not_negative(self, what: str, raw: Any) -> Value:
        """A finite Value whose nominal value is at least 0."""
        value = self.number(what, raw)
        if evaluate(value) < 0.0:
            self.note(f"{what} is {_shown(value)}, expected at least 0", "Change its sign or leave it out.")
            return 0.0
        return value

    # ── vectors and matrices ──────────────────────────────────────────────────────────────────────────────────────

    def sequence(self, what: str, raw: Any) -> tuple[Any, ...]:
        """The raw items of a list, tuple or array; for anything else an empty tuple and a problem."""
        raw = _nested(raw)
        if not isinstance(raw, (tuple, list)):
            self.note(f"{what} is {short(raw)}, expected a list", "Put it in brackets.")
            return ()
        return tuple(raw)

    def items(self, what: str, raw: Any, length: int) -> tuple[Any, ...] | None:
        """The raw items of a list, tuple or array of this length; for anything else None and a problem."""
        raw = _nested(raw)
        if not isinstance(raw, (tuple, list)):
            self.note(f"{what} is {short(raw)}, expected {length} numbers", f"Give a list or tuple of {length}.")
            return None
        if len(raw) != length:
            self.note(f"{what} has {len(raw)} entries, expected {length}: {short(raw)}", f"Give exactly {length}.")
            return None
        return tuple(raw)

    def vector(self, what: str, raw: Any) -> Vector:
        """A vector of three finite Values; zero, with problems, if `raw` is not one."""
        if is_plain(raw):
            return raw
        items = self.items(what, raw, 3)
        if items is None:
            return (0.0, 0.0, 0.0)
        x, y, z = (self.number(f"{what}[{i}]", item) for i, item in enumerate(items))
        return (x, y, z)

    def matrix(self, what: str, raw: Any) -> Matrix | None:
        """A matrix of three rows of three finite Values; None, with problems, if its shape is wrong."""
        if type(raw) is tuple and len(raw) == 3 and all(map(is_plain, raw)):
            a, b, c = raw
            return (a, b, c)
        rows = self.items(what, raw, 3)
        if rows is None:
            return None
        if any(self.items(f"{what} row {i}", row, 3) is None for i, row in enumerate(rows, 1)):
            return None
        a, b, c = (self.vector(f"{what}[{i}]", row) for i, row in enumerate(rows))
        return (a, b, c)

    def inertia(self, what: str, raw: Any) -> Matrix:
        """A 3 x 3 inertia matrix, given as a matrix or as its three diagonal entries."""
        raw = _nested(raw)
        if isinstance(raw, (tuple, list)) and len(raw) == 3 and not any(isinstance(row, NESTED) for row in raw):
            return diagonal(*self.vector(what, raw))
        if not isinstance(raw, (tuple, list)) or len(raw) != 3:
            problem = f"{what} is {short(raw)}, expected three moments or a 3 x 3 matrix"
            self.note(problem, "Give the inertia about the center of mass.")
            return NO_INERTIA
        matrix = self.matrix(what, raw)
        return NO_INERTIA if matrix is None else matrix

    def axis(self, what: str, raw: Any, *, normalize: bool) -> Axis:
        """A unit vector of floats. Its length is corrected to 1; without `normalize` it has to be nearly 1 before."""
        if is_plain(raw) and raw in COORDINATE_AXES:
            return raw
        items = self.items(what, raw, 3)
        if items is None:
            return (0.0, 0.0, 1.0)
        before = len(self.problems)
        x, y, z = (self.literal(f"{what}[{i}]", item) for i, item in enumerate(items))
        length = math.hypot(x, y, z) if max(abs(x), abs(y), abs(z)) < 1e150 else math.inf
        if len(self.problems) > before:
            return (0.0, 0.0, 1.0)
        if length == 0.0 or not math.isfinite(length):
            self.note(f"{what} is {(x, y, z)}, expected length 1", "Give a unit vector, such as (0, 0, 1).")
            return (0.0, 0.0, 1.0)
        if abs(length - 1.0) <= CLEAN:
            return (x, y, z)
        if abs(length - 1.0) > UNIT_TOLERANCE and not normalize:
            problem = f"{what} is {(x, y, z)} with length {length:.6g}, expected length 1"
            self.note(problem, "Pass normalize=True to scale it.")
        return (x / length, y / length, z / length)

    def pose(self, what: str, raw: Any) -> Pose:
        """A Pose with an orthonormal, right-handed rotation, given as a pair (R, p) or a 4 x 4 matrix."""
        raw = _nested(raw)
        if isinstance(raw, (list, tuple)) and len(raw) == 4:
            rows = [self.items(f"{what} row {i}", row, 4) for i, row in enumerate(raw, 1)]
            if any(row is None for row in rows):
                return IDENTITY
            top = [row for row in rows[:3] if row is not None]
            if rows[3] != (0, 0, 0, 1):
                self.note(f"{what} row 4 is {short(rows[3])}, expected (0, 0, 0, 1)", "Give a homogeneous transform.")
            raw = (tuple(row[:3] for row in top), tuple(row[3] for row in top))
        if not isinstance(raw, (list, tuple)) or len(raw) != 2:
            remedy = "For a translation without rotation use translation=(x, y, z)."
            self.note(f"{what} is {short(raw)}, expected a 4 x 4 matrix or the pair (R, p)", remedy)
            return IDENTITY
        whole, apart = self.key, self.key == "placement"  # in files, rotation and translation are separate keys
        self.key = "rotation" if apart else whole
        R = self.rotation(f"{what} rotation", raw[0])
        self.key = "translation" if apart else whole
        p = self.vector(f"{what} translation", raw[1])
        self.key = whole
        return Pose(R, p)

    def rotation(self, what: str, raw: Any) -> Mat:
        """A 3 x 3 rotation matrix; a matrix of floats is corrected to the nearest rotation."""
        before = len(self.problems)
        matrix = self.matrix(what, raw)
        if matrix is None or len(self.problems) > before:
            return IDENTITY.R
        if matrix == IDENTITY.R:
            return IDENTITY.R
        rows = evaluate_all(matrix)
        error = _departure(rows)
        if error > UNIT_TOLERANCE:
            what = f"{what} is not orthonormal: an entry of R R^T - 1 is {error:.3g}, expected 0"
            self.note(what, "Give a rotation matrix.")
            return IDENTITY.R
        if det3(rows) < 0.0:
            self.note(f"{what} is a reflection (determinant -1), expected a right-handed rotation", "Flip one axis.")
            return IDENTITY.R
        if error <= CLEAN or any(isinstance(entry, (Parameter, Formula)) for row in matrix for entry in row):
            return matrix
        # one step of Newton's iteration for the polar factor squares the error, to below 1e-17; zeros stay zeros
        R = np.array(rows)
        R = R @ (3.0 * np.eye(3) - R.T @ R) / 2.0
        return tuple(tuple(row) for row in R.tolist())

    def per_coordinate(self, what: str, raw: Any, count: int, default: float, *, limit: bool) -> tuple[Value, ...]:
        """One Value for each of `count` coordinates; a single number stands for all, None for `default`.

        With `limit` the entries are floats that may be infinite; otherwise they are Values of at least 0.
        """
        if raw is None:
            return (default,) * count
        raw = _nested(raw)
        items = self.items(what, raw, count) if isinstance(raw, (tuple, list)) else (raw,) * count
        if items is None:
            return (default,) * count
        labels = [what] if count == 1 else [f"{what}[{i}]" for i in range(count)]
        if limit:
            return tuple(
                self.literal(label, item, instead=default, infinite=True)
                for label, item in zip(labels, items, strict=True)
            )
        return tuple(self.not_negative(label, item) for label, item in zip(labels, items, strict=True))


def is_plain(raw: Any) -> TypeGuard[tuple[float, float, float]]:
    """Whether this is a tuple of three finite floats not above LARGEST, which needs no further check."""
    if type(raw) is not tuple or len(raw) != 3:
        return False
    x, y, z = raw
    return type(x) is float is type(y) is type(z) and abs(x) + abs(y) + abs(z) <= LARGEST  # False for NaN


def _departure(R: Mat) -> float:
    """The largest absolute value of an entry of R R^T - 1, which is 0 for a rotation."""
    worst = 0.0
    for i, a in enumerate(R):
        for j, b in enumerate(R[: i + 1]):
            worst = max(worst, abs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - (i == j)))
    return worst


def _nested(raw: Any) -> Any:
    """A NumPy array as nested lists of numbers; anything else unchanged."""
    return raw.tolist() if isinstance(raw, np.ndarray) else raw


def short(raw: Any) -> str:
    """The text of a raw value for a message: on one line, cut if it is long. A cut string keeps its closing quote."""
    text = _cut(str(raw) if isinstance(raw, (Parameter, Formula)) else repr(raw))
    return f"{text[:-4]}...{text[0]}" if isinstance(raw, str) and text.endswith("...") and text[0] in "'\"" else text


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _shown(value: Value) -> str:
    """The text of a Value for a message: a number, or a parameter or formula with its nominal value."""
    return f"{value:.6g}" if isinstance(value, float) else f"{short(value)} = {evaluate(value):.6g}"
