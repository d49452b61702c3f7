"""MJCF through MuJoCo's own compiler. `files` gathers all that a model names, `compiler` and `child` run MuJoCo in a
limited process, `reader` makes a robot of what it gives; `writer` with `text`, `parts` and `inertia`.
"""
