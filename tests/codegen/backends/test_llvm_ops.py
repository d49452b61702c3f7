"""The LLVM backend does what the interpreter does, op by op, on ordinary and on awkward numbers."""

import numpy as np

from kinemorph.codegen.building.compile import build
from kinemorph.codegen.graphs.graph import Graph
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.vocabulary.ops import OPS
from support.tools.each_case import each_case

AWKWARD = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-310, -5e-324, 1e308, -1e308, 1e9, 2e9, np.inf, -np.inf, np.nan]

# how far apart the two may be, in units in the last place of the larger; NumPy's own functions are within 4
EXACT = ("add", "sub", "mul", "div", "neg", "sqrt", "abs", "sign", "floor", "min", "max", "lt", "le", "eq", "where")
ULPS = dict.fromkeys(EXACT, 0) | {"sin": 3, "cos": 3, "tan": 6}
LIBRARY_ULPS = 4


def program_of(op: str) -> Program:
    """A program that is one op; every argument is an input, the node is put in the graph as it stands."""
    graph = Graph()
    refs = [graph.input(f"x{k}").ref for k in range(OPS[op].arity)]
    ports = tuple(Port(f"x{k}", ()) for k in range(OPS[op].arity))
    return Program(op, ports, (Port("y", ()),), graph, (graph.intern((op, *refs)),))


def raw(function, arguments):
    """The values as they are, NaN included."""
    out = np.empty(len(arguments[0]))
    function.raw(out, *arguments)
    return out


def arguments_for(op: str) -> list[np.ndarray]:
    rng = np.random.default_rng(OPS[op].arity)
    grids = np.meshgrid(*[AWKWARD] * OPS[op].arity)
    usual = rng.normal(size=(OPS[op].arity, 2000)) * 10.0 ** rng.integers(-3, 4, size=(OPS[op].arity, 2000))
    return [np.concatenate([grid.ravel(), random]) for grid, random in zip(grids, usual, strict=True)]


def distance_in_ulps(a, b):
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(all="ignore"):
        gap = np.abs(a - b) / np.spacing(np.maximum(np.abs(a), np.abs(b)))
    return np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))


@each_case("op", OPS)
def test_op_equals_interpreter(op):
    program = program_of(op)
    arguments = arguments_for(op)
    compiled, meant = (raw(build(program, backend), arguments) for backend in ("llvm", "interpreter"))
    worst = distance_in_ulps(compiled, meant)
    k = int(np.argmax(worst))
    assert worst[k] <= ULPS.get(op, LIBRARY_ULPS), f"{op}{tuple(a[k] for a in arguments)}: {compiled[k]} != {meant[k]}"


@each_case("op", OPS)
def test_negated_references(op):
    """A minus sign on arguments and result means minus, for every op."""
    plain = program_of(op)
    graph = plain.graph
    node = graph.intern((op, *(-ref for ref in graph.nodes[plain.refs[0]][1:])))
    negated = Program(op, plain.inputs, plain.outputs, graph, (-node,))
    arguments = arguments_for(op)
    got = raw(build(negated), arguments)
    expected = -raw(build(plain), [-a for a in arguments])
    assert np.max(distance_in_ulps(got, expected)) == 0


def test_min_and_max_hand_on_a_nan():
    for op in ("min", "max"):
        out = raw(build(program_of(op)), [np.array([np.nan, 1.0, np.nan]), np.array([1.0, np.nan, np.nan])])
        assert np.isnan(out).all()


def test_branch_not_taken_does_not_matter():
    """where(x < 0, 0, sqrt(x)) is finite for negative x, though the other branch is not."""
    graph = Graph()
    x = graph.input("x")
    y = (x < 0.0).where(0.0, x.sqrt()) + (x.equals(0.0)).where(1.0, x / abs(x))
    program = Program("branches", (Port("x", ()),), (Port("y", ()),), graph, (y.ref,))
    np.testing.assert_allclose(build(program)([-4.0, 0.0, 4.0]), [-1.0, 1.0, 3.0], rtol=1e-15)


def test_constants_reach_the_code_without_loss():
    graph = Graph()
    x = graph.input("x")
    values = [0.1, 1e-310, 5e-324, 1.7976931348623157e308, -1 / 3]
    refs = (*map(graph.constant, values), (x * 0.1).ref)
    program = Program("constants", (Port("x", ()),), (Port("y", (6,)),), graph, refs)
    assert build(program)(1.0).tolist() == [*values, 0.1]
