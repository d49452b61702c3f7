"""`kinemorph bench programs`: programs in C beside PyDy, beside `simulate`, and FMUs beside PythonFMU.

compare         the rows
pydy_pendulum   the double pendulum by Kane's method, as a function that PyDy generates, under SciPy's solvers
panda_fmus      Panda as two FMUs, ours and one of PythonFMU around Pinocchio
fmu_master.c    steps two FMUs in turns
processes       programs that are built and run, with their CPU times
"""
