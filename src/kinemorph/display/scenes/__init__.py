"""What is to be seen in three dimensions, as plain data: the viewer and the replay show the same scene.

scene       the data: surfaces, parts on bodies, marks between them, figures that move, and the scene around them
surfaces    triangles with normals, out of shapes; the looks of springs, arrows and other marks
figures     a robot as parts: its shapes, collisions, inertia, centers, frames, joints and graph
turning     orientations as quaternions that never jump
marks       elements as one sees them: springs, motors, forces of contacts
grounds     the ground of contacts
staging     from a robot, a run or several to a scene

Nothing here knows a browser or a window.
"""
