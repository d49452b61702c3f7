"""Templates for `kinemorph new`: small model files with comments, which can be simulated at once and then changed."""

from __future__ import annotations

from typing import NamedTuple


class Template(NamedTuple):
    """A model file in TOML, in which NAME is replaced by the name of the robot."""

    title: str
    text: str


ARM = """\
# A two-link arm for Kinemorph. Try:
#
#   kinemorph info NAME.toml
#   kinemorph simulate NAME.toml --plot run.png --html run.html
#   kinemorph derive NAME.toml --emit text
#   kinemorph check NAME.toml --verify
#
# Numbers are in SI with radians; texts may have units: "40 cm", "250 g", "30 deg".
kinemorph = 1
name = "NAME"

# Numbers with names. Other values may be expressions of them, in quotes; formulas print them.
[parameters]
l1 = { value = "40 cm", symbol = "l_1" }  # upper arm
l2 = { value = "30 cm", symbol = "l_2" }  # forearm
m1 = { value = "2 kg", symbol = "m_1" }
m2 = { value = "900 g", symbol = "m_2" }

# Center of mass, inertia and shape follow from a solid. Instead: com = [...], inertia = [...], shapes = [...].
[bodies.upper_arm]
mass = "m1"
solid = { kind = "cylinder", radius = "3 cm", length = "l1", center = [0, 0, "-l1 / 2"] }

[bodies.forearm]
mass = "m2"
solid = { kind = "cylinder", radius = "2 cm", length = "l2", center = [0, 0, "-l2 / 2"] }

# A joint connects its child to its parent; "world" is the ground. Kinds: revolute, prismatic, free, fixed and more.
[joints.shoulder]
kind = "revolute"
parent = "world"
child = "upper_arm"
axis = "-y"
lower = "-170 deg"
upper = "170 deg"
damping = 0.02  # N m s/rad

[joints.elbow]
kind = "revolute"
parent = "upper_arm"
child = "forearm"
translation = [0, 0, "-l1"]
axis = "-y"
effort = "20 N m"

# Named frames on bodies, for poses, Jacobians and inverse kinematics.
[frames.tool]
body = "forearm"
translation = [0, 0, "-l2"]

# Initial state and duration of a run.
[settings]
q = { shoulder = "100 deg", elbow = "40 deg" }
duration = "6 s"
"""

CART = """\
# A cart with a pole for Kinemorph: it stands almost upright, and falls. Try:
#
#   kinemorph simulate NAME.toml --html run.html
#   kinemorph analyze NAME.toml poles --q pole=0
#
# Numbers are in SI with radians; texts may have units: "40 cm", "250 g", "30 deg".
kinemorph = 1
name = "NAME"

[parameters]
mass_of_cart = { value = "2 kg", symbol = "M" }
mass_of_pole = { value = "300 g", symbol = "m" }
length = { value = "80 cm", symbol = "l" }

[bodies.cart]
mass = "mass_of_cart"
solid = { kind = "box", size = ["30 cm", "15 cm", "10 cm"] }

[bodies.pole]
mass = "mass_of_pole"
solid = { kind = "rod", length = "length", center = [0, 0, "length / 2"], radius = "1 cm" }

# Forces and limits of a sliding joint are in N and m.
[joints.slide]
kind = "prismatic"
parent = "world"
child = "cart"
axis = "x"
lower = "-2 m"
upper = "2 m"
damping = 0.1  # N s/m

[joints.pole]
kind = "revolute"
parent = "cart"
child = "pole"
axis = "y"

[frames.tip]
body = "pole"
translation = [0, 0, "length"]

[settings]
q = { pole = "3 deg" }
duration = "8 s"
"""

FOUR_BAR = """\
# A four-bar linkage for Kinemorph: three bars and the ground form a loop. Try:
#
#   kinemorph info NAME.toml
#   kinemorph simulate NAME.toml --html run.html
#   kinemorph verify NAME.toml
#
# Numbers are in SI with radians; texts may have units: "40 cm", "250 g", "30 deg".
kinemorph = 1
name = "NAME"

[parameters]
crank = { value = "30 cm", symbol = "a" }
coupler = { value = "90 cm", symbol = "b" }
rocker = { value = "70 cm", symbol = "c" }
ground = { value = "1 m", symbol = "d" }

[bodies.crank]
mass = "500 g"
solid = { kind = "rod", length = "crank", center = ["crank / 2", 0, 0], axis = "x", radius = "15 mm" }

[bodies.coupler]
mass = "1 kg"
solid = { kind = "rod", length = "coupler", center = ["coupler / 2", 0, 0], axis = "x", radius = "15 mm" }

[bodies.rocker]
mass = "800 g"
solid = { kind = "rod", length = "rocker", center = ["rocker / 2", 0, 0], axis = "x", radius = "15 mm" }

[joints.drive]
kind = "revolute"
parent = "world"
child = "crank"
axis = "-y"

[joints.knee]
kind = "revolute"
parent = "crank"
child = "coupler"
translation = ["crank", 0, 0]
axis = "-y"

[joints.pivot]
kind = "revolute"
parent = "world"
child = "rocker"
translation = ["ground", 0, 0]
axis = "-y"

# The joint that closes the loop is written like any other. It connects two bodies that both have a parent already.
# To cut the loop elsewhere, write cut = true in another joint: q then has other coordinates; the motion is the same.
[joints.closure]
kind = "revolute"
parent = "coupler"
child = "rocker"
translation = ["coupler", 0, 0]
child_placement = { translation = ["rocker", 0, 0] }
axis = "-y"

[frames.middle]
body = "coupler"
translation = ["coupler / 2", 0, 0]

# Name only the initial coordinates that you know; the others are computed so that the loop is closed.
[settings]
q = { drive = 0.6 }
duration = "5 s"
"""

TUMBLER = """\
# A wing nut in free space for Kinemorph: it spins about its middle axis, and flips over again and again. Try:
#
#   kinemorph simulate NAME.toml --columns 'v.base.w*' --plot run.png --html run.html
#
# Numbers are in SI with radians; texts may have units: "40 cm", "250 g", "30 deg".
kinemorph = 1
name = "NAME"
gravity = [0, 0, 0]

# Mass and inertia are given as numbers; shapes are only drawn.
[bodies.nut]
mass = "100 g"
inertia = [1e-4, 2e-4, 2.8e-4]  # about x, y, z through the center of mass [kg m^2]
shapes = [
  { kind = "cylinder", radius = "1 cm", length = "6 cm" },
  { kind = "box", size = ["16 cm", "1 cm", "2 cm"], translation = [0, 0, "2 cm"] },
]

# q = [x y z qw qx qy qz], v = linear and angular velocity in the body's own axes.
[joints.base]
kind = "free"
parent = "world"
child = "nut"

[settings]
v = { "base.wx" = 0.01, "base.wy" = "6 rad/s" }
duration = "20 s"
"""

ORGANISM = """\
# An organism of modules that dock, for Kinemorph. Try:
#
#   kinemorph assemble NAME.toml --tables
#   kinemorph assemble NAME.toml --picture plan.png
#   kinemorph simulate NAME.toml --html run.html
#
# Numbers are in SI with radians; texts may have units: "40 cm", "250 g", "30 deg".
kinemorph = 1
name = "NAME"

# Modules seen from above. A cell is the letter of a kind, the direction of its front (> ^ < v) and its number or name;
# "." is empty. Neighbors dock wherever both have ports: on all four sides of a Backbone (B) and of a Scout (S), at both
# ends of an Active Wheel (W), which fills three cells: its token in the middle, # in the others.
# Where connectors are drawn, - and | between cells, only these dock.
[assembly]
base = "m0"
root = "free"  # or "fixed", or virtual joints of the base: ["x", "rz"]
ground = true  # modules stand on z = 0, with contacts at corners and wheels
grid = '''
B>3 .   .
B>0 Sv1 B<2
B^4 .   .
'''

# Kinds of modules by letter: built-in ones with other data, or your own, with bodies, joints and ports.
[module_types.B]
like = "backbone"
mass = "1.2 kg"

# Elements that act on the modules. Bodies are called m0_rear and m0_front, joints m0_hinge, and so on.
[elements.wave]
kind = "rhythmic"
joints = ["m0_hinge", "m1_hinge", "m2_hinge", "m3_hinge", "m4_hinge"]
amplitude = "25 deg"
frequency = "0.5 Hz"

[elements.drive]
kind = "pd"
joints = ["m0_hinge", "m1_hinge", "m2_hinge", "m3_hinge", "m4_hinge"]
reference = "wave"
kp = 40  # [N m]
kd = 1  # [N m s]
lower = -7  # [N m]
upper = 7

[settings]
duration = "5 s"
"""

TEMPLATES: dict[str, Template] = {
    "arm": Template("a two-link arm", ARM),
    "cart": Template("a cart with a pole", CART),
    "four_bar": Template("a linkage with a closed loop", FOUR_BAR),
    "organism": Template("modules that dock", ORGANISM),
    "tumbler": Template("a body that flips in free space", TUMBLER),
}
