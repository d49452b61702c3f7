"""Which errata of the five papers bear on a model: one row for each, with the condition under which it applies.

The numbers are those of docs/errata.md, which has the printed forms, the evidence and all other errata.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kinemorph.analysis.verification.verify import size_limit
from kinemorph.model.elements import kind_of
from kinemorph.model.system import System
from kinemorph.model.topology import WORLD

PAPERS = {
    "E000": "E. Meister, A. Gutenkunst: Self-Adaptive Framework for Modular and Self-Reconfigurable Robotic Systems",
    "E001": "O. Verlinden, J.-C. Habumuremyi, G. Kouroussis: Open source model of the AMRU5 hexapod robot",
    "E002": "J. A. Escalera, F. J. Abu-Dakka, P. J. Alhama, M. Abderrahim: Obtención del modelo dinámico simbólico de "
    "robots ramificados utilizando grupos de Lie y grafos",
    "E003": "V. R. Kamidi, A. Williams, P. Ben-Tzvi: A Framework for Modeling Closed Kinematic Chains with a Focus on "
    "Legged Robots",
    "E004": "G. M. Nelson, R. D. Quinn: A Lagrangian Quasicoordinate Formulation for Dynamic Simulations of Multibody "
    "Systems",
}


class Erratum(NamedTuple):
    """A correction: its number, the equation, the correct form, and whether it bears on a system."""

    id: str
    place: str
    text: str
    applies: Callable[[System], bool]


def _moves(system: System) -> bool:
    return system.robot.nv > 0


def _turns(system: System) -> bool:
    turning = ("revolute", "helical", "cylindrical", "universal", "gimbal")
    return any(joint.kind in turning for joint in system.robot.joints)


def _branches(system: System) -> bool:
    parents = [joint.parent for joint in system.robot.joints]
    return any(parents.count(parent) > 1 for parent in {*parents} - {WORLD})


def _compared(formulation: str) -> Callable[[System], bool]:
    return lambda system: 0 < system.robot.nv <= size_limit(formulation)


def _docks(system: System) -> bool:
    return system.assembly is not None


def _closes(system: System) -> bool:
    return bool(system.robot.loops)


def _has(*kinds: str) -> Callable[[System], bool]:
    """Whether an element, or a part of one such as the law of a contact, is of one of these kinds."""

    def found(system: System) -> bool:
        parts = [part for element in system.elements for part in (element, *vars(element).values())]
        return any(kind_of(type(part).__name__) in kinds for part in parts)

    return found


def _is_amru5(system: System) -> bool:
    return system.name.startswith("amru5")


ERRATA = (
    Erratum("E000-1", "(8)", "e^(w~ q) = I + w~ sin q + w~^2 (1 - cos q), the formula of Rodrigues.", _turns),
    Erratum("E000-4", "(29)", "M_i = diag(m 1, I), in the order of twists (v, w) of all other equations.", _moves),
    Erratum("E000-7", "(26)", "Vd_i = Ad(H^-1) Vd_(i-1) - ad(S_i qd_i) Ad(H^-1) V_(i-1) + S_i qdd_i.", _moves),
    Erratum("E000-8", "(27)", "On a tree, the wrenches of all children of a body are added.", _branches),
    Erratum("E000-9", "(32)", "F = T^T (-F^e + M Vd + ad*_V M V): outside wrenches have a minus sign.", _moves),
    Erratum(
        "E000-10", "(38)", "C = S^T T^T (M T ad_Sqd + ad*_V M) T S: a factor M is missing.", _compared("closed_form")
    ),
    Erratum("E000-12", "(35)", "On a tree, block (i, j) is zero where j is neither i nor an ancestor of i.", _branches),
    Erratum(
        "E000-13",
        "(38)",
        "Md - 2 C of this matrix C is not skew-symmetric; the matrix C of the checks of passivity is another one.",
        _compared("closed_form"),
    ),
    Erratum("E000-14", "Fig. 5", "Columns e1 and e2 have the sides of Table III: 3-2 and 5-3, both DO.", _docks),
    Erratum(
        "E000-15", "Table II", "The hinge is along y, through faces 2 and 5; all 16 pairs follow from this.", _docks
    ),
    Erratum("E000-16", "Table III", "The columns of the IDTL are i j, i x and x j.", _docks),
    Erratum("E001-5", "(14)-(17)", "The foot is F = A + k (C - A): decoupled, with gains k and -(k - 1).", _is_amru5),
    Erratum("E001-6", "(18)", "The motor of second order is L di/dt + R i = u - K_b w, T = K_m i.", _has("dc motor")),
    Erratum("E001-7", "(19)", "The normal force is never negative: F_n >= 0.", _has("easy dyn normal")),
    Erratum("E001-8", "(20)", "v_glim is a number, and the law is continuous there.", _has("regularized")),
    Erratum("E001-9", "(21)", "U = K_p E + K_i E/s + K_d s E / (1 + s K_d/N): a factor s is missing.", _has("pid")),
    Erratum("E002-8", "(20)", "dM/dt = -ad(t)^T M - M ad(t); ad has no inverse.", _compared("incidence")),
    Erratum("E002-10", "(23), (24)", "k is the upward vertical: gravity is M^(0,i) (0, -k) g.", _compared("incidence")),
    Erratum("E003-4", "(7a)", "H = rho^T H' rho.", _closes),
    Erratum("E003-5", "(8)", "H qdd = -C qd - g + rho^T B tau: C qd has a minus sign.", _closes),
    Erratum("E003-9", "(6)", "rho = Gamma_qd^-1 [0; I] is singular at dead points.", _closes),
    Erratum("E004-1", "(4)", "dT/dC = y~ C^T x.", _compared("quasicoordinates")),
    Erratum("E004-4", "(20)", "The diagonal blocks are (w~ rho)~ and (w~ L)~.", _compared("quasicoordinates")),
)


def errata_used(system: System) -> list[Erratum]:
    """The errata that bear on a system."""
    return [one for one in ERRATA if one.applies(system)]
