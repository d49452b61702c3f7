"""Quadrupeds on terrain: what a map costs beside a plane, in Kinemorph and in MuJoCo."""
