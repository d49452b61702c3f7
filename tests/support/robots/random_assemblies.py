"""Random assemblies of mixed modules, none of which overlap, for tests of laws."""

from __future__ import annotations

import random

from kinemorph.errors import ModelError
from kinemorph.model.modules import Assembly, JointModule, standard_types
from kinemorph.model.modules.catalog import JOINT_MODULES
from kinemorph.model.modules.occupancy import spatial_problems

TYPES = standard_types()


def random_tree(count: int, seed: int, *, letters: str = "BBBSWLK", planar: bool = False) -> Assembly:
    """A tree of `count` modules; each new one is docked to a free side of one that is there, with a random turn.

    Between two rigid cubes there is a joint module more often than not. `planar` keeps all upright, on sides 2 to 5.
    """
    chance = random.Random(seed)
    first = TYPES[chance.choice(letters)]
    assembly = Assembly(f"tree {seed}").add("m0", first)
    tries = 0
    while len(assembly.modules) < count and tries < 50 * count:
        tries += 1
        name, kind = f"m{len(assembly.modules)}", TYPES[chance.choice(letters)]
        host = chance.choice(assembly.names)
        free = [side for side in assembly.free_sides(host) if not planar or side not in (1, 6)]
        sides = [side for side in kind.sides if not planar or side not in (1, 6)]
        if not free:
            continue
        joint: JointModule | None = None
        if not kind.joints and not assembly.module(host).type.joints and chance.random() < 0.7:
            joint = JOINT_MODULES[chance.choice(["revolute", "prismatic"])]
        turn = 0 if planar else chance.randrange(4)
        grown = assembly.add(name, kind).dock(
            host, chance.choice(free), name, chance.choice(sides), turn=turn, joint=joint
        )
        if not spatial_problems(grown):
            assembly = grown
    if len(assembly.modules) < count:
        raise ModelError(f"no room for {count} modules, seed {seed}")
    return assembly.with_base(chance.choice(assembly.names))
