"""SDF, the format of Gazebo: models may be nested and included, and poses may be relative to any frame.

reader        reads a file, with the other files of this folder
files         finds and parses the files that are included
models        opens nested and included models
frames        computes poses and finds the body of each frame
links, solids, joints, couplings        read the parts of models
tree          chooses the root of each group of links and the direction of joints
assembly      declares bodies, joints and frames
values        reads numbers, switches and poses
writer, written_shapes        write a file, with a sidecar for what SDF does not have
"""
