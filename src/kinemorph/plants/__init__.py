"""Plants: dynamic systems as programs of their state, which runs advance and linearizations differentiate.

programs             the Plant, and its programs
laws                 the laws that a plant is made of, as data
instant              a plant at one instant, as a record; `initial_values` are those at the start of a run
robot_plant          `plant`: the plant of a robot with its elements; `robot_laws` holds its laws
loaded_robot         a robot and everything that acts on it, as data
forces               the forces that act at one instant
constrained_motion   motion that satisfies constraints; `constraints` collects their rows
jumps/               how memory and state jump: samples, switches, edges, resets; `contacts/` their rows and forces
loop_methods         how a run keeps closed chains closed: methods as data
implicit_step        a whole step with stiff forces at its end
limb_folding         robots with similar limbs: laws on one limb of each kind
variational          the balance of a whole step, for variational integrators
manifold_free        the state as one vector [q, v, x], for methods that do not handle manifolds
own_equations        `first_order`, `second_order`: plants of equations of your own
user_laws            how user laws are written: functions whose arguments are named after the values that they read
recipe               all data of a plant as one text, by which its compiled programs are found again
sample_instants      regular sample times that coincide exactly where they should
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    "Plant": "kinemorph.plants.programs",
    "plant": "kinemorph.plants.robot_plant",
    "first_order": "kinemorph.plants.own_equations",
    "second_order": "kinemorph.plants.own_equations",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.plants.own_equations import first_order as first_order
    from kinemorph.plants.own_equations import second_order as second_order
    from kinemorph.plants.programs import Plant as Plant
    from kinemorph.plants.robot_plant import plant as plant
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
