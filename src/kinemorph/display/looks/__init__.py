"""What robots look like: surfaces for shapes, shapes for bodies without any, good configurations.

solids           shapes as facets
outlines         shapes for bodies that have none
mesh_surfaces    surfaces of mesh files
robot_surface    the surface of a robot, made once and carried by its poses
combined_robot   one robot that stands for several, which a run has in turn
stances          configurations that show a robot well
quaternions      orientations over time as quaternions that do not jump
"""
