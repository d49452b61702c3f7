"""Models from recordings: which parameters motions and forces determine, and models with other parameters.

from kinemorph.identification import base_parameters
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "base_parameters": "kinemorph.analysis.identification.base_parameters",
    "BaseParameters": "kinemorph.analysis.identification.base_parameters",
    "with_parameters": "kinemorph.analysis.identification.with_parameters",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.identification.base_parameters import BaseParameters as BaseParameters
    from kinemorph.analysis.identification.base_parameters import base_parameters as base_parameters
    from kinemorph.analysis.identification.with_parameters import with_parameters as with_parameters
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
