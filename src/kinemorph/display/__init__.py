"""What we see: pictures, equations and tables of finished results. Nothing here computes physics.

drawing          a robot in 3-D, on a `stage`; `solids` makes surfaces of shapes, `outlines` shapes for bodies without
plots            runs over time; `series` chooses columns, `runs` names runs, `event_marks` marks events
portraits        phase portraits
pole_maps        poles in the complex plane; `mode_pictures` draws mode shapes
scenes/          what is to be seen in 3-D as plain data; the three faces below show it
  replays/       one self-contained page that plays a run or poses a robot
  viewer/        the same live, in a browser
  films/         gif and mp4 for `animation`, painted without a window
cameras          words for where one looks from; `stances` shows robots well; `browsers` opens pages
notebooks/       cards of robots, runs and verdicts
figures          mass matrix, operation counts, tree; `canvas` makes figures without a window
graph_pictures   expression graphs, values alive; `layering` finds places for the nodes
equations        equations of motion to read, as text or LaTeX; `typesetting` makes pictures of them
summaries        results as plain data; `tables` shows the same data in a terminal
run_summaries    the same of runs, poles and equilibria, with `run_tables`
menu             the names of a derived robot's functions
emitting         what `kinemorph derive` gives, in any form
environment      what `kinemorph doctor` finds out
crawl_pictures   the way of an organism from above, its angles and torques; `stills` paints one moment of a run
crawl_showcase   what `kinemorph demo` makes of nine modules; `showcase` of any other robot

Matplotlib and rich are imported when something is drawn or printed, never by importing a module of this room.
"""
