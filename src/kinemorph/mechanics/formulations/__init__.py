"""Formulations: independent derivations of the same equations of motion.

table            the table of formulations; `derive(robot, formulation=...)` reads it
closed_form      all links in one stack of block matrices
lagrange         from the energies alone, by nested dual numbers
exponentials     products of exponentials along the paths of an organism
dense_dynamics   accelerations and derivatives for formulations that have no recursion for them
"""
