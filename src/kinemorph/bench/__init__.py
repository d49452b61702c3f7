"""The side-by-side tables of `kinemorph bench`: this library and its peers, the same robots and states, in one run.

report        checks what was asked for, measures it, and reports the rows
tables        the rows of all tables as text; `targets` are the values that times have to reach
contestants   methods and settings of contestants, and the runs that several tables share
timing        alternating rounds and medians; `machine` describes the machine and the versions
peers/        other libraries on the same robots, and the maps between conventions
speed/        time per evaluation, time to compile, time to load
runs/         runs of robots without contact, at equal accuracy
loops/        closed chains
modules/      assemblies of modules
standing/     hexapods on the ground, at equal error
terrain/      quadrupeds on a map, a function and a plane
replays/      pages: times to make, open and play them

No other part of the library imports this package; it needs the extra `bench`.
"""
