"""Identify your arm: a PUMA whose CAD masses are wrong moves with noise and friction, and its parameters are found.

python examples/35_identify_an_arm.py [folder]
"""

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

from kinemorph import System, derive, library, simulate
from kinemorph.elements import ComputedTorque, FourierSeries, JointFriction
from kinemorph.errors import RecordingWarning
from kinemorph.identification import Recording, identify, with_rates

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
rng = np.random.default_rng(1)

# the arm as the drawings have it, and the real one, which is heavier and has friction
drawn = library.puma()
joints = drawn.joint_names
real = replace(drawn, bodies=tuple(replace(body, mass=rng.uniform(1.1, 1.4) * body.mass) for body in drawn.bodies))
friction = JointFriction("friction", joints, coulomb=2.0, viscous=1.5)


def recorded(name: str, size: float) -> Recording:
    """Twenty seconds of a motion from rest to rest, measured by encoders [rad] and torque sensors [N m] with noise."""
    sines, cosines = size * rng.uniform(-1.0, 1.0, size=(2, 5, len(joints)))
    motion = FourierSeries.at_rest("motion", 10.0, sines, cosines, joints=joints, cycles=2)
    control = ComputedTorque("control", joints, kp=(400.0,), kd=(40.0,), reference=("motion",))
    system = System(real, (motion, control, friction))
    run = simulate(system, 20.0, q=np.sum(motion.cosines, axis=0), output_step=0.005)
    exact = Recording.of(run, name)
    noisy_q = exact.q + 1e-5 * rng.normal(size=exact.q.shape)
    return Recording(name, exact.t, noisy_q, tau=exact.tau + 0.1 * rng.normal(size=exact.q.shape))


used, fresh = recorded("first motion", 0.5), recorded("second motion", 0.4)
warnings.simplefilter("ignore", RecordingWarning)  # it names what the motion hardly shows, which is printed below
# where a joint reverses, friction is not yet what it is in motion: a robust estimate leaves these samples out
result = identify(drawn, used, validate=fresh, method="robust")
print(result.notes[0])
print(f"{len(result.base)} combinations of {len(result.columns)} parameters are seen by torques")
print("hardly seen:", ", ".join(result.undetermined))
for joint in real.joints[:3]:
    low, high = result.intervals[f"{joint.name}.viscous"]
    print(f"{joint.name}: viscous friction {low:.2f} to {high:.2f} N m s/rad; in truth {joint.damping[0] + 1.5:.2f}")

# torques of a motion that was not used, as the drawings predict them, and as the identified arm does
motion = with_rates(fresh, drawn).recording
plain = motion.tau - derive(drawn).inverse_dynamics(motion.q, motion.v, motion.a)
print(f"second motion, drawn arm: {100.0 * np.linalg.norm(plain) / np.linalg.norm(motion.tau):.1f} % off")
print(f"second motion, identified arm: {100.0 * result.validation[0].error:.1f} % off")

# the identified arm is a model like any other, and can be saved or simulated
print(result.model)
for what in ("forces", "parameters", "residuals"):
    result.plot(what, path=folder / f"35_{what}.png")
    print("wrote", folder / f"35_{what}.png")
