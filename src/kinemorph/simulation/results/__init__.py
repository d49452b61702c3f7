"""The results of a run: samples, events, columns by name, and quantities computed from them.

trajectory        segments of samples, joined by events, and the outcome of the run
batch_run         many runs of one plant: columns as arrays (batch, time), each run as a trajectory
segment           the samples between two changes of the system
event             events: the state before and after, impulses, energy lost
columns           every value of a run by name, with its unit
derived_columns   accelerations, forces and energies, recomputed from the samples
interpolation     states between samples
body_poses        poses of bodies at any time, also where joints change
run_sheet         what a run has to show
run_notes         sentences about a run, such as limits that were passed
"""
