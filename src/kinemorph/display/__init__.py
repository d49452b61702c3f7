"""What we see: pictures, equations and tables of finished results. Nothing here computes physics.

drawing          a robot in 3-D, on a `stage`; `solids` makes surfaces of shapes, `outlines` shapes for bodies without
figures          mass matrix, operation counts, tree; `canvas` makes figures without a window
graph_pictures   expression graphs, values alive; `layering` finds places for the nodes
equations        equations of motion to read, as text or LaTeX; `typesetting` makes pictures of them
summaries        results as plain data; `tables` shows the same data in a terminal
menu             the names of a derived robot's functions
emitting         what `kinemorph derive` gives, in any form
environment      what `kinemorph doctor` finds out
showcase         what `kinemorph demo` makes

Matplotlib and rich are imported when something is drawn or printed, never by importing a module of this room.
"""
