"""User code in Python: the module of names, the module that joins it to the march, and the template of `user.py`."""

from __future__ import annotations

from kinemorph.codegen.backends.identifiers import comment
from kinemorph.programs.drivers import named
from kinemorph.programs.user_code import EFFORTS, RATES, SAMPLE, SAVE
from kinemorph.programs.user_files.interface import COUNT, Interface

OWN = "user.py"  # the file of the user

GLUE = '''"""Joins your code in user.py to the march of the program simulator. Emitted by Kinemorph."""

import importlib.util
import pathlib

import numpy as np

import simulator_names as names

_PLACE = pathlib.Path(__file__).with_name("user.py")
_SPEC = importlib.util.spec_from_file_location("simulator_user_code", _PLACE)
user = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(user)

troubles = {}  # what a function returned last, at finite states, that is not a finite number


class Instant:
    """The model at one instant. Units are SI units and radians; vectors are in the axes of the world.

    t                          time [s]
    q, v, x, m, u, p           coordinates, velocities, further states, memory, inputs, parameters
    states, memory             those of your own
    position, velocity         of the origin of each body, shape (bodies, 3) [m, m/s]
    rotation                   of each body, shape (bodies, 3, 3): its columns are the axes of the body
    angular_velocity           of each body, shape (bodies, 3) [rad/s]
    """

    def __init__(self, t, q, v, x, m, u, p, position, rotation, velocity, turning):
        self.t, self.q, self.v, self.x, self.m, self.u, self.p = float(t[0]), q, v, x, m, u, p
        self.states = x[names.FIRST_STATE : names.FIRST_STATE + names.STATE_COUNT]
        self.memory = m[names.FIRST_MEMORY : names.FIRST_MEMORY + names.MEMORY_COUNT]
        self.position, self.rotation = position.reshape(-1, 3), rotation.reshape(-1, 3, 3)
        self.velocity, self.angular_velocity = velocity.reshape(-1, 3), turning.reshape(-1, 3)


class Loads:
    """What your code adds to the forces of the model; all numbers are 0 before.

    force, moment      on each body, at its origin and in the axes of the world, shape (bodies, 3) [N, N m]
    generalized        along each velocity, shape (velocities,) [N m or N]
    """

    def __init__(self):
        self.force, self.moment = np.zeros((names.BODY_COUNT, 3)), np.zeros((names.BODY_COUNT, 3))
        self.generalized = np.zeros(names.V_COUNT)


def _numbers(function, values, now):
    """What a function returned as an array; numbers that are not finite are noted."""
    expected = names.RETURNED[function]
    values = np.asarray(values, dtype=float).ravel()
    if len(values) != len(expected):
        raise ValueError(f"user.py: {function} returned {len(values)} numbers; expected {len(expected)}.")
    if all(np.isfinite(group).all() for group in (now.q, now.v, now.x)):
        bad = np.flatnonzero(~np.isfinite(values))
        troubles.pop(function, None)
        if len(bad):
            troubles[function] = f"{function} gives {expected[bad[0]]}"
    return values


def trouble():
    """The first number that is not finite; None where there is none."""
    return next(iter(troubles.values()), None)


def user_efforts(*arguments):
    now, add = Instant(*arguments), Loads()
    user.user_efforts(now, add)
    parts = (add.force, add.moment, add.generalized)
    return _numbers("user_efforts", np.concatenate([np.ravel(part) for part in parts]), now)


def user_rates(*arguments):
    now = Instant(*arguments)
    return _numbers("user_rates", user.user_rates(now), now)


def user_sample(*arguments):
    now = Instant(*arguments)
    returned = user.user_sample(now)
    return _numbers("user_sample", [*np.ravel([] if returned is None else returned), 1.0], now)


def user_save(*arguments):
    user.user_save(Instant(*arguments))
    return np.ones(1)
'''
FUNCTIONS = {
    EFFORTS: '''
def user_efforts(now, add):
    """Adds forces and moments on bodies, and generalized forces: add.force, add.moment, add.generalized.

    It is called several times in each step, also for steps that are tried again: it must depend on `now` alone.
    """
    # A spring and a damper from a body to the origin of the world:
    # body = names.BODY_{body}
    # add.force[body] += -100.0 * now.position[body] - 2.0 * now.velocity[body]
''',
    RATES: '''
def user_rates(now):
    """Returns the rates of your states [1/s], a number for each. It must depend on `now` alone."""
    return [0.0] * names.STATE_COUNT
''',
    SAMPLE: '''
def user_sample(now):
    """Returns your memory from now on, a number for each, at the sample times."""
    return now.memory
''',
    SAVE: '''
def user_save(now):
    """Is called at the times of saving."""
''',
}


def interface_texts(face: Interface) -> dict[str, str]:
    """{file name: text} of the module of names, and of the module that joins user code to the march."""
    return {f"{face.name}_names.py": _names(face), f"{face.name}_user.py": named(GLUE, face.name)}


def _names(face: Interface) -> str:
    lines = [
        f'"""The names of the program {face.name} for your code in user.py. Emitted by Kinemorph; it is written anew'
    ]
    lines += ["with each program, and user.py is not.", "", *face.lines, '"""', "", f'INTERFACE = "{face.digest}"']
    for group, entries in face.groups.items():
        lines.append("")
        for k, entry in enumerate(entries):
            unit = f" [{comment(entry.unit)}]" if entry.unit else ""
            lines.append(f"{group}_{entry.word} = {k}  # {comment(entry.name)}{unit}")
        lines.append(f"{group}_{COUNT} = {len(entries)}")
    lines += ["", f"FIRST_STATE, FIRST_MEMORY = {face.first_state}, {face.first_memory}", "RETURNED = {"]
    for function, returned in face.functions.items():
        listed = ", ".join(f'"{comment(one)}"' for one in returned)
        lines.append(f'    "{function}": ({listed},),')
    return "\n".join([*lines, "}", ""])


def template(face: Interface) -> dict[str, str]:
    """{file name: text} of the user's own file before the user has written it."""
    opening = [
        f'"""Your code in the program {face.name}: it is written once, and stays when the program is written again.',
        "",
        f"The names of bodies, states, inputs and parameters are in {face.name}_names.py. `now` is an Instant, which",
        f"{face.name}_user.py describes. Interface {face.digest}.",
        '"""',
        "",
        f"import {face.name}_names as names",
        "",
    ]
    body = next((entry.word for entry in face.groups["BODY"]), "name")
    texts = [FUNCTIONS[function].replace("{body}", body) for function in face.functions]
    return {OWN: "\n".join([*opening, "\n".join(texts).rstrip("\n"), ""])}
