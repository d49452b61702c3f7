"""Assemblies of modules: growth with their number, forward dynamics, time to a new topology."""
