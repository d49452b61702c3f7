"""Assembling of docked modules in the studio.

assembly_view     the modules of a text: the grid with its modules, connectors, and mistakes at their cells
offered_docking   what would dock at a free port: the grown assembly, or the sentence why it cannot
ghosts            the picture of a module that would dock
measured_text     measured poses in a text with commas
linked_tables     the tables of an assembly, with the modules, joints and dockings that each cell is about
palette           the kinds of modules to choose from, with their pictures
"""
