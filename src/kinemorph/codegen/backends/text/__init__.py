"""Programs as source code or equations: Python, MATLAB, SymPy, LaTeX, typst, MathML, plain text.

languages        `Language`: a table of how a scripting language writes operations and statements
scripting        the code generator that Python and MATLAB share
python, matlab   Python modules, and MATLAB function files
sympy_matrices, sympy_source   SymPy matrices, and Python modules that build them
latex, typst, mathml   readable equations as printed formulas
plain            readable equations as text
"""
