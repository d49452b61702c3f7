"""Robots from model files: five seconds of each in Kinemorph and in MuJoCo, compared at equal error."""
