"""FMUs beside references that share no integrator with them, and masters that try states without finite rates.

SEEDS 001-02, 001-03: the model leaves as running code. All of this is in the slow part of the tests.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kinemorph
from kinemorph import Guard
from kinemorph.algebra.scalar import sqrt
from kinemorph.programs import make_job, write_program
from support.cases import program_cases
from support.cases.c_programs import needs_cc
from support.tools.program_languages import job_of

fmpy = pytest.importorskip("fmpy", reason="FMPy is not installed on this computer")

from support.tools.fmu_instances import Instance  # noqa: E402

pytestmark = [pytest.mark.slow, needs_cc]


def columns(found: np.ndarray) -> np.ndarray:
    """(times, [t, q, v]) of a run by FMPy."""
    names = [name for name in found.dtype.names or () if name.startswith(("q.", "v."))]
    return np.column_stack([found["time"], *(found[name] for name in names)])


# ── trials of an integrator ───────────────────────────────────────────────────────────────────────────────────────────


def runge_kutta(made: Instance, t: float, y: np.ndarray, h: float) -> np.ndarray:
    """A step of the classical method."""
    k1 = made.rates(t, y)
    k2 = made.rates(t + h / 2, y + h / 2 * k1)
    k3 = made.rates(t + h / 2, y + h / 2 * k2)
    k4 = made.rates(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@pytest.mark.parametrize("version", ["fmu2", "fmu3"])
def test_a_master_takes_smaller_steps_where_rates_are_not_finite(version: str, tmp_path: Path) -> None:
    """A tank runs dry, y' = -sqrt(y), so y = (1 - t / 2)^2; steps that are too long try a level below the floor."""
    tank = kinemorph.plants.first_order(lambda x: [-sqrt(x[0])], {"level": "m"}, start=[1.0], name="tank")
    low = Guard("low", lambda x: sqrt(x[0]) - 0.01, "falling")
    job = make_job(tank, 2.0, events=[low], rtol=1e-10)
    (file,) = write_program(job, version, tmp_path / "x.fmu", systems="this")
    made = Instance(file, tmp_path / "x", exchange=True).begin()
    made.settle()
    t, y, h, refused = 0.0, made.states(1), 1.9, 0
    while t < 1.9:
        h = min(h, 1.9 - t)
        try:
            new = runge_kutta(made, t, y, h)
        except Exception as error:
            assert "failed with status 2 (discard)" in str(error)
            h, refused = h / 2, refused + 1
            continue
        t, y, h = t + h, new, min(h, 0.02)
    assert refused > 0 and abs(y[0] - (1.0 - t / 2) ** 2) < 1e-3
    if version == "fmu3":
        assert "the rate of 'x.level' is not finite at t = " in made.said[-1]
        assert made.said[-1].endswith("Take a smaller step.")
    made.fmu.setContinuousStates((ctypes.c_double * 1)(-0.1), 1)
    with pytest.raises(Exception, match=r"EventIndicators failed with status 2 \(discard\)"):
        made.fmu.getEventIndicators((ctypes.c_double * 1)(), 1)
    made.fmu.setContinuousStates((ctypes.c_double * 1)(0.25), 1)
    indicator = (ctypes.c_double * 1)()
    made.fmu.getEventIndicators(indicator, 1)
    assert indicator[0] == 0.49
    made.fmu.setContinuousStates((ctypes.c_double * 1)(-0.1), 1)
    made.fmu.enterEventMode()
    with pytest.raises(Exception, match=r"EventIndicators failed with status 3 \(error\)"):
        made.fmu.getEventIndicators(indicator, 1)


# ── co-simulation of equations in residual form ───────────────────────────────────────────────────────────────────────


def cylinder(t: float, y: np.ndarray) -> list[float]:
    """The cylinder of `program_cases.hydraulics`, solved for its rates: y is [x, x', p1, p2]."""
    x, speed, p1, p2 = y
    valve = min(10.0 * t, 1.0)
    into, out = (4e-5 * valve * drop / (drop * drop + 0.01) ** 0.25 for drop in (120.0 - p1, p2 - 2.0))
    return [
        speed,
        (1e5 * (2e-3 * p1 - 1.2e-3 * p2) - 4000.0 - 800.0 * speed) / 120.0,
        (into - 2e-3 * speed) * 1.4e4 / (1e-4 + 2e-3 * x),
        (1.2e-3 * speed - out) * 1.4e4 / (1e-4 + 1.2e-3 * (0.5 - x)),
    ]


def test_co_simulation_of_hydraulics_converges_to_scipy(tmp_path: Path) -> None:
    """Where a communication point ends a step, an FMU takes other steps than `simulate`, and is as exact as that.

    At a tolerance of 1e-6 they differ by 0.9 bar/s in the rate of a pressure, which grows to 507 bar/s, where
    both differ from SciPy by 3 to 4 bar/s. Smaller tolerances reduce all these differences.
    """
    case = program_cases.hydraulics()
    times = np.linspace(0.0, case.until, 26)
    y = solve_ivp(
        cylinder, (0.0, case.until), [0.05, 0.0, 32.0, 20.0], method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times
    ).y
    rates = np.array([cylinder(t, row) for t, row in zip(times, y.T, strict=True)]).T
    reference = np.column_stack([times, y[0], y[2], y[3], y[1], rates[2], rates[3]])
    size = np.abs(reference).max(axis=0)[1:]
    worst = {}
    for tolerance in (1e-6, 1e-8, 1e-10):
        options = {**case.options, "rtol": tolerance, "atol": tolerance}
        job = make_job(case.model, case.until, **options)
        (file,) = write_program(job, "fmu3", tmp_path / f"{tolerance}.fmu", systems="this")
        found = columns(
            fmpy.simulate_fmu(str(file), fmi_type="CoSimulation", output_interval=0.002, stop_time=case.until)
        )
        run = kinemorph.simulate(case.model, case.until, **options)
        own = np.column_stack([run.t, run.q, run.v])
        worst[tolerance] = [
            (np.abs(one - other).max(axis=0)[1:] / size).max()
            for one, other in ((found, reference), (own, reference), (found, own))
        ]
    assert all(fmu < 1.2 * own for fmu, own, _ in worst.values())
    assert all(worst[1e-8][k] < worst[1e-6][k] / 10 and worst[1e-10][k] < worst[1e-8][k] / 10 for k in range(3))
    assert worst[1e-10][0] < 1e-4


# ── contacts ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_model_exchange_of_a_hexapod_is_the_limit_of_small_steps(tmp_path: Path) -> None:
    """The run of its job, by steps of 1 ms of a method of first order, is the less exact one of the two."""
    case = program_cases.hexapod24()
    start = {"q": case.options["q"], "output_step": 0.002}

    def run(**options: object) -> np.ndarray:
        found = kinemorph.simulate(case.model, case.until, **start, **options)
        return np.column_stack([found.t, found.q, found.v])

    reference = run(method="dop853", rtol=1e-9, atol=1e-11)
    assert np.abs(run(method="radau", rtol=1e-8, atol=1e-10) - reference).max() < 1e-8
    coarse, fine = (np.abs(run(method="implicit_contact", step=step) - reference).max() for step in (1e-4, 1e-5))
    assert 8.0 < coarse / fine < 12.0
    (file,) = write_program(job_of(case), "fmu3", tmp_path / "x.fmu", systems="this")
    worst = []
    for tolerance in (1e-8, 1e-10, 1e-12):
        found = columns(
            fmpy.simulate_fmu(
                str(file), fmi_type="ModelExchange", output_interval=0.002, stop_time=case.until,
                relative_tolerance=tolerance,
            )
        )  # fmt: skip
        pairs = [(row, found[np.abs(found[:, 0] - row[0]) < 1e-9]) for row in reference]
        worst.append(max(np.abs(near[:, 1:] - row[1:]).max(axis=1).min() for row, near in pairs))
    assert worst[1] < worst[0] / 10 and worst[2] < worst[1] / 10 and worst[2] < 1e-5
