"""The expression graph of a pendulum at each stage of code generation; docs/generator.md explains the pictures.

    python examples/06_how_the_generator_works.py [folder]

A formula over any scalar becomes a graph, with numbers or parameters; then its derivatives and the order of its
operations are shown.
"""

import sys
from pathlib import Path

import kinemorph
from kinemorph.codegen.derivatives.differentiate import jacobian
from kinemorph.codegen.loops.printing import format_program
from kinemorph.display.canvas import save
from kinemorph.display.charts.graph_pictures import draw_graph, draw_liveness, new_nodes
from kinemorph.mechanics.recursions import newton_euler
from kinemorph.mechanics.trees.resolve import resolve

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
robot = kinemorph.library.pendulum(2.0, 0.8)  # kg, m
tree = resolve(robot)
names = {"q[0]": "q", "v[0]": "v", "a[0]": "a", "tau[0]": "tau", "p[0]": "m", "p[1]": "l", "p[2]": "g"}
pictures = {}


def program_of(robot, function, **options):
    """The program behind a function of `derive`; nothing is compiled for a picture."""
    return getattr(kinemorph.derive(robot, backend="interpreter", **options), function).program


# all operations of the recursion, and those that the torque needs
traced = kinemorph.codegen.trace(
    lambda q, v, a: newton_euler.inverse_dynamics(tree, q, v, a), {"q": (1,), "v": (1,), "a": (1,)}, name="traced"
)
print(format_program(traced))
torque = {**names, "out[0]": "torque"}
pictures["traced"] = draw_graph(traced, unused=True, names=torque, title="inverse dynamics of a pendulum, as traced")

# shared subexpressions, in a larger graph
double = program_of(kinemorph.library.double_pendulum(), "inverse_dynamics")
pictures["double_pendulum"] = draw_graph(double, title="inverse dynamics of the double pendulum")

# numbers as constants, or parameters as inputs
fixed = program_of(robot, "forward_dynamics")
named = program_of(robot, "forward_dynamics", parameters="all")
print(format_program(fixed), format_program(named), sep="\n")
acceleration = {**names, "out[0]": "acceleration"}
pictures["numbers"] = draw_graph(fixed, names=acceleration, title="forward dynamics, numbers")
pictures["symbols"] = draw_graph(named, names=acceleration, title="forward dynamics, parameters")

# derivatives: new operations, beside those shared with the function
rows = {"d_out_d_q[0, 0]": "by q", "d_out_d_tau[0, 0]": "by tau"}
rows |= {f"d_out_d_p[0, {k}]": f"by {symbol}" for k, symbol in enumerate("mlg")}
for ending, program, by in (("", fixed, ["q", "tau"]), ("_symbols", named, ["q", "tau", "p"])):
    both = jacobian(program, "out", by, values=True)
    print(format_program(both))
    new = new_nodes(both, program)
    title = f"forward dynamics and its derivatives: {both.ops - program.ops} new operations, red"
    pictures[f"derivative{ending}"] = draw_graph(both, highlight=new, names={**acceleration, **rows}, title=title)

# the order of operations, for a robot whose program is large enough to be cut into chunks
hexapod = program_of(kinemorph.library.hexapod36(), "forward_dynamics")
pictures["alive"] = draw_liveness(hexapod, title="forward dynamics of a hexapod with 36 degrees of freedom")

for name, picture in pictures.items():
    print("wrote", save(picture, folder / f"06_{name}.png"))
