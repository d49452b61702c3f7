"""A lamp as a URDF with a mesh, and with tags of other programs."""

from __future__ import annotations

import struct


def triangle() -> bytes:
    """A triangle as binary STL."""
    return bytes(80) + struct.pack("<I12fH", 1, 0, 0, 1, 0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 0)


URDF = """<robot name="lamp"><link name="base"/><link name="arm"><inertial><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="meshes/arm.stl"/></geometry></visual></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="5" velocity="2"/><safety_controller k_velocity="1"/></joint>
<gazebo reference="arm"><mu1>0.5</mu1></gazebo></robot>"""
