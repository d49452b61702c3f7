"""Random robots from position matrices: dependent quantities, shared coordinates and parameters, references, time."""

from __future__ import annotations

import numpy as np

from kinemorph import Parameter, PositionBuilder, Robot
from kinemorph.notation import Tdisp, Tquat, Trotn, Trotx, Troty, Trotz, cos, mth, sin


def matrix_robot(seed: int) -> Robot:
    """A robot of two to four bodies in one to three coordinates; every coordinate moves the first body."""
    rng = np.random.default_rng(seed)
    builder = PositionBuilder(f"matrices {seed}", gravity=tuple(rng.normal(0.0, 5.0, 3).tolist()))
    count, length = int(rng.integers(1, 4)), Parameter("L", 0.7)
    coordinates = [builder.coordinate(f"q{k}", str(rng.choice(["rad", "m"]))) for k in range(count)]

    def drawn() -> object:
        return coordinates[int(rng.integers(count))]

    values: list[object] = list(coordinates)
    for k in range(2):
        formula = 0.3 * sin(drawn() + 0.2 * k) + 0.2 * drawn() * drawn()  # type: ignore[operator]
        moving = 0.1 * sin(3.0 * builder.time) if rng.random() < 0.4 else 0.0
        values.append(builder.dependent(f"p{k}", formula + moving))
    names: list[str] = []
    for i in range(int(rng.integers(2, 5))):
        T = Tdisp(0.0, 0.1, 0.0)
        for _ in range(int(rng.integers(1, 4))):
            T = T * _factor(values[int(rng.integers(len(values)))], length, int(rng.integers(7)))
        if i == 0:
            for q in coordinates:
                T = Trotx(0.3 * q) * T
        inertia = tuple(0.1 * rng.uniform(2.0, 3.0, 3))
        mass, T = float(rng.uniform(0.5, 1.5)), T * Tdisp(0.1, 0.2, -0.3)
        if names and rng.random() < 0.5:
            builder.body(f"b{i}", mass, inertia, TrefG=T, reference=names[int(rng.integers(len(names)))])
        else:
            builder.body(f"b{i}", mass, inertia, T0G=T)
        names.append(f"b{i}")
    return builder.build()


def _factor(v: object, length: Parameter, kind: int) -> mth:
    x: Parameter = v  # type: ignore[assignment]
    factors = (
        lambda: Trotx(x),
        lambda: Troty(2.0 * x + 0.1),
        lambda: Trotz(-x),
        lambda: Tdisp(x, 0.2 * x, length),
        lambda: Tdisp(0.3, 0.0, x),
        lambda: Trotn((0.6, 0.0, 0.8), x),
        lambda: Tquat(cos(0.5 * x), 0.0, sin(0.5 * x), 0.0),
    )
    return factors[kind]()
