"""Equations as text, LaTeX, pictures and SVG.

equations_of_motion   the equations of a robot as text and LaTeX
symbols               names of coordinates, parameters and outputs
typesetting           equations as a Matplotlib figure
formula_outlines      equations as SVG outlines
"""
