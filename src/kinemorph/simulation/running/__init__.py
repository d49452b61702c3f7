"""Carrying out a run, from its initial state to its end.

execution    the run itself: from boundary to boundary, events, memory, storage
docked_run   a run during which modules dock and undock: one plant per topology
by_name      reading states by name in runs whose coordinates change
switches     elements that change their memory at events
patience     whether a run diverges, or takes too many steps, as a stiff system or a fast motion needs
ledger       the results of all pieces so far, and functions that are called with them
checks       all checks of a run: what is wrong before it and after it, such as whether steps were small enough
chatter      whether an explicit step was too large for stiff forces
"""
