"""User code in C: the header `user.h`, the functions that join it to the march, and the template of `user.c`."""

from __future__ import annotations

import textwrap

from kinemorph.codegen.backends.c.spelling import block_comment
from kinemorph.codegen.backends.identifiers import comment
from kinemorph.programs.drivers import named
from kinemorph.programs.user_code import EFFORTS, RATES, SAMPLE, SAVE
from kinemorph.programs.user_files.interface import COUNT, Interface

OWN = "user.c"  # the file of the user
ASKED = {EFFORTS: "ask_efforts", RATES: "ask_rates", SAMPLE: "ask_sample", SAVE: "ask_save"}  # after the program's name

ABOUT = {
    "BODY": "bodies: rows of position, rotation, velocity, angular_velocity, force and moment",
    "Q": "coordinates, in q",
    "V": "velocities, in v and generalized",
    "X": "all further states, in x",
    "M": "memory of all elements, in m",
    "U": "inputs, in u",
    "P": "parameters, in p",
    "STATE": "states of your own, in states and rates",
    "MEMORY": "memory of your own, in memory",
}
INSTANT = """
/* The model at one instant. Units are SI units and radians; vectors are in the axes of the world. */
typedef struct user_instant {
    double t;                            /* time [s] */
    const double *q;                     /* coordinates; a quaternion has four of them, the real one first */
    const double *v;                     /* velocities */
    const double *x;                     /* further states of the model, yours among them */
    const double *m;                     /* memory of elements, yours among it */
    const double *u;                     /* inputs */
    const double *p;                     /* parameters */
    const double *states;                /* states of your own */
    const double *memory;                /* memory of your own */
    const double (*position)[3];         /* of the origin of each body [m] */
    const double (*rotation)[9];         /* of each body, row by row: its columns are the axes of the body */
    const double (*velocity)[3];         /* of the origin of each body [m/s] */
    const double (*angular_velocity)[3]; /* of each body [rad/s] */
} user_instant;

/* What your code adds to the forces of the model; all numbers are 0 before. */
typedef struct user_loads {
    double force[{bodies}][3];  /* on each body, at its origin [N], in the axes of the world */
    double moment[{bodies}][3]; /* on each body [N m], in the axes of the world */
    double generalized[{velocities}]; /* along each velocity [N m or N] */
} user_loads;
"""
PROTOTYPES = {
    EFFORTS: (
        "void user_efforts(const user_instant *now, user_loads *add)",
        "Adds forces and moments on bodies, and generalized forces. It is called several times in each step, also for"
        " steps that are tried again: it must depend on `now` alone.",
    ),
    RATES: (
        "void user_rates(const user_instant *now, double *rates)",
        "Sets the rates of your states [1/s]. It is called as often as user_efforts, and must depend on `now` alone.",
    ),
    SAMPLE: (
        "void user_sample(const user_instant *now, double *memory)",
        "Sets your memory at the sample times; memory has its old values before.",
    ),
    SAVE: ("void user_save(const user_instant *now)", "Is called at the times of saving."),
}
GLUE = """
#include "simulator_tables.h"

#include <math.h>
#include <string.h>

#include "user.h"

#define ARGUMENTS const double *t, const double *q, const double *v, const double *x, const double *m, \\
    const double *u, const double *p, const double *position, const double *rotation, const double *velocity, \\
    const double *turning
#define NOW instant(t, q, v, x, m, u, p, position, rotation, velocity, turning)

static user_instant instant(ARGUMENTS)
{
    user_instant now;
    now.t = *t, now.q = q, now.v = v, now.x = x, now.m = m, now.u = u, now.p = p;
    now.states = x + FIRST_STATE, now.memory = m + FIRST_MEMORY;
    now.position = (const double (*)[3])position, now.rotation = (const double (*)[9])rotation;
    now.velocity = (const double (*)[3])velocity, now.angular_velocity = (const double (*)[3])turning;
    return now;
}

/* Of each function: what it returned last, at finite states, that is not a finite number; NULL if there is nothing. */
static const char *troubles[4];

const char *simulator_user_trouble(void)
{
    for (int k = 0; k < 4; ++k) {
        if (troubles[k]) return troubles[k];
    }
    return NULL;
}

/* Looks for numbers that are not finite among those that function k returned. */
static void watch(int k, const user_instant *now, const double *values, int count, const char *const *names)
{
    for (int i = 0; i < Q_COUNT; ++i) {
        if (!isfinite(now->q[i])) return;
    }
    for (int i = 0; i < V_COUNT; ++i) {
        if (!isfinite(now->v[i])) return;
    }
    for (int i = 0; i < X_COUNT; ++i) {
        if (!isfinite(now->x[i])) return;
    }
    troubles[k] = NULL;
    for (int i = count - 1; i >= 0; --i) {
        if (!isfinite(values[i])) troubles[k] = names[i];
    }
}
"""
ASKING = {
    EFFORTS: """
void simulator_ask_efforts(ARGUMENTS, double *asked)
{
    const user_instant now = NOW;
    user_loads add;
    memset(&add, 0, sizeof add);
    user_efforts(&now, &add);
    memcpy(asked, add.force, 3 * BODY_COUNT * sizeof *asked);
    memcpy(asked + 3 * BODY_COUNT, add.moment, 3 * BODY_COUNT * sizeof *asked);
    memcpy(asked + 6 * BODY_COUNT, add.generalized, V_COUNT * sizeof *asked);
    watch(0, &now, asked, 6 * BODY_COUNT + V_COUNT, efforts);
}
""",
    RATES: """
void simulator_ask_rates(ARGUMENTS, double *asked)
{
    const user_instant now = NOW;
    memset(asked, 0, STATE_COUNT * sizeof *asked);
    user_rates(&now, asked);
    watch(1, &now, asked, STATE_COUNT, rates);
}
""",
    SAMPLE: """
void simulator_ask_sample(ARGUMENTS, double *asked)
{
    const user_instant now = NOW;
    memcpy(asked, now.memory, MEMORY_COUNT * sizeof *asked);
    user_sample(&now, asked);
    asked[MEMORY_COUNT] = 1.0;
    watch(2, &now, asked, MEMORY_COUNT, sample);
}
""",
    SAVE: """
void simulator_ask_save(ARGUMENTS, double *asked)
{
    const user_instant now = NOW;
    user_save(&now);
    *asked = 1.0;
}
""",
}
BODIES = {
    EFFORTS: """    (void)now;
    (void)add;
    /* A spring and a damper from a body to the origin of the world:
     *
     * for (int k = 0; k < 3; ++k) {{
     *     add->force[BODY_{body}][k] += -100.0 * now->position[BODY_{body}][k] - 2.0 * now->velocity[BODY_{body}][k];
     * }}
     */
""",
    RATES: """    (void)now;
    for (int k = 0; k < STATE_COUNT; ++k) rates[k] = 0.0;
""",
    SAMPLE: """    (void)now;
    (void)memory;
""",
    SAVE: """    (void)now;
""",
}


def asked_names(name: str) -> dict[str, str]:
    """The names in C of the foreign functions of the march, by their names there."""
    return {function: f"{name}_{asked}" for function, asked in ASKED.items()}


def interface_texts(face: Interface) -> dict[str, str]:
    """{file name: text} of the header and of the functions that join user code to the march."""
    return {"user.h": _header(face), f"{face.name}_user.c": _glue(face)}


def _header(face: Interface) -> str:
    capitals = face.name.upper()
    opening = [
        f"The interface between the program {face.name} and your code in user.c. Emitted by Kinemorph; it is written",
        "anew with each program, and user.c is not.",
        "",
        *face.lines,
    ]
    lines = [*block_comment(opening), f"#ifndef {capitals}_USER_H", f"#define {capitals}_USER_H", ""]
    lines += [f'#define USER_INTERFACE "{face.digest}"', ""]
    lines += ["/* Programs may be linked with each other. */"]
    lines += [f"#define {function} {face.name}_{function}" for function in face.functions]
    lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for group, entries in face.groups.items():
        lines.append(f"/* {ABOUT[group]} */")
        width = max((len(entry.word) for entry in entries), default=0)
        lines.append("enum {")
        for entry in entries:
            unit = f" [{comment(entry.unit)}]" if entry.unit else ""
            said = f"{comment(entry.name)}{unit}"
            lines.append(f"    {group}_{entry.word},{' ' * (width - len(entry.word))} /* {said} */")
        lines += [f"    {group}_{COUNT}", "};", ""]
    text = INSTANT
    for key, group in (("bodies", "BODY"), ("velocities", "V")):  # an array has at least one entry
        text = text.replace(f"{{{key}}}", f"{group}_{COUNT}" if face.groups[group] else "1")
    lines.append(text.strip("\n"))
    for function in face.functions:
        prototype, about = PROTOTYPES[function]
        lines += ["", *_remark(about), f"{prototype};"]
    return "\n".join([*lines, "", "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def _remark(text: str) -> list[str]:
    """The lines of a comment above a function."""
    lines = textwrap.wrap(text, 110)
    return [f"/* {text} */"] if len(lines) == 1 else block_comment(lines)


def _glue(face: Interface) -> str:
    opening = block_comment(
        [f"Joins your code in user.c to the march of the program {face.name}. Emitted by Kinemorph."]
    )
    text = GLUE.replace("FIRST_STATE", str(face.first_state)).replace("FIRST_MEMORY", str(face.first_memory))
    parts = [named(text, face.name)]
    for function, returned in face.functions.items():
        short = function.removeprefix("user_")
        if function != SAVE:
            listed = ",\n    ".join(f'"{function} gives {comment(one)}"' for one in returned)
            parts.append(f"\nstatic const char *const {short}[] = {{\n    {listed}}};\n")
        body = named(ASKING[function], face.name)
        prototype = body.strip().splitlines()[0]
        parts.append(f"\n{prototype};{body}")
    return "\n".join(opening) + "\n" + "".join(parts).lstrip("\n")


def template(face: Interface) -> dict[str, str]:
    """{file name: text} of the user's own file before the user has written it."""
    opening = block_comment(
        [
            f"Your code in the program {face.name}: it is written once, and stays when the program is written again.",
            "The names of bodies, states, inputs and parameters are in user.h.",
            f"Interface {face.digest}.",
        ]
    )
    parts = ["\n".join([*opening, '#include "user.h"', ""])]
    body = next((entry.word for entry in face.groups["BODY"]), "name")
    for function in face.functions:
        prototype, about = PROTOTYPES[function]
        text = BODIES[function]
        text = text.format(body=body) if function == EFFORTS else text
        parts.append("\n".join([*_remark(about), prototype, "{", f"{text}}}", ""]))
    return {OWN: "\n".join(parts)}
