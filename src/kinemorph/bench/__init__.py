"""The side-by-side tables of `kinemorph bench`: this library and its peers, the same robots and states, in one run.

report      what was asked, checked; what was measured, ready to be shown
tables      the rows of all tables as text; `targets` are the figures they are held against
timing      alternating rounds and medians; `machine` is what the times belong to
peers/      other libraries on the same robots, and the maps between conventions
speed/      time per evaluation, to compile, to load
runs/       runs in time, by several simulators
loops/      closed chains
modules/    assemblies of modules
standing/   hexapods on the ground
replays/    pages: making, opening and playing them

Nothing in the library needs this room; it needs the `bench` extra.
"""
