"""Faces: how every sheet is shown, whatever result it comes from. A sheet is data (`kinemorph.sheet`).

blocks      a sheet in one language: paragraphs, tables and pictures in which all numbers and texts are written out
terminal    blocks in a terminal, and as plain text
card        a sheet as the HTML card of a notebook
page        a sheet as objects that a page of the studio draws
document    blocks as data, and whole documents, which the writers of reports print
grid        tables of texts: for a terminal, as text, Markdown, LaTeX and HTML
languages   texts and numbers in each language
thumbnails  the small pictures on cards

JSON is the method `data` of a sheet.
"""
