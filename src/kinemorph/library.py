"""Ready-made robots and systems. `build("scara")` returns one with default data; `scara()` takes its data as arguments.

from kinemorph.library import puma
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinemorph.lazy import lazy_names

HOMES: dict[str, str] = {
    # robots and systems by name
    "build": "kinemorph.model.library",
    "LIBRARY": "kinemorph.model.library",
    "SYSTEMS": "kinemorph.model.library",
    # robots
    "pendulum": "kinemorph.model.library.textbook",
    "double_pendulum": "kinemorph.model.library.textbook",
    "crane": "kinemorph.model.library.textbook",
    "cartpole": "kinemorph.model.library.textbook",
    "chain": "kinemorph.model.library.textbook",
    "scara": "kinemorph.model.library.arms",
    "puma": "kinemorph.model.library.arms",
    "hand": "kinemorph.model.library.hands",
    "hexapod24": "kinemorph.model.library.legged",
    "hexapod36": "kinemorph.model.library.legged",
    "humanoid": "kinemorph.model.library.legged",
    "fly": "kinemorph.model.library.animals.fly",
    "amru5": "kinemorph.model.library.amru",
    "four_bar": "kinemorph.model.library.linkages",
    "slider_crank": "kinemorph.model.library.linkages",
    "five_bar": "kinemorph.model.library.linkages",
    "pantograph_leg": "kinemorph.model.library.linkages",
    "klann": "kinemorph.model.library.walking_linkages",
    "jansen": "kinemorph.model.library.walking_linkages",
    # systems, with elements or an initial state
    "n_four_bar": "kinemorph.model.library.benchmark_linkages",
    "bricard": "kinemorph.model.library.benchmark_linkages",
    "spatial_slider_crank": "kinemorph.model.library.benchmark_linkages",
    "andrews_squeezer": "kinemorph.model.library.benchmark_machines",
    "flyball_governor": "kinemorph.model.library.benchmark_machines",
    "jansen_walker": "kinemorph.model.library.walkers.jansen_walker",
    "rimless_wheel": "kinemorph.model.library.walkers.rimless_wheel",
    "simplest_walker": "kinemorph.model.library.walkers.straight_legs",
    "compass_walker": "kinemorph.model.library.walkers.straight_legs",
    "kneed_walker": "kinemorph.model.library.walkers.kneed_walker",
    "slip_runner": "kinemorph.model.library.walkers.slip_runner",
    "raibert_hopper": "kinemorph.model.library.walkers.raibert_hopper",
    "rabbit": "kinemorph.model.library.walkers.rabbit",
    "bolt_like": "kinemorph.model.library.walkers.monopods",
    "raptor_like": "kinemorph.model.library.walkers.monopods",
    "rigid_ball": "kinemorph.model.library.rigid_contacts",
    "cradle": "kinemorph.model.library.rigid_contacts",
    "sliding_block": "kinemorph.model.library.rigid_contacts",
    "standing_block": "kinemorph.model.library.rigid_contacts",
    "falling_rod": "kinemorph.model.library.rigid_contacts",
    "stacked_blocks": "kinemorph.model.library.rigid_contacts",
    "rocking_block": "kinemorph.model.library.walkers.rocking_block",
    "whipple_bicycle": "kinemorph.model.library.bicycles",
    "planar_bike": "kinemorph.model.library.planar_bikes",
    "rover": "kinemorph.model.library.rovers",
    "segway": "kinemorph.model.library.balancers",
    "amru5_walk": "kinemorph.model.library.amru_walk",
    "amru5_leg": "kinemorph.model.library.amru_leg",
    "crawler": "kinemorph.model.library.modular",
    "organism9": "kinemorph.model.library.modular",
    "cockroach": "kinemorph.model.library.animals.cockroach",
    "cockroach_leg": "kinemorph.model.library.animals.cockroach",
    "running_cockroach": "kinemorph.model.library.animals.cockroach_gait",
}

__all__ = [*HOMES]

if TYPE_CHECKING:  # the same names for type checkers; a test compares the two lists
    from kinemorph.model.library import LIBRARY as LIBRARY
    from kinemorph.model.library import SYSTEMS as SYSTEMS
    from kinemorph.model.library import build as build
    from kinemorph.model.library.amru import amru5 as amru5
    from kinemorph.model.library.amru_leg import amru5_leg as amru5_leg
    from kinemorph.model.library.amru_walk import amru5_walk as amru5_walk
    from kinemorph.model.library.animals.cockroach import cockroach as cockroach
    from kinemorph.model.library.animals.cockroach import cockroach_leg as cockroach_leg
    from kinemorph.model.library.animals.cockroach_gait import running_cockroach as running_cockroach
    from kinemorph.model.library.animals.fly import fly as fly
    from kinemorph.model.library.arms import puma as puma
    from kinemorph.model.library.arms import scara as scara
    from kinemorph.model.library.balancers import segway as segway
    from kinemorph.model.library.benchmark_linkages import bricard as bricard
    from kinemorph.model.library.benchmark_linkages import n_four_bar as n_four_bar
    from kinemorph.model.library.benchmark_linkages import spatial_slider_crank as spatial_slider_crank
    from kinemorph.model.library.benchmark_machines import andrews_squeezer as andrews_squeezer
    from kinemorph.model.library.benchmark_machines import flyball_governor as flyball_governor
    from kinemorph.model.library.bicycles import whipple_bicycle as whipple_bicycle
    from kinemorph.model.library.hands import hand as hand
    from kinemorph.model.library.legged import hexapod24 as hexapod24
    from kinemorph.model.library.legged import hexapod36 as hexapod36
    from kinemorph.model.library.legged import humanoid as humanoid
    from kinemorph.model.library.linkages import five_bar as five_bar
    from kinemorph.model.library.linkages import four_bar as four_bar
    from kinemorph.model.library.linkages import pantograph_leg as pantograph_leg
    from kinemorph.model.library.linkages import slider_crank as slider_crank
    from kinemorph.model.library.modular import crawler as crawler
    from kinemorph.model.library.modular import organism9 as organism9
    from kinemorph.model.library.planar_bikes import planar_bike as planar_bike
    from kinemorph.model.library.rigid_contacts import cradle as cradle
    from kinemorph.model.library.rigid_contacts import falling_rod as falling_rod
    from kinemorph.model.library.rigid_contacts import rigid_ball as rigid_ball
    from kinemorph.model.library.rigid_contacts import sliding_block as sliding_block
    from kinemorph.model.library.rigid_contacts import stacked_blocks as stacked_blocks
    from kinemorph.model.library.rigid_contacts import standing_block as standing_block
    from kinemorph.model.library.rovers import rover as rover
    from kinemorph.model.library.textbook import cartpole as cartpole
    from kinemorph.model.library.textbook import chain as chain
    from kinemorph.model.library.textbook import crane as crane
    from kinemorph.model.library.textbook import double_pendulum as double_pendulum
    from kinemorph.model.library.textbook import pendulum as pendulum
    from kinemorph.model.library.walkers.jansen_walker import jansen_walker as jansen_walker
    from kinemorph.model.library.walkers.kneed_walker import kneed_walker as kneed_walker
    from kinemorph.model.library.walkers.monopods import bolt_like as bolt_like
    from kinemorph.model.library.walkers.monopods import raptor_like as raptor_like
    from kinemorph.model.library.walkers.rabbit import rabbit as rabbit
    from kinemorph.model.library.walkers.raibert_hopper import raibert_hopper as raibert_hopper
    from kinemorph.model.library.walkers.rimless_wheel import rimless_wheel as rimless_wheel
    from kinemorph.model.library.walkers.rocking_block import rocking_block as rocking_block
    from kinemorph.model.library.walkers.slip_runner import slip_runner as slip_runner
    from kinemorph.model.library.walkers.straight_legs import compass_walker as compass_walker
    from kinemorph.model.library.walkers.straight_legs import simplest_walker as simplest_walker
    from kinemorph.model.library.walking_linkages import jansen as jansen
    from kinemorph.model.library.walking_linkages import klann as klann
else:
    __getattr__, __dir__ = lazy_names(__name__, HOMES)
