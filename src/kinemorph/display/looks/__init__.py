"""What robots look like: surfaces of shapes, simple shapes for bodies that have none, configurations that look good.

solids           the surface of each shape, as facets
outlines         the shapes of a body: its own, mesh files, or simple ones where it has none
poses            poses of all bodies in many configurations
postures         the configuration in which a robot without a run is shown
combined_robot   one robot that stands for the several robots of a run with docking events
quaternions      orientations over time as quaternions that do not jump
"""
