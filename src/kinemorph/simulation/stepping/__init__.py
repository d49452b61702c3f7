"""A plant at one state, which can be advanced.

plant_stepper   `PlantStepper`: the interface of every stepper, and what all of them share
stepper         `Stepper`: one step, to a time, or through a list of sample times, in compiled code
step_options    `StepOptions`: method, step size and tolerances, with every default filled in
regular_functions   user functions that a run calls at regular times: held inputs and callbacks
initial_state   the initial state of a run with constraints: named values are kept, the others follow
violations      violated constraints in words
failures        messages that say why a step failed
sample_clocks   when sampled elements are due next
"""
