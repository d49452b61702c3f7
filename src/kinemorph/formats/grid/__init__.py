"""Grids of modules in text."""
