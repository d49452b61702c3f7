"""URDF: links and joints as ROS writes them. `reader` and `writer`; the reader's parts are a file each."""
