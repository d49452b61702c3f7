"""Vectors, rotations and position matrices with operators, as in the EasyDyn paper; functions for formulas.

from kinemorph.notation import Tdisp, Trotz, acos, vec
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "vec": "kinemorph.algebra.notation",
    "trot": "kinemorph.algebra.notation",
    "tiner": "kinemorph.algebra.notation",
    "mth": "kinemorph.algebra.notation",
    "vcoord": "kinemorph.algebra.notation",
    "Rrotx": "kinemorph.algebra.notation",
    "Rroty": "kinemorph.algebra.notation",
    "Rrotz": "kinemorph.algebra.notation",
    "Rrotn": "kinemorph.algebra.notation",
    "Trotx": "kinemorph.algebra.notation",
    "Troty": "kinemorph.algebra.notation",
    "Trotz": "kinemorph.algebra.notation",
    "Trotn": "kinemorph.algebra.notation",
    "Tdisp": "kinemorph.algebra.notation",
    "Tquat": "kinemorph.algebra.notation",
    # functions of numbers, formulas, arrays
    "sin": "kinemorph.algebra.scalar",
    "cos": "kinemorph.algebra.scalar",
    "tan": "kinemorph.algebra.scalar",
    "asin": "kinemorph.algebra.scalar",
    "acos": "kinemorph.algebra.scalar",
    "atan": "kinemorph.algebra.scalar",
    "atan2": "kinemorph.algebra.scalar",
    "sqrt": "kinemorph.algebra.scalar",
    "exp": "kinemorph.algebra.scalar",
    "log": "kinemorph.algebra.scalar",
    "minimum": "kinemorph.algebra.scalar",
    "maximum": "kinemorph.algebra.scalar",
    "where": "kinemorph.algebra.scalar",
    # coordinates and the time in formulas
    "Coordinate": "kinemorph.model.parameter",
    "TIME": "kinemorph.model.parameter",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.algebra.notation import Rrotn as Rrotn
    from kinemorph.algebra.notation import Rrotx as Rrotx
    from kinemorph.algebra.notation import Rroty as Rroty
    from kinemorph.algebra.notation import Rrotz as Rrotz
    from kinemorph.algebra.notation import Tdisp as Tdisp
    from kinemorph.algebra.notation import Tquat as Tquat
    from kinemorph.algebra.notation import Trotn as Trotn
    from kinemorph.algebra.notation import Trotx as Trotx
    from kinemorph.algebra.notation import Troty as Troty
    from kinemorph.algebra.notation import Trotz as Trotz
    from kinemorph.algebra.notation import mth as mth
    from kinemorph.algebra.notation import tiner as tiner
    from kinemorph.algebra.notation import trot as trot
    from kinemorph.algebra.notation import vcoord as vcoord
    from kinemorph.algebra.notation import vec as vec
    from kinemorph.algebra.scalar import acos as acos
    from kinemorph.algebra.scalar import asin as asin
    from kinemorph.algebra.scalar import atan as atan
    from kinemorph.algebra.scalar import atan2 as atan2
    from kinemorph.algebra.scalar import cos as cos
    from kinemorph.algebra.scalar import exp as exp
    from kinemorph.algebra.scalar import log as log
    from kinemorph.algebra.scalar import maximum as maximum
    from kinemorph.algebra.scalar import minimum as minimum
    from kinemorph.algebra.scalar import sin as sin
    from kinemorph.algebra.scalar import sqrt as sqrt
    from kinemorph.algebra.scalar import tan as tan
    from kinemorph.algebra.scalar import where as where
    from kinemorph.model.parameter import TIME as TIME
    from kinemorph.model.parameter import Coordinate as Coordinate
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
