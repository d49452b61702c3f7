"""Exact derivatives of motions by every number of every element, reference, gait and controller.

The references are central differences of runs at a tight tolerance. Kinks that derivatives leave out are listed below,
each with its reason, and warnings name them. Kinks of another kind only change the rate of a motion, as the touch of a
soft contact does. Derivatives hold across them: `crossings` has one motion for each. Where the slope of a force jumps
there, derivatives at 1e-9 and below may end with the sentence that steps became too short; then steps are fixed.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from fnmatch import fnmatch
from typing import Any

import numpy as np
import pytest

from kinemorph import Parameter, System
from kinemorph.analysis.orbits.flow_map import return_map
from kinemorph.analysis.orbits.periodic_orbit import periodic_orbit
from kinemorph.analysis.small_motions.sensitivities import sensitivities
from kinemorph.analysis.small_motions.start_slopes import start_of
from kinemorph.analysis.small_motions.variational_plant import SEVERAL_AXES, varied
from kinemorph.codegen.building.compile import build
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.elements import (
    PD,
    PID,
    Anchor,
    CController,
    ComputedTorque,
    Contact,
    ContactSwitch,
    Encoder,
    HuntCrossley,
    PantographGait,
    PythonController,
    Sampled,
    SplinePath,
    Tire,
    TorsionSpring,
)
from kinemorph.errors import ModelError, ModelWarning, UnsupportedError
from kinemorph.model import elements, library
from kinemorph.model.configuration import difference
from kinemorph.plants.robot_plant import plant
from kinemorph.simulation.simulate import simulate
from kinemorph.simulation.stepping.initial_state import closed_start
from support.specimens.crossings import CROSSINGS
from support.specimens.every_specimen import SPECIMENS
from support.specimens.specimen import JOINTS, Specimen, arm
from support.specimens.varied_numbers import numeric_fields

Array = np.ndarray
K = Parameter("k", 3.0)
EXACT = 1e-6  # relative
UNSEEN = 1e-8  # an error times the parameter [units of the state] that runs at 1e-11 cannot show
SMALL = (
    1e-5,
    1e-6,
    1e-7,
)  # steps of a fixed size have no tolerance, but a kink may pass from one of them into the next
BRIEF = (
    "setpoint",
    "pid, sampled",
    "torsion spring",
    "contact, impedance",
    "prescribed position",
    "backlash is crossed",
)
JUMPS = {
    "pantograph gait": ("the velocity of a foot jumps between sequences", ("g.starts.0", "g.sequences.?.0")),
    "pantograph gait, exact": ("the velocity of a foot jumps between sequences", ("g.starts.0", "g.sequences.?.0")),
    "pid, clamped": ("the rate of its integral jumps where it stops", ("c.*",)),
}
MOVES_JUMPS = ("PantographGait.starts",)  # only moves instants of jumps
STARTS = {  # initial values that runs take from nominal numbers: neither a run nor a derivative changes
    "phase oscillators": ("PhaseOscillators.frequency", "PhaseOscillators.start", "PhaseOscillators.initial"),
    "coupled maps": ("CoupledMaps.start",),
    "coupled maps, spline": ("CoupledMaps.start",),
}
IDLE = {  # numbers that do not act in a specimen, and do in another one
    "rhythmic, phases": ("Rhythmic.phase_step",),
    "phase oscillators, phases": ("PhaseOscillators.phase_step",),
    "pd at its limits": ("PD.kp", "PD.kd", "PD.reference"),
    "fuzzy rules at limits": tuple(f"FuzzyRules.{name}" for name in ("centers", "widths", "consequents", "reference")),
    "tire": ("Tire.slow",),
    "tire on hills": ("Tire.slow",),
    "contact": ("Regularized.speed",),
    "pair contact": ("Regularized.speed",),
    "shape, frustum": ("Frustum.top",),
    "shape, frustum, turned": ("Frustum.bottom",),
    "dc motor": ("DCMotor.slow",),
    "dc motor, driven": ("DCMotor.efficiency",),
    "dc motor, screw": ("DCMotor.slow",),
    "edge": ("Plane.point", "Plane.normal"),
}
REFUSED = {  # by a sentence, where derivatives by them are asked for
    "SplinePath.times": "a curve is not linear in its knots",
    "StateFeedback.times": "curves over time are made of plain numbers",
    "CController.lower": "C has no derivatives",
    "CController.upper": "C has no derivatives",
    "PythonController.lower": "a Python function that is called has no derivatives",
    "PythonController.upper": "a Python function that is called has no derivatives",
    **dict.fromkeys(
        (f"Anchor.{name}" for name in ("static", "kinetic", "stiffness", "damping", "speed")),
        "a contact that sticks changes memory at events",
    ),
}
THRESHOLDS = {"Rigid.shortest": "bounces are summed up below it: the motion does not change with it, but in steps"}
WITHOUT = {"CController", "PythonController", "ContactSwitch"}  # they are refused or told, see below


class Checked:
    """The derivatives of one specimen at its end, exact ones and differences, by every parameter."""

    def __init__(self, specimen: Specimen) -> None:
        system, self.fields = specimen.varied()
        self.names, self.until = [*self.fields], specimen.until
        self.plant = plant(system, parameters=self.names)
        self.p = np.array(self.plant.start["p"])
        self.given = dict(specimen.options)
        self.fixed = {key: self.given.pop(key) for key in ("method", "step") if key in self.given}
        self.begun = start_of(self.plant, **self.given)
        found, messages = None, []
        for tolerance in (1e-11, 1e-10, 1e-9):
            found = sensitivities(
                self.plant, self.until, self.names, **self.given, **self._accuracy(tolerance), output_step=self.until
            )
            messages.append(found.trajectory.outcome.message)
            if found.trajectory.outcome.ok:
                break
        assert found is not None and found.trajectory.outcome.ok and not found.note, messages
        self.middle = found.trajectory.segments[-1].q[-1]
        self.exact = np.concatenate([found.q[-1], found.v[-1], found.x[-1]])

    def _accuracy(self, tolerance: float) -> dict[str, Any]:
        return self.fixed or {"rtol": tolerance, "atol": 0.01 * tolerance}

    def end(self, k: int, h: float, tolerance: float) -> Array | None:
        """The state at the end where parameter k differs by h; None where the run fails at this tolerance."""
        p = self.p.copy()
        p[self.plant.index("p", self.names[k])] += h
        start = {"q": self.begun.point.q, "v": self.begun.point.v, "x": self.begun.point.x}
        if self.plant.laws.constraints is not None:  # the others follow the named values by the smallest change
            at = self.begun.point
            named = (self.given.get("q"), self.given.get("v"), None)
            closed = closed_start(self.plant, at.t, (at.q, at.v, at.x, at.m, at.u, p), named, enters=True)
            start |= {"q": closed.q, "v": closed.v}
        run = simulate(
            self.plant, self.until, **start, p=p, inputs=self.given.get("u"), **self._accuracy(tolerance),
            output_step=self.until,
        )  # fmt: skip
        if not run.outcome.ok:
            return None
        last = run.segments[-1]
        assert self.plant.dynamics is not None
        return np.concatenate([difference(self.plant.dynamics.robot, self.middle, last.q[-1]), last.v[-1], last.x[-1]])

    def errors(self, k: int) -> tuple[float, float]:
        """(relative error of the derivatives by parameter k, their size); 0 where runs cannot show the error."""
        size, best = abs(self.p[self.plant.index("p", self.names[k])]) or 0.1, (np.inf, 0.0)
        for tolerance in (1e-12, 1e-11, 1e-10):
            for share in SMALL if self.fixed else (1e-3, 1e-4):
                h = share * size
                ends = [self.end(k, one * h, tolerance) for one in (1.0, -1.0, 2.0, -2.0)]
                if any(one is None for one in ends):
                    continue
                a, b, c, d = ends
                slope = (8.0 * (a - b) - (c - d)) / (12.0 * h)  # type: ignore[operator]
                gap, whole = np.abs(slope - self.exact[:, k]).max(), np.abs(slope).max()
                error = 0.0 if gap * size < UNSEEN else gap / whole
                best = min(best, (error, whole))
                if error < EXACT:
                    return best
        return best


def moved(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatch(name, pattern) for pattern in patterns)


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize(
    "name", [pytest.param(k, marks=[pytest.mark.slow] * (k not in BRIEF)) for k in SPECIMENS | CROSSINGS]
)
def test_derivatives_by_every_number_are_those_of_runs(name: str, record_property: Any) -> None:
    checked = Checked((SPECIMENS | CROSSINGS)[name])
    wrong = {}
    acting: dict[str, float] = {}
    for k, parameter in enumerate(checked.names):
        if moved(JUMPS.get(name, ("", ()))[1], parameter):
            continue
        error, size = checked.errors(k)
        acting[checked.fields[parameter]] = max(acting.get(checked.fields[parameter], 0.0), size)
        record_property("figure", ("element slopes", "relative error", error))
        if not error < EXACT:
            wrong[parameter] = error
    assert not wrong
    if name in CROSSINGS:
        return
    idle = {field for field, size in acting.items() if size < 1e-9}
    assert idle <= {*STARTS.get(name, ()), *IDLE.get(name, ())}, "these numbers do not act"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize("name", [name for name in CROSSINGS if name != "a knot whose time varies"])
def test_slopes_of_the_equations_jump_in_a_crossing(name: str) -> None:
    """Between samples that are 8 times closer, smooth slopes differ 8 times less, those beside a jump as much."""
    specimen = CROSSINGS[name]
    system, fields = specimen.varied()
    made = plant(system, parameters=[*fields])
    given = {key: value for key, value in specimen.options.items() if key in ("q", "v", "u", "x")}
    slopes, at = build(jacobian(made.rate, "out", ("s", "p"))), start_of(made, **given).point
    start = {"q": at.q, "v": at.v, "x": at.x, "m": at.m, "inputs": at.u}
    jumps = []
    for samples in (150, 1200):
        run = simulate(made, specimen.until, **start, rtol=1e-9, atol=1e-11, output_step=specimen.until / samples)
        states = np.hstack([run.v * 0.0, run.v, run.segments[-1].x])
        found = [np.hstack(slopes(*now, at.m, at.u, at.p)) for now in zip(run.t, run.q, states, strict=True)]
        jumps.append(np.abs(np.diff(found, axis=0)).max())
    assert jumps[0] < 4.0 * jumps[1]


def test_every_field_that_takes_parameters_is_varied() -> None:
    kinds = [getattr(elements, name) for names in elements.FILES.values() for name in names]
    shown = set()
    for name, specimen in SPECIMENS.items():
        fields = {f for p, f in specimen.varied()[1].items() if not moved(JUMPS.get(name, ("", ()))[1], p)}
        shown |= fields - {*IDLE.get(name, ()), *STARTS.get(name, ())}
    told = {*MOVES_JUMPS, *REFUSED, *THRESHOLDS, *(field for fields in STARTS.values() for field in fields)}
    assert numeric_fields([*kinds, elements.Automaton]) - shown <= told
    made = {type(one) for specimen in SPECIMENS.values() for one in specimen.make().elements}
    assert {kind.__name__ for kind in kinds} - {kind.__name__ for kind in made} == WITHOUT


def test_a_reference_that_differentiates_its_path_shows_derivatives_by_its_numbers() -> None:
    """A gait takes derivatives of its path by time inside those of the motion by the stride."""
    robot = library.chain(3)
    gait = PantographGait("g", robot.v_names, strides=((0.0, Parameter("stride", 0.1, "m")),))
    system = System(robot, (gait, PD("c", robot.v_names, 50.0, 5.0, "g")))
    found = sensitivities(system, 0.5, "stride", output_step=0.5).q[-1, :, 0]
    ends = [
        simulate(system, 0.5, p={"stride": 0.1 + h}, rtol=1e-10, atol=1e-12, output_step=0.5) for h in (1e-4, -1e-4)
    ]
    slope = (ends[0].q[-1] - ends[1].q[-1]) / 2e-4
    assert abs(found[0]) > 1.0
    np.testing.assert_allclose(found, slope, atol=1e-6)


# ── what has no exact derivative is told ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", JUMPS)
def test_jumps_that_move_are_told(name: str) -> None:
    what, patterns = JUMPS[name]
    system, fields = SPECIMENS[name].varied()
    names = [one for one in fields if moved(patterns, one)]
    with pytest.warns(
        ModelWarning, match=rf"element '.': {what}, at instants that move with .*; expected no such jumps"
    ):
        varied(plant(system, parameters=names), names[:1], 0)


def jump_warnings(*elements: Any, names: tuple[str, ...]) -> list[str]:
    """The warnings of derivatives of the arm with these elements by parameters."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        varied(plant(System(arm(), elements), parameters=names), names, 0)
    return [str(one.message) for one in found]


def test_accelerations_that_jump_are_told_where_they_are_followed() -> None:
    curve = ((0.1, 0.2, 0.3), (0.4, 0.1, -0.2), (0.1, 0.2, 0.3))
    path = SplinePath(
        "g", (0.0, 0.3, 0.6), curve, JOINTS, "monotone", Parameter("T", 0.6), shift=Parameter("s", 0.1)
    )  # fmt: skip
    assert jump_warnings(path, PD("c", JOINTS, 20.0, 2.0, "g"), names=("T",)) == []
    (said,) = jump_warnings(path, ComputedTorque("c", JOINTS, 20.0, 2.0, "g"), names=("T", "s"))
    assert said == (
        "sensitivities: element 'g': the acceleration of its path jumps, at instants that move with 'T', 's'; expected "
        "no such jumps, which derivatives by 'T', 's' leave out, so that they are not exact. Use method='cubic' and "
        "leave out `duty`."
    )
    linear = replace(path, method="linear")
    (said,) = jump_warnings(linear, PD("c", JOINTS, 20.0, 2.0, "g"), names=("s",))
    assert "the velocity of its path jumps, at instants that move with 's'" in said
    assert jump_warnings(replace(path, method="cubic"), ComputedTorque("c", JOINTS, 1.0, 1.0, "g"), names=("T",)) == []


@pytest.mark.parametrize(
    ("rounding", "says"),
    [
        (
            (Encoder("e", joint="q1", counts=500.0), PID("c", reads="e.position", drives="q1", kp=K)),
            "its readings are rounded",
        ),
        (
            (Tire("e", "c", 0.3, 2e4, 300.0, K, 3e3, 500.0),),
            "its aligning moment jumps where the lateral slip is 0 or ",
        ),
        ((ContactSwitch("e", "q.q1"), PID("c", reads="e", drives="q1", kp=K)), "its signal jumps"),
        ((PID("e", "q1", kp=K, every=0.01, quantum=0.1),), "its outputs are rounded"),
        ((Sampled("e", lambda t, x: -x, "q.q1", "q1", quantum=0.1), PD("c", "q2", kp=K)), "its outputs are rounded"),
    ],
)
def test_rounding_and_switching_are_told(rounding: tuple[Any, ...], says: str) -> None:
    (said,) = jump_warnings(*rounding, names=("k",))
    assert (
        said.startswith(f"sensitivities: element 'e': {says}") and ", at instants that move with the motion; " in said
    )
    assert "which derivatives leave out, so that they are not exact. " in said


@pytest.mark.parametrize("name", STARTS)
def test_starts_at_nominal_values_are_told(name: str) -> None:
    system, fields = SPECIMENS[name].varied()
    wanted = next(one for one, field in fields.items() if field in STARTS[name])
    with pytest.warns(ModelWarning, match=rf"element 'g': its initial values follow from '{wanted}' at the nominal v"):
        plant(system, parameters=[wanted])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plant(system)


@pytest.mark.parametrize(("method", "field"), [("cubic", "times"), ("monotone", "points")])
def test_a_curve_refuses_parameters_that_it_cannot_follow(method: Any, field: str) -> None:
    k = Parameter("k", 0.5)
    given: dict[str, Any] = {"times": (0.0, 1.0), "points": (0.1, 0.2)} | {field: (0.0, k)}
    says = f"element 'g': {field} contain the parameter 'k'; expected plain numbers, since the curve is fixed"
    with pytest.raises(ModelError, match=says):
        plant(System(arm(), (SplinePath("g", **given, method=method), PD("c", "q1", 1.0, reference="g"))))


@pytest.mark.parametrize(
    ("element", "says"),
    [
        (PythonController("c", lambda t, x: -x, "q.q1", "q1", upper=K), "controller 'c' is a Python function"),
        (CController("c", "void f(double t, const double *r, double *d, double *m) { d[0] = 0; }", "f", "q.q1", "q1"),
         "controller 'c' is a C function"),
        (Contact("c", "c", HuntCrossley(1e3), Anchor(0.5, 0.4, K)), "elements whose memory changes at events or after"),
    ],
)  # fmt: skip
def test_memory_that_has_no_derivatives_is_refused(element: Any, says: str) -> None:
    system = System(arm(), (element, TorsionSpring("s", "q2", K)))
    with pytest.raises(UnsupportedError, match=says):
        sensitivities(system, 0.1, "k")


# ── linearizations and orbits ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize("name", [name for name in SPECIMENS if not name.startswith(("rigid", "impact"))])
def test_slopes_of_the_equations_are_those_of_dual_numbers(name: str) -> None:
    """The derivatives that `linearize` uses come from the graph; those of `sensitivities` from dual numbers."""
    system, fields = SPECIMENS[name].varied()
    made = plant(system, parameters=[*fields])
    given = {key: value for key, value in SPECIMENS[name].options.items() if key in ("q", "v", "u", "x")}
    at = start_of(made, **given).point.inputs
    by_s, by_p = build(jacobian(made.rate, "out", ("s", "p")))(*at)
    by_p = by_p[:, [made.index("p", name) for name in fields]]
    whole = varied(made, [*fields], made.ns)
    slopes = np.vstack([np.zeros((len(fields), made.ns)), np.eye(made.ns)])
    if any(place.kind in SEVERAL_AXES for place in made.manifold):
        slopes[len(fields) :] = 0.0  # local coordinates turn with the motion
    t, base, s, m, u, p = at
    memory = np.concatenate([np.zeros(len(whole.m) - len(m)), m])
    found = build(whole.rate)(t, base, np.concatenate([s, slopes.ravel()]), memory, u, p)
    exact = found[made.ns :].reshape(-1, made.ns)
    scale = np.maximum(1.0, np.abs(by_p).max(axis=0))[:, None]
    np.testing.assert_allclose(exact[: len(fields)] / scale, by_p.T / scale, atol=1e-11)
    if slopes[len(fields) :].any():
        scale = np.maximum(1.0, np.abs(by_s).max(axis=0))[:, None]
        np.testing.assert_allclose(exact[len(fields) :] / scale, by_s.T / scale, atol=1e-11)


@pytest.mark.slow
def test_slopes_of_orbits_by_a_gait() -> None:
    """The fixed point of a robot that follows a gait, by the gait's own numbers."""
    pendulum = library.chain(3)
    gait = PantographGait("g", pendulum.v_names, settle=0.0, sequences=((0.5, -0.5, 1.0), (0.5, 0.5, 0.0)),
                          strides=((0.02, Parameter("stride", 0.1)),), lift=Parameter("lift", 0.05))  # fmt: skip
    dampers = (TorsionSpring(f"d{k}", name, 1.0, damping=9.0) for k, name in enumerate(pendulum.v_names))
    system = System(pendulum, (gait, PD("c", pendulum.v_names, 20.0, reference="g"), *dampers))

    def orbit(stride: float = 0.1, lift: float = 0.05) -> Any:
        made = return_map(
            system, period=1.0, parameters=["stride", "lift"], p={"stride": stride, "lift": lift}, q=[-1.4, 0.0, 0.0]
        )
        return periodic_orbit(made.varying(["stride", "lift"]))

    here = orbit()
    assert here
    back = here.map(here.z, here.p)
    slopes = np.linalg.solve(np.eye(len(here.z)) - back.by_z, back.by_p)
    for k, name in enumerate(("stride", "lift")):
        h, value = 2e-3, (0.1, 0.05)[k]
        one, two = (orbit(**{name: value + m * h}).z - orbit(**{name: value - m * h}).z for m in (1.0, 2.0))
        wanted = (8.0 * one - two) / (12.0 * h)  # of order 4, so that h is large beside the errors of orbits
        np.testing.assert_allclose(slopes[:, k], wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max())
