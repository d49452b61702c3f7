"""The laws of elements, over any scalar: one file per family, named like the file in model.elements that has its data.

checks                names and counts in the data of an element that have to be right for a robot
law                   the interface of laws, and the table that joins laws to data
ensemble              all elements of a system: indices of their numbers, connections of their signals
instant               a system at one instant, as its elements see it
places, relative      points and frames at which elements act, and their motion
saturation            numbers and forces between limits
"""
