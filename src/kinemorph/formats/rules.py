"""The rules that model files are held to, by name. Every finding names the rule it comes from."""

from __future__ import annotations

RULES: dict[str, str] = {
    # the file
    "file": "the file can be read, has a known format, and keeps the limits of size, nesting and count",
    "syntax": "the text is well-formed XML, TOML or CSV",
    "entities": "no document type declaration, no entities",
    "structure": "elements and attributes that the format asks for are there, once, with known values",
    "unknown": "elements and attributes are ones that the format has, or that are known to be without effect",
    # names and topology
    "name": "names are unique, printable and not too long; names that are referred to exist",
    "root": "the bodies form trees with known roots",
    "loop": "a body with two parents says how its loop closes",
    "start": "the configuration at the start closes all loops",
    "assembly": "modules fit: their kinds are known, sides dock once, nothing overlaps, all hang together",
    # numbers
    "number": "numbers are numbers, and finite",
    "axis": "an axis is a direction of length 1",
    "limit": "lower limits lie below upper ones, and limits of speed and effort above 0",
    "rotation": "rotations are rotations",
    "unit": "a quantity has a unit of its kind",
    # mass
    "mass": "masses and moments of inertia are not negative",
    "triangle": "moments of inertia fulfill the triangle inequality",
    "massless": "a body without mass has no inertia, and hangs on one that has mass",
    "singular": "every motion meets some inertia",
    "roundtrip": "forward dynamics undoes inverse dynamics at a random state",
    "assumed": "numbers that matter are in the file, not filled in from the defaults of its format",
    # what cannot be had
    "mesh": "surfaces named in the file are there, within the folders that may be read",
    "path": "files that a model names lie within the folders that may be read",
    "dropped": "everything that the file says can be expressed",
    "data": "parts of a robot hold what the builder asks of them",
    "element": "what acts on the robot names parts that it has, and holds numbers that its law can do with",
}
