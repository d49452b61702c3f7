"""Sweeps: a model is run for all items of a space; the study that comes out of it."""
