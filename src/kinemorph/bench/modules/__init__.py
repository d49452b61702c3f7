"""Assemblies of modules: how times grow with the number of modules, forward dynamics, the time to a new topology."""
