"""What it means: finished results in, a verdict out.

verification/     `verify`: the laws that a derived model must obey
loops/            closed chains and inverse kinematics
small_motions/    equilibrium, linearization, poles, sensitivities
audit             `audit`: whether a run keeps the laws that its motion must keep
conserved_momenta which momenta a run has to conserve, and how well it did
gait_clusters     `gait_clusters`: which coupled maps keep step with each other
with_gait         `with_gait`: a robot that follows a gait
"""
