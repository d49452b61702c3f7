"""Equations as text, LaTeX, pictures and SVG.

equations_of_motion   the equations of a robot as text and LaTeX
graph_equations       the matrices and equations of the kinematic graph as text, LaTeX and SymPy
symbols               names of coordinates, parameters and outputs
typesetting           equations as a Matplotlib figure
formula_outlines      equations as SVG outlines
"""
