"""Plants: what a run advances and a linearization looks at, as programs of a state.

`programs` holds the Plant and says what its programs are; `robots` makes one of a robot, `equations` one of any
equations of your own; `laws` is how laws are written; `variational` the balance of a whole step.
"""
