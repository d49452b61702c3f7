"""The plant of a robot with its elements, forces and states that the user adds, locked joints, and energy accounting.

Its laws are in `robot_laws`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import groupby
from types import MappingProxyType
from typing import Any
from weakref import WeakValueDictionary

from kinemorph.codegen.storing.recipes import written
from kinemorph.deriving.dynamics import Dynamics, derive
from kinemorph.errors import ModelError, ModelWarning, UnsupportedError, users_level
from kinemorph.frozen import Fixed, dataclass, kept_with
from kinemorph.mechanics.constraints.closures import constraint_names
from kinemorph.mechanics.elements.contact.rigid_contacts import RigidContactLaw, with_numbers_as_data
from kinemorph.mechanics.elements.drives.rotors import robot_with_rotors
from kinemorph.mechanics.elements.ensemble import FORCE_UNITS, Ensemble, Member, ensemble
from kinemorph.mechanics.elements.ensemble import Tick as Clocked
from kinemorph.mechanics.elements.law import ElementLaw, Runs, law_of
from kinemorph.model.configuration import initial_configuration
from kinemorph.model.driven import coordinate_places
from kinemorph.model.parameter import TIME, Parameter, evaluate, parameters_of
from kinemorph.model.robot import Dependent, Robot
from kinemorph.model.system import FileData, System, as_robot
from kinemorph.plants.constrained_motion import response, seen
from kinemorph.plants.initial_values import ACCOUNT, SUPPLIED
from kinemorph.plants.instant import Instant
from kinemorph.plants.laws import Asked
from kinemorph.plants.loaded_robot import Additions, LoadedRobot
from kinemorph.plants.loop_methods import Baumgarte, LoopMethod, Projection, loop_method, names_independent
from kinemorph.plants.programs import Place, Plant
from kinemorph.plants.recipe import recipe_of
from kinemorph.plants.robot_laws import robot_laws
from kinemorph.plants.sample_instants import Stage, Tick
from kinemorph.plants.user_laws import Column, Law, columns
from kinemorph.words import did_you_mean, quoted

Model = Plant | Dynamics | System | Robot  # what has a plant
KINDS = "a Robot, a System, a Dynamics or a Plant"  # what a plant is made of


def summed_states(plant: Plant) -> tuple[str, ...]:
    """The names of states x that the motion does not depend on: accounts of energy, integrals that no element reads."""
    read = {name for element in plant.elements for text in law_of(element).reads(element) for name in text.split("|")}
    sums = {element.name for element in plant.elements if law_of(element).sums} - read
    return tuple(column.name for column in plant.x if column.name in {*ACCOUNT, *sums})


@kept_with
def counts_work_of_inputs(plant: Plant) -> bool:
    """Whether a plant records supplied energy, and has elements that store energy which depends on inputs: pulls."""
    laws = [law_of(element) for element in plant.elements]
    storing = any(law.set_by_hand and type(law).effort is not ElementLaw.effort for law in laws)
    return storing and any(column.name == SUPPLIED for column in plant.x)


def plant(
    model: Model,
    *,
    forces: Law | None = None,
    states: Mapping[str, str] | None = None,
    state_rates: Law | None = None,
    inputs: Mapping[str, str] | None = None,
    outputs: Mapping[str, Law] | None = None,
    output_units: Mapping[str, str] | None = None,
    parameters: str | Sequence[str] | None = None,
    locked: str | Sequence[str] = (),
    loops: str | LoopMethod | None = None,
    account: bool = False,
) -> Plant:
    """The plant of a robot: its equations of motion, with forces and further states of your own.

    `forces`        a user law (see `user_laws`) that gives generalized forces, shape (nv,), [N m] or [N]
    `states`        names and units of further continuous states x; `state_rates` is the law of their rates
    `inputs`        names and units of the inputs u. Where none are named, u is one generalized force per velocity
    `outputs`       laws of one number each, by name: further columns of a run, the y of a linearization
    `parameters`    as for `derive`: names kept as the input p; those of elements come after those of the robot. Last
                    come NAME.mu and NAME.restitution of rigid contacts, where these are plain numbers above 0;
                    values of p that are given in order may leave them out
    `locked`        joints, or single velocities by name, that do not move
    `loops`         how constraints are kept, see `loop_methods`; by default as a system's settings say
    `account`       adds two states: the energy that inputs and forces supply, and that damping dissipates [J]

    The elements of a system act, and so does viscous damping of joints. Limits and Coulomb friction of joints act by
    the elements JointLimits and JointFriction. Inputs of elements that no signal drives are inputs of the plant, after
    those that are named. Where no inputs are named and elements have some, u consists of these. Inputs that are set
    during a run, those of pulls and of set points, do not count as such: they come after the forces of joints.
    """
    if isinstance(model, Plant):
        given = {"forces": forces, "states": states, "state_rates": state_rates, "inputs": inputs, "outputs": outputs}
        _refuse(
            model, {**given, "output_units": output_units, "parameters": parameters, "locked": locked, "loops": loops}
        )
        return model
    source, robot = model, model.robot if isinstance(model, Dynamics) else as_robot(model, KINDS)
    members = model.members if isinstance(model, System) else ()
    if isinstance(model, Dynamics) and model.constraints:
        members, model = model.constraints, replace(model, constraints=(), _made={})
    cast = ensemble(robot, members)
    if isinstance(model, System):
        robot = robot_with_rotors(model)
        cast = replace(cast, robot=robot)
    robot.check_masses("a run")
    inner, outer = _shared_out(robot, cast, parameters)
    if isinstance(model, Dynamics):
        dynamics = derive(robot, model.formulation, parameters=inner) if inner else model  # type: ignore[arg-type]
    else:
        dynamics = derive(robot, parameters=inner)
    extra = columns(states)
    if extra and state_rates is None:
        raise ModelError(f"states {', '.join(c.name for c in extra)} are given without their rates. Give state_rates=.")
    if inputs is not None and forces is None:
        raise ModelError(f"inputs {', '.join(inputs)} act through a law of forces, which is missing. Give forces=.")
    velocities = _columns(robot, "v")
    asked = _asked(cast)
    replacing = [index for index, _ in cast.open_inputs if not cast.members[index].law.set_by_hand]
    pushed = inputs is None and len(replacing) == sum(one.size for one in asked)
    named = tuple(Column(column.name, FORCE_UNITS[column.unit]) for column in velocities) if pushed else columns(inputs)
    still = _velocities(robot, (locked,) if isinstance(locked, str) else locked, "locked")
    cast, of_contacts = _with_contact_parameters(cast)
    kept = (*dynamics.parameters, *outer, *of_contacts)
    _tell_fixed_starts(cast, kept)
    kept_by = loop_method(model.settings.loops if loops is None and isinstance(model, System) else loops)
    added = Additions(forces, state_rates, len(extra), len(named), pushed)
    loaded = LoadedRobot(
        *(dynamics, cast, kept, added, still, account, kept_by, _dependent(robot, kept_by)),
        response=response,
        data=tuple(parameter.name for parameter in of_contacts),
    )
    if loaded.rigid and not isinstance(kept_by, Projection | Baumgarte):
        raise UnsupportedError(
            f"loops: {type(kept_by).__name__} is given, and '{robot.name}' has rigid contacts, whose constraints come "
            "and go. Use loops='projection', the default, or 'baumgarte'."
        )
    chosen = tuple(Column(f"dependent.{column.name}") for column in velocities) if loaded.chooses else ()
    x = (*extra, *(Column(*slot[:2]) for slot in cast.states))
    x += tuple(Column(name, "J") for name in ACCOUNT) if account else ()
    u = (*named, *(Column(*slot[:2]) for slot in cast.inputs))
    settings = model.settings if isinstance(model, System) else None
    begun = [slot.start for slot in cast.states]
    made = Plant(
        name=robot.name,
        q=_columns(robot, "q"),
        v=velocities,
        x=x,
        m=(*(Column(*slot[:2]) for slot in cast.memory), *chosen),
        u=u,
        p=tuple(Column(parameter.name, parameter.unit) for parameter in kept),
        laws=robot_laws(loaded),
        start=MappingProxyType(
            {
                "q": tuple(map(float, settings.q if settings and settings.q else initial_configuration(robot))),
                "v": tuple(map(float, settings.v if settings and settings.v else (0.0,) * robot.nv)),
                "x": (*(0.0,) * len(extra), *begun, *(0.0,) * (len(x) - len(extra) - len(begun))),
                "m": (*(slot.start for slot in cast.memory), *(0.0 for _ in chosen)),
                "u": (*(0.0,) * len(named), *(slot.start for slot in cast.inputs)),
                "p": tuple(parameter.value for parameter in kept),
            }
        ),
        stated=MappingProxyType({group: model.stated(group) if isinstance(model, System) else () for group in "qv"}),
        settles=isinstance(model, System) and model.file_data.soft,
        dynamics=dynamics,
        locked=still,
        asked=tuple(one._replace(first=len(named) + one.first) for one in asked),
        outputs=MappingProxyType({**_signals(loaded), **_driven_columns(loaded), **(outputs or {})}),
        output_units=MappingProxyType(
            {
                **{name: slot.unit for name, (_, slot) in cast.signals.items()},
                **_driven_units(robot),
                **(output_units or {}),
            }
        ),
        manifold=tuple(Place(link.kind, link.q, link.v) for link in loaded.bare.links),
        ticks=_ticks(cast),
        guards=tuple(name for *_, name in cast.guards),
        contact_guards=tuple(
            k for k, (index, *_) in enumerate(cast.guards) if isinstance(cast.members[index].law, RigidContactLaw)
        ),
        contact_modes=tuple(place.memory for place in loaded.rigid),
        automaton=model.automaton if isinstance(model, System) else None,
        optional=len(of_contacts),
        touches=any(member.law.contact for member in cast.members),
        stiff=any(member.law.is_stiff(member.element, robot) for member in cast.members),
        steady=all(member.law.is_steady(member.element) for member in cast.members) and not robot.is_timed,
        settlers=(cast.settlers(located=False), cast.settlers(located=True)),
        elements=model.elements if isinstance(model, System) else members,
        assembly=model.assembly if isinstance(model, System) else None,
        constraint_names=loaded.constraint_names,
        position_rows=len(constraint_names(robot)) + len(cast.position_rows),
        loops=kept_by,
        system=None if forces or state_rates or outputs else _as_system(source, robot, members),
    )
    object.__setattr__(made, "recipe", recipe_of(loaded))
    return made


def _as_system(model: Robot | System | Dynamics, robot: Robot, members: Sequence[Any]) -> System:
    """The system that a plant is made from, without what its file states for another simulator."""
    if isinstance(model, System):
        return replace(model, source="", file_data=FileData())
    return System(robot, tuple(members))


def _tell_fixed_starts(cast: Ensemble, kept: Sequence[Parameter]) -> None:
    """Warns of kept parameters from which elements compute initial values, which take nominal values only."""
    names = {parameter.name for parameter in kept}
    for element, law, *_ in cast.members:
        found = [one.name for one in parameters_of(law.begins_with(element)) if one.name in names]
        if found:
            warnings.warn(
                f"element '{element.name}': its initial values follow from {quoted(found)} at the "
                "nominal values; expected plain numbers there, since other values of these parameters, and derivatives "
                "by them, leave the start as it is. Give the start of the run, or change the nominal values.",
                ModelWarning,
                stacklevel=users_level(),
            )


def named_parameters(model: Model, p: Any) -> tuple[str, ...] | None:
    """The names in `p`, values of parameters by name, that are Parameters of the model's robot or of its elements.

    A plant keeps its parameters already, and rigid contacts have theirs in every plant: None where nothing is to keep.
    """
    if isinstance(model, Plant) or not isinstance(p, Mapping) or (isinstance(model, Dynamics) and model.parameters):
        return None
    own = model.robot.parameters if isinstance(model, Dynamics) else as_robot(model, KINDS).parameters
    known = {one.name for one in (*own, *parameters_of(model.elements if isinstance(model, System) else ()))}
    return tuple(name for name in p if name in known) or None


_MADE: WeakValueDictionary[Any, Plant] = WeakValueDictionary()  # plants with a recipe that are still in use
KEPT = "plants of runs"  # where a model keeps its plants; a model is frozen, and pickles leave this out


def shared_plant(model: Model, **options: Any) -> Plant:
    """The plant of a robot, as `plant` makes it; the one of an earlier call with this model and these options, or an
    equal one that is in use, with its compiled programs.

    Use it for runs that add nothing to the plant. User guards, for example, have to be traced for every run, because
    the variables that they read from their scope may have changed.
    """
    if isinstance(model, Plant | Dynamics):
        return plant(model, **options)
    as_robot(model, KINDS)
    asked = written(tuple(options.items()))
    kept: dict[str, Plant] = vars(model).setdefault(KEPT, {})
    if asked in kept:
        return kept[asked]
    made = plant(model, **options)
    if made.recipe is None:
        return made
    key = written((made.recipe, made.settles, tuple(made.start.items()), tuple(made.stated.items())))
    found = made if key is None else _MADE.setdefault((key, id(made.assembly)), made)
    if asked is not None:
        kept[asked] = found
    return found


def forget_plants() -> None:
    """Lets `shared_plant` make plants anew for models that have none, as in a process that has just started."""
    _MADE.clear()


def _dependent(robot: Robot, method: LoopMethod) -> tuple[float, ...] | None:
    """A mask (nv,) of the dependent velocities: 1 for velocities of joints that are not named, else 0.

    None if no joints are named.
    """
    names = names_independent(method)
    if names is None:
        return None
    free = set(_velocities(robot, names, "independent"))
    return tuple(float(k not in free) for k in range(robot.nv))


def _shared_out(
    robot: Robot, cast: Ensemble, wanted: str | Sequence[str] | None
) -> tuple[str | Sequence[str] | None, tuple[Parameter, ...]]:
    """The `wanted` parameters, split: names of the robot's own for `derive`, and parameters that only elements have."""
    of_robot = [parameter.name for parameter in robot.parameters]
    own = {parameter.name: parameter for parameter in cast.parameters if parameter.name not in of_robot}
    if wanted is None or not own:
        return wanted, ()
    if wanted == "all":
        return wanted, tuple(own.values())
    names = (wanted,) if isinstance(wanted, str) else wanted
    missing = [name for name in names if name not in own and name not in of_robot]
    if missing:
        known = ", ".join(f"'{name}'" for name in (*of_robot, *own))
        raise ModelError(
            [
                f"parameter '{name}': neither robot '{robot.name}' nor its elements have a parameter of that name; "
                f"expected one of: {known}."
                for name in missing
            ]
        )
    return [name for name in names if name not in own], tuple(own[name] for name in names if name in own)


def _with_contact_parameters(cast: Ensemble) -> tuple[Ensemble, tuple[Parameter, ...]]:
    """Elements whose rigid contacts have parameters in place of their numbers, and these parameters."""
    members: list[Member] = []
    made: list[Parameter] = []
    for member in cast.members:
        if isinstance(member.law, RigidContactLaw):
            element, own = with_numbers_as_data(member.element)
            member, made = member._replace(element=element), [*made, *own]
        members.append(member)
    return (replace(cast, members=tuple(members)) if made else cast), tuple(made)


@dataclass(frozen=True, eq=False)
class _Signals(Fixed):
    """The signals of elements. All of them are read from one view of the system, which is made once for each trace."""

    loaded: LoadedRobot

    @cached_property
    def _last(self) -> list[Any]:
        """The configuration of the view that was made last, and that view."""
        return [(None, None)]

    def read(self, name: str, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any) -> Any:
        """The value of the signal `name` of an element, at this time and state."""
        known, view = self._last[0]
        if known is not q:
            view = seen(self.loaded, self.loaded.tree(p, t), Instant(t, q, v, x, m, u, p))
            self._last[0] = q, view  # both at once: two threads may trace at the same time
        return view.signal(name)


def _signals(loaded: LoadedRobot) -> dict[str, Law]:
    """The signals of elements as output laws by name."""
    read = _Signals(loaded).read
    states = {slot.name for slot in loaded.elements.states}  # these are columns of x already
    return {name: partial(read, name) for name in loaded.elements.signals if name not in states}


def _ticks(cast: Ensemble) -> tuple[Tick, ...]:
    """The clocks of the elements, each with the stages of its ticks: compiled laws, and user functions in between."""

    def runs(sampler: tuple[int, int]) -> Runs:
        index, clock = sampler
        return cast.members[index].law.runs if clock == 0 else "compiled"

    def writes(tick: Clocked) -> tuple[str, ...]:
        owned = {index for index, _ in tick.samplers}
        return tuple(slot.name for index, slot in cast.owned_memory if index in owned)

    return tuple(
        Tick(*tick.clock, tuple(Stage(tuple(group), key) for key, group in groupby(tick.samplers, runs)), writes(tick))
        for tick in cast.ticks
    )


def _asked(cast: Ensemble) -> tuple[Asked, ...]:
    """The inputs of elements that foreign functions give, with indices among the inputs of elements; they come last."""
    found: list[Asked] = []
    for index, (element, law, *_) in enumerate(cast.members):
        places = [k for k, (owner, _) in enumerate(cast.open_inputs) if owner == index]
        for function, count in law.foreign_inputs(element).items():
            found.append(Asked(function, places[0], count))
            places = places[count:]
    return tuple(found)


def _columns(robot: Robot, group: str) -> tuple[Column, ...]:
    """The columns of the coordinates ("q") or velocities ("v") of all joints."""
    units = [unit for joint in robot.joints for unit in getattr(joint.table, f"{group}_units")]
    return tuple(map(Column, getattr(robot, f"{group}_names"), units))


def _refuse(model: Plant, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if value is not None and value != ():
            raise ModelError(f"{name}: '{model.name}' is a plant already. Give {name}= to `plant` when you make it.")


def _velocities(robot: Robot, names: Sequence[str], what: str) -> tuple[int, ...]:
    """The velocity indices of joints, or of single velocities, by name; `what` is the option in messages."""
    still: set[int] = set()
    joints = [joint.name for joint in robot.joints if not joint.driven]
    if not isinstance(names, Iterable):
        raise ModelError(f"{what} is {names!r}; expected names of joints: {', '.join(joints)}.")
    for name in names:
        if name in joints:
            part = robot.v_slice(name)
            still.update(range(part.start, part.stop))
        elif name in robot.v_names:
            still.add(robot.v_names.index(name))
        elif name in robot.joint_names:
            raise ModelError(f"{what} '{name}': this joint is driven by others. Name a joint that drives it.")
        else:
            known = [*joints, *robot.v_names]
            raise ModelError(
                f"{what} '{name}': robot '{robot.name}' has no such joint.{did_you_mean(name, known)} "
                f"Known: {', '.join(joints)}."
            )
    return tuple(sorted(still))


# ── columns of driven joints and dependent quantities ─────────────────────────────────────────────────────────────────


def _driven_columns(loaded: LoadedRobot) -> dict[str, Law]:
    """The laws that give further columns of a run, by the names of the columns.

    These are "q.rotor" and "v.rotor" for a driven joint "rotor", and the names of dependent quantities.
    """
    robot = loaded.dynamics.robot
    found: dict[str, Law] = {}
    for group, names, own in (("q", robot.all_q_names, robot.nq), ("v", robot.all_v_names, robot.nv)):
        found |= {
            f"{group}.{name}": partial(_driven_entry, loaded, group, k) for k, name in enumerate(names) if k >= own
        }
    return found | {one.name: partial(_dependent_value, loaded, one) for one in robot.dependents}


def _driven_units(robot: Robot) -> dict[str, str]:
    """The units of the columns of `_driven_columns`, by the names of the columns."""
    found = {one.name: one.unit for one in robot.dependents}
    for joint in robot.driven:
        for group, units in (("q", joint.motion.q_units), ("v", joint.motion.v_units)):
            found |= dict(zip((f"{group}.{name}" for name in joint.motion_names(group)), units, strict=True))
    return found


def _driven_entry(
    loaded: LoadedRobot, group: str, k: int, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any
) -> Any:
    every = loaded.all_joints(loaded.tree(p, t), Instant(t, q, v, x, m, u, p))
    return (every.q if group == "q" else every.v)[k]


def _dependent_value(
    loaded: LoadedRobot, one: Dependent, t: Any, q: Any, v: Any, x: Any, m: Any, u: Any, p: Any
) -> Any:
    places = coordinate_places(loaded.dynamics.robot)
    known = {**loaded.lookup(p), **{name: q[i] for name, (i, _) in places.items()}, TIME.name: t}
    return evaluate(one.formula, known)
