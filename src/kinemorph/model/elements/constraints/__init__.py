"""Constraints as data: guided points, rolling wheels, prescribed motions, equations of the user."""
