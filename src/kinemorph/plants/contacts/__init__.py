"""Rigid contacts of a plant: their rows and the space of their forces, and the motion while they are closed."""
