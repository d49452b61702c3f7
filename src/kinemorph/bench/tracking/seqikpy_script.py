"""A script for a Python that has SeqIKPy: inverse kinematics of six legs, frame by frame and stage by stage.

It reads {"positions": (n, 6, 5, 3) [mm], "legs": names, "lengths": (6, 4) [mm]} as JSON. It prints the CPU time [s]
and the points of the model beyond the thorax-coxa joints, (n, 6, 4, 3) [mm]. Bounds of all angles are half a turn to
both sides; the first angles are those that SeqIKPy has for the front leg of the same side.
"""

import json
import sys
import time
import warnings

import numpy as np

SEGMENTS = ("Coxa", "Femur", "Tibia", "Tarsus")
HINGES = ("ThC_roll", "ThC_yaw", "ThC_pitch", "CTr_pitch", "CTr_roll", "FTi_pitch", "TiTa_pitch")


def main() -> None:
    """Runs all legs and prints the result as one line of JSON."""
    from seqikpy.body_config import neuromechfly_body_config as known
    from seqikpy.kinematic_chain import KinematicChainSeq
    from seqikpy.leg_inverse_kinematics import LegInvKinSeq

    given = json.loads(sys.stdin.read())
    positions, legs = np.array(given["positions"]), given["legs"]
    sizes: dict[str, float] = {}
    bounds: dict[str, tuple[float, float]] = {}
    for leg, lengths in zip(legs, given["lengths"], strict=True):
        sizes |= {f"{leg}_{segment}": length for segment, length in zip(SEGMENTS, lengths, strict=True)}
        sizes[leg] = sum(lengths)
        bounds |= {f"{leg}_{hinge}": (-np.pi, np.pi) for hinge in HINGES}
    recorded = {f"{leg}_leg": positions[:, k] for k, leg in enumerate(legs)}
    first = {leg: known.initial_angles_rad[f"{leg[0]}F"] for leg in legs}
    began = time.process_time()
    solver = LegInvKinSeq(recorded, KinematicChainSeq(bounds, legs, sizes), first)
    _, points = solver.run_ik_and_fk(hide_progress_bar=True)
    seconds = time.process_time() - began
    found = []
    for leg, lengths in zip(legs, given["lengths"], strict=True):
        chain = points[f"{leg}_leg"]
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(chain[0], axis=0), axis=1))])
        ends = [int(np.argmin(np.abs(along - end))) for end in np.cumsum(lengths)]  # links of length 0 come between
        found.append(chain[:, ends])
    print(json.dumps({"seconds": seconds, "points": np.array(found).swapaxes(0, 1).tolist()}))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
