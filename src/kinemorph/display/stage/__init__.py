"""The stage: scripts that show a scene in a browser, for replays, notebooks and pages of a server alike.

stage.js    opens a stage in an element of a page: `openStage(host, scene, options)`
unpack.js   decodes a packed scene
layout, elements, controls, chart, sliders, steering, playing
            the elements of a stage, what people do with them, and the clock
motion/     poses of bodies from coordinates, and loops that stay closed
picture/    the camera, and the renderer on WebGL2
stage.css   styles, all below the class `stage`
bundle      joins scripts into one text

The scripts are ES modules, which are joined for every page: a server gives them to the browser as one module, and a
page that loads nothing contains them. All are in one scope then, so each name at the top of a file exists only once in
all files.
"""
