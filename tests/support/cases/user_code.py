"""A spring between two bodies, a first-order actuator and a sampled controller: as elements, and as code of a user."""

from __future__ import annotations

from typing import Any

import kinemorph
from kinemorph import System
from kinemorph.elements import Continuous, Sampled, Spring
from kinemorph.programs import UserCode

STIFFNESS, REST, DAMPING, LAG, EVERY = 150.0, 0.6, 3.0, 0.04, 0.05
Q, V = [0.7, -0.4], [0.3, 1.0]
CODE = UserCode(states={"torque": 0.2}, memory={"hold": 0.0}, sample_every=EVERY)


def with_elements(lag: float = LAG) -> System:
    """A double pendulum with a spring from the first link to the tip of the second, and drives on both joints."""
    robot = kinemorph.library.double_pendulum()
    spring = Spring("spring", "link1", "link2", STIFFNESS, REST, DAMPING, (0.0, 0.0, -0.4), (0.1, 0.0, -1.1))
    return System(robot, (spring, _lag(lag), _sampled()))


def _lag(lag: float) -> Continuous:
    def law(t: Any, angle: Any, states: list[Any]) -> tuple[Any, list[Any]]:
        return states[0], [(2.0 * t - 3.0 * angle - states[0]) / lag]

    return Continuous("lag", law, ("q.q1",), ("q1",), {"torque": 0.2})


def _sampled() -> Sampled:
    return Sampled("hold", lambda t, angle, rate: -4.0 * angle - 0.5 * rate, ("q.q2", "v.q2"), ("q2",), EVERY)


USER_C = f"""
#include "user.h"
#include <math.h>

static void point(const user_instant *now, int body, const double *r, double *p, double *v)
{{
    const double *R = now->rotation[body], *w = now->angular_velocity[body];
    double a[3];
    for (int i = 0; i < 3; ++i) a[i] = R[3 * i] * r[0] + R[3 * i + 1] * r[1] + R[3 * i + 2] * r[2];
    for (int i = 0; i < 3; ++i) {{
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        p[i] = now->position[body][i] + a[i];
        v[i] = now->velocity[body][i] + w[j] * a[k] - w[k] * a[j];
    }}
}}

static void push(const user_instant *now, user_loads *add, int body, const double *p, const double *f, double sign)
{{
    double a[3];
    for (int i = 0; i < 3; ++i) a[i] = p[i] - now->position[body][i];
    for (int i = 0; i < 3; ++i) {{
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        add->force[body][i] += sign * f[i];
        add->moment[body][i] += sign * (a[j] * f[k] - a[k] * f[j]);
    }}
}}

void user_efforts(const user_instant *now, user_loads *add)
{{
    const double r1[3] = {{0.0, 0.0, -0.4}}, r2[3] = {{0.1, 0.0, -1.1}};
    double p1[3], v1[3], p2[3], v2[3], d[3], f[3], length = 0.0, speed = 0.0;
    point(now, BODY_link1, r1, p1, v1);
    point(now, BODY_link2, r2, p2, v2);
    for (int i = 0; i < 3; ++i) d[i] = p2[i] - p1[i], length += d[i] * d[i];
    length = sqrt(length);
    for (int i = 0; i < 3; ++i) speed += d[i] / length * (v2[i] - v1[i]);
    for (int i = 0; i < 3; ++i) f[i] = ({STIFFNESS} * (length - {REST}) + {DAMPING} * speed) * d[i] / length;
    push(now, add, BODY_link1, p1, f, 1.0);
    push(now, add, BODY_link2, p2, f, -1.0);
    add->generalized[V_q1] += now->states[STATE_torque];
    add->generalized[V_q2] += now->memory[MEMORY_hold];
}}

void user_rates(const user_instant *now, double *rates)
{{
    rates[STATE_torque] = (2.0 * now->t - 3.0 * now->q[Q_q1] - now->states[STATE_torque]) / {LAG};
}}

void user_sample(const user_instant *now, double *memory)
{{
    memory[MEMORY_hold] = -4.0 * now->q[Q_q2] - 0.5 * now->v[V_q2];
}}
"""
USER_PY = f"""
import numpy as np
import double_pendulum_names as names


def point(now, body, r):
    a = now.rotation[body] @ r
    return now.position[body] + a, now.velocity[body] + np.cross(now.angular_velocity[body], a)


def push(now, add, body, p, f):
    add.force[body] += f
    add.moment[body] += np.cross(p - now.position[body], f)


def user_efforts(now, add):
    p1, v1 = point(now, names.BODY_link1, np.array([0.0, 0.0, -0.4]))
    p2, v2 = point(now, names.BODY_link2, np.array([0.1, 0.0, -1.1]))
    length = np.sqrt((p2 - p1) @ (p2 - p1))
    d = (p2 - p1) / length
    f = ({STIFFNESS} * (length - {REST}) + {DAMPING} * (d @ (v2 - v1))) * d
    push(now, add, names.BODY_link1, p1, f)
    push(now, add, names.BODY_link2, p2, -f)
    add.generalized[names.V_q1] += now.states[names.STATE_torque]
    add.generalized[names.V_q2] += now.memory[names.MEMORY_hold]


def user_rates(now):
    return [(2.0 * now.t - 3.0 * now.q[names.Q_q1] - now.states[names.STATE_torque]) / {LAG}]


def user_sample(now):
    return [-4.0 * now.q[names.Q_q2] - 0.5 * now.v[names.V_q2]]
"""
USER_M = {
    "user_efforts.m": f"""function add = user_efforts(now, add)
    n = now.names;
    [p1, v1] = point(now, n.BODY.link1, [0; 0; -0.4]);
    [p2, v2] = point(now, n.BODY.link2, [0.1; 0; -1.1]);
    len = norm(p2 - p1); d = (p2 - p1) / len;
    f = ({STIFFNESS} * (len - {REST}) + {DAMPING} * (d' * (v2 - v1))) * d;
    add = push(now, add, n.BODY.link1, p1, f);
    add = push(now, add, n.BODY.link2, p2, -f);
    add.generalized(n.V.q1) = add.generalized(n.V.q1) + now.states(n.STATE.torque);
    add.generalized(n.V.q2) = add.generalized(n.V.q2) + now.memory(n.MEMORY.hold);
end
function [p, v] = point(now, k, r)
    a = now.rotation(:, :, k) * r;
    p = now.position(:, k) + a;
    v = now.velocity(:, k) + cross(now.angular_velocity(:, k), a);
end
function add = push(now, add, k, p, f)
    add.force(:, k) = add.force(:, k) + f;
    add.moment(:, k) = add.moment(:, k) + cross(p - now.position(:, k), f);
end
""",
    "user_rates.m": f"""function rates = user_rates(now)
    rates = (2 * now.t - 3 * now.q(now.names.Q.q1) - now.states(now.names.STATE.torque)) / {LAG};
end
""",
    "user_sample.m": """function memory = user_sample(now)
    memory = -4 * now.q(now.names.Q.q2) - 0.5 * now.v(now.names.V.q2);
end
""",
}
FILES = {"c": {"user.c": USER_C}, "cpp": {"user.c": USER_C}, "python": {"user.py": USER_PY}, "matlab": USER_M}
