"""Equations as text, LaTeX, typst, MathML, pictures and SVG.

equations_of_motion   the equations of a robot as text, LaTeX, typst and MathML
shown_equations       the same as data for pages, folded by size, with what every symbol means
graph_equations       the matrices and equations of the kinematic graph as text, LaTeX, typst, MathML and SymPy
symbols               names of coordinates, parameters and outputs
typesetting           equations as a Matplotlib figure
formula_outlines      equations as SVG outlines
"""
