"""`scaled`: the same robot or system in another size, such as an animal 15 times larger.

Every number is multiplied by the factor of its unit (`model.scales`). A motion of the scaled system is then the scaled
motion of the original: it passes through the same angles, `time` times as slowly, and all columns of a run differ by
the factors of their units. Run plans and starts have times, tolerances, states and inputs in the new size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from kinemorph.algebra.notation import Factor
from kinemorph.errors import ModelError
from kinemorph.mechanics.elements.ensemble import ensemble
from kinemorph.mechanics.scaling.elements import ScaledElements
from kinemorph.mechanics.scaling.parts import scaled_numbers, scaled_part, scaled_pose
from kinemorph.mechanics.scaling.values import Names, has_unit, unit_factor
from kinemorph.model.joint import Joint
from kinemorph.model.parameter import TIME, coordinates_of, parameters_of
from kinemorph.model.robot import Coupling, Robot
from kinemorph.model.run_plans import RunPlan, RunPlans
from kinemorph.model.scales import Scales
from kinemorph.model.starts import Numbers, Start, Starts
from kinemorph.model.system import System, as_robot

M = TypeVar("M", Robot, System)
_SPEEDS = ("velocity", "effort", "damping", "friction", "armature")  # one number for each velocity of a joint
EFFORTS = {"rad/s": "N m", "m/s": "N"}  # unit of the effort along a velocity
_Units = Mapping[str, Mapping[str, str]]  # group -> name -> unit


def scaled(
    model: M,
    *,
    length: float | None = None,
    mass: float | None = None,
    time: float | None = None,
    voltage: float = 1.0,
) -> M:
    """The robot or system with lengths `length` times, masses `mass` times and times `time` times as large.

    Without `mass` it is length^3, without `time` sqrt(length): Froude similarity, with the same density and the same
    gravity. `voltage` is the factor of voltages; that of currents follows from that of powers. `Scales` gives the
    factor of any unit, with which columns of runs can be compared.

    Scaled are masses, inertias, placements, shapes, limits, gravity, the numbers of all elements, references, phases,
    the initial state and the duration of runs, starts and planned runs. Parameters are scaled by their units; one
    without a unit by the fields that hold it, and it stays the same number if they differ. User functions and
    expressions with numbers of unstated dimension are evaluated in the original units. Raises ModelError, with the name
    of the part, for a number whose dimension is not known.
    """
    if length is None and mass is None and time is None and voltage == 1.0:
        raise ModelError(
            "scaled: no factor is given; expected at least one of length, mass, time and voltage. Write "
            "scaled(system, length=4), for example."
        )
    by = Scales(1.0 if length is None else length, mass, time, voltage)
    robot = as_robot(model)
    system = model if isinstance(model, System) else System(robot)
    coordinates = {
        **dict(zip(robot.all_q_names, _coordinate_units(robot), strict=True)),
        TIME.name: "s",
    }
    used = {leaf.name for leaf in coordinates_of((robot.joints, robot.loops, robot.dependents, robot.positions))}
    known = {name: unit_factor(by, unit) for name, unit in coordinates.items() if name in used}
    first = Names(by, known)
    _scaled_system(system, first)  # to see which fields hold parameters without a unit
    every = parameters_of((robot, system.elements, system.automaton))
    found = first.found()
    lonely = {one.name: found.get(one.name, 1.0) for one in every if not has_unit(one.unit)}
    new = _scaled_system(system, Names(by, {**known, **lonely}))
    return new if isinstance(model, System) else new.robot  # type: ignore[return-value]


def _coordinate_units(robot: Robot) -> list[str]:
    return [*robot.q_units, *(unit for joint in robot.driven for unit in joint.motion.q_units)]


def _scaled_system(system: System, names: Names) -> System:
    """The system in the new size, with the factors of `names` for parameters."""
    robot = system.robot
    new: dict[str, Any] = {"robot": _scaled_robot(robot, names), "elements": system.elements}
    if system.elements or system.automaton is not None:
        by = ScaledElements(ensemble(robot, system.members), names)
        new["elements"] = tuple(by.scaled(element) for element in system.elements)
        if system.automaton is not None:
            new["automaton"] = by.scaled(system.automaton)
    settings = scaled_part(system.settings, {"coordinates": robot.q_units}, names, skip=("v",))
    speeds = scaled_part(system.settings, {"coordinates": robot.v_units}, names, skip=("q",)).v
    new["settings"] = replace(settings, v=speeds)
    new["runs"], new["starts"] = _scaled_plans(system, names.scales), _scaled_starts(system, names.scales)
    if system.assembly is not None:
        new["assembly"] = _scaled_assembly(system.assembly, names)
    return replace(system, **new)


def _scaled_robot(robot: Robot, names: Names) -> Robot:
    units = {joint.name: joint.motion.q_units for joint in robot.joints}
    return replace(
        robot,
        bodies=tuple(scaled_part(body, {}, names) for body in robot.bodies),
        joints=tuple(_scaled_joint(joint, names) for joint in robot.joints),
        loops=tuple(_scaled_joint(joint, names) for joint in robot.loops),
        frames=tuple(scaled_part(frame, {}, names) for frame in robot.frames),
        couplings=tuple(_scaled_coupling(coupling, units, names) for coupling in robot.couplings),
        gravity=scaled_numbers(robot.gravity, [names.scales.factor("m/s^2")], names),
        parameters=tuple(names.new(parameter) for parameter in robot.parameters),
        dependents=tuple(scaled_part(one, {"own": (one.unit,)}, names) for one in robot.dependents),
        positions=tuple(
            replace(one, factors=tuple(_scaled_factor(factor, names) for factor in one.factors))
            for one in robot.positions
        ),
    )


def _scaled_joint(joint: Joint, names: Names) -> Joint:
    """A joint: limits of positions have the units of its coordinates, all others those of its velocities."""
    on_q = ("lower", "upper", "driven", "stop")
    row = joint.motion
    at_rest = scaled_part(joint, {"coordinates": row.q_units, "joint": row.q_units[:1]}, names, skip=_SPEEDS)
    moving = scaled_part(joint, {"coordinates": row.v_units}, names, skip=on_q)
    new: Joint = replace(at_rest, **{name: getattr(moving, name) for name in _SPEEDS})
    return new


def _scaled_coupling(coupling: Coupling, units: dict[str, tuple[str, ...]], names: Names) -> Coupling:
    words = {"in": units[coupling.joint], "leader": units[coupling.leader]}
    return scaled_part(coupling, words, names)  # type: ignore[no-any-return]


def _scaled_factor(factor: Factor, names: Names) -> Factor:
    """A factor of a position matrix: displacements are lengths, all other numbers angles or numbers."""
    lengths = {"disp": 3, "matrix": 3}.get(factor.kind, 0)
    turned, moved = factor.values[: len(factor.values) - lengths], factor.values[len(factor.values) - lengths :]
    one = scaled_numbers(tuple(turned), [1.0], names)
    return factor._replace(values=(*one, *scaled_numbers(tuple(moved), [names.scales.length], names)))


def _scaled_assembly(assembly: Any, names: Names) -> Any:
    """An assembly: its modules with their bodies, joints and ports, and its dockings."""
    modules = []
    for module in assembly.modules:
        kind = module.type
        type_ = replace(
            kind,
            bodies=tuple(scaled_part(body, {}, names) for body in kind.bodies),
            joints=tuple(_scaled_joint(joint, names) for joint in kind.joints),
            ports=tuple(replace(port, pose=scaled_pose(port.pose, names)) for port in kind.ports),
            pitch=kind.pitch * names.scales.length,
        )
        modules.append(replace(module, type=type_, at=module.at and scaled_pose(module.at, names)))
    dockings = []
    for docking in assembly.dockings:
        joint = docking.joint
        if joint is not None:
            unit = ("rad",) if joint.kind == "revolute" else ("m",)
            joint = scaled_part(joint, {"coordinates": unit}, names)
        dockings.append(replace(docking, joint=joint, offset=scaled_pose(docking.offset, names)))
    return replace(assembly, modules=tuple(modules), dockings=tuple(dockings))


# ── run plans and starts ──────────────────────────────────────────────────────────────────────────────────────────────


def _scaled_plans(system: System, scales: Scales) -> RunPlans:
    """All run plans in the new size. Raises ModelError for numbers of a plan whose units are not known."""
    units = _units(system) if system.runs else {}
    return RunPlans({name: _scaled(name, plan, units, scales) for name, plan in system.runs.items()})


def _scaled_starts(system: System, scales: Scales) -> Starts:
    """All starts in the new size. Raises ModelError for numbers of a start whose units are not known."""
    units = _units(system) if system.starts else {}
    found = {}
    for name, start in system.starts.items():
        new = {group: _numbers("start", name, group, getattr(start, group), units[group], scales) for group in units}
        found[name] = Start(**new, t=scales.factor("s") * start.t)
    return Starts(found)


def _units(system: System) -> _Units:
    """The units of all states and inputs by name, in order; "" where they have none."""
    robot, cast = system.robot, ensemble(system.robot, system.members)
    efforts = dict(zip(robot.v_names, (EFFORTS.get(unit, "") for unit in robot.v_units), strict=True))
    return {
        "q": dict(zip(robot.q_names, robot.q_units, strict=True)),
        "v": dict(zip(robot.v_names, robot.v_units, strict=True)),
        "x": {slot.name: slot.unit for slot in cast.states},
        "m": {slot.name: slot.unit for slot in cast.memory},
        "u": {slot.name: slot.unit for slot in cast.inputs} or efforts,
    }


def _scaled(name: str, plan: RunPlan, units: _Units, scales: Scales) -> RunPlan:
    second, meter = scales.factor("s"), scales.factor("m")
    new: dict[str, Any] = {
        group: _numbers("run", name, group, getattr(plan, group), units["u" if group == "inputs" else group], scales)
        for group in ("q", "v", "x", "inputs")
    }
    for key in ("step", "max_step", "time", "output_step"):
        value = getattr(plan, key)
        new[key] = None if value is None else second * value
    new["dock"] = tuple(
        replace(
            row,
            at=None if row.at is None else second * row.at,
            distance=None if row.distance is None else meter * row.distance,
        )
        for row in plan.dock
    )
    new["undock"] = tuple(replace(row, at=second * row.at) for row in plan.undock)
    return replace(plan, **new)


def _numbers(kind: str, name: str, group: str, given: Numbers, units: Mapping[str, str], scales: Scales) -> Numbers:
    """Numbers in order or by name, each times the factor of its unit; they belong to a run or start of this name."""
    named: Any = given and isinstance(given[0], tuple)
    pairs: Any = given if named else tuple(zip(units, given, strict=False))
    unknown = [one for one, _ in pairs if one not in units]
    if unknown or len(pairs) < len(given):
        raise ModelError(
            f"{kind} '{name}': the unit of {group} '{unknown[0] if unknown else len(pairs)}' is not known, so it "
            f"cannot be scaled. Leave the {kind} out: replace(system, {kind}s={{}})."
        )
    found = tuple((one, scales.factor(units[one]) * value if units[one] else value) for one, value in pairs)
    return found if named else tuple(value for _, value in found)
