"""Time per evaluation, time to compile, time to load."""
