"""The conventions of Kinemorph, and conversions to and from those of Pinocchio, MuJoCo and Drake.

statement     the conventions of Kinemorph as text
conversions   conversion of states and velocities to and from other libraries
joint_rows    the same for the state of one joint, for each library and kind of joint
"""
