"""Grids: text files that show docked modules as cells, seen from above."""
