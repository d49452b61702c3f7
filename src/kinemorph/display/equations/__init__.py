"""Equations as text, LaTeX, pictures and outlines.

equations_of_motion   the equations of a robot, to read
typesetting           equations as a picture
formula_outlines      equations as outlines in SVG
"""
