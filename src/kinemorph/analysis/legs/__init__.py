"""Legged motion: stances of runs, their impulses and efforts, and measures that a run integrates.

limbs           the legs of a system: the contacts of each foot with the ground, and the joints that carry it
stances         `stances`: touchdown, liftoff, duty factor, impulses and peaks of every leg and stride of a run
efforts         `efforts`: the mean squared torque and the mean position error of the controlled joints of each leg
strides         `stride_figures`: speed, energies, rotations and ground forces of whole strides
least_effort    `least_effort`: the forces of feet that hold a posture with the least effort
force_program   the convex program of such forces, solved by SciPy
strides         `stride_figures`: speed, energies, rotations and ground forces of whole strides
measures        `with_measures`: a system that integrates impulses, work, effort and distance in its runs
standing        `standing_curve`: efforts and ground reactions at rest, for many stiffnesses of the posture
"""
