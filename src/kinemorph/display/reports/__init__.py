"""Reports: a model and its runs as a document, written as PDF, LaTeX source or one HTML page, in English or French.

document   the document as data: sections of paragraphs, tables, formulas, figures, listings and verdicts
subject    what a report is about: a model, and runs of it
chapters   one file for each chapter: a function from the subject to a section
languages  the texts of reports in each language, and how numbers are written
signing    the signature: verdict and model attached to a report, and how they are computed again
errata_used   which errata of the papers bear on a model
writers    one file for each format: a function from a document to the bytes of its files
report     `report`: chooses the chapters, makes the document and writes it
"""
