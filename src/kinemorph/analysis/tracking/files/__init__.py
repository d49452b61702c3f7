"""Files of markers: one Python file for each format, with a function `read`, and `write` if it can be written.

raw_markers     what a file holds, before it becomes `Markers`; units of length and time
comma_tables    .csv, .tsv and .txt: wide tables (three columns for each marker) and long ones (one line per point)
trc             .trc, the text format of Motion Analysis that OpenSim reads
c3d_points      .c3d, the binary format of motion laboratories, through the package c3d
"""
