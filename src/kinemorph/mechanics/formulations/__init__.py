"""Formulations: independent derivations of the same equations of motion.

table            the table of formulations; `derive(robot, formulation=...)` reads it
formulation      what a formulation provides, and how M and inverse dynamics give the rest of it
closed_form      all links in one stack of block matrices, each in the frame of its link
incidence        the kinematic graph and its incidence matrix, everything seen from the world
quasicoordinates absolute and relative angular velocities of all bodies; its blocks are in quasi_matrices
lagrange         from the energies alone, by nested dual numbers
dalembert        from the positions of the bodies alone, by dual numbers
exponentials     products of exponentials along the paths of an organism
driven_dynamics  any formulation for robots with driven joints, in the coordinates of the state
block_products   products of matrices of blocks
"""
