"""Assembling of docked modules in the studio.

assembly_view     the modules of a text: the grid with its modules, connectors, and mistakes at their cells
ghosts            the picture of a module that would dock
linked_tables     the tables of an assembly, with the modules, joints and dockings that each cell is about
palette           the kinds of modules to choose from, with their pictures
"""
