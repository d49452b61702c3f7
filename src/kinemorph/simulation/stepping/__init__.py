"""A plant that stands at one state and can be advanced.

stepper         `Stepper`: one step, to a time, or through a list of sample times, in compiled code
initial_state   where a run with constraints begins: named values are kept, the others follow
sample_clocks   when sampled elements are due next
"""
