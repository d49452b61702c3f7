"""3-D pictures and films, rendered in software: they need neither a window nor a graphics card.

draw          pictures of a robot, or of a run at one time
animate       films of runs and of mode shapes
draw_modes    pictures of mode shapes side by side
painter       renders a scene at one of its times on a page: floor, bodies, text
triangles     a scene as triangles at each of its times
rasters       rasterization: triangles to pixels, with a depth buffer
lighting      a lamp beside the viewer, light from the sky, soft shadows
view_window   the part of the world that a picture shows
page          axes, title, clock, names, notes and traces around a picture
floors        the level floor with its grid
ground_picture  slopes and terrain, rendered once for all frames of a film
film_files    frames to a gif or mp4, by the file's suffix; `videos` runs ffmpeg for mp4

Every picture of a robot is rendered by `painter`; Matplotlib adds text, lines and axes.
"""
