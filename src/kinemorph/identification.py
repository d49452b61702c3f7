"""Models from recordings: which parameters of a robot its motions and forces determine, and motions that show them.

from kinemorph.identification import base_parameters
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "base_parameters": "kinemorph.analysis.identification.base_parameters",
    "BaseParameters": "kinemorph.analysis.identification.base_parameters",
    "excite": "kinemorph.analysis.identification.excitation.excite",
    "Excitation": "kinemorph.analysis.identification.excitation.excitation",
    "LimitUse": "kinemorph.analysis.identification.excitation.motion_limits",
    "Zone": "kinemorph.analysis.identification.excitation.zones",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.identification.base_parameters import BaseParameters as BaseParameters
    from kinemorph.analysis.identification.base_parameters import base_parameters as base_parameters
    from kinemorph.analysis.identification.excitation.excitation import Excitation as Excitation
    from kinemorph.analysis.identification.excitation.excite import excite as excite
    from kinemorph.analysis.identification.excitation.motion_limits import LimitUse as LimitUse
    from kinemorph.analysis.identification.excitation.zones import Zone as Zone
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
