"""Writers of reports: one file for each format, all with the same function

    files(document, target, words)    the (path, bytes) of all files of a document, of which `target` is the main one

Each has one function `text` that turns a plain text into its format, and every text of a document passes it.

texts         plain texts of any origin, without characters that no format can show
layout        which columns of a table are broken into lines, the size of its letters, and whether it is turned
formulas      formulas in the notation of each format
typst, latex, html
"""
