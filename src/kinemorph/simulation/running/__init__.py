"""Carrying out a run, from its initial state to its end.

execution    the run itself: from boundary to boundary, events, memory, storage
docked_run   a run during which modules dock and undock: one plant per topology
by_name      reading states by name in runs whose coordinates change
switches     elements that change their memory at events
failures     messages that say why a run failed
chatter      whether an explicit step was too large for stiff forces
step_checks  whether steps were small enough, by three checks: energy_check, step_damping, impact_check
"""
