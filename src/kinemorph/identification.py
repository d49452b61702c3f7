"""Models from recordings: which parameters motions and forces determine, motions that show them, other parameters.

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
    "identify": "kinemorph.analysis.identification.identify",
    "Identified": "kinemorph.analysis.identification.identified",
    "Prediction": "kinemorph.analysis.identification.identified",
    "read_recording": "kinemorph.analysis.identification.read_recording",
    "Recording": "kinemorph.analysis.identification.recording",
    "Information": "kinemorph.analysis.identification.information",
    "Channel": "kinemorph.analysis.identification.information",
    "ZeroPhase": "kinemorph.analysis.identification.rates",
    "Periodic": "kinemorph.analysis.identification.rates",
    "Measured": "kinemorph.analysis.identification.rates",
    "with_rates": "kinemorph.analysis.identification.rates",
    "torque_rows": "kinemorph.analysis.identification.rows",
    "momentum_rows": "kinemorph.analysis.identification.rows",
    "wrench_rows": "kinemorph.analysis.identification.rows",
    "feasible_parameters": "kinemorph.analysis.identification.feasible.feasible_parameters",
    "Feasible": "kinemorph.analysis.identification.feasible.feasible_parameters",
    "identify_payload": "kinemorph.analysis.identification.loads.payload",
    "Payload": "kinemorph.analysis.identification.loads.payload",
    "drive_gains": "kinemorph.analysis.identification.loads.drive_gains",
    "DriveGains": "kinemorph.analysis.identification.loads.drive_gains",
    "data_shares": "kinemorph.analysis.identification.shares",
    "with_parameters": "kinemorph.analysis.identification.with_parameters",
    "output_error": "kinemorph.analysis.identification.runs.output_error",
    "Fitted": "kinemorph.analysis.identification.runs.fitted",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.analysis.identification.base_parameters import BaseParameters as BaseParameters
    from kinemorph.analysis.identification.base_parameters import base_parameters as base_parameters
    from kinemorph.analysis.identification.excitation.excitation import Excitation as Excitation
    from kinemorph.analysis.identification.excitation.excite import excite as excite
    from kinemorph.analysis.identification.excitation.motion_limits import LimitUse as LimitUse
    from kinemorph.analysis.identification.excitation.zones import Zone as Zone
    from kinemorph.analysis.identification.feasible.feasible_parameters import Feasible as Feasible
    from kinemorph.analysis.identification.feasible.feasible_parameters import (
        feasible_parameters as feasible_parameters,
    )
    from kinemorph.analysis.identification.identified import Identified as Identified
    from kinemorph.analysis.identification.identified import Prediction as Prediction
    from kinemorph.analysis.identification.identify import identify as identify
    from kinemorph.analysis.identification.information import Channel as Channel
    from kinemorph.analysis.identification.information import Information as Information
    from kinemorph.analysis.identification.loads.drive_gains import DriveGains as DriveGains
    from kinemorph.analysis.identification.loads.drive_gains import drive_gains as drive_gains
    from kinemorph.analysis.identification.loads.payload import Payload as Payload
    from kinemorph.analysis.identification.loads.payload import identify_payload as identify_payload
    from kinemorph.analysis.identification.rates import Measured as Measured
    from kinemorph.analysis.identification.rates import Periodic as Periodic
    from kinemorph.analysis.identification.rates import ZeroPhase as ZeroPhase
    from kinemorph.analysis.identification.rates import with_rates as with_rates
    from kinemorph.analysis.identification.read_recording import read_recording as read_recording
    from kinemorph.analysis.identification.recording import Recording as Recording
    from kinemorph.analysis.identification.rows import momentum_rows as momentum_rows
    from kinemorph.analysis.identification.rows import torque_rows as torque_rows
    from kinemorph.analysis.identification.rows import wrench_rows as wrench_rows
    from kinemorph.analysis.identification.runs.fitted import Fitted as Fitted
    from kinemorph.analysis.identification.runs.output_error import output_error as output_error
    from kinemorph.analysis.identification.shares import data_shares as data_shares
    from kinemorph.analysis.identification.with_parameters import with_parameters as with_parameters
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
