"""The strict builder: a robot is collected part by part, and checked once.

builder          `RobotBuilder`
part_readers     from a part as declared to the part as kept
part_checks      what must hold for each part, and for the parts together
loop_cutting     which joints carry bodies, and which close loops
reversed_joint   a joint with parent and child exchanged
gears            gears and racks as couplings
regularity       whether a finite force accelerates every joint
"""
