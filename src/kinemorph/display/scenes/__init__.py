"""3-D scenes as plain data: every picture, film and page shows the same scene.

scene                the data: surfaces, parts fixed to bodies, marks between points, figures (robots) that move
building             makes a scene from robots, systems and runs
figures              a robot as parts: its shapes, collisions, inertia, frames, joints, graph; points over time
surfaces             triangles with normals, made from shapes; the looks of springs, arrows and other marks
easyanim             scenes as files of EasyDyn's viewer: geometry, frames, modes
program_scene        the shapes of a robot for its program, which writes such files itself
pose_interpolation   poses between two times
sampled_columns      columns of a run at the times of a scene
marks, spans         elements between two points (springs, dampers, ropes, legs), and where they are at each time
mounted_parts        elements that are fixed to a body: motors, torsion springs, sensors
driven_joints        which joints are driven, and with which efforts
loads                forces and torques as arrows, all to one scale
grounds              the ground of contacts
changing_robot       the figure of a run whose robot changes
usual_view           the default camera of a scene, and the body that it follows

Nothing here depends on a browser or a window.
"""
