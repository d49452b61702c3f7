"""Pictures in three dimensions, still and moving, painted without a window or a graphics card.

draw          a robot as a picture; `axes3d`: its box, axes and ground
stills        one moment of a run or a model
animate       films of runs and of mode shapes
mode_shapes   mode shapes side by side
painter       one frame after the other: page, floor, bodies, text
triangles     what is seen of a scene at any of its times
rasters       triangles to pixels: the nearest at every pixel, shaded
lighting      a lamp beside the viewer, light from the sky, soft shadows
view_window   how much of the world is in the picture
page          axes, title, clock, names, notes and traces around it
floors        the level floor with its grid
film_files    gif or mp4 by the ending of a file name; `frames`, `gifs`, `videos`
"""
