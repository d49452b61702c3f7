"""Ready-made robots. `build("scara")` returns one with default data; the function `scara` takes its data as arguments.

textbook             pendulum, double_pendulum, crane, cartpole, chain: with named parameters, motion in the x-z plane
arms                 scara, puma
hands                hand: five fingers with 20 hinges
legged               hexapod24, hexapod36, humanoid
amru                 amru5: a hexapod with pantograph legs, from position matrices
amru_walk            amru5_walk: a System that walks, with motors, controllers and contacts
amru_leg             amru5_leg: a System, one of its legs with a fixed hip and a load on its foot
linkages             four_bar, slider_crank, five_bar, pantograph_leg: closed chains in the x-z plane
walking_linkages     klann, jansen: legs driven by one crank
walkers              jansen_walker: a System that walks on contacts; rimless_wheel, simplest_walker, compass_walker,
                     kneed_walker, slip_runner, raibert_hopper, rabbit, bolt_like, raptor_like, rocking_block: Systems
                     with phases and edges
rigid_contacts       rigid_ball, cradle, sliding_block, standing_block, falling_rod, stacked_blocks: Systems with rigid
                     contacts
benchmark_linkages   n_four_bar, bricard, spatial_slider_crank: Systems, with the initial state of a published problem
benchmark_machines   andrews_squeezer, flyball_governor: the same, with elements too
bicycles             whipple_bicycle: a System that rolls, by joints or by position matrices, on discs or on tires
planar_bikes         planar_bike: a System on tires that coasts over a bump, in the vertical plane
rovers               rover: a System with rocker-bogie suspension on six driven tires
balancers            segway: a System that balances on two wheels
modular              organism9: a System of nine modules that dock; crawler: the same on the ground, with a gait
animals              cockroach: a System, an insect that stands on six legs; cockroach_leg: one of its legs;
                     running_cockroach: the insect running by tripods; fly: a Robot with six legs of seven hinges on a
                     free thorax
"""

from __future__ import annotations

from collections.abc import Callable

from kinemorph.errors import ModelError
from kinemorph.model.library.amru import amru5
from kinemorph.model.library.amru_leg import amru5_leg
from kinemorph.model.library.amru_walk import amru5_walk
from kinemorph.model.library.animals.cockroach import cockroach, cockroach_leg
from kinemorph.model.library.animals.cockroach_gait import running_cockroach
from kinemorph.model.library.animals.fly import fly
from kinemorph.model.library.arms import puma, scara
from kinemorph.model.library.balancers import segway
from kinemorph.model.library.benchmark_linkages import bricard, n_four_bar, spatial_slider_crank
from kinemorph.model.library.benchmark_machines import andrews_squeezer, flyball_governor
from kinemorph.model.library.bicycles import whipple_bicycle
from kinemorph.model.library.hands import hand
from kinemorph.model.library.legged import hexapod24, hexapod36, humanoid
from kinemorph.model.library.linkages import five_bar, four_bar, pantograph_leg, slider_crank
from kinemorph.model.library.modular import crawler, organism9
from kinemorph.model.library.planar_bikes import planar_bike
from kinemorph.model.library.rigid_contacts import (
    cradle,
    falling_rod,
    rigid_ball,
    sliding_block,
    stacked_blocks,
    standing_block,
)
from kinemorph.model.library.rovers import rover
from kinemorph.model.library.textbook import cartpole, chain, crane, double_pendulum, pendulum
from kinemorph.model.library.walkers.jansen_walker import jansen_walker
from kinemorph.model.library.walkers.kneed_walker import kneed_walker
from kinemorph.model.library.walkers.monopods import bolt_like, raptor_like
from kinemorph.model.library.walkers.rabbit import rabbit
from kinemorph.model.library.walkers.raibert_hopper import raibert_hopper
from kinemorph.model.library.walkers.rimless_wheel import rimless_wheel
from kinemorph.model.library.walkers.rocking_block import rocking_block
from kinemorph.model.library.walkers.slip_runner import slip_runner
from kinemorph.model.library.walkers.straight_legs import compass_walker, simplest_walker
from kinemorph.model.library.walking_linkages import jansen, klann
from kinemorph.model.robot import Robot
from kinemorph.model.system import System
from kinemorph.words import did_you_mean

LIBRARY: dict[str, Callable[..., Robot]] = {
    "pendulum": pendulum,
    "double_pendulum": double_pendulum,
    "crane": crane,
    "cartpole": cartpole,
    "chain": chain,
    "scara": scara,
    "puma": puma,
    "hand": hand,
    "hexapod24": hexapod24,
    "hexapod36": hexapod36,
    "humanoid": humanoid,
    "fly": fly,
    "amru5": amru5,
    "four_bar": four_bar,
    "slider_crank": slider_crank,
    "five_bar": five_bar,
    "pantograph_leg": pantograph_leg,
    "klann": klann,
    "jansen": jansen,
}
SYSTEMS: dict[str, Callable[..., System]] = {
    "n_four_bar": n_four_bar,
    "bricard": bricard,
    "spatial_slider_crank": spatial_slider_crank,
    "andrews_squeezer": andrews_squeezer,
    "flyball_governor": flyball_governor,
    "jansen_walker": jansen_walker,
    "rimless_wheel": rimless_wheel,
    "simplest_walker": simplest_walker,
    "compass_walker": compass_walker,
    "kneed_walker": kneed_walker,
    "slip_runner": slip_runner,
    "raibert_hopper": raibert_hopper,
    "rabbit": rabbit,
    "bolt_like": bolt_like,
    "raptor_like": raptor_like,
    "rigid_ball": rigid_ball,
    "cradle": cradle,
    "sliding_block": sliding_block,
    "standing_block": standing_block,
    "falling_rod": falling_rod,
    "stacked_blocks": stacked_blocks,
    "rocking_block": rocking_block,
    "whipple_bicycle": whipple_bicycle,
    "planar_bike": planar_bike,
    "rover": rover,
    "segway": segway,
    "crawler": crawler,
    "organism9": organism9,
    "amru5_walk": amru5_walk,
    "amru5_leg": amru5_leg,
    "cockroach": cockroach,
    "cockroach_leg": cockroach_leg,
    "running_cockroach": running_cockroach,
}


def build(name: str) -> Robot:
    """The robot of the library with this name, with its default data."""
    if name in SYSTEMS:
        raise ModelError(
            f"'{name}' is a System, with an initial state or elements, expected a robot. Call "
            f"kinemorph.library.{name}() instead."
        )
    if name not in LIBRARY:
        hint = did_you_mean(name, LIBRARY)
        raise ModelError(f"there is no robot '{name}' in the library; expected one of: {', '.join(LIBRARY)}.{hint}")
    return LIBRARY[name]()


__all__ = ["LIBRARY", "SYSTEMS", "build", *LIBRARY, *SYSTEMS]
