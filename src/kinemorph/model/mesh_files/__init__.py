"""Mesh files: one file for each format that is read here, all with the same function from bytes to triangles."""
