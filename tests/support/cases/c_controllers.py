"""A sampled PID in C, written from its formulas, and the element PID with the same numbers."""

from __future__ import annotations

from typing import Any

from kinemorph.elements import PID, CController

# a filtered derivative of the measurement, and an integral that stops where the output is at a limit
PID_IN_C = """
void pid(double t, const double *reads, double *drives, double *memory)
{
    const double kp = 12.0, ki = 30.0, kd = 1.5, tau = 0.02, T = 0.01, limit = 4.0;
    const double error = 0.8 - reads[0], before = memory[2] > 0.0 ? memory[1] : -reads[0];
    const double slope = (tau * memory[3] + kd * (-reads[0] - before)) / (tau + T);
    double total = memory[0] + T * ki * error;
    double u = kp * error + slope + total;
    if ((u > limit && error > 0.0) || (u < -limit && error < 0.0)) {
        total = memory[0];
        u = kp * error + slope + total;
    }
    (void)t;
    drives[0] = u > limit ? limit : u < -limit ? -limit : u;
    memory[0] = total;
    memory[1] = -reads[0];
    memory[2] = 1.0;
    memory[3] = slope;
}
"""
OWN_PID = PID(
    "pid", reads="q.q1", drives="q1", reference=0.8, kp=12.0, ki=30.0, kd=1.5, filter=0.02, lower=-4.0, upper=4.0,
    anti_windup="clamp", derivative="measurement", every=0.01,
)  # fmt: skip


def pid_in_c(source: Any = PID_IN_C, **more: Any) -> CController:
    """The PID as an element that calls C."""
    memory = ("integral", "before", "begun", "slope")
    return CController("pid", source, "pid", reads="q.q1", drives="q1", every=0.01, memory=memory, **more)
