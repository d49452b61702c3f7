"""Analyses of models and runs: verification, closed chains, small motions, audits.

verification/     `verify`: checks of a derived model against the laws of mechanics
loops/            closed chains and inverse kinematics
small_motions/    equilibrium, linearization, poles, sensitivities
signature         all checks of a model and its runs, as rows that can be computed again
audit             `audit`: whether a run conserves what its motion has to conserve
conserved_momenta which momenta a run has to conserve, and how well it did
gait_clusters     `gait_clusters`: which coupled maps of a gait move in step
with_gait         `with_gait`: a system with a gait and a controller that follows it
followed_gait     how far a robot goes with a gait, and how well its joints follow it
"""
