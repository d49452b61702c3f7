"""What an assembly is asked to be: one organism, whose modules have room; on request a planar tree, as in the paper."""

from __future__ import annotations

from kinemorph.model.modules.assembly import Assembly
from kinemorph.model.modules.occupancy import spatial_problems

LISTED = 12  # names in a sentence


def organism_problems(assembly: Assembly, *, planar: bool = False, several: bool = False) -> list[str]:
    """What keeps an assembly from being what is asked for, one sentence each.

    `planar`: a tree, docked upright at sides 2 to 5; `several`: modules may be apart.
    """
    found = [] if several else _apart(assembly)
    if planar:
        found += _planar(assembly)
    return found or spatial_problems(assembly)


def _apart(assembly: Assembly) -> list[str]:
    """Modules that hang on no other, or not on most of them."""
    groups = assembly.organisms
    if len(groups) < 2:
        return []
    main = max(groups, key=len)
    lone = [name for group in groups if group is not main for name in group]
    listed = ", ".join(f"'{name}'" for name in lone[:LISTED]) + (", ..." if len(lone) > LISTED else "")
    noun, verb = ("module", "is") if len(lone) == 1 else ("modules", "are")
    others = len(main) - 1
    with_it = (
        "" if not others else " and what hangs on it" if others == 1 else f" and the {others} modules that hang on it"
    )
    most = f"'{main[0]}'{with_it}"
    return [
        f"assembly '{assembly.name}': {noun} {listed} {verb} not docked to {most}; expected one organism. Dock "
        "what is apart, or pass several=True for several organisms in one world."
    ]


def _planar(assembly: Assembly) -> list[str]:
    """What the paper's organisms do not have: rings, dockings at top or bottom, and turned ones."""
    what = f"assembly '{assembly.name}'"
    found = [] if assembly.is_tree else [f"{what}: modules are docked in a ring; planar=True takes trees. Undock one."]
    for docking in assembly.dockings:
        told = f"{what}: the docking of '{docking.a}' side {docking.side_a} with '{docking.b}' side {docking.side_b}"
        if any(side not in (2, 3, 4, 5) for _, side in docking.ends):
            found.append(f"{told} is not in the plane; planar=True takes sides 2, 3, 4 and 5. Choose among these.")
        elif docking.turn:
            found.append(
                f"{told} has {docking.turn} quarter turns; planar=True takes modules that stand upright. Leave "
                "them out."
            )
    return found
