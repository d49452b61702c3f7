"""The results of a run: samples, events, columns by name, and what is recomputed from them.

trajectory        segments of samples, joined by events, with how the run ended
segment           the samples between two changes of the system
event             what happened: the state on both sides, impulses, energy lost
columns           every number of a run by name, with its unit
derived_columns   accelerations, forces and energies, recomputed from the samples
interpolation     states between samples
body_poses        where bodies are at any time, whatever their joints are then
"""
