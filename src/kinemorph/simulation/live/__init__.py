"""Live runs: a system that is advanced in step with the clock, while its user acts on it.

pacing      when the run has to be where, how late it is, and what it does then
commands    what a user does to a live run, as data: it is recorded with the run and can be given again
live_run    `LiveRun`: slices of a run, inputs, pulls, docking, and the run as a Trajectory
"""
