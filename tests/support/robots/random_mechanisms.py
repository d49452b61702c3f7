"""Seeded random mechanisms with closed loops: linkages in the plane and in space. The same seed gives the same one.

Over-constrained mechanisms are placed by their geometry: hinges through one point, half-turns about a line, equal
cranks. None is solved for: support/robots/mechanism_drafts.py says how loops come to be closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from support.references.maximal_coordinates import Array, inverse, pose, turn
from support.robots.mechanism_drafts import CLOSING, FREEDOM, Draft, Drafter, flat_turn
from support.robots.random_robots import random_axis

# ── in the plane ──────────────────────────────────────────────────────────────────────────────────────────────────────


def flat(joints: int, *dyads: str) -> Callable[[Drafter], None]:
    """A ring of hinges on a base, then rows of three hinges between bodies; "near", "far" or "any" says which."""

    def drawn(d: Drafter) -> None:
        base = d.base("planar", "free", "prismatic", "fixed")
        ring = d.ear(["revolute"] * joints, base, base)
        for between in dyads:
            links = [base, *ring]
            first = int(d.rng.integers(len(ring)))
            step = {"near": 1, "far": 2, "any": int(d.rng.integers(1, len(links)))}[between]
            d.ear(["revolute"] * 3, links[first], links[(first + step) % len(links)])
        d.draft.mobility = joints - 3 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)

    return drawn


def sliders(d: Drafter) -> None:
    """Rings of four or five joints, some of them sliding; at least two turn. A dyad with one slider at times."""
    base = d.base("planar", "free")
    count = int(d.rng.integers(4, 6))
    kinds = ["revolute"] * count
    for k in d.rng.choice(count, size=int(d.rng.integers(1, count - 1)), replace=False):
        kinds[k] = "prismatic"
    ring = d.ear(kinds, base, base)
    if d.chance(0.4):
        kinds = ["revolute"] * 3
        kinds[int(d.rng.integers(3))] = "prismatic"
        d.ear(kinds, ring[0], ring[-1])


def all_sliders(d: Drafter) -> None:
    """Four sliders in a ring, in the plane: nothing turns."""
    base = d.base("planar")
    d.ear(["prismatic"] * 4, base, base)
    d.draft.mobility = 2 + (3 if base != "world" else 0)


def tower(stories: int) -> Callable[[Drafter], None]:
    """Four-bars on top of each other, each on the coupler of the one below."""

    def drawn(d: Drafter) -> None:
        base = "world"
        for _ in range(stories):
            base = d.ear(["revolute"] * 4, base, base)[1]
        d.draft.mobility = stories

    return drawn


def many_flat_loops(d: Drafter) -> None:
    base = d.base("planar", "free")
    links = [base, *d.ear(["revolute"] * int(d.rng.integers(4, 7)), base, base)]
    for _ in range(int(d.rng.integers(2, 5))):
        a, b = d.rng.choice(len(links), size=2, replace=False)
        kinds = ["revolute"] * 3
        if d.chance(0.2):
            kinds[int(d.rng.integers(3))] = "prismatic"
        links += d.ear(kinds, links[a], links[b])
    d.dangle(["revolute", "prismatic"], 2)


def cranks(count: int, angle: float | None = None) -> Callable[[Drafter], None]:
    """A coupler on equal cranks that stay parallel: every crank after the second repeats what the others say."""

    def drawn(d: Drafter) -> None:
        base = d.base("planar", "free") if angle is None else "world"
        turned = d.rng.uniform(0.3, 1.2) if angle is None else angle
        arm = 0.5 * np.array([np.cos(turned), np.sin(turned), 0.0])
        coupler = d.body()
        for k in range(count):
            aside = 0.1 * d.rng.normal() if angle is None else 0.0
            foot = np.array([0.6 * k, aside, 0.0]) + d.rng.uniform(0.0, 0.1, size=3) * [1, angle is None, angle is None]
            crank = d.body()
            d.joint("revolute", base, crank, frame=pose(np.eye(3), foot))
            ends = (crank, coupler) if d.chance(0.5) or k == 0 else (coupler, crank)
            d.joint("revolute", *ends, frame=pose(np.eye(3), foot + arm))
        d.draft.mobility = 1 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)

    return drawn


# ── over-constrained in space ─────────────────────────────────────────────────────────────────────────────────────────


def ring(d: Drafter, frames: Sequence[Array], kind: str = "revolute") -> list[str]:
    """Bodies in a ring, held together by joints along the z axes of frames in the world (4, 4)."""
    base = d.base("free", "spherical", "revolute")
    meet = int(d.rng.integers(1, len(frames)))
    links = [base, *(d.body() for _ in frames[1:]), base]
    for k, frame in enumerate(frames):
        ends = (links[k], links[k + 1]) if k < meet else (links[k + 1], links[k])
        d.joint(kind, *ends, frame=frame, axis=(0.0, 0.0, 1.0))
    d.draft.mobility = 1 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)
    return links


def z_along(axis: Array, origin: Array) -> Array:
    """A frame (4, 4) whose z axis has this direction."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[np.argmin(np.abs(z))])
    x /= np.linalg.norm(x)
    return pose(np.stack([x, np.cross(z, x), z], axis=1), origin)


def spherical_ring(d: Drafter) -> None:
    """Four hinges through one point."""
    center = d.rng.normal(size=3)
    ring(d, [z_along(z, center + d.rng.normal() * z) for z in map(np.array, [random_axis(d.rng) for _ in range(4)])])


def bennett(d: Drafter) -> None:
    """Four hinges of which no two meet: opposite links alike, sin(twist) in proportion to the length (Bennett 1903)."""
    alpha, beta, a = d.rng.uniform(0.3, 1.2), d.rng.uniform(1.5, 2.5), d.rng.uniform(0.3, 0.8)
    b = a * np.sin(beta) / np.sin(alpha)
    first = d.rng.uniform(0.5, 2.5)
    second = 2.0 * np.arctan(np.sin(0.5 * (beta + alpha)) / np.sin(0.5 * (beta - alpha)) / np.tan(0.5 * first))
    frames, T = [], d.place()
    for angle, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)):
        frames.append(T)
        T = T @ pose(flat_turn(angle), np.zeros(3)) @ pose(turn((1, 0, 0), twist), (length, 0.0, 0.0))
    assert np.abs(T - frames[0]).max() < 1e-12, np.abs(T - frames[0]).max()
    ring(d, frames)


def bricard(d: Drafter) -> None:
    """Six hinges, the last three the first three turned by half a turn about a line (Bricard 1897, line-symmetric)."""
    line = z_along(np.array(random_axis(d.rng)), 0.3 * d.rng.normal(size=3))
    half = line @ pose(np.diag([-1.0, -1.0, 1.0]), np.zeros(3)) @ inverse(line)
    three = [d.place() for _ in range(3)]
    ring(d, [*three, *(half @ frame for frame in three)])


def cube(d: Drafter) -> None:
    """Bricard's trihedral ring along six edges of a cube."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)]
    edges = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    size, T = d.rng.uniform(0.3, 1.0), d.place()
    ring(
        d,
        [T @ z_along(np.array(e, dtype=float), size * np.array(c, float)) for e, c in zip(edges, corners, strict=True)],
    )


def sarrus(d: Drafter) -> None:
    """A plate on two or three legs of three parallel hinges each, in different planes: it goes along a line."""
    base, plate = d.base("free", "prismatic"), d.body()
    for k in range(int(d.rng.integers(2, 4))):
        across = np.array([np.cos(1.9 * k + 0.2), np.sin(1.9 * k + 0.2), 0.0])
        d.ear(["revolute"] * 3, base, plate, [z_along(across, 0.5 * d.rng.normal(size=3)) for _ in range(3)])
    for at in range(len(d.draft.hinges)):
        if d.draft.hinges[at].kind == "revolute":
            d.draft.hinges[at] = replace(d.draft.hinges[at], axis=(0.0, 0.0, 1.0))
    d.draft.mobility = 1 + (FREEDOM[d.draft.hinges[0].kind] if base != "world" else 0)


def space_sliders(d: Drafter) -> None:
    """Four sliders in different directions: a ring in which nothing turns."""
    ring(d, [d.place() for _ in range(4)], "prismatic")


def door(d: Drafter) -> None:
    """A body on two or three hinges in one line, with a driven row of links on it."""
    base = d.base("free")
    leaf, post = d.body(), d.place()
    for k in range(int(d.rng.integers(2, 4))):
        d.joint("revolute", base, leaf, frame=post @ pose(np.eye(3), (0.0, 0.0, 0.4 * k)), axis=(0.0, 0.0, 1.0))
    d.draft.mobility = 1 + (6 if base != "world" else 0)
    if d.chance(0.5):
        d.ear(["spherical", "spherical", "revolute"], base, leaf)
        d.draft.mobility += 1  # and the link between two balls spins


# ── in space ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def row_of_joints(d: Drafter, freedom: int, closing: str | None = None) -> list[str]:
    """Kinds of joints with so much freedom together, two to seven of them."""
    while True:
        kinds = [str(kind) for kind in d.rng.choice(CLOSING, size=int(d.rng.integers(1, 7)))]
        kinds += [closing] if closing else []
        if len(kinds) > 1 and sum(FREEDOM[kind] for kind in kinds) == freedom:
            d.rng.shuffle(kinds)
            return kinds


def space(loops: int, closing: str | None = None) -> Callable[[Drafter], None]:
    """Rows of joints of any kinds from body to body, one after the other; the first has one of the kind `closing`."""

    def drawn(d: Drafter) -> None:
        base = d.base("free", "spherical", "cylindrical", "fixed")
        links, spare = [base], 0
        for k in range(loops):
            freedom = int(d.rng.integers(7, 10)) if spare == 0 else int(d.rng.integers(6, 9))
            start, end = base, links[int(d.rng.integers(len(links)))]
            links += d.ear(row_of_joints(d, freedom, closing if k == 0 else None), start, end)
            spare += freedom - 6
        d.dangle(["revolute", "spherical", "universal", "helical", "planar", "fixed"], 2)
        own = sum(FREEDOM[h.kind] for h in d.draft.hinges)
        d.draft.mobility, d.draft.exact = own - 6 * loops, False

    return drawn


def coupled(d: Drafter) -> None:
    """A loop, and joints that follow others by a ratio: in the loop, next to it, and one that follows the follower."""
    base = d.base("free")
    links = d.ear(row_of_joints(d, int(d.rng.integers(8, 11))), base, base)
    tip = links[-1] if links else base
    names = []
    for _ in range(3):
        tip, parent = d.body(), tip
        names.append(d.joint(str(d.rng.choice(["revolute", "prismatic", "helical"])), parent, tip).name)
    d.draft.ratios = [(names[1], names[0], float(d.rng.uniform(-2.0, 2.0)))]
    d.draft.ratios += [(names[2], names[1], float(d.rng.uniform(-2.0, 2.0)))] if d.chance(0.5) else []
    robot, _ = d.draft.built()
    inside = [j.name for j in robot.joints if j.nv == 1 and j.name not in names]
    if len(inside) >= 2:
        d.draft.ratios.append((inside[-1], inside[0], float(d.rng.uniform(0.5, 2.0))))


# ── nearly singular ───────────────────────────────────────────────────────────────────────────────────────────────────


def near(kind: str, by: float) -> Callable[[Drafter], None]:
    """A ring of four joints that are off a plane (their directions), or a plate on legs that are off parallel, by so
    much [rad]: exactly on it there would be one freedom more, or two.
    """

    def drawn(d: Drafter) -> None:
        if kind == "legs":
            plate = d.body()
            for k in range(2):
                across = np.array([np.cos(by * k), np.sin(by * k), 0.0])
                frames = [z_along(across, 0.5 * d.rng.normal(size=3)) for _ in range(3)]
                d.ear(["revolute"] * 3, "world", plate, frames)
            d.draft.hinges = [replace(hinge, axis=(0.0, 0.0, 1.0)) for hinge in d.draft.hinges]
            d.draft.mobility = 1
            return
        T, center = d.place(), np.zeros(3)
        ways = [
            np.array([np.cos(k), np.sin(k), by * d.rng.choice([-1, 1]) * d.rng.uniform(0.5, 2.0)]) for k in range(4)
        ]
        ring(d, [T @ z_along(way, center) for way in ways], kind)

    return drawn


NEARLY: dict[str, Callable[[float], Callable[[Drafter], None]]] = {
    "flat_cranks": lambda by: cranks(2, by),
    "three_flat_cranks": lambda by: cranks(3, by),
    "parallel_legs": lambda by: near("legs", by),
    "sliders_in_a_plane": lambda by: near("prismatic", by),
    "hinges_in_a_plane": lambda by: near("revolute", by),
}

# ── families ──────────────────────────────────────────────────────────────────────────────────────────────────────────


FLAT: dict[str, Callable[[Drafter], None]] = {
    "four_bar": flat(4),
    "five_bar": flat(5),
    "watt": flat(4, "near"),
    "stephenson": flat(4, "far"),
    "six_ring": flat(6, "any"),
    "slider": sliders,
    "all_sliders": all_sliders,
    "many_flat_loops": many_flat_loops,
    "three_cranks": cranks(3),
    "four_cranks": cranks(4),
}
REPEATING: dict[str, Callable[[Drafter], None]] = {
    "spherical_ring": spherical_ring,
    "bennett": bennett,
    "bricard": bricard,
    "cube": cube,
    "sarrus": sarrus,
    "space_sliders": space_sliders,
    "door": door,
}
WITH: dict[str, Callable[[Drafter], None]] = {f"with_{kind}": space(1, kind) for kind in CLOSING}
SPACE: dict[str, Callable[[Drafter], None]] = {
    **WITH,
    "two_loops": space(2),
    "three_loops": space(3),
    "coupled": coupled,
}
FAMILIES = FLAT | REPEATING | SPACE


def random_mechanism(seed: int) -> Draft:
    """A mechanism of the family whose turn it is. Every other is cut at a joint of its loops that is drawn by lot."""
    family = list(FAMILIES)[seed % len(FAMILIES)]
    draft = drafted(FAMILIES[family], family, seed, flat=family in FLAT)
    kind = family.removeprefix("with_")
    cuts = [hinge.name for hinge in draft.closing() if hinge.kind == kind or family not in WITH]
    if (family in WITH or seed // len(FAMILIES) % 2) and not draft.ratios:
        draft.cut = str(np.random.default_rng([seed, 29]).choice(cuts))
    return draft


def drafted(family: Callable[[Drafter], None], name: str, seed: int, *, flat: bool = False) -> Draft:
    d = Drafter(f"{name}_{seed}", [seed, 17], flat)
    family(d)
    return d.draft
