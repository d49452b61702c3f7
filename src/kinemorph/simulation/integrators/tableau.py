"""Explicit Runge-Kutta methods as tables of numbers."""

from __future__ import annotations

from dataclasses import dataclass

from kinemorph.errors import CompileError

Row = tuple[float, ...]


@dataclass(frozen=True)
class Tableau:
    """An explicit Runge-Kutta method: stage s has the slope k[s] at time t + c[s] h and state y + h sum_j a[s][j] k[j].

    The step ends at y + h sum_j b[j] k[j]. `error`, if the method estimates its error, are the weights of the
    difference to an embedded method of lower order.
    """

    a: tuple[Row, ...]
    b: Row
    c: Row
    order: int
    error: Row = ()

    def __post_init__(self) -> None:
        stages = len(self.b)
        lengths = {"a": len(self.a), "c": len(self.c), "error": len(self.error) or stages}
        for name, length in lengths.items():
            if length != stages or not stages:
                raise CompileError(f"tableau: {name} has {length} entries and b {stages}; expected one for each stage.")
        for s, row in enumerate(self.a):
            if len(row) > s:
                raise CompileError(
                    f"tableau: row {s + 1} of a has {len(row)} entries; expected at most {s}, one for each earlier "
                    "stage. Implicit methods cannot be written as a Tableau."
                )

    @property
    def first_same_as_last(self) -> bool:
        """Whether the last stage of a step is the first stage of the next step (FSAL)."""
        return self.a[-1] == self.b[: len(self.a[-1])] and self.c[-1] == 1.0 and self.b[-1] == 0.0


EULER = Tableau(a=((),), b=(1.0,), c=(0.0,), order=1)
HEUN = Tableau(a=((), (1.0,)), b=(0.5, 0.5), c=(0.0, 1.0), order=2)
RK4 = Tableau(
    a=((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)), b=(1 / 6, 1 / 3, 1 / 3, 1 / 6), c=(0.0, 0.5, 0.5, 1.0), order=4
)
DORMAND_PRINCE = Tableau(  # Dormand & Prince (1980), RK5(4)7M
    a=(
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    b=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0),
    c=(0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    order=5,
    error=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
)
BOGACKI_SHAMPINE = Tableau(  # Bogacki & Shampine (1989), 3(2)
    a=((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
    b=(2 / 9, 1 / 3, 4 / 9, 0.0),
    c=(0.0, 1 / 2, 3 / 4, 1.0),
    order=3,
    error=(-5 / 72, 1 / 12, 1 / 9, -1 / 8),
)
