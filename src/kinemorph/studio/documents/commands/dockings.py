"""Commands that dock and undock single sides, put joint modules between them, add kinds, and read measured poses.

Where a grid can describe the result, the file keeps its grid; otherwise its modules are listed in [modules.*] and
[[dockings]], which can describe everything.
"""

from __future__ import annotations

import tomlkit
from tomlkit import TOMLDocument

from kinemorph.algebra.groups import compose, extent, inverse
from kinemorph.errors import ParseError
from kinemorph.formats.toml import text as spell
from kinemorph.formats.toml.assembly_text import docking_sections
from kinemorph.formats.toml.fields import POSE_KEYS
from kinemorph.formats.toml.writer import lines_of
from kinemorph.model.modules import grid_edits
from kinemorph.model.modules.assembly import Assembly, Docking, Module
from kinemorph.model.modules.catalog import JOINT_MODULES, KINDS
from kinemorph.model.modules.grid_text import cells_of, direction, grid_of
from kinemorph.model.modules.measured_poses import Keep, snap
from kinemorph.model.modules.module_types import Side
from kinemorph.studio.documents.commands.command import Command, CommandError, Field
from kinemorph.studio.documents.commands.keys import insert_item
from kinemorph.studio.documents.commands.layout import added, found, has, item_of, plain, put, removed
from kinemorph.studio.documents.commands.measured_text import measured_poses
from kinemorph.studio.documents.commands.modules_of_file import (
    GRID,
    LIST_KEYS,
    LISTS,
    as_list,
    assembly_of,
    base_of,
    board_in,
    refusals,
    settings_of,
    types_of,
    with_board,
)
from kinemorph.studio.documents.commands.offered_docking import (
    Offer,
    moving,
    neighbors,
    offered_docking,
    offered_join,
    side_of,
)
from kinemorph.words import listed

NEAR = 1e-6  # [m] and [rad]: modules that are so near to where they would dock do not move


def dock(
    document: TOMLDocument, module: str, side: str, kind: str, own_side: str, turn: int, name: str, joint: str
) -> str:
    """Docks a new module to a free side of a module."""
    assembly, types, settings = assembly_of(document), types_of(document), settings_of(document)
    if kind not in types:
        raise CommandError(f"the kind of module is {kind!r}, expected one of {listed(types)}.")
    with refusals():
        sides = side_of(side, assembly.module(module).type), side_of(own_side, types[kind])
        offer = offered_docking(
            assembly, types, module, sides[0], kind, sides[1], turn, name=name, joint=joint or None,
            ground="grid" in settings or bool(settings.get("ground")),
        )  # fmt: skip
        if "grid" in settings and not joint:
            text = _in_grid(document, offer, kind)
            if text is not None:
                return text
    listed_document = as_list(document)
    docking = offer.assembly.dockings[-1]
    listed_document = tomlkit.parse(added(listed_document, ("modules", offer.module), {"type": kind}))
    return _with_row(listed_document, docking, joint)


def join(document: TOMLDocument, module: str, side: str, other: str, other_side: str, turn: int, joint: str) -> str:
    """Docks two modules of the file to each other."""
    assembly, settings = assembly_of(document), settings_of(document)
    with refusals():
        sides = side_of(side, assembly.module(module).type), side_of(other_side, assembly.module(other).type)
        offer = offered_join(
            assembly, module, sides[0], other, sides[1], turn, joint=joint or None,
            ground="grid" in settings or bool(settings.get("ground")),
        )  # fmt: skip
        moved = max(extent(compose(inverse(assembly.poses()[other]), offer.pose)))
        if "grid" in settings and not joint and moved < NEAR:
            board = board_in(document)
            cells = board.cell_of(module), board.cell_of(other)
            return with_board(document, grid_edits.connected(board, *cells), base_of(document, board))
    document = as_list(document)
    for keys in (("modules", name, key) for name in moving(assembly, module, other) for key in POSE_KEYS):
        if has(document, keys):
            document = tomlkit.parse(removed(document, keys))
    return _with_row(document, offer.assembly.dockings[-1], joint)


def _with_row(document: TOMLDocument, docking: Docking, joint: str) -> str:
    """The text with one more row of [[dockings]]."""
    row = {"a": docking.a, "side_a": docking.side_a, "b": docking.b, "side_b": docking.side_b}
    row |= {"turn": docking.turn} if docking.turn else {}
    row |= {"joint": joint} if joint else {}
    return insert_item(document, ("dockings",), row, None)


def _in_grid(document: TOMLDocument, offer: Offer, kind: str) -> str | None:
    """The text with the new module in a cell of the grid; None if no cell describes where it is."""
    poses = offer.assembly.poses()
    modules = tuple(Module(one.name, one.type, poses[one.name]) for one in offer.assembly.modules)
    placed = Assembly(offer.assembly.name, modules, offer.assembly.dockings, offer.assembly.base)
    front, cells = direction(modules[-1]), cells_of(placed)
    new = placed.module(offer.module)
    if front is None or cells is None or new.at is None or abs(new.at.p[2] - 0.5 * new.type.size[2]) > 1e-9:
        return None
    board = board_in(document)
    anchor = offer.assembly.dockings[-1].a
    there, here, known = cells[offer.module], cells[anchor], board.cell_of(anchor)
    cell = (known[0] + there[0] - here[0], known[1] + there[1] - here[1])
    made = grid_edits.placed(board, [cell], kind, front, offer.module)
    docked = {frozenset(made.placed[made.owner[one]].name for one in link) for link in made.links}
    wanted = {frozenset((docking.a, docking.b)) for docking in neighbors(offer)}
    return with_board(document, made, base_of(document, board)) if wanted <= docked else None


def undock(document: TOMLDocument, module: str, side: str) -> str:
    """Undocks whatever is docked to a side of a module."""
    assembly = assembly_of(document)
    with refusals():
        docking = _docking(assembly, module, side)
        if "grid" in settings_of(document):
            board = board_in(document)
            cells = board.cell_of(docking.a), board.cell_of(docking.b)
            return with_board(document, grid_edits.disconnected(board, *cells), base_of(document, board))
        parted = assembly.undock(module, docking.side_a)
    document = as_list(document)
    text = removed(document, ("dockings", _row_of(document, docking)))
    poses = assembly.poses()
    for organism in parted.organisms:
        if all(parted.module(name).at is None for name in organism) and len(parted.organisms) > 1:
            pose = spell.pose(poses[organism[0]]) or {"translation": "[0.0, 0.0, 0.0]"}
            document = tomlkit.parse(text)
            table = found(document, ("modules", organism[0]))
            for key, item in tomlkit.parse(lines_of(pose)).items():
                table[key] = item
            text = tomlkit.dumps(document)
    return text


def set_joint(document: TOMLDocument, module: str, side: str, joint: str) -> str:
    """Puts a joint module between two docked sides, or takes it away."""
    assembly = assembly_of(document)
    with refusals():
        docking = _docking(assembly, module, side)
    document = as_list(document)
    row = ("dockings", _row_of(document, docking))
    for key in ("joint", "axis", "lower", "upper", "velocity", "effort", "damping"):
        if has(document, (*row, key)):
            document = tomlkit.parse(removed(document, (*row, key)))
    if joint:
        found(document, row)["joint"] = item_of(joint)
    return tomlkit.dumps(document)


def _docking(assembly: Assembly, module: str, side: str) -> Docking:
    """The docking at a side of a module, with the module as a. Raises CommandError if the side is free."""
    own: Side = side_of(side, assembly.module(module).type)
    docking = assembly.docking(module, own)
    if docking is None:
        raise CommandError(f"nothing is docked to side {side} of module '{module}'. Choose a docked side.")
    return docking


def _row_of(document: TOMLDocument, docking: Docking) -> int:
    """The index of a docking in [[dockings]]."""
    ends = {(name, str(side)) for name, side in docking.ends}
    for k, row in enumerate(plain(found(document, ("dockings",)))):
        if {(row.get("a"), str(row.get("side_a"))), (row.get("b"), str(row.get("side_b")))} == ends:
            return k
    raise CommandError(f"the {docking} is not in [[dockings]]. Edit the text instead.")


# ── kinds and measured poses ──────────────────────────────────────────────────────────────────────────────────────────


def add_kind(document: TOMLDocument, letter: str, like: str, name: str, data: dict[str, object]) -> str:
    """Adds a kind of module that is like a built-in one."""
    if not letter.isalpha() or not letter.isascii():
        raise CommandError(f"the letter of the kind is {letter!r}, expected one or more letters, such as 'H'.")
    if has(document, ("module_types", letter)):
        raise CommandError(f"there is a kind '{letter}' already. Choose another letter, or change its data.")
    if not isinstance(data, dict):
        raise CommandError('data has to be a table of keys, such as {"mass": "1.5 kg"}.')
    return added(document, ("module_types", letter), {"like": like, **({"name": name} if name else {}), **data})


def snap_poses(document: TOMLDocument, text: str, kind: str, keep: str) -> str:
    """Replaces the modules of the file by those whose poses were measured."""
    try:
        poses = measured_poses(text)
    except ParseError as error:
        raise CommandError(f"the measured poses are wrong: {error}") from None
    types = types_of(document)
    if kind not in types:
        raise CommandError(f"the kind of module is {kind!r}, expected one of {listed(types)}.")
    settings = settings_of(document)
    planar, several = (bool(settings.get(key)) for key in ("planar", "several"))
    with refusals():
        used: Keep = "legal" if keep == "exact" else "measured"
        snapped = snap(poses, kind, types=types, keep=used, planar=planar, several=several)
    for keys in [*((key,) for key in LISTS), GRID, *(("assembly", key) for key in (*LIST_KEYS, "base"))]:
        if has(document, keys):
            document = tomlkit.parse(removed(document, keys))
    if keep == "exact":
        grid = grid_of(snapped.assembly, types, exact=False)
        if grid is not None:
            changed = put(document, GRID, grid)
            return tomlkit.dumps(document) if changed is None else changed
    if "assembly" not in document:
        document = tomlkit.parse(added(document, ("assembly",), {}))
    pieces = [tomlkit.dumps(document).rstrip("\n")]
    pieces += [part.rstrip("\n") for part in docking_sections(snapped.assembly)]
    return "\n\n".join(pieces) + "\n"


MODULE = Field("module", "name", "The name of the module.")
SIDE = Field("side", "name", "The side of the module.")
JOINTS = ("", *JOINT_MODULES)
ROWS = (
    Command(
        "dock",
        "Docks a new module to a free side of a module.",
        dock,
        (
            MODULE,
            SIDE,
            Field("kind", "name", "Letter of the kind of the new module."),
            Field("own_side", "name", "The side of the new module that is docked."),
            Field("turn", "whole", "Quarter turns of the new module about the normal of its side.", 0),
            Field("name", "text", "Name of the new module; the next free number if it is left out.", ""),
            Field("joint", "choice", "Joint module between the two sides, or none.", "", JOINTS),
        ),
        lambda module, side, kind, own_side, turn, name, joint: f"dock {kind} to side {side} of {module}",
    ),
    Command(
        "join",
        "Docks two modules of the file to each other; one that belongs to another organism moves with all of it.",
        join,
        (
            MODULE,
            SIDE,
            Field("other", "name", "The name of the other module, which moves."),
            Field("other_side", "name", "The side of the other module."),
            Field("turn", "whole", "Quarter turns of the other module about the normal of its side.", 0),
            Field("joint", "choice", "Joint module between the two sides, or none.", "", JOINTS),
        ),
        lambda module, side, other, other_side, turn, joint: f"dock {other} to side {side} of {module}",
    ),
    Command(
        "undock",
        "Undocks whatever is docked to a side of a module.",
        undock,
        (MODULE, SIDE),
        lambda module, side: f"undock side {side} of {module}",
    ),
    Command(
        "joint",
        "Puts a joint module between two docked sides, or takes it away.",
        set_joint,
        (MODULE, SIDE, Field("joint", "choice", "Kind of joint module, or empty for none.", inner=JOINTS)),
        lambda module, side, joint: f"{joint or 'no'} joint at side {side} of {module}",
    ),
    Command(
        "kind",
        "Adds a kind of module that is like a built-in one, with other data.",
        add_kind,
        (
            Field("letter", "name", "Letter of the new kind."),
            Field("like", "choice", "The built-in kind.", inner=tuple(KINDS)),
            Field("name", "text", "Name of the new kind.", ""),
            Field("data", "value", 'Its other data, such as {"mass": "1.5 kg"}.', {}),
        ),
        lambda letter, like, name, data: f"kind {letter}",
    ),
    Command(
        "snap",
        "Replaces the modules of the file by those whose poses were measured, each at the nearest docking.",
        snap_poses,
        (
            Field("text", "text", "Lines a, b, x, y, z, qw, qx, qy, qz: the pose of module b in the frame of a [m]."),
            Field("kind", "name", "Letter of the kind of all modules.", "B"),
            Field(
                "keep",
                "choice",
                "exact: dock exactly; measured: keep what was measured.",
                "exact",
                ("exact", "measured"),
            ),
        ),
        lambda text, kind, keep: "snap measured poses",
    ),
)
