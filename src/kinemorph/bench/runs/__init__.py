"""Runs through time: the same motion in several simulators."""
