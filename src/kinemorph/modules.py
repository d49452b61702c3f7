"""Robots made of modules that dock: kinds of modules, assemblies, and what happens to them in a run."""

from kinemorph.formats.assemble import assemble as assemble
from kinemorph.model.modules import *  # noqa: F403
from kinemorph.model.modules import __all__ as _of_model

__all__ = [*_of_model, "assemble"]
