"""URDF, the format of ROS. `reader` and `writer`; links, joints, shapes, loops and transmissions have a file each."""
