"""A specimen of every kind of element, reference, gait and controller, for laws about all of their numbers.

Together they give each field that takes Parameters (`varied_numbers.numeric_fields`) a number that acts on the motion.
"""

from __future__ import annotations

from support.specimens.controls import CONTROLS
from support.specimens.forces import FORCES
from support.specimens.paths import PATHS
from support.specimens.touches import CONTACTS

SPECIMENS = PATHS | CONTROLS | FORCES | CONTACTS
