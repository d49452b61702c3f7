"""Quadrupeds on terrain: what a height map costs compared with a plane, in Kinemorph and in MuJoCo."""
