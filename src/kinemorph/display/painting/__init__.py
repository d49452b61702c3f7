"""Pictures in three dimensions, still and moving, painted without a window or a graphics card.

draw          a robot, or one moment of a run, as a picture
animate       films of runs and of mode shapes
draw_modes   mode shapes side by side
painter       a scene on a page at any of its times: floor, bodies, text
triangles     a scene as triangles at any of its times
rasters       triangles to pixels: the nearest at every pixel, shaded
lighting      a lamp beside the viewer, light from the sky, soft shadows
view_window   how much of the world is in the picture
page          axes, title, clock, names, notes and traces around it
floors        the level floor with its grid
film_files    frames to a gif or mp4, by the ending of the file name; `videos` runs ffmpeg for mp4

Every picture of a robot is painted by `painter`; Matplotlib adds text, lines and axes.
"""
