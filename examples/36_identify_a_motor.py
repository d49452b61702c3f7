"""Identify a motor and its transmission from the voltage and an encoder alone, by runs that match the recorded ones.

The motor drives an arm through an elastic gear. Its current and the angle of its rotor are not measured.

python examples/36_identify_a_motor.py [folder]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from kinemorph import Body, Parameter, RobotBuilder, System, simulate
from kinemorph.elements import DCMotor
from kinemorph.identification import Recording, output_error

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
STEP, NOISE = 0.005, 2e-4  # [s], [rad]

TRUTH = {
    "torque constant": 0.052,
    "rotor inertia": 2.1e-5,
    "gear stiffness": 85.0,
    "gear damping": 0.45,
    "friction": 3e-3,
}
GUESS = {"torque constant": 0.06, "rotor inertia": 3e-5, "gear stiffness": 130.0, "gear damping": 1.0, "friction": 1e-3}
UNITS = {
    "torque constant": "N m/A",
    "rotor inertia": "kg m^2",
    "gear stiffness": "N m/rad",
    "gear damping": "N m s/rad",
}


def driven_arm(values: dict[str, float]) -> System:
    """An arm of 1.5 kg on a motor with a gear of 50; the resistance of the winding was measured with an ohmmeter."""
    arm = Body.box("arm", 1.5, (0.05, 0.05, 0.4), (0.0, 0.0, -0.2))
    robot = RobotBuilder("arm").add(arm).joint("shoulder", "revolute", "world", "arm", axis=(0.0, 1.0, 0.0)).build()
    numbers = {name: Parameter(name, value, UNITS.get(name, "N m")) for name, value in values.items()}
    motor = DCMotor(
        *("motor", "shoulder", 1.1, numbers["torque constant"]),
        inertia=numbers["rotor inertia"],
        ratio=50.0,
        stiffness=numbers["gear stiffness"],
        damping=numbers["gear damping"],
        coulomb=numbers["friction"],
        slow=2.0,
    )
    return System(robot, (motor,))


def recorded(system: System, seed: int) -> Recording:
    """Four seconds under a voltage that jumps and swings, with noise of the encoder at the joint."""
    rng = np.random.default_rng(seed)
    speeds, phases = rng.uniform(3.0, 60.0, 4), rng.uniform(0.0, 6.0, 4)

    def voltage(t: float) -> list[float]:
        return [float(4.0 * np.sign(np.sin(5.0 * t + phases[0])) + np.sum(1.5 * np.sin(speeds * t + phases)))]

    run = simulate(system, 4.0, inputs=voltage, output_step=STEP)
    return Recording(
        f"recording {seed}", run.t, run.q + NOISE * rng.normal(size=run.q.shape), inputs={"motor": run.u[:, 0]}
    )


real = driven_arm(TRUTH)
used, fresh = recorded(real, 1), recorded(real, 2)
fitted = output_error(driven_arm(GUESS), used, list(GUESS), piece=0.4)
print(fitted)
for name, value in TRUTH.items():
    low, high = fitted.interval(name)
    print(f"{name}: {value:g} is {'inside' if low < value < high else 'outside'} {low:.4g} to {high:.4g}")
prediction = fitted.predict(fresh)
print(f"fresh recording: {prediction.deviations['q.shoulder'] / NOISE:.3f} times the noise of the encoder")

# whole runs from rest, as guessed and as identified, beside the fresh recording
voltage = fresh.inputs["motor"]
runs = {
    name: simulate(system, fresh.t[-1], inputs=lambda t: [voltage[round(t / STEP)]], output_step=STEP)
    for name, system in (("guessed", driven_arm(GUESS)), ("identified", fitted.model))
}
figure, (above, below) = plt.subplots(2, 1, figsize=(9.0, 6.0), sharex=True, layout="constrained")
above.plot(fresh.t, fresh.q[:, 0], color="0.6", linewidth=4.0, label="encoder")
for (name, run), color in zip(runs.items(), ("tab:orange", "tab:blue"), strict=True):
    above.plot(run.t, run.q[:, 0], color=color, linewidth=1.2, label=f"{name} model")
    below.semilogy(run.t, np.abs(fresh.q - run.q)[:, 0] + 1e-7, color=color, linewidth=0.8, label=f"{name} model")
below.axhline(NOISE, color="0.6", label="noise of the encoder")
above.set_ylabel("shoulder [rad]")
below.set_ylabel("|encoder - run| [rad]")
below.set_xlabel("time [s]")
above.set_title("a recording that was not used: voltage in, angle out")
above.set_ylim(-0.8, 0.75)
above.legend(loc="upper right", ncols=3)
below.set_ylim(1e-7, 1.0)
below.legend(loc="upper right", ncols=3)
folder.mkdir(parents=True, exist_ok=True)
figure.savefig(folder / "36_motor.png", dpi=110)
print(f"wrote {folder / '36_motor.png'}")
