"""The cockroach on the ground, in Kinemorph and in MuJoCo, compared at equal error."""
