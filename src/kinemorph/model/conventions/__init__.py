"""Conventions: ours, and those of Pinocchio, MuJoCo and Drake.

statement     our conventions, stated once
conversions   states and velocities to and from other libraries
joint_rows    how each library writes the state of one joint
"""
