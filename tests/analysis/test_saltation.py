"""Derivatives of motions through the edges of automata: closed forms, published multipliers, differences of runs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kinemorph.analysis.small_motions.sensitivities import sensitivities
from kinemorph.analysis.small_motions.varied_run import VariedRun, varied_run
from kinemorph.elements import Automaton, Edge, Hold, Phase, Probe
from kinemorph.errors import ShapeError, UnsupportedError
from kinemorph.model.building.builder import RobotBuilder
from kinemorph.model.parameter import Parameter
from kinemorph.model.system import System
from kinemorph.plants.programs import Plant
from kinemorph.plants.robot_plant import plant
from support.random_automata import RandomAutomaton, differences

Array = np.ndarray
VALIDATION = Path("/work/shared/validation")


def reference(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((VALIDATION / f"{name}.json").read_text())
    return found
