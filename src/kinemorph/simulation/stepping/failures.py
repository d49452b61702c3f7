"""Messages about steps that fail: when, which coordinate, the likely cause, what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.codegen.building.compile import build
from kinemorph.mechanics.elements.contact.rigid_contacts import GUARDS
from kinemorph.mechanics.elements.law import ONCE
from kinemorph.model.parameter import evaluate
from kinemorph.plants.initial_values import ACCOUNT
from kinemorph.plants.loop_methods import SingularPerturbation, leaves_errors, names_independent
from kinemorph.plants.programs import Plant
from kinemorph.simulation.integrators.methods import NOTES
from kinemorph.simulation.march.jumps import BREACH
from kinemorph.simulation.march.layout import Status
from kinemorph.simulation.stepping.domains import NEAR, DomainWatch
from kinemorph.simulation.stepping.gimbal_lock import GimbalWatch
from kinemorph.simulation.stepping.initial_state import undecided
from kinemorph.simulation.stepping.violations import row_gaps
from kinemorph.words import quoted

if TYPE_CHECKING:
    from kinemorph.simulation.stepping.plant_stepper import PlantStepper


RUN_AWAY = 1e30  # the rate of a larger state has no meaning
FAR = 1e6  # a state variable that is larger when steps become too short grows without bound
JAMMED = 1e-3  # the share of its effect without friction that the normal force of a rigid contact has left
HARDLY_DETERMINED = "the joints named as independent hardly determine the others. Name other joints, or none."
SHORTER = 10.0  # times shorter than the step of a run that fails is the one that is advised
SENSELESS = 1e6  # [m/s or rad/s] the motion of a faster robot diverges


def runs_away(plant: Plant, state: tuple[float, Array, Array, Array], step: float | None) -> str | None:
    """The reason to end a run if a velocity of the robot exceeds SENSELESS; None if none does.

    The state is the time t [s], q (nq,), v (nv,) and the values p (np,) of parameters. `step` [s] is the size of all
    steps, None where the method chooses it.
    """
    t, q, v, p = state
    if plant.robot is None or not np.any(np.abs(v) > SENSELESS):
        return None
    if (locked := GimbalWatch(plant).near(t, q, p)) is not None:
        return locked
    if step is not None and (too_long := too_long_for_loops(plant, t, step)) is not None:
        return too_long
    worst = int(np.argmax(np.abs(v)))
    return diverges(plant, t, f"v '{plant.v[worst].name}'", float(v[worst]), plant.v[worst].unit, step)


# ── the sentences, which `programs` writes into programs that run without Python ──────────────────────────────────────


def diverges(plant: Plant, t: float, name: str, value: float, unit: str, step: float | None) -> str:
    """The message of a run that ends at t [s] because a velocity, with this name, value and unit, is too large.

    `step` [s] is the size of all steps, None where the method chooses it.
    """
    steps = "C" if step is None else f"{_shorter(plant, step)}. Or c"
    return (
        f"At t = {t:.9g} s {name} is {value:.3g} {unit}: the motion diverges. "
        f"{steps}heck the gains, forces and sample times that act there."
    )


def rate_not_finite(t: float, where: str) -> str:
    """The message of a run that ends at t [s] because the rate of the variable `where` is not finite."""
    return (
        f"At t = {t:.9g} s the rate of {where} is not finite: the mass matrix may be singular there, or a law "
        "divides by zero. Give every moving body inertia, or choose another initial state."
    )


def breaks_constraints(t: float) -> str:
    """The message of a run that ends at an event at t [s] after which constraints are broken."""
    return f"At t = {t:.9g} s an event led to a state that breaks constraints."


def has_impulses(plant: Plant) -> bool:
    """Whether impacts of the plant have impulses to be found, which may fail."""
    edges = plant.automaton.edges if plant.automaton else ()
    return bool(plant.contact_guards) or any(edge.law is not None for edge in edges)


def impulses_not_found(plant: Plant, t: float) -> str:
    """The message of a run that ends at an impact at t [s] whose impulses were not found."""
    law = "Rigid(..., in_sequence=True)" if plant.contact_guards else "a law with in_sequence=True"
    return (
        f"At t = {t:.9g} s the impulses of the contacts that touch at once were not found; for some laws there may "
        f"be none. Use {law}, and they act one by one, or a plastic law."
    )


def not_finite(plant: Plant, t: float, worst: str, step: float | None) -> str:
    """The message of a run that ends at t [s] since the next state is not finite; the variable `worst` changes fastest.

    `step` [s] is the size of all steps, None where the method chooses it.
    """
    remedy = "Check the forces there." if step is None else f"{_shorter(plant, step)}, or method='dop853' without step."
    return f"At t = {t:.9g} s the next state is not finite; {worst} changes fastest. {remedy}"


def unsolved(plant: Plant, t: float, worst: str, method: str) -> str:
    """The message of a run that ends at t [s] because the equations of a step were not solved."""
    if plant.holding is not None and not is_stiff(method):
        return (
            f"At t = {t:.9g} s a step could not be brought back onto the constraints; {worst} changes fastest. The "
            "mechanism may be at a singular configuration, or at the end of its reach. Try tighter tolerances, or "
            "another initial state; kinemorph.loops.mobility shows how singular a configuration is."
        )
    return (
        f"At t = {t:.9g} s the equations of a step of method '{method}' could not be solved; {worst} "
        "changes fastest. Try a smaller step, or another method."
    )


def undecided_direction(plant: Plant, t: float) -> str:
    """The message of a run that ends at t [s] since a fast motion cannot decide in which direction to close loops."""
    return (
        f"At t = {t:.9g} s '{plant.name}' has reached a singular configuration, where the fast motion of "
        "loops='perturbation' cannot decide in which direction to close its loops. Use loops='projection', which "
        "passes such configurations; kinemorph.loops.mobility shows how singular a configuration is."
    )


def grows(t: float, worst: str, value: float) -> str:
    """The message of a run that ends at t [s] because a variable grows without bound."""
    return (
        f"At t = {t:.9g} s {worst} has grown to {value:.3g} and grows ever faster: the motion becomes "
        "infinite in finite time. Check the forces that drive it, or end the run earlier."
    )


def too_short(t: float, worst: str, method: str, min_step: float) -> str:
    """The message of a run that ends at t [s] because steps became shorter than `min_step` [s]."""
    return (
        f"At t = {t:.9g} s steps became shorter than {min_step:g} s; {worst} changes fastest. The "
        f"motion is too stiff for this method, or not smooth. {for_stiff(method)} If a force or a velocity "
        "jumps, describe the jump by a Guard (events=)."
    )


def _shorter(plant: Plant, step: float) -> str:
    """What to try where steps of the size `step` [s] diverge, without a full stop: shorter ones, or to sample faster.

    Steps end at the instants at which controllers sample. Where steps are not longer than the time between them, the
    gains may be too large for that time, and no shorter step would help.
    """
    periods = [tick.period for tick in plant.ticks if step <= tick.period < ONCE]
    if periods:
        return (
            f"Gains may be too large for the sample time of {min(periods):g} s: sample more often (every=) or lower "
            f"them. If they are not, try step={step / SHORTER:g}"
        )
    return f"The step of {step:g} s is too large: try step={step / SHORTER:g}"


def is_stiff(method: str) -> bool:
    """Whether a method, by its name, is one for stiff systems."""
    note = NOTES.get(method)
    return note is not None and note.stiff


def for_stiff(method: str) -> str:
    """A sentence on what to try if a motion is too stiff for a method; it never recommends the method itself."""
    if is_stiff(method):
        return "Take looser tolerances (rtol=, atol=), or make stiff springs, gains and contacts softer."
    return "Try method='radau', which is for stiff systems, or looser tolerances."


def explained(stepper: PlantStepper, status: Status) -> str:
    """A message that explains why a march failed: `status` is what it returned, `stepper` stands at its last state."""
    plant, method = stepper.plant, stepper.method
    t, q, v, x = stepper.state
    outside = _outside_domain(stepper) or GimbalWatch(plant).near(t, q, stepper.p)
    if outside is not None:
        return outside
    s = np.concatenate([np.zeros(plant.nv), v, x])
    rate = np.zeros(plant.ns)
    build(plant.rate).raw(rate, np.array(t), q, s, stepper.m, stepper.u, stepper.p)
    names = [f"q '{c.name}'" for c in plant.v] + [f"v '{c.name}'" for c in plant.v] + [f"x '{c.name}'" for c in plant.x]
    bad = np.flatnonzero(~np.isfinite(rate))
    if len(bad) and np.isfinite(s).all() and np.abs(s).max(initial=0.0) < RUN_AWAY:
        where = names[int(bad[0])]
        return rate_not_finite(t, where)
    if status is Status.LOST:
        return _lost(stepper)
    if status is Status.BREACH:
        return breach(stepper) or breaks_constraints(t)
    broken = _broken_by_reset(plant, t, {"q": q, "v": v, "x": x})
    if broken is not None:
        return broken
    if has_impulses(plant) and not np.isfinite(v).all():
        return impulses_not_found(plant, t)
    jammed = _jammed(stepper)
    if jammed is not None:
        return jammed
    growth = np.abs(rate) / (1.0 + np.abs(s))
    growth[[2 * plant.nv + k for k, c in enumerate(plant.x) if c.name in ACCOUNT]] = -1.0  # only follows the motion
    first = int(np.argmax(growth))
    worst = names[first]
    if stepper.fixed and (too_long := too_long_for_loops(plant, t, stepper.h)) is not None:
        return too_long
    if status is Status.INFINITE:
        return not_finite(plant, t, worst, stepper.h if stepper.fixed else None)
    if status is Status.STUCK and method.name == "sundials:ida" and plant.constraint_names:
        return (
            f"At t = {t:.9g} s steps became too short to advance time; {worst} changes fastest. The mechanism may "
            "be at a singular configuration, where its constraint forces are not determined. Use method='dop853', "
            "which passes such configurations, or another initial state."
        )
    if status is Status.UNSOLVED:
        return unsolved(plant, t, worst, method.name)
    if abs(s[first]) > FAR:
        return grows(t, worst, float(s[first]))
    return too_short(t, worst, method.name, stepper.options.min_step)


def _broken_by_reset(plant: Plant, t: float, state: dict[str, Array]) -> str | None:
    """A message if a reset of an edge gave a value that is not finite, so that the state at t [s] has it; else None."""
    edges = [edge for edge in (plant.automaton.edges if plant.automaton else ()) if edge.reset]
    for group, values in state.items():
        for k in np.flatnonzero(~np.isfinite(values)):
            name = getattr(plant, group)[k].name
            word = name if group == "x" else f"{group}.{name}"
            named = [edge for edge in edges if callable(edge.reset) or word in dict(edge.reset)]
            if named:
                told = "Check its division, root or logarithm, or keep it from such a state by when=."
                whose = f"edge {quoted(edge.name for edge in named)}"
                return f"At t = {t:.9g} s the reset of {whose} makes {group} '{name}' {values[k]:g}. {told}"
    return None


def _outside_domain(stepper: PlantStepper) -> str | None:
    """A message if a dependent quantity of the robot is at the end of its domain, now or after the next step; else
    None.
    """
    plant, (t, q, v, _) = stepper.plant, stepper.state
    watch, p = DomainWatch(plant), stepper.p
    if not watch.domains:
        return None
    after = q + stepper.h * v if len(q) == len(v) else q
    found = watch.left(np.array([t]), q[None], p, NEAR) or watch.left(np.array([t + stepper.h]), after[None], p, 0.0)
    return None if found is None else found[1]


def too_long_for_loops(plant: Plant, t: float, step: float) -> str | None:
    """A message for a fixed step size [s] that is too long for the fast motion that closes loops; else None."""
    if not isinstance(plant.loops, SingularPerturbation) or step <= 2.8 * plant.loops.epsilon:
        return None
    return (
        f"At t = {t:.9g} s the next state is not finite: steps of {step:g} s are too long for the fast motion that "
        f"closes loops within epsilon = {plant.loops.epsilon:g} s. Take steps below "
        f"{2.8 * plant.loops.epsilon:g} s, or leave step= out."
    )


def _jammed(stepper: PlantStepper) -> str | None:
    """A message if a rigid contact slides and its normal force hardly pushes it out any more; None if none does."""
    plant = stepper.plant
    if not plant.contact_guards:
        return None
    values = np.zeros(len(plant.contact_guards))
    program = plant.observed({}, "contacts", switches=plant.contact_guards)
    build(program).raw(values, *(np.array(x, dtype=float) for x in stepper.inputs))
    grips = values[GUARDS.index("jams") :: len(GUARDS)]
    worst = int(np.argmin(grips))
    if not grips[worst] < JAMMED:
        return None
    name = plant.guards[plant.contact_guards[worst * len(GUARDS)]].rpartition(".")[0]
    element = next(one for one in plant.elements if name == one.name or name.startswith(f"{one.name}."))
    mu = float(evaluate(element.friction.coefficient))  # type: ignore[attr-defined]
    angles = ", ".join(f"{column.name} = {x:.4g}" for column, x in zip(plant.q, stepper.state.q, strict=True))
    return (
        f"At t = {stepper.t:.9g} s contact '{name}' jams (Painleve): with friction mu = {mu:g} at {angles} its "
        f"normal force pushes it out with only {grips[worst]:.2g} of its effect without friction, and no impact "
        "resolves this. Take a smaller mu, or a soft contact (HuntCrossley)."
    )


def constraint_errors(stepper: PlantStepper) -> tuple[Array, Array, Array]:
    """(errors (nh,), rates (nc,), sizes (nc,)) of the constraints now; errors and rates are relative to the sizes."""
    plant = stepper.plant
    if plant.constraints is None:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    t, q, v, x = stepper.state
    s = np.concatenate([np.zeros(plant.nv), v, x])
    phi, rate, _, sizes = plant.compiled("constraints")(t, q, s, stepper.m, stepper.u, stepper.p)
    return phi / sizes[: len(phi)], rate / sizes, sizes


def allowed_errors(stepper: PlantStepper) -> tuple[float, float]:
    """The largest error and the largest rate of constraints that the state after an event now may have.

    They are relative to the sizes of rows.
    """
    off, moving, _ = constraint_errors(stepper) if leaves_errors(stepper.plant.loops) else (np.zeros(0),) * 3
    return BREACH + float(np.abs(off).max(initial=0.0)), BREACH + float(np.abs(moving).max(initial=0.0))


def breach(stepper: PlantStepper, allowed: tuple[float, float] = (BREACH, BREACH)) -> str | None:
    """A message if the state after an event breaks constraints, with the sizes of the errors; None if it does not.

    Errors are relative to the sizes of rows, as in `march.jumps`; those up to `allowed` are accepted.
    """
    plant, t = stepper.plant, stepper.t
    off, moving, sizes = constraint_errors(stepper)
    if np.abs(off).max(initial=0.0) > allowed[0]:
        return (
            f"At t = {t:.9g} s an event led to coordinates that break constraints, {row_gaps(plant, off, sizes)}; "
            "expected coordinates that satisfy them. Correct the reset."
        )
    if np.abs(moving).max(initial=0.0) > allowed[1]:
        return (
            f"At t = {t:.9g} s an event led to velocities that break constraints, "
            f"{row_gaps(plant, moving, sizes, '/s')}; "
            "expected velocities that satisfy them. Correct the reset, or describe the event by an Edge with "
            "impact='plastic', which finds such velocities; points that bounce or slide after an impact with a law are "
            "held in the phase `during` of the edge only, and not in its target."
        )
    return None


def _lost(stepper: PlantStepper) -> str:
    """A message for a run in which the velocities named as independent no longer determine the others."""
    plant = stepper.plant
    assert plant.constraints is not None
    t, q, v, x = stepper.state
    if isinstance(plant.loops, SingularPerturbation) and not names_independent(plant.loops):
        return undecided_direction(plant, t)
    s = np.concatenate([np.zeros(plant.nv), v, x])
    J = build(plant.constraints)(t, q, s, stepper.m, stepper.u, stepper.p)[2]
    return f"At t = {t:.9g} s {undecided(plant, J) or HARDLY_DETERMINED}"
