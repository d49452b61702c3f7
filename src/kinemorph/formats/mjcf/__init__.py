"""MJCF, the format of MuJoCo, read through MuJoCo's own compiler.

reader                          reads a file: `files`, then `compiler`, then `model`
files                           checks and collects all files that a model names
compiler, child                 run MuJoCo's compiler in a separate process with limits
model                           makes a System of the compiled model, with `shapes`, `equalities` and `drives`
writer                          writes a System, with `text`, `parts` and `inertia`
"""
