"""Gaits as data: rhythms for many joints at once."""
