"""The studio: a browser application in which robots are assembled, edited, derived, simulated and reported.

open_studio   `open_studio(model)`: starts the server and returns at once
session       the state of one studio: its folder, its open documents, its connected pages
requests      the table of all questions that a page may ask
pictures      which 3-D scene each page sees
documents/    model files that are edited by commands, with a journal for undo
panels/       what each panel of the page shows: one file of requests per panel
workers/      processes in which runs and other long work are computed
page/         the page itself: ES modules, one per panel

The server decides and pages follow: a page sends a command, the document changes, and every page that shows this
document gets its new state.
"""
