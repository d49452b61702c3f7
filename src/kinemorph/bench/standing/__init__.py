"""Hexapods on the ground, here and in MuJoCo, compared at equal error."""
