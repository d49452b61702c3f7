"""The tables of `kinemorph bench`, which compare this library with its peers on the same robots and states.

A peer is another library, as Pinocchio or MuJoCo; the contestants are this library and its peers.

report          checks which measurements were requested, makes them, and reports the rows
result_tables   the tables as text, made of the columns of `tables`; `targets` are the values that times have to reach
contestants     methods and settings of contestants, and the runs that several tables share
foreign_python  scripts of peers that need a Python of their own
timing          alternating rounds and medians; `machine` describes the machine and the versions
peers/          other libraries on the same robots, and the maps between conventions
speed/          time per evaluation, time to compile, time to load
runs/           runs of robots without contact, at equal accuracy
model_files/    robots from model files beside MuJoCo, at equal error
loops/          closed chains
modules/        assemblies of modules
standing/       hexapods on the ground, at equal error
terrain/        quadrupeds on a map, on a smooth function and on a plane
hybrid/         robots with phases and impacts
rigid/          rigid contact, error over time
replays/        replay pages: times to make, open and play them

No other part of the library imports this package; it needs the extra `bench`.
"""
