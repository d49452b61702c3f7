"""Groups of options that several verbs share, each a dataclass whose fields are options, and how they are read.

model_argument   ROBOT: a built-in robot or a model file, and how files are read
option_values    values of options, read from text
state_options    configuration, velocities, inputs, locked joints
run_options      method, step size and files of a run; its progress bar and final report
plot_options     plots over time and phase portraits
scene_options    replays, films, pictures, the live viewer
gait_options     gaits and coupled maps
"""
