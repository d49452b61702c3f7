"""The builder of robots: it collects parts, checks them once, and returns a robot.

builder          `RobotBuilder`
part_readers     converts raw arguments to bodies, joints, frames and couplings
part_checks      checks of single parts, and of all parts together
loop_cutting     chooses the tree joints and the joints that close loops
reversed_joint   a joint with parent and child exchanged
gears            gears and racks as couplings
regularity       checks that every joint moves some inertia
"""
