"""Reports: a model and its runs as a document, written as PDF, LaTeX source or one HTML page, in English or French.

subject    what a report is about: a model, and runs of it
chapters   one file for each chapter: a function from the subject to a section
signing    the signature: verdict and model attached to a report, and how they are computed again
errata_used   which errata of the papers bear on a model
writers    one file for each format: a function from a document (`display.faces.document`) to the bytes of its files
report     `report`: chooses the chapters, makes the document and writes it
"""
