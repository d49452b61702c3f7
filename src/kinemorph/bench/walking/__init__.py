"""Ten seconds of AMRU5 walking, in Kinemorph and in MuJoCo, compared at equal error."""
