"""The studio: a browser application in which robots are assembled, edited, derived, simulated and reported.

open_studio   `open_studio(model)`: starts the server and returns at once
session       the state of one studio: its folder, its open documents, its connected pages
requests      the table of all questions that a page may ask
panels/       what each panel of the page shows: one file of requests per panel
jobs/         work that the server has asked workers for: tasks of pages, runs with their results, live runs
transfers/    3-D scenes and files on their way to pages, and files that pages send
workers/      processes in which long work is done, and their pool
tasks/        what is done in these processes
assembling/   docked modules as the panel Assemble shows them
forms/        forms of model files, made from the schema of the format
documents/    model files that are edited by commands, with a journal for undo
schema/       what the JSON schema of model files says about a place in a file
page/         the page itself: ES modules, one per panel

The server decides and pages follow: a page sends a command, the document changes, and every page that shows this
document gets its new state.
"""
