"""Pictures, pages, equations and tables of finished results. Nothing here computes physics.

looks/       what robots look like: surfaces, good configurations
scenes/      3-D scenes as plain data; every picture, film and page shows the same scene
painting/    3-D pictures and films, rendered without a window
charts/      plots and diagrams in two dimensions
equations/   equations as text, LaTeX and pictures
faces/       how every sheet is shown: terminal, cards, pages, blocks of documents in each language
tables/      sheets of systems and files, whose data come from several rooms
replays/     one self-contained page that plays a run or poses a robot
viewer/      a live viewer in a browser
study_pages/ a study as one page: pictures, a table of items, and replays of kept runs
reports/     a model and its runs as a document: PDF, LaTeX or one page, in English or French
notebooks/   the cards that Jupyter shows for robots, runs and results of checks
canvas       Matplotlib figures without a window; `series` chooses columns of runs to plot
cameras      words for the direction of view; `browsers` opens pages; `html` makes pieces of cards

Matplotlib and rich are imported when something is drawn or printed, never by importing a module of this room.
"""
