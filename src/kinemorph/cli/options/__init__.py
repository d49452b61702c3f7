"""Options that several verbs share.

model_argument   ROBOT: a built-in robot or a model file, and how files are read
option_values    what is written after options: numbers, values by name
plot_options     options that ask for plots
scene_options    options that ask for replays, films or the viewer
"""
