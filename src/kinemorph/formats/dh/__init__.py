"""Tables of Denavit-Hartenberg parameters, standard and modified. `reader` with `rows` and `tables`; `writer` with
`normals`.
"""
