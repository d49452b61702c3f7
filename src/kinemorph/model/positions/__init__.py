"""Robots from position matrices: bodies are placed by products of elementary transforms in named coordinates.

position_builder   `PositionBuilder` collects coordinates, dependent quantities and bodies, and returns a robot
position_tree      the transforms of all bodies as one tree of elementary joints
position_text      transforms as text: "Trotz(q0) * Tdisp(0, -l0 / 2, 0)"
rebuilding         the builder that a robot was made by
joint_positions    the position matrices of a robot that is made of joints
"""
