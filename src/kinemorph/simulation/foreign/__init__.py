"""Integration methods of other libraries, behind the same interface as our own.

stepper       `OutsideStepper`: the interface of `Stepper`, around a library's method
engines       SciPy's methods and CVODE, each behind the same two calls
ida           IDA of SUNDIALS: constrained motion as differential-algebraic equations
constraints   keeping a plant's constraints from Python, state by state
"""
