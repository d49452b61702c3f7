"""Forms of model files, made from the JSON schema of the format: none is written by hand.

form     the fields of a table with their values, and how the text of a field is read
parts    all parts of a file as a tree, new parts, and names that other parts refer to
"""
