"""What we see: pictures, equations and tables of finished results. Nothing here computes physics.

drawing          a robot in 3-D, on a `stage`; `solids` makes surfaces of shapes, `outlines` shapes for bodies without
plots            runs over time; `series` chooses columns, `runs` names runs, `event_marks` marks events
portraits        phase portraits
pole_maps        poles in the complex plane; `mode_pictures` draws mode shapes
animation        moving pictures, painted in `films`; `cameras` are the words for where one looks from
figures          mass matrix, operation counts, tree; `canvas` makes figures without a window
graph_pictures   expression graphs, values alive; `layering` finds places for the nodes
equations        equations of motion to read, as text or LaTeX; `typesetting` makes pictures of them
summaries        results as plain data; `tables` shows the same data in a terminal
run_summaries    the same of runs, poles and equilibria, with `run_tables`
menu             the names of a derived robot's functions
emitting         what `kinemorph derive` gives, in any form
environment      what `kinemorph doctor` finds out
showcase         what `kinemorph demo` makes

Matplotlib and rich are imported when something is drawn or printed, never by importing a module of this room.
"""
