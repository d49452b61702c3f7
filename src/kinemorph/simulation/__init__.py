"""What happens: the only room that advances t.

`run` is the table of contents: `simulate` marches a plant from sample to sample. `marching` writes the loop program of
a march, once for all methods; `integrators/` holds the methods as data, and how each family takes one step.
`trajectory` is what a run gives.
"""
