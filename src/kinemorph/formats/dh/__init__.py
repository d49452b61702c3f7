"""Tables of Denavit-Hartenberg parameters, standard and modified.

reader      makes a robot of a table
tables      reads the text of a table
rows        the rows of a table and their poses
writer      writes a serial arm as a table
normals     computes the parameters from the axes of an arm
"""
