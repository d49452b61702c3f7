"""How geoms touch, read from a compiled model: friction, groups, margins, and MuJoCo's soft contact as a normal force.

In MuJoCo the acceleration of a contact is the mean of what it would be without the contact and of a reference, weighted
by the impedance d. At rest, and for an outside force, this is a spring and a damper with the force

    F = s m d/(1 - d) (K d r + B r'),    r the depth, d = d(r) by solimp, K and B by solref

    m   inverse of the sum of `body_invweight0` of both bodies: the mass that the contact feels
    K = 1/(d_max tau zeta)^2,  B = 2/(d_max tau)      for solref = (tau, zeta)
    K = k/d_max^2,             B = b/d_max            for solref = (-k, -b)
    s   1; for a pyramidal cone (n - 1) impratio/(mu^2 (1 + mu^2)), with n = condim above 1: the sum of its edges

A contact pair of a geom with a ground has parameters of its own, and acts whatever the groups of its geoms are: both
then share a group that no other geom has, and the geom has a higher priority.

The inertia that the contact adds in MuJoCo, m d/(1 - d), is no force and is left out: impacts are shorter, rest is the
same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kinemorph.formats.mjcf.compiler import Compiled
from kinemorph.model.elements.contact.contact_laws import ImpedanceNormal
from kinemorph.model.parameter import evaluate
from kinemorph.model.shapes import Surface

PLANE, HFIELD = 0, 1  # mjtGeom
GROUNDS = (PLANE, HFIELD)
SLIDING = 3  # the condim of contacts with sliding friction only
LEAST, MOST = 1e-4, 0.9999  # impedances and midpoints are clipped to this range
THINNEST = 1e-5  # [m]: least width of an impedance
NO_WEIGHT = 1e-15
LAST_GROUP = 30  # the bit of the group that the geoms in pairs with the first ground share; the next has one bit less


class Contact(NamedTuple):
    """The parameters of the contact of two geoms, combined as MuJoCo does it."""

    condim: int
    friction: float
    solref: tuple[float, float]
    solimp: tuple[float, ...]


def solver_numbers(law: ImpedanceNormal, weight: float) -> tuple[tuple[float, float], tuple[float, ...]]:
    """solref = (-k, -b) and solimp, from which a geom gets this law with an elliptic cone.

    `weight` [1/kg] is the `body_invweight0` of its body.
    """
    k, b = (weight * float(evaluate(x)) for x in (law.stiffness, law.damping))
    return (-k * law.end**2, -b * law.end), (law.start, law.end, float(evaluate(law.width)), law.midpoint, law.power)


class Touching:
    """How all geoms of a model touch."""

    def __init__(self, model: Compiled) -> None:
        self.model = model
        self.fixed = model.body_weldid[model.geom_bodyid] == 0
        kinds = model.geom_type
        flat: list[int] = np.flatnonzero(np.isin(kinds, GROUNDS) & self.fixed).tolist()
        self.pairs = self._ground_pairs(flat)
        self.paired = {k for ends in self._listed_pairs() for k in ends}
        self.grounds = [k for k in flat if self.acts(k)]
        self.excluded = {(int(pair) >> 16, int(pair) & 0xFFFF) for pair in model.exclude_signature.tolist()}

    def _ground_pairs(self, flat: list[int]) -> dict[int, dict[int, int]]:
        """The contact pairs of geoms that move with grounds: numbers of pairs by ground and geom."""
        found: dict[int, dict[int, int]] = {}
        for number, (a, b) in enumerate(self._listed_pairs()):
            for ground, other in ((a, b), (b, a)):
                if ground in flat and not self.fixed[other]:
                    found.setdefault(ground, {})[other] = number
        return found

    def _listed_pairs(self) -> list[tuple[int, int]]:
        """The geoms of all contact pairs of the file; those of a file that disables contact are none."""
        model = self.model
        ends = zip(model.pair_geom1.tolist(), model.pair_geom2.tolist(), model.pair_dim.tolist(), strict=True)
        return [(a, b) for a, b, dim in ends if dim > 0]

    def acts(self, k: int) -> bool:
        """Whether geom number k can touch another one, or is in a contact pair."""
        return bool(self.model.geom_contype[k] or self.model.geom_conaffinity[k]) or k in self.paired

    def _shared(self, k: int) -> int:
        """The groups that geom number k has because of pairs, as bits."""
        bits = {ground: 1 << (LAST_GROUP - row) for row, ground in enumerate(self.pairs)}
        return sum(bit for ground, bit in bits.items() if k == ground or k in self.pairs[ground])

    def surface(self, k: int) -> Surface:
        """The surface of geom number k; its normal force is that on the first ground that it touches."""
        model = self.model
        groups, meets = int(model.geom_contype[k]), int(model.geom_conaffinity[k])
        if self._is_excluded(k):
            groups = meets = 0
        groups, meets = groups | self._shared(k), meets | self._shared(k)
        friction = float(model.geom_friction[k][0]) if int(model.geom_condim[k]) > 1 else 0.0
        margin, gap = float(model.geom_margin[k]), float(model.geom_gap[k])
        own = Surface(friction, None, groups, meets, int(model.geom_priority[k]), margin, gap, model.names["geom"][k])
        return own if self.fixed[k] else replace(self._on_ground(k, own), normal=self._normal(k))

    def _on_ground(self, k: int, own: Surface) -> Surface:
        """The surface of geom number k, such that its friction and its margin on the first ground that it touches are
        MuJoCo's. Where the rules of surfaces would give others, it gets a priority above all others.
        """
        model, met = self.model, self._met(k)
        if not met:
            return own
        ground = met[0]
        pair, floor = self.combined(k, ground), self.surface(ground)
        friction = pair.friction if pair.condim > 1 else 0.0
        number = self.pairs.get(ground, {}).get(k)
        if number is not None:
            margin, gap = (float(x[number]) for x in (model.pair_margin, model.pair_gap))
            own = replace(own, margin=margin - floor.margin, gap=gap - floor.gap)
        if friction == own.friction_on(floor):
            return own
        return replace(own, friction=friction, priority=int(model.geom_priority.max()) + 1)

    def _is_excluded(self, k: int) -> bool:
        """Whether the file excludes contacts of the geom's body with all bodies whose ground it would touch."""
        grounds = self._met(k)
        if not grounds:  # it may get a ground that is not in the file
            return not self.fixed[k] and self._excludes(int(self.model.geom_bodyid[k]), 0)
        return len(self._excluded_grounds(k)) == len(grounds)

    def _excluded_grounds(self, k: int) -> list[int]:
        """The grounds that geom number k would touch if the file did not exclude contacts of their bodies.

        Contact pairs act all the same.
        """
        bodies = self.model.geom_bodyid
        unpaired = [g for g in self._met(k) if k not in self.pairs.get(g, ())]
        return [g for g in unpaired if self._excludes(int(bodies[k]), int(bodies[g]))]

    def _excludes(self, a: int, b: int) -> bool:
        return bool({(a, b), (b, a)} & self.excluded)

    def _normal(self, k: int) -> ImpedanceNormal | None:
        """The normal force of geom number k on the first ground that it touches, if there is one."""
        met = self._met(k)
        return self._normal_on(k, met[0] if met else k)

    def _normal_on(self, k: int, ground: int) -> ImpedanceNormal | None:
        """The normal force of geom number k on this ground; None where the mass that it feels is not known."""
        model = self.model
        weight = float(model.body_invweight0[int(model.geom_bodyid[k])][0])
        if not weight > NO_WEIGHT:
            return None
        pair = self.combined(k, ground)
        start, end, width, midpoint, power = pair.solimp
        start, end = (min(max(x, LEAST), MOST) for x in (start, end))
        if pair.solref[0] > 0.0:
            tau, zeta = max(pair.solref[0], 2.0 * float(model.option[0])), pair.solref[1]
            K, B = 1.0 / (end * tau * max(zeta, 1e-6)) ** 2, 2.0 / (end * tau)
        else:
            K, B = -pair.solref[0] / end**2, -pair.solref[1] / end
        factor = self._edges(pair) / weight
        if not K > 0.0:
            return None
        return ImpedanceNormal(
            factor * K,
            factor * B,
            start,
            end,
            max(width, THINNEST),
            min(max(midpoint, LEAST), MOST),
            max(power, 1.0),
        )

    def _met(self, k: int) -> list[int]:
        """The grounds that geom number k touches, by their groups."""
        own = self._plain(k)
        paired = [g for g in self.grounds if k in self.pairs.get(g, ())]
        return paired + [g for g in self.grounds if g not in paired and own.touches(self._plain(g))]

    def _plain(self, k: int) -> Surface:
        """The groups of geom number k as a surface."""
        return Surface(None, None, int(self.model.geom_contype[k]), int(self.model.geom_conaffinity[k]))

    def _edges(self, pair: Contact) -> float:
        """The factor s of this file's docstring."""
        _, elliptic, impratio = self.model.option.tolist()
        if elliptic or pair.condim == 1:
            return 1.0
        mu = max(pair.friction, 1e-5)
        return float((pair.condim - 1) * impratio / (mu**2 * (1.0 + mu**2)))

    def combined(self, a: int, b: int) -> Contact:
        """The parameters of a contact of two geoms: of their pair, of the higher priority, or a mixture of both."""
        model = self.model
        number = self.pairs.get(b, {}).get(a)
        if number is not None:
            return Contact(
                int(model.pair_dim[number]),
                float(model.pair_friction[number][0]),
                (float(model.pair_solref[number][0]), float(model.pair_solref[number][1])),
                tuple(model.pair_solimp[number].tolist()),
            )
        if model.geom_priority[a] != model.geom_priority[b]:
            a = b = a if model.geom_priority[a] > model.geom_priority[b] else b
        weights = np.maximum([model.geom_solmix[a], model.geom_solmix[b]], 0.0)
        share = weights / weights.sum() if weights.sum() > NO_WEIGHT else np.array([0.5, 0.5])
        refs = np.array([model.geom_solref[a], model.geom_solref[b]], dtype=float)
        ref = share @ refs if (refs[:, 0] > 0.0).all() else refs.min(axis=0)
        imp = share @ np.array([model.geom_solimp[a], model.geom_solimp[b]], dtype=float)
        return Contact(
            int(max(model.geom_condim[a], model.geom_condim[b])),
            float(max(model.geom_friction[a][0], model.geom_friction[b][0])),
            (float(ref[0]), float(ref[1])),
            tuple(imp.tolist()),
        )

    # ── contacts that do not act ──────────────────────────────────────────────────────────────────────────────────

    def twisting(self) -> list[int]:
        """The geoms whose contacts with the ground have torsional or rolling friction in MuJoCo."""
        moving: list[int] = np.flatnonzero(~self.fixed).tolist()
        return [k for k in moving if any(self.combined(k, g).condim > SLIDING for g in self._met(k))]

    def half_excluded(self) -> list[int]:
        """The geoms that the file excludes from some, but not all of the grounds that they touch: they touch all."""
        moving: list[int] = np.flatnonzero(~self.fixed).tolist()
        return [k for k in moving if 0 < len(self._excluded_grounds(k)) < len(self._met(k))]

    def uneven(self) -> list[int]:
        """The geoms whose normal force or friction on a ground differs from that on the first one that they touch."""
        found = []
        for k in np.flatnonzero(~self.fixed).tolist():
            first, *others = self._met(k) or [k]
            own = self.surface(k) if others else None
            for ground in others:
                pair = self.combined(k, ground)
                friction = own.friction_on(self.surface(ground)) if own else None
                differs = friction != (pair.friction if pair.condim > 1 else 0.0)
                if differs or self._normal_on(k, ground) != self._normal_on(k, first):
                    found.append(k)
                    break
        return found

    def other_pairs(self) -> list[tuple[int, int]]:
        """The geoms of contact pairs that are not of a geom that moves with a ground."""
        taken = {number for geoms in self.pairs.values() for number in geoms.values()}
        return [ends for number, ends in enumerate(self._listed_pairs()) if number not in taken]

    def scenery(self) -> list[int]:
        """The geoms that do not move and are no ground, and that geoms of moving bodies would touch in MuJoCo."""
        still: list[int] = np.flatnonzero(self.fixed).tolist()
        moving: list[int] = np.flatnonzero(~self.fixed).tolist()
        kinds = {(one.groups, one.meets): one for one in map(self._plain, moving)}
        others = [k for k in still if k not in self.grounds and self.acts(k)]
        return [k for k in others if any(self._plain(k).touches(one) for one in kinds.values())]

    def body_pairs(self) -> list[tuple[int, int]]:
        """The pairs of moving bodies whose geoms would touch each other in MuJoCo."""
        model = self.model
        groups, meets = (np.zeros(len(model.body_weldid), dtype=np.int64) for _ in range(2))
        np.bitwise_or.at(groups, model.geom_bodyid, model.geom_contype)
        np.bitwise_or.at(meets, model.geom_bodyid, model.geom_conaffinity)
        weld, parent = model.body_weldid, model.body_parentid
        met = ((groups[:, None] & meets[None]) | (meets[:, None] & groups[None])) != 0
        found = []
        for a, b in np.argwhere(np.triu(met, 1)).tolist():
            wa, wb = int(weld[a]), int(weld[b])
            carried = int(weld[parent[wa]]) == wb or int(weld[parent[wb]]) == wa
            joined = wa == wb or (carried and not model.unfiltered)
            if wa and wb and not joined and (a, b) not in self.excluded and (b, a) not in self.excluded:
                found.append((a, b))
        return found
