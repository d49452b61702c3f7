"""Programs as text of other languages: Python, MATLAB, SymPy, LaTeX, plain text.

languages        what a scripting language is: a table of spellings
scripting        the walk over a program that Python and MATLAB share
python, matlab   modules and function files
sympy_matrices, sympy_source   symbolic matrices, and a module that builds them
latex, plain     equations to read
"""
