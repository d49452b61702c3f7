"""Carrying out a run, from its first state to whatever ends it.

execution    the run itself: from boundary to boundary, events, memory, storage
docked_run   a run during which modules dock and undock: one plant per topology
by_name      states read by name in laws of runs whose coordinates change
failures     why a run ended early, in a sentence
chatter      whether an explicit step was too large for stiff forces
"""
