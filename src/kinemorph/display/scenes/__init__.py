"""Scenes in three dimensions as plain data: every picture, film and page shows the same scene.

scene                the data: surfaces, parts on bodies, marks between them, figures that move
building             from a robot, a run or several to a scene
figures              a robot as parts: its shapes, collisions, inertia, frames, joints, graph; points over time
surfaces             triangles with normals, out of shapes; the looks of springs, arrows and other marks
pose_interpolation   poses between two times
sampled_columns      columns of a run at the times of a scene
marks, spans         elements that join two points: springs, dampers, ropes, legs
mounted_parts        elements that sit on a body: motors, spirals, sensors
driven_joints        which joints are driven, and how hard
loads                forces and torques as arrows, all to one scale
grounds              the ground of contacts
changing_robot       the figure of a run whose robot changes
usual_view           the usual camera of a scene, and the robot that it has to follow

Nothing here knows a browser or a window.
"""
