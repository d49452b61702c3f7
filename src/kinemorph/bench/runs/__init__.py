"""Runs of robots without contact: the same motion in several simulators, at equal accuracy."""
