"""What is wrong with a URDF, or doubtful: each mistake with its line, and the whole sentence that a reader gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from kinemorph.formats.findings import Finding, Findings
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.urdf import reader as urdf
from support.texts.urdf_texts import CHAIN, LIMIT, MASS, arm, joint, link, read, robot
from support.tools.each_case import each_case

XACRO = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"'
ENDS = '<link1 link="b"/><link2 link="c"/>'
MOTOR = '<actuator name="m"/><joint name="j"/>'


def drawn(inside: str, place: str = "visual") -> str:
    return robot(link("a", f"<{place}>{inside}</{place}>{MASS}"))


def looped(inside: str, tag: str = "loop_joint", kind: str = "spherical", name: str = "l") -> str:
    tree = (link("a"), link("b"), link("c"), joint("j", "continuous", "a", "b"), joint("k", "continuous", "a", "c"))
    return robot(*tree, f'<{tag} name="{name}" type="{kind}">{inside}</{tag}>')


def driven(inside: str, kind: str = "continuous") -> str:
    return robot(link("a"), link("b"), joint("j", kind, "a", "b"), f'<transmission name="t">{inside}</transmission>')


def sentences(found: list[Finding]) -> str:
    """All findings, one per line: severity, line, sentences and rule."""
    return "\n".join(f"{one.severity} {str(one).partition(':')[2].strip()}" for one in found)


# (text of the file, what is said of it)
MISTAKES = [
    # joints
    (arm(LIMIT, 'revolut'),
     "error 6: joint 'j': the type is 'revolut', expected one of revolute, continuous, prismatic, fixed, floating, "
     "planar, spherical, ball, universal, screw, helical, cylindrical. Did you mean 'revolute'? [structure]"),
    (arm(LIMIT, 'xyz'),
     "error 6: joint 'j': the type is 'xyz', expected one of revolute, continuous, prismatic, fixed, floating, "
     "planar, spherical, ball, universal, screw, helical, cylindrical. Choose one of these. [structure]"),
    (arm().replace(' type="revolute"', ''),
     "error 6: joint 'j': the type is missing, expected one of revolute, continuous, prismatic, fixed, floating, "
     "planar, spherical, ball, universal, screw, helical, cylindrical. Choose one of these. [structure]"),
    (arm().replace('name="j" ', ''),
     "error 6: joint: <joint>: attribute 'name' is missing, expected text. Write <joint name=\"...\">. [structure]"),
    (arm().replace('<parent link="a"/>', ''),
     "error 6: joint 'j': <parent> is missing, expected exactly one. Add <parent link=\"...\"/> with the name of a "
     "link. [structure]"),
    (arm().replace('<child link="b"/>', ''),
     "error 6: joint 'j': <child> is missing, expected exactly one. Add <child link=\"...\"/> with the name of a "
     "link. [structure]"),
    (arm().replace('<child link="b"/>', '<child/>'),
     "error 6: joint 'j': <child>: attribute 'link' is missing, expected text. Write <child link=\"...\">. "
     "[structure]"),
    (arm().replace('<axis xyz="1 0 0"/>', ''),
     "warning 6: joint 'j': a revolute joint has no <axis>: URDF's default 1 0 0 is used. Add <axis xyz=\"...\"/> "
     "with the direction. [assumed]"),
    (arm('<axis xyz="0 3 4"/>' + LIMIT),
     "warning 6: joint 'j': <axis> xyz is '0 3 4' with length 5, expected 1: it is scaled. Write <axis xyz=\"0 "
     '0.59999999999999998 0.80000000000000004"/>. [axis]'),
    (arm('<axis xyz="0 0 0"/>' + LIMIT),
     "error 6: joint 'j': <axis> xyz is '0 0 0', expected a direction of length 1. Give the direction of the joint, "
     "such as 0 0 1. [axis]"),
    (arm('<axis xyz="nan 0 1"/>' + LIMIT),
     "error 6: joint 'j': <axis> xyz is 'nan', expected a finite number. Write a finite number. [number]"),
    (arm('<axis xyz="0 1"/>' + LIMIT),
     "error 6: joint 'j': <axis> xyz is '0 1' with 2 numbers, expected 3. Write exactly 3 numbers. [number]"),
    (arm('<axis xyz="0 b 1"/>' + LIMIT),
     "error 6: joint 'j': <axis> xyz is 'b', expected a number. Write a number such as 0.5. [number]"),
    (arm('<axis xyz="0,0,1"/>' + LIMIT),
     "error 6: joint 'j': <axis> xyz is '0,0,1', expected 3 numbers with decimal points, separated by spaces. Write "
     "'0 0 1'. [number]"),
    (arm('<axis xyz="0 0 0,5"/>' + LIMIT),
     "error 6: joint 'j': <axis> xyz is '0 0 0,5', expected 3 numbers with decimal points, separated by spaces. "
     "Write '0 0 0.5'. [number]"),
    (arm('<axis/>' + LIMIT),
     "error 6: joint 'j': <axis>: attribute 'xyz' is missing, expected 3 numbers. Write <axis xyz=\"...\">. "
     "[structure]"),
    (arm('', 'screw'),
     "error 6: joint 'j': a screw joint has no <screw_thread_pitch>, expected its travel per turn [m]. Add "
     '<screw_thread_pitch value="..."/>. [structure]'),
    (arm(''),
     "warning 6: joint 'j': a revolute joint has no <limit>, expected one: no limits are assumed. Add <limit "
     'lower="..." upper="..." effort="..." velocity="..."/>. [limit]'),
    (arm('', 'prismatic'),
     "warning 6: joint 'j': a prismatic joint has no <limit>, expected one: no limits are assumed. Add <limit "
     'lower="..." upper="..." effort="..." velocity="..."/>. [limit]'),
    (arm('<limit lower="1" upper="-1" effort="1" velocity="1"/>'),
     "warning 6: joint 'j': the lower limit 1 is above the upper limit -1: no limits are assumed. Exchange the two "
     "limits, or make the joint continuous. [limit]"),
    (arm('<limit lower="nan" upper="1" effort="1" velocity="1"/>'),
     "error 6: joint 'j': <limit> lower is 'nan', expected a finite number. Write a finite number. [number]"),
    (arm('<limit lower="-1" upper="1" effort="none" velocity="1"/>'),
     "warning 6: joint 'j': <limit> effort is 'none', expected a number: it is left out. Write a number such as 0.5. "
     "[number]"),
    (arm('<limit lower="-1" upper="1" effort="0" velocity="3"/>'),
     "warning 6: joint 'j': the effort limit is 0, expected above 0: no limit is assumed. Write the true limit, or "
     "leave effort out. [limit]"),
    (arm('<limit lower="-1" upper="1" effort="3" velocity="-3"/>'),
     "warning 6: joint 'j': the velocity limit is -3, expected above 0: no limit is assumed. Write the true limit, "
     "or leave velocity out. [limit]"),
    (arm('<limit lower="-1" uper="1" effort="1" velocity="1"/>'),
     "warning 6: joint 'j': <limit>: the attribute 'uper' is not known, so it has no effect. Did you mean 'upper'? "
     "[unknown]"),
    (arm('<limit lower="-1" upper="1"/>', 'continuous'),
     "warning 6: joint 'j': limits from -1 to 1 are given, but a continuous joint has none: they are not used. Make "
     "the joint revolute, or remove lower and upper. [limit]"),
    (arm('<limit lower="-1" upper="1" effort="1"/>', 'planar'),
     "warning 6: joint 'j': <limit> of a planar joint is not used, because the joint has several coordinates. Give "
     "the limits in a TOML file if you need them. [dropped]"),
    (arm(LIMIT + '<dynamics damping="-1"/>'),
     "warning 6: joint 'j': <dynamics> damping is -1, expected at least 0: 0 is assumed. Change the sign of damping, "
     "or leave it out. [data]"),
    (arm(LIMIT + '<dynamics damping="1" friction="-2"/>'),
     "warning 6: joint 'j': <dynamics> friction is -2, expected at least 0: 0 is assumed. Change the sign of "
     "friction, or leave it out. [data]"),
    (arm(LIMIT + '<dynamics damping="-1" friction="-2"/>'),
     "warning 6: joint 'j': <dynamics> damping is -1, expected at least 0: 0 is assumed. Change the sign of damping, "
     "or leave it out. [data]\n"
     "warning 6: joint 'j': <dynamics> friction is -2, expected at least 0: 0 is assumed. Change the sign of "
     "friction, or leave it out. [data]"),
    (arm(LIMIT + '<dynamics damping="x"/>'),
     "error 6: joint 'j': <dynamics> damping is 'x', expected a number. Write a number such as 0.5. [number]"),
    (arm(LIMIT + '<dynamics dampening="1"/>'),
     "warning 6: joint 'j': <dynamics>: the attribute 'dampening' is not known, so it has no effect. Did you mean "
     "'damping'? [unknown]"),
    (arm(LIMIT + '<mimic joint="nobody"/>'),
     "warning 6: joint 'j': <mimic> names joint 'nobody', which does not exist: this joint moves independently. "
     "Correct the name. [name]"),
    (arm(LIMIT + '<mimic multiplier="2"/>'),
     "error 6: joint 'j': <mimic>: attribute 'joint' is missing, expected text. Write <mimic joint=\"...\">. "
     "[structure]"),
    (arm(LIMIT + '<mimic joint="j" multiplyer="2"/>'),
     "warning 6: joint 'j': <mimic>: the attribute 'multiplyer' is not known, so it has no effect. Did you mean "
     "'multiplier'? [unknown]\n"
     "error 6: coupling 'j': the joint follows itself in a cycle of couplings. Remove one of them. [data]"),
    (arm(LIMIT + '<orgin xyz="0 0 1"/>'),
     "warning 6: joint 'j': <orgin> is not an element that <joint> can contain, so it has no effect. Did you mean "
     "'origin'? [unknown]"),
    (arm(LIMIT + '<spring k="1"/>'),
     "warning 6: joint 'j': <spring> is not an element that <joint> can contain, so it has no effect. Remove it, or "
     "correct its name. [unknown]"),
    (arm(LIMIT + '<origin xyz="0 0 1"/><origin xyz="0 0 2"/>'),
     "warning 6: joint 'j': <origin> appears more than once, expected once: the first one is used. Remove all but "
     "one. [structure]"),
    (arm(LIMIT + '<origin xyz="0 0 1" rpz="0 0 0"/>'),
     "warning 6: joint 'j': <origin>: the attribute 'rpz' is not known, so it has no effect. Remove it, or correct "
     "its name. [unknown]"),
    (arm(LIMIT + '<origin rpy="0 90 0"/>'),
     "warning 6: joint 'j': <origin> rpy is '0 90 0': the angle 90 rad is more than a full turn; it is used as "
     "written, but degrees may be meant. Write 1.57079633 if 90 degrees are meant. [unit]"),
    # links
    (robot('<link/>', link('a')),
     "error 2: link: <link>: attribute 'name' is missing, expected text. Write <link name=\"...\">. [structure]"),
    (robot(link('a', MASS.replace('<mass value="2"/>', ''))),
     "warning 3: link 'a': <inertial> has no <mass>, expected exactly one: no mass is assumed. Add <mass>, or remove "
     "<inertial> if the link has no mass. [assumed]"),
    (robot(link('a', '<inertial><mass value="2"/></inertial>')),
     "warning 3: link 'a': <inertial> has no <inertia>, expected exactly one: a point mass is assumed. Add <inertia> "
     "with the moments of inertia. [assumed]"),
    (robot(link('a', MASS.replace('ixy="0" ixz="0" ', ''))),
     "warning 3: link 'a': <inertia> has no ixy, ixz, expected six numbers: 0 is assumed. Write ixy=\"0\". [assumed]"),
    (robot(link('a', MASS.replace('value="2"', 'value="2,5"'))),
     "error 3: link 'a': <mass> value is '2,5', expected a number. Write a point for the decimal comma: '2.5'. "
     "[number]"),
    (robot(link('a', MASS.replace('value="2"', 'value="${m}"'))),
     "error 3: link 'a': <mass> value is '${m}', expected a number. Give the file the ending .xacro, so that its "
     "macros are expanded. [number]"),
    (robot(link('a', MASS.replace(' value="2"', ''))),
     "error 3: link 'a': <mass>: attribute 'value' is missing, expected a number. Write <mass value=\"...\">. "
     "[structure]"),
    (robot(link('a', MASS.replace('value="2"', 'value="-2"'))),
     "error 2: link 'a': mass is -2 kg, expected more than 0. Correct its mass data. [mass]"),
    (robot(link('a', MASS.replace('izz=".1"', 'izz=".3"')), link('b'), joint('j', 'continuous', 'a', 'b')),
     "warning 2: link 'a': principal moments are 0.1, 0.1, 0.3 kg m^2: the triangle inequality fails, 0.1 + 0.1 < "
     "0.3; no mass distribution has these; check that the moment is about the center of mass and in the body's axes. "
     "Correct its mass data. [triangle]"),
    (robot(link('a', MASS.replace('</inertial>', '<density/></inertial>'))),
     "warning 3: link 'a': <density> is not an element that <inertial> can contain, so it has no effect. Remove it, "
     "or correct its name. [unknown]"),
    (robot(link('a', MASS + MASS)),
     "warning 3: link 'a': <inertial> appears more than once, expected once: the first one is used. Remove all but "
     "one. [structure]"),
    (robot(link('a', MASS + '<visul/>')),
     "warning 3: link 'a': <visul> is not an element that <link> can contain, so it has no effect. Did you mean "
     "'visual'? [unknown]"),
    (robot(link('a', MASS + '<gravity>0</gravity>')),
     "warning 3: link 'a': <gravity> is not supported, so it has no effect. Add it to the simulation in Python if "
     "you need it. [dropped]"),
    (robot(link('a', MASS + '<contact><rolling_friction value="1"/></contact>')),
     "warning 3: link 'a': <rolling_friction> in <contact> has no effect. Expect a contact without it. [dropped]"),
    (robot(link('a', MASS + '<contact><stiffness value="hard"/></contact>')),
     "warning 3: link 'a': <stiffness> is 'hard', expected a number: it is left out. Write a number. [data]"),
    # shapes
    (drawn(''),
     "warning 3: link 'a': <visual> has no shape inside <geometry>, expected one of mesh, box, cylinder, sphere, "
     "capsule: it is left out. Add a shape, or remove <visual>. [structure]"),
    (drawn('<geometry><ball/></geometry>'),
     "warning 3: link 'a': <ball> is not an element that <geometry> can contain, so it has no effect. Remove it, or "
     "correct its name. [unknown]\n"
     "warning 3: link 'a': <visual> has no shape inside <geometry>, expected one of mesh, box, cylinder, sphere, "
     "capsule: it is left out. Add a shape, or remove <visual>. [structure]"),
    (drawn('<geometry><box size="1 1 1"/><sphere radius="1"/></geometry>'),
     "warning 3: link 'a': <sphere> appears more than once, expected once: the first one is used. Remove all but "
     "one. [structure]"),
    (drawn('<geometry><box size="1 1"/></geometry>'),
     "warning 3: link 'a': <box> size is '1 1' with 2 numbers, expected 3: it is left out. Write exactly 3 numbers. "
     "[number]"),
    (drawn('<geometry><box size="1 1 0"/></geometry>'),
     "warning 3: link 'a': <box> has the size 0, expected above 0: it is left out. Write sizes above 0, or remove "
     "the shape. [data]"),
    (drawn('<geometry><sphere/></geometry>'),
     "warning 3: link 'a': <sphere>: attribute 'radius' is missing, expected a number: it is left out. Write <sphere "
     'radius="...">. [structure]'),
    (drawn('<geometry><cylinder radius="-1" length="2"/></geometry>', 'collision'),
     "warning 3: link 'a': <cylinder> has the size -1, expected above 0: it is left out. Write sizes above 0, or "
     "remove the shape. [data]"),
    (drawn('<geometry><mesh/></geometry>'),
     "warning 3: link 'a': <mesh>: attribute 'filename' is missing, expected text: it is left out. Write <mesh "
     'filename="...">. [structure]'),
    (drawn('<geometry><mesh filename="a.stl" scale="1 1"/></geometry>'),
     "warning 3: link 'a': <mesh> scale is '1 1', expected 3 numbers: the mesh is left out. Write exactly 3 numbers. "
     "[data]"),
    (drawn('<geometry><mesh filename="a.stl"/></geometry>'),
     "warning 3: link 'a': the mesh 'a.stl' is not found: it is not drawn, and touches nothing. Correct the path, or "
     "name the folder of the file in package_dirs (--package-dir). [mesh]"),
    (drawn('<geometry><mesh filename="package://arm/a.stl"/></geometry>'),
     "warning 3: link 'a': the mesh 'package://arm/a.stl' is not found: it is not drawn, and touches nothing. Name "
     "the folder that contains 'arm' in package_dirs (--package-dir). [mesh]"),
    (drawn('<geometry><mesh filename="http://x.org/a.stl"/></geometry>', 'collision'),
     "warning 3: link 'a': the mesh 'http://x.org/a.stl' is outside the folders that may be read: it is left out of "
     "pictures and contacts. Name its folder in package_dirs (--package-dir), or move the file into the folder of "
     "the model. [path]"),
    (drawn('<geometry><box size="1 1 1"/></geometry><origin xyz="1 2"/>'),
     "warning 3: link 'a': <origin> xyz is '1 2' with 2 numbers, expected 3: it is left out. Write exactly 3 "
     "numbers. [number]"),
    (drawn('<geometry><box size="1 1 1"/></geometry><material><color rgba="255 0 0 1"/></material>'),
     "warning 3: link 'a': <color> rgba is '255 0 0 1', expected numbers from 0 to 1: other numbers are clipped to "
     "this range. Divide the numbers by 255 if they are from 0 to 255. [data]"),
    (drawn('<geometry><box size="1 1 1"/></geometry><material><color rgba="1 0 0"/></material>'),
     "warning 3: link 'a': <color> rgba is '1 0 0' with 3 numbers, expected 4: it is left out. Write exactly 4 "
     "numbers. [number]"),
    (drawn('<geometry><box size="1 1 1"/></geometry><colour/>'),
     "warning 3: link 'a': <colour> is not an element that <visual> can contain, so it has no effect. Remove it, or "
     "correct its name. [unknown]"),
    # the tree
    ('<model/>',
     "error 1: the file begins with <model>, expected <robot>. Put the model into <robot>, or give the file the "
     "ending of its format. [structure]"),
    ('<robot name="r"/>',
     'error 1: robot: the robot has no <link>, expected at least one. Add <link name="...">. [structure]'),
    (robot(link('a')).replace(' name="r"', ''),
     "warning 1: robot: attribute 'name' is missing, expected one: the robot is called 'robot'. Write <robot "
     'name="...">. [structure]'),
    (robot(link('a'), link('a')),
     "error 4: link 'a': the name is used already on line 2, expected a name that is not used yet. Rename one of the "
     "two. [name]"),
    (robot(link('a'), link('b'), link('c'), joint('j', 'continuous', 'a', 'b')),
     "error 6: link 'c': the links 'a', 'c' have no parent, expected one root. Add the missing joint, or remove "
     "links that are not connected. [root]"),
    (robot(link('a'), link('b'), joint('j', 'fixed', 'a', 'b'), joint('k', 'fixed', 'b', 'a')),
     "error 1: robot: every link is the child of a joint, so there is no root, expected one link without a parent. "
     "Remove the joint that closes the cycle, or write it as <loop_joint>. [root]"),
    (robot(link('upper'), link('b'), joint('j', 'continuous', 'uper', 'b')),
     "error 6: joint 'j': parent: there is no link 'uper', expected the name of a link. Did you mean 'upper'? [name]"),
    (robot(link('a'), link('b'), joint('j', 'fixed', 'a', 'b'), joint('k', 'fixed', 'b', 'b')),
     "error 7: joint 'k': parent and child are both 'b', expected two links. Name the other link. [structure]"),
    (robot(*(link(one) for one in "abc"), joint("j", "continuous", "a", "b"), joint("k", "continuous", "a", "c"),
           joint("l", "continuous", "b", "c")),
     "error 10: joint 'l': its child 'c' is already the child of joint 'k' on line 9, expected one parent for each "
     "link. If this joint closes a loop, move it to r.sidecar.toml, or write it as <loop_joint>. [loop]"),
    (robot(link('a'), link('b'), *2 * [joint('j', 'continuous', 'a', 'b')]),
     "error 7: joint 'j': its child 'b' is already the child of joint 'j' on line 6, expected one parent for each "
     "link. If this joint closes a loop, move it to r.sidecar.toml, or write it as <loop_joint>. [loop]\n"
     "error 7: joint 'j': the name is used already on line 6, expected a name that is not used yet. Rename one of "
     "the two. [name]"),
    (robot(link('world'), link('b'), joint('j', 'continuous', 'world', 'b')),
     "warning 2: link 'world': the name is reserved for the ground, but this link is a body: it is renamed to "
     "'world_link'. Rename the link. [name]"),
    (robot(link('a'), '<coupling/><loop_closure/>'),
     "warning 4: robot: <coupling> is not supported, so it has no effect. Add it to the simulation in Python if you "
     "need it. [dropped]\n"
     "warning 4: robot: <loop_closure> is not supported, so it has no effect. Add it to the simulation in Python if "
     "you need it. [dropped]"),
    (robot(link('a'), '<lnk/>'),
     "warning 4: robot: <lnk> is not an element that <robot> can contain, so it has no effect. Did you mean 'link'? "
     "[unknown]"),
    (robot(link('a'), '<xacro:macro/>').replace('<robot', XACRO),
     "error 4: <xacro:macro> is a macro, expected plain URDF. Expand the macros by xacro, or give the file the "
     "ending .xacro. [structure]"),
    (robot(link('a'), '<xacro:wheel/>').replace('<robot', XACRO),
     "warning 4: <xacro:wheel> is a macro that the file does not define: it is left out. Expand the macros by xacro "
     "if it contains links or joints. [dropped]"),
    (robot(link('a'), '<fixed_frame name="f"/>'),
     "error 4: fixed_frame 'f': <parent> is missing, expected exactly one. Add <parent link=\"...\"/>. [structure]"),
    (robot(link('a'), '<fixed_frame><parent link="a"/></fixed_frame>'),
     "error 4: fixed_frame 'None': <fixed_frame>: attribute 'name' is missing, expected text. Write <fixed_frame "
     'name="...">. [structure]'),
    (robot(link('a'), '<drake:bushing xmlns:drake="http://drake.mit.edu"/>'),
     "warning 4: robot: <drake:bushing> is not supported, so it has no effect. Add it to the simulation in Python if "
     "you need it. [dropped]"),
    # loops
    (looped('<link1 link="b"/>'),
     "error 10: loop_joint 'l': <link2> is missing, expected exactly one. Add <link2 link=\"...\"/> with the name of "
     "a link. [structure]"),
    (looped('<link1 link="b"/><link2 link="d"/>'),
     "error 10: loop 'l': link: there is no link 'd', expected the name of a link. Declare the link, or correct the "
     "name. [name]"),
    (looped(ENDS, kind='hook'),
     "error 10: loop_joint 'l': the type is 'hook', expected one of revolute, continuous, prismatic, fixed, "
     "floating, planar, spherical, ball, universal, screw, helical, cylindrical. Choose one of these. [structure]"),
    (looped(ENDS, kind='floating'),
     "error 10: loop_joint 'l': the type is 'floating', which constrains nothing; expected another type. Remove this "
     "joint, or change its type. [loop]"),
    (looped(ENDS, name=''),
     "error 10: loop_joint: <loop_joint>: attribute 'name' is empty, expected text. Write <loop_joint name=\"...\">. "
     "[structure]"),
    (looped(ENDS, kind='revolute'),
     "warning 10: loop_joint 'l': a revolute joint has no <axis>: URDF's default 1 0 0 is used. Add <axis "
     'xyz="..."/> with the direction. [assumed]'),
    (looped('<predecessor link="b"/>', 'loop'),
     "error 10: loop 'l': <successor> is missing, expected exactly one. Add <successor link=\"...\"/> with the name "
     "of a link. [structure]"),
    # transmissions and other programs
    (driven('<actuator name="m"/>'),
     "warning 7: transmission 't': it has 1 actuator and 0 joints, expected one of each: it is left out. Write one "
     "transmission for each joint. [dropped]"),
    (driven('<actuator name="m"/><joint name="k"/>'),
     "warning 7: transmission 't': it drives joint 'k', which does not exist: it is left out. Correct the name of "
     "the joint. [name]"),
    (driven(MOTOR, 'fixed'),
     "warning 7: transmission 't': it drives joint 'j', which is fixed; expected a revolute or prismatic joint: it "
     "is left out. Change the type of the joint, or remove the transmission. [dropped]"),
    (driven(MOTOR + '<mechanicalReduction>five</mechanicalReduction>'),
     "warning 7: transmission 't': <mechanicalReduction> is 'five', expected a number: it is left out. Write a "
     "number such as 0.5. [number]"),
    (driven(MOTOR + 3 * ('</transmission><transmission name="t">' + MOTOR)),
     "warning 7: transmission 't': the name 'm' of its actuator is used already: it is left out. Rename the "
     "actuator. [name]"),
    (robot(link('a'), '<gazebo><plugin filename="libmotor.so"/></gazebo>'),
     "warning 4: <plugin> libmotor.so in <gazebo> has no effect. Add it to the simulation in Python if you need it. "
     "[dropped]"),
    (robot(link('a'), '<gazebo reference="a"><sensor type="imu"/><selfCollide>true</selfCollide></gazebo>'),
     "warning 4: reference 'a': <sensor> imu in <gazebo> has no effect. Add it to the simulation in Python if you "
     "need it. [dropped]\n"
     "warning 4: reference 'a': <selfCollide> in <gazebo> has no effect. Add it to the simulation in Python if you "
     "need it. [dropped]"),
    (robot(link('a'), '<gazebo reference="a"><turnGravityOff>true</turnGravityOff></gazebo>'),
     "warning 4: reference 'a': <turnGravityOff> in <gazebo> has no effect. Add elements.WeightSupport('no gravity', "
     "1.0, ('a',)) if the link has to float. [dropped]"),
    (robot(link('a'), '<gazebo reference="a"><mu1>1</mu1><mu2>0.5</mu2></gazebo>'),
     "warning 4: link 'a': <mu2> is 0.5 and <mu1> 1: the friction is that of <mu1> in all directions. Make them "
     "equal. [dropped]"),
    (robot(link('a'), '<gazebo reference="a"><mu1>ice</mu1></gazebo>'),
     "warning 4: link 'a': <mu1> is 'ice', expected a number: it is left out. Write a number. [data]"),
    (robot(*CHAIN, '<gazebo reference="j"><springStiffness>-1</springStiffness></gazebo>'),
     "warning 10: reference 'j': <springStiffness> has no effect, expected a number above 0 for a revolute or "
     "prismatic joint. Correct it, or remove it. [dropped]"),
]  # fmt: skip


@each_case(("text", "said"), MISTAKES)
def test_each_mistake_has_its_line_and_its_sentence(text: str, said: str) -> None:
    system, findings = read(text)
    assert sentences(findings.found) == said
    assert (system is None) == any(one.severity == "error" for one in findings.found)


def test_what_is_not_wrong_is_kept() -> None:
    system, _ = read(arm(LIMIT + '<dynamics damping="-1" friction="2"/>'))
    assert system is not None
    one = system.robot.joint("j")
    assert (one.damping, one.friction) == ((0.0,), (2.0,))


def test_a_joint_that_closes_a_loop_has_its_own_name() -> None:
    """It was called after its second link."""
    system, findings = read(looped(ENDS))
    assert system is not None and not findings.found
    assert [loop.name for loop in system.robot.loops] == ["l"]


STATES = """<robot name="r">
<group name="arm"/>
<group_state name="home" group="arm"><joint name="i" value="1"/></group_state>
<group_state name="back" group="arm"><joint name="j" value="one"/></group_state>
<group_state group="arm"><joint name="j" value="1"/></group_state>
</robot>"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (STATES,
         "warning not read: 1 <group>; only states are. Add what you need in Python. [dropped]\n"
         "warning 3: group_state 'home': there is no joint 'i' that moves, expected one of j, k; it is left out. "
         "Correct the name. [name]\n"
         "warning 4: group_state 'back': value of joint 'j' is 'one', expected 1 finite number; it is left out. "
         "Correct the value. [number]\n"
         "warning 5: group_state: attribute 'name' is '', expected printable text; the state is left out. Give it a "
         "name. [name]"),
        ("<sdf/>",
         "error 1: the file begins with <sdf>, expected <robot>. Name an SRDF file, or move this file elsewhere. "
         "[structure]"),
    ],
)  # fmt: skip
def test_mistakes_of_srdf_files_have_their_sentences(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "r.srdf"
    path.write_text(text)
    findings = Findings("r.urdf")
    urdf.read(Source("r.urdf", robot(*CHAIN).encode()), Options(srdf=path), findings)
    assert sentences(findings.found).replace(f"{tmp_path}/", "") == said
