"""The conventions of Kinemorph, states in those of Pinocchio, MuJoCo and Drake, robots from DH tables, and scales.

from kinemorph.conventions import from_convention, to_convention
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    # ours
    "CONVENTIONS": "kinemorph.model.conventions.statement",
    "Scales": "kinemorph.model.scales",
    # states of Pinocchio, MuJoCo and Drake
    "to_convention": "kinemorph.model.conventions.conversions",
    "from_convention": "kinemorph.model.conventions.conversions",
    "quat_wxyz_to_xyzw": "kinemorph.model.conventions.joint_rows",
    "quat_xyzw_to_wxyz": "kinemorph.model.conventions.joint_rows",
    # tables of Denavit and Hartenberg
    "from_dh": "kinemorph.formats.dh.reader",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.formats.dh.reader import from_dh as from_dh
    from kinemorph.model.conventions.conversions import from_convention as from_convention
    from kinemorph.model.conventions.conversions import to_convention as to_convention
    from kinemorph.model.conventions.joint_rows import quat_wxyz_to_xyzw as quat_wxyz_to_xyzw
    from kinemorph.model.conventions.joint_rows import quat_xyzw_to_wxyz as quat_xyzw_to_wxyz
    from kinemorph.model.conventions.statement import CONVENTIONS as CONVENTIONS
    from kinemorph.model.scales import Scales as Scales
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
