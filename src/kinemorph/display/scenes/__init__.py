"""What is to be seen in three dimensions, as plain data: the viewer and the replay show the same scene.

scene       the data: surfaces, parts on bodies, marks between them, figures that move, and the scene around them
surfaces    triangles with normals, out of shapes; the looks of springs, arrows and other marks
figures     a robot as parts: its shapes, collisions, inertia, centers, frames, joints and graph
turning     orientations as quaternions that never jump
gliding     poses between two times
fixing      where points and axes of bodies are, at all times
readings    columns of a run at the times of a scene
marks       elements that join two points: springs, dampers, ropes, legs
fittings    elements that sit on a body: motors, spirals, sensors
driving     which joints are driven, and how hard
loads       forces and torques as arrows, all to one scale
grounds     the ground of contacts
staging     from a robot, a run or several to a scene

Nothing here knows a browser or a window.
"""
