"""All solutions of planar loop equations: block by block, each by elimination.

The equations of `planar_equations` are linear in the turns of links, so a combination of loops may have two unknowns
only: a dyad (an Assur group of two links), whose solutions are intersections of two circles, or of a circle and a line.
Its solution is then known in the remaining equations, and the next dyad is solved. Most linkages separate into dyads.
Where two loops are left with four turns and no dyad among them, as in a Stephenson six-bar driven from its outer loop,
two turns are eliminated linearly; the conditions

    |T_c| = 1,  |T_d| = 1      with T_c, T_d affine in x = T_a and y = T_b

become polynomials in x and y, quadratic in y: A_k y^2 + B_k y + C_k = 0. Their resultant with respect to y,

    (A1 C2 - A2 C1)^2 - (A1 B2 - A2 B1) (B1 C2 - B2 C1) = 0

has degree 6 in x: six solutions at most, of which the real ones have |x| = 1. No solution is missed.

Equations that are solved together are a block. Each block has an orientation: the sign of the determinant of the
derivatives of its equations with respect to its unknowns, turns first. Complex-linear combinations of equations do not
change it, so it is a property of the mechanism: for a dyad of two links it is + where, going round the loop, the
rotation from the first link to the second is counterclockwise. It changes only where the block is singular.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.analysis.loops.planar_equations import Complex, Equations

RANK = 1e-9  # coefficients below this, relative to the size of the loops, count as zero
DOUBLE = 1e-9  # circles that miss each other by less than this, relative to the size of the loops, touch
NEAR_CIRCLE = 0.05  # roots x of the resultant this near to |x| = 1 are improved by Newton's method
SAME = 1e-6  # [rad], solutions that differ by less are the same
LARGEST = 3  # most loops in one block
MOST_UNKNOWNS = 16  # most unknowns among which a block is searched for
MOST_SOLUTIONS = 4096  # most solutions to list


class Block(NamedTuple):
    """A block: m complex equations, which are combinations of the L loop equations and determine 2 m real unknowns.

    `turns`    the numbers of the groups of links whose turns exp(i angle) are unknown
    `slides`   the numbers of the slides whose travels are unknown
    `rows`     (m, L), the coefficients of the combinations
    """

    turns: tuple[int, ...]
    slides: tuple[int, ...]
    rows: Complex


class Solution(NamedTuple):
    """A solution of the loop equations of one set of planar loops.

    `turns`     exp(i angle) of every group of links that keep their relative orientation, the ground's 1 first
    `travels`   the travel [m] of every slide
    `signs`     +1 or -1 for each block of equations that are solved together: the sign of the determinant of their
                derivatives, which distinguishes, for example, the two ways to assemble a dyad
    """

    turns: Complex
    travels: Array
    signs: tuple[int, ...]


class Undecided(Exception):
    """Raised for a block for which no elimination is implemented, and where there are too many solutions to list."""


def blocks(equations: Equations, size: float) -> list[Block] | None:
    """The equations as blocks, which are solved one after the other; None where they do not determine all unknowns.

    `size` [m] is the size of the loops, which sets the scale of tolerances.
    """
    C, D, carriers, _, _ = equations
    basis: Complex = np.eye(len(C), dtype=complex)
    used = np.hstack([np.abs(C), np.abs(D) * size]) > RANK * size
    turns, slides = set(range(1, C.shape[1])), set(range(D.shape[1]))
    found: list[Block] = []
    while turns or slides:
        block = _of_one_loop(used, carriers, basis, turns, slides)
        block = block or next(_smallest(C, D, carriers, basis, turns, slides, size), None)
        if block is None:
            return None
        found.append(block)
        turns -= set(block.turns)
        slides -= set(block.slides)
        basis = _without(basis, block.rows)
    return found if not len(basis) else None


def _of_one_loop(
    used: npt.NDArray[np.bool_], carriers: Sequence[int], basis: Complex, turns: set[int], slides: set[int]
) -> Block | None:
    """The equations and unknowns of the first loop that has exactly two unknowns; None if there is no such loop.

    Most dyads of long linkages are loops of that kind. `used` (loops, angles + slides) tells which unknowns each loop
    has, and `turns` and `slides` are the numbers of those that are not solved for yet.
    """
    count = used.shape[1] - len(carriers)
    for row in basis:
        loop = int(np.argmax(np.abs(row)))
        if np.count_nonzero(np.abs(row) > RANK) != 1:
            continue
        mine = {g for g in turns if used[loop, g]}, {k for k in slides if used[loop, count + k]}
        mine[0].update(carriers[k] for k in mine[1] if carriers[k] in turns)
        if len(mine[0]) + len(mine[1]) == 2:
            return Block(tuple(sorted(mine[0])), tuple(sorted(mine[1])), row[None, :])
    return None


def _smallest(
    C: Complex, D: Complex, carriers: Sequence[int], basis: Complex, turns: set[int], slides: set[int], size: float
) -> Iterator[Block]:
    unknown = [("turn", g) for g in sorted(turns)] + [("slide", k) for k in sorted(slides)]
    if len(unknown) > MOST_UNKNOWNS:
        return
    for loops in range(1, min(LARGEST, len(basis)) + 1):
        for chosen in combinations(unknown, 2 * loops):
            mine = {g for kind, g in chosen if kind == "turn"}, {k for kind, k in chosen if kind == "slide"}
            if any(carriers[k] in turns - mine[0] for k in mine[1]):
                continue  # a slide along a link that is not known yet
            others = np.hstack([C[:, sorted(turns - mine[0])], D[:, sorted(slides - mine[1])] * size])
            rows = _left_null(basis @ others, RANK * size) @ basis
            if len(rows) == loops:
                yield Block(tuple(sorted(mine[0])), tuple(sorted(mine[1])), rows)


def _left_null(A: Complex, tolerance: float) -> Complex:
    """Orthonormal rows y with y A = 0; singular values up to the tolerance count as zero."""
    if not A.shape[1]:
        return np.eye(len(A), dtype=complex)
    U, S, _ = np.linalg.svd(A)
    rank = int((tolerance < S).sum())
    return np.asarray(U[:, rank:].conj().T)


def _without(basis: Complex, rows: Complex) -> Complex:
    """An orthonormal basis of the row space of `basis` without `rows`; rows orthogonal to `rows` stay unchanged."""
    rest = basis - (basis @ rows.conj().T) @ rows
    sizes = np.linalg.norm(rest, axis=1)
    whole, cut = rest[sizes > 1.0 - RANK], rest[sizes <= 1.0 - RANK]
    rank = len(basis) - len(rows) - len(whole)
    return np.vstack([whole, np.linalg.svd(cut)[2][:rank]]) if rank else whole


def solutions(equations: Equations, parts: Sequence[Block], size: float) -> tuple[list[Solution], list[str]]:
    """(all real solutions, reasons why others do not exist); each block is solved for each solution of earlier blocks.

    `size` [m] is the size of the loops. Raises Undecided at a block of several loops whose unknowns are not four turns,
    and where there are too many solutions.
    """
    C, D, carriers, _, _ = equations
    begun = [Solution(np.where(np.arange(C.shape[1]) == 0, 1.0 + 0j, 0j), np.zeros(D.shape[1]), ())]
    short: list[str] = []
    for block in parts:
        grown: list[Solution] = []
        for so_far in begun:
            carried = D * so_far.turns[list(carriers)] if D.shape[1] else D
            constant = block.rows @ (C @ so_far.turns + carried @ so_far.travels)
            a = block.rows @ C[:, list(block.turns)]
            known = [k for k in block.slides if carriers[k] not in block.turns]
            d = block.rows @ np.where(np.isin(np.arange(D.shape[1]), known), carried, D)[:, list(block.slides)]
            along = [block.turns.index(carriers[k]) if k not in known else -1 for k in block.slides]
            answers, why = _solved(constant, a, d, along, size)
            short += [why] if why else []
            for turns, travels in answers:
                sign = _orientation(a, d, along, turns, travels, size)
                all_turns, all_travels = so_far.turns.copy(), so_far.travels.copy()
                all_turns[list(block.turns)], all_travels[list(block.slides)] = turns, travels
                grown.append(Solution(all_turns, all_travels, (*so_far.signs, sign)))
        begun = grown
        if len(begun) > MOST_SOLUTIONS:
            raise Undecided
    return begun, short


def signs_at(
    equations: Equations, parts: Sequence[Block], turns: Complex, travels: Array, size: float
) -> tuple[int, ...]:
    """The orientation of each block, the sign of the determinant of its derivatives: 1, -1, or 0 where it is singular.

    `turns` has exp(i angle) of each group of links, `travels` [m] the travel of each slide, and `size` [m] is the size
    of the loops.
    """
    C, D, carriers, _, _ = equations
    found = []
    for block in parts:
        known = [carriers[k] not in block.turns for k in block.slides]
        d = block.rows @ D[:, list(block.slides)]
        d = d * np.where(known, turns[[carriers[k] for k in block.slides]], 1.0) if len(known) else d
        along = [-1 if k else block.turns.index(carriers[s]) for k, s in zip(known, block.slides, strict=True)]
        a = block.rows @ C[:, list(block.turns)]
        found.append(_orientation(a, d, along, turns[list(block.turns)], travels[list(block.slides)], size))
    return tuple(found)


def _derivative(a: Complex, d: Complex, along: Sequence[int], turns: Complex, travels: Array) -> Array:
    """The derivative of the m equations of one block with respect to its angles and travels, shape (2 m, 2 m).

    Its rows are the real parts, then the imaginary parts. The equations are constant + a turns + sum over slides k of
    d_k travels_k (turns[along[k]], or 1 where along[k] is -1) = 0.
    """
    by_turn = a.copy()
    by_slide = d.copy()
    for k, carrier in enumerate(along):
        if carrier >= 0:
            by_turn[:, carrier] += d[:, k] * travels[k]
            by_slide[:, k] = d[:, k] * turns[carrier]
    columns = np.hstack([1j * by_turn * turns, by_slide])
    return np.vstack([columns.real, columns.imag])


def _orientation(a: Complex, d: Complex, along: Sequence[int], turns: Complex, travels: Array, size: float) -> int:
    J = _derivative(a, d, along, turns, travels)
    J[:, : len(turns)] /= size
    det = float(np.linalg.det(J))
    # interleave real and imaginary rows: (-1)^(m (m - 1) / 2) of the stacked ones
    m = len(a)
    return 0 if abs(det) < 1e-8 else int(np.sign(det)) * (-1) ** (m * (m - 1) // 2)


# ── one block ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Answers = list[tuple[Complex, Array]]


def _solved(constant: Complex, a: Complex, d: Complex, along: Sequence[int], size: float) -> tuple[Answers, str]:
    """(solutions of one block as turns and travels, the reason where there is none).

    The equations are constant + a turns + sum over slides k of d_k travels_k (turns[along[k]], or 1 where along[k] is
    -1) = 0. `size` [m] is the size of the loops, which sets the scale of tolerances; also in the functions below.
    """
    turns, slides = a.shape[1], d.shape[1]
    if len(constant) == 2 and turns == 4:
        return [(np.exp(1j * angles), np.zeros(0)) for angles in _four_turns(constant, a, size)], ""
    if len(constant) != 1:
        raise Undecided
    c = complex(constant[0])
    if turns == 2:
        return _two_circles(c, complex(a[0, 0]), complex(a[0, 1]), size)
    if slides == 2:
        return _two_lines(c, d[0])
    if along[0] < 0:
        return _circle_and_line(c, complex(a[0, 0]), complex(d[0, 0]), size)
    return _turning_slide(c, complex(a[0, 0]), complex(d[0, 0]), size)


def _two_circles(c: complex, a: complex, b: complex, size: float) -> tuple[Answers, str]:
    """(solutions of c + a T1 + b T2 = 0, or the reason why there is none): two links between two points.

    The unknowns are the turns T1 and T2 of the links, |T1| = |T2| = 1.
    """
    distance, first, second = abs(c), abs(a), abs(b)
    if distance > first + second + DOUBLE * size or distance < abs(first - second) - DOUBLE * size:
        return [], (
            f"two links that reach from {round(abs(first - second), 12):.4g} m to {first + second:.4g} m have to span "
            f"{distance:.4g} m"
        )
    if not distance > RANK * size:
        return [], "two links of the same length end in the same point, so that they may have any direction"
    along = (distance**2 + first**2 - second**2) / (2.0 * distance)  # of -a T1, along the line from start to end
    high = np.sqrt(max(0.0, first**2 - along**2))
    answers = []
    for side in (1.0, -1.0) if high > 0.0 else (1.0,):
        one = -c / distance * complex(along, side * high) / a
        two = -(c + a * one) / b
        answers.append((np.array([one / abs(one), two / abs(two)]), np.zeros(0)))
    return answers, ""


def _circle_and_line(c: complex, a: complex, d: complex, size: float) -> tuple[Answers, str]:
    """(solutions of c + a T + s d = 0, or the reason why there is none): a link between a point and a line.

    The unknowns are the turn T of the link, |T| = 1, and the travel s of the slide along the line.
    """
    off = abs((c * d.conjugate()).imag) / abs(d)
    if off > abs(a) + DOUBLE * size:
        return [], f"a link of {abs(a):.4g} m has to reach a slide {off:.4g} m away"
    if abs(a) < RANK * size:
        return [], "a link of length zero may have any direction"
    middle = -(c * d.conjugate()).real / abs(d) ** 2
    half = np.sqrt(max(0.0, abs(a) ** 2 - off**2)) / abs(d)
    answers = []
    for s in (middle + half, middle - half) if half > 0.0 else (middle,):
        turn = -(c + s * d) / a
        answers.append((np.array([turn / abs(turn)]), np.array([s])))
    return answers, ""


def _turning_slide(c: complex, a: complex, d: complex, size: float) -> tuple[Answers, str]:
    """(solutions of c + (a + s d) T = 0, or the reason why there is none): a slide on a link that turns.

    The unknowns are the turn T of the link, |T| = 1, and the travel s of the slide.
    """
    off = abs((a * d.conjugate()).imag) / abs(d)
    if off > abs(c) + DOUBLE * size:
        return [], f"a slide that passes its hinge at a distance of {off:.4g} m has to end {abs(c):.4g} m from it"
    if abs(c) < RANK * size:
        return [], "a slide ends in its own hinge, so that it may have any direction"
    middle = -(a * d.conjugate()).real / abs(d) ** 2
    half = np.sqrt(max(0.0, abs(c) ** 2 - off**2)) / abs(d)
    answers = []
    for s in (middle + half, middle - half) if half > 0.0 else (middle,):
        turn = -c / (a + s * d)
        answers.append((np.array([turn / abs(turn)]), np.array([s])))
    return answers, ""


def _two_lines(c: complex, d: Complex) -> tuple[Answers, str]:
    """(the solution of c + s1 d1 + s2 d2 = 0, or the reason why there is none); s1, s2 are travels of two slides."""
    A = np.array([d.real, d.imag])
    if abs(np.linalg.det(A)) < RANK * abs(d[0]) * abs(d[1]):
        return [], "two slides are parallel"
    return [(np.zeros(0, dtype=complex), np.linalg.solve(A, [-c.real, -c.imag]))], ""


# ── two loops, four turns ─────────────────────────────────────────────────────────────────────────────────────────────


def _four_turns(constant: Complex, a: Complex, size: float) -> list[Array]:
    """All solutions, as arrays of four real angles, of the two equations constant (2,) + a (2, 4) exp(i angles) = 0."""
    pairs = sorted(combinations(range(4), 2), key=lambda pair: -abs(np.linalg.det(a[:, list(pair)])))
    c, d = pairs[0]
    x, y = (k for k in range(4) if k not in (c, d))
    affine = -np.linalg.solve(a[:, [c, d]], np.column_stack([constant, a[:, x], a[:, y]]))
    quadratics = [_quadratic(*row) for row in affine]
    found: list[Array] = []
    for root in _resultant_roots(*quadratics):
        if abs(abs(root) - 1.0) > NEAR_CIRCLE:
            continue
        for A, B, C in quadratics:
            for other in np.roots([_at(A, root), _at(B, root), _at(C, root)]):
                if abs(abs(other) - 1.0) > 2.0 * NEAR_CIRCLE:
                    continue
                guess = np.zeros(4)
                guess[[x, y]] = np.angle([root, other])
                guess[[c, d]] = np.angle(affine @ [1.0, root, other])
                angles = _polished(constant, a, guess, size)
                if angles is not None and not any(_same(angles, known) for known in found):
                    found.append(angles)
    return found


def _quadratic(k: complex, u: complex, w: complex) -> tuple[Complex, Complex, Complex]:
    """The coefficients of |k + u x + w y|^2 = 1 on |x| = |y| = 1, times y: (A, B, C) of A y^2 + B y + C = 0.

    A, B and C have the coefficients of the powers -1, 0 and 1 of x.
    """
    size = abs(k) ** 2 + abs(u) ** 2 + abs(w) ** 2 - 1.0
    A = w * np.array([u.conjugate(), k.conjugate(), 0.0])
    B = np.array([k * u.conjugate(), size, k.conjugate() * u])
    C = w.conjugate() * np.array([0.0, k, u])
    return A, B, C


def _at(powers: Complex, x: complex) -> complex:
    return complex(powers @ np.array([1.0 / x, 1.0, x]))


def _resultant_roots(one: tuple[Complex, ...], two: tuple[Complex, ...]) -> Complex:
    """The values of x for which two quadratics A y^2 + B y + C in y, whose coefficients depend on x, have a common
    root.
    """
    (A1, B1, C1), (A2, B2, C2) = one, two

    def minor(p: Complex, q: Complex, r: Complex, s: Complex) -> Complex:
        return np.asarray(np.convolve(p, s) - np.convolve(q, r))  # powers -2 .. 2

    ac = minor(A1, A2, C1, C2)
    powers = np.convolve(ac, ac) - np.convolve(minor(A1, A2, B1, B2), minor(B1, B2, C1, C2))  # powers -4 .. 4
    largest = float(np.abs(powers).max())
    if not largest > 0.0:
        return np.zeros(0, dtype=complex)
    powers = np.where(np.abs(powers) < 1e-13 * largest, 0.0, powers)
    return np.asarray(np.roots(powers[::-1]))


def _polished(constant: Complex, a: Complex, angles: Array, size: float) -> Array | None:
    """The angles (4,) after Newton's method; None where it does not converge near the given angles."""
    begun = angles.copy()
    for _ in range(30):
        turns = np.exp(1j * angles)
        e = constant + a @ turns
        error = np.concatenate([e.real, e.imag])
        if np.abs(error).max() < 1e-14 * size:
            break
        J = _derivative(a, a[:, :0], (), turns, np.zeros(0))
        step: Array = np.asarray(np.linalg.lstsq(J, error, rcond=1e-12)[0])
        angles = angles - np.clip(step, -0.3, 0.3)
    e = constant + a @ np.exp(1j * angles)
    near = np.abs(np.exp(1j * angles) - np.exp(1j * begun)).max() < 0.3
    return angles if near and np.abs(e).max() < 1e-10 * size else None


def _same(a: Array, b: Array) -> bool:
    return bool(np.abs(np.exp(1j * a) - np.exp(1j * b)).max() < SAME)
