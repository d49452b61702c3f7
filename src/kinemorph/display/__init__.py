"""What we see: pictures, pages, equations and tables of finished results. Nothing here computes physics.

looks/       what robots look like: surfaces, good configurations
scenes/      scenes in 3-D, as plain data; every face below shows the same scene
painting/    pictures and films, painted without a window
charts/      plots and diagrams in two dimensions
equations/   equations as text, LaTeX and pictures
tables/      results as plain data, and as tables
replays/     one self-contained page that plays a run or poses a robot
viewer/      the same live, in a browser
notebooks/   cards of robots, runs and verdicts
canvas       Matplotlib figures without a window; `series` chooses columns of runs to plot
cameras      words for the direction of view; `browsers` opens pages; `html` are pieces of pages

Matplotlib and rich are imported when something is drawn or printed, never by importing a module of this room.
"""
