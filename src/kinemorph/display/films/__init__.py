"""Scenes as moving pictures, painted by ourselves: no window, no graphics card, the same on every machine.

actors      what is seen of a scene, as triangles at any of its times
rasters     triangles to samples: the nearest one at every sample, shaded, what is translucent over it
lighting    a lamp beside the viewer, light from the sky, and soft shadows on the ground
windows     how much of the world is in the picture, and where it lies
papers      what is around it: axes with figures, title, clock, names, notes, traces
floors      the level floor with its grid
easels      one frame after the other, from all of these
frames      frames that are painted when they are asked for
gifs        frames as an animated gif
videos      frames as an mp4
reels       which of the two a file becomes, and what it can show
"""
