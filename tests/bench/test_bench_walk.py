"""`kinemorph bench walk`: AMRU5 in MuJoCo and its leg in SymPy are the same machines. No time is judged."""

from __future__ import annotations

import numpy as np
import pytest

from kinemorph.bench import report
from kinemorph.bench.walking import equal_error
from kinemorph.deriving.dynamics import derive
from kinemorph.model.library import amru, amru_walk


def test_mujoco_has_the_same_machine() -> None:
    """The same mass, 12 loops that are closed at the start, and feet at the same places."""
    mujoco = pytest.importorskip("mujoco")
    from kinemorph.bench.walking.mujoco_amru5 import RADIUS, MujocoWalk

    peer = MujocoWalk(np.zeros((1, 18)))
    assert peer.model.body_mass.sum() == pytest.approx(34.0)
    assert (peer.model.neq, peer.model.nv, peer.model.nu) == (12, 48, 18)
    peer.place()
    mujoco.mj_forward(peer.model, peer.data)
    assert peer.gap() < 1e-12
    ours = derive(amru.amru5(), backend="interpreter")
    q = np.array(amru_walk.initial_configuration())
    for leg in amru.LEGS:
        place = peer.data.geom(f"foot{leg}").xpos - [0.0, 0.0, RADIUS]
        assert place == pytest.approx(ours.pose(q, f"foot{leg}")[:3, 3], abs=1e-12)


def test_the_leg_in_sympy_has_the_same_bodies() -> None:
    pytest.importorskip("sympy")
    from kinemorph.bench.walking.sympy_leg import bodies

    leg = equal_error.leg()
    ours = derive(leg, backend="interpreter")
    q = (0.2, 0.07, 0.11)
    names = ("support", "shank", "thigh", "short", "long", "rotor1", "rotor2", "rotor3")
    for name, (mass, _, T) in zip(names, bodies(*q), strict=True):
        assert np.array(T, dtype=float) == pytest.approx(ours.pose(np.array(q), f"leg1_{name}"), abs=1e-12)
        assert float(leg.body(f"leg1_{name}").mass) == mass  # type: ignore[arg-type]


def test_rows_become_tables() -> None:
    walk = {
        **{"kind": "walk", "peer_step": 1e-3, "peer_gap": 5e-4, "error": 3e-3, "peer_ms": 400.0, "reached": False},
        **{"method": None, "step": None, "our_error": None, "ms": None, "ratio": None, "target": "10x"},
        "verdict": "missed",
    }
    first = {"kind": "first", "problem": "AMRU5", "cold_s": 3.5, "warm_s": 0.7, "target": "3 s", "verdict": "missed"}
    made = report.Report("walk", [walk, first], {"peak_gflops": 1.0})
    assert "not reached" in made.as_page() and "3.50" in made.as_page() and not made.agreed
