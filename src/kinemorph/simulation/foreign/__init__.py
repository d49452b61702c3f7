"""Integration methods of other libraries, behind the same interface as our own.

stepper       `ForeignStepper`: the interface of `Stepper` around a solver of another library
engines       SciPy's solvers and CVODE, each with the same two functions
ida           IDA of SUNDIALS: constrained motion as differential-algebraic equations
constraints   keeping a plant's constraints from Python, state by state
"""
