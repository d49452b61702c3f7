"""The expression graph: hash-consed, simplified while it is built.

A node is a tuple `(op, *args)`; its place in `Graph.nodes` is its id, and every argument has a smaller id, so the list
is already sorted for evaluation. An argument is a *signed* id: `-7` means "minus node 7". Signs are folded into the
references, so no negation costs an operation and `a - b` and `b - a` share one node. Leaves are `("const", value > 0)`
and `("input", k)`. Building the same node twice gives the same id.

Most ops are names, rows of the op table. A `Block` (see `blocks`) as op makes a node whose value is a tuple of numbers;
`(Item(k), id)` is entry k of it. In every node except a leaf, everything after the op is a reference.

`Expr` is a signed reference with operators. It mixes freely with floats: a result that is a known number is returned as
a float, so a structural zero stays a zero through a whole formula. Expressions for each row of a table have a graph of
their own inside another one (`row_sums`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any, NoReturn

import numpy as np

from kinemorph.errors import ShapeError, TracingError
from kinemorph.vocabulary.blocks import Block, Item
from kinemorph.vocabulary.ops import OPS

Node = tuple[Any, ...]
Number = int | float
NUMBERS: tuple[type[Any], ...] = (float, int, np.integer, np.floating, np.bool_)
LEAVES = frozenset({"const", "input"})


class Graph:
    """A growing list of nodes without duplicates. It is not thread-safe; every trace has its own graph."""

    depth = 0  # how many graphs it is inside of

    def __init__(self) -> None:
        self.nodes: list[Node] = [("const", 0.0)]  # id 0 is zero, so that every other id has a sign
        self.index: dict[Node, int] = {self.nodes[0]: 0}
        self.input_names: list[str] = []
        self.inside: dict[Any, Any] = {}  # graphs of expressions for each row of a table, by table; see `row_sums`

    def __len__(self) -> int:
        return len(self.nodes)

    # ── leaves ────────────────────────────────────────────────────────────────────────────────────────────────────

    def input(self, name: str) -> Expr:
        """Adds an input to the graph; inputs are numbered in the order in which they are added."""
        self.input_names.append(name)
        return Expr(self, self.intern(("input", len(self.input_names) - 1)))

    def constant(self, value: Number) -> int:
        """The reference of a constant: the id of its node, negative for a negative number. New nodes are added."""
        value = float(value)
        if value < 0.0:
            return -self.intern(("const", -value))
        return self.intern(("const", value)) if value != 0.0 else 0

    def reference(self, value: Any) -> int:
        """The reference of an expression of this graph or of a number: a node id, negative for minus the node."""
        if value.__class__ is Expr:
            return value.ref if value.graph is self else self.foreign(value)
        if isinstance(value, NUMBERS):
            return self.constant(float(value))
        raise TracingError(
            f"an expression is combined with a {type(value).__name__} ({value!r}); expected an expression or a "
            "number. Combine lists and arrays entry by entry."
        )

    def foreign(self, value: Expr) -> int:
        """The reference of an expression of another graph. Raises TracingError where this graph is not inside it."""
        _refuse_foreign()

    def intern(self, node: Node) -> int:
        """The id of a node `(op, *args)`, which is added to the graph if it is new."""
        found = self.index.get(node)
        if found is None:
            found = len(self.nodes)
            self.nodes.append(node)
            self.index[node] = found
        return found

    def block(self, block: Block, refs: Sequence[int]) -> list[Any]:
        """The outputs of a block applied to signed references: expressions, or floats if all `refs` are constants."""
        if len(refs) != block.n_in:
            raise ShapeError(f"{block.label} takes {block.n_in} numbers; {len(refs)} were given. Pass {block.n_in}.")
        values = [self.value_of(ref) for ref in refs]
        if None not in values:
            return [float(y[0]) if np.ndim(y) else float(y) for y in block.meaning(*values)]
        whole = self.intern((block, *refs))
        return [Expr(self, self.intern((Item(k), whole))) for k in range(block.n_out)]

    def value_of(self, ref: int) -> float | None:
        """The number that a reference (node id, negative for minus the node) stands for; None if it is not constant."""
        node = self.nodes[abs(ref)]
        if node[0] != "const":
            return None
        value: float = node[1]
        return -value if ref < 0 else value

    # ── walking ───────────────────────────────────────────────────────────────────────────────────────────────────

    def reachable(self, refs: Iterable[int], given: Set[int] = frozenset()) -> list[int]:
        """The ids of all nodes that the references depend on, in evaluation order; the search stops at `given` ids."""
        needed = {abs(ref) for ref in refs} - given
        stack = list(needed)
        while stack:
            node = self.nodes[stack.pop()]
            if node[0] in LEAVES:
                continue
            for arg in node[1:]:
                child = abs(arg)
                if child not in needed and child not in given:
                    needed.add(child)
                    stack.append(child)
        return sorted(needed)


class Expr:
    """An expression: a signed reference into a graph, with the operators and functions of the op vocabulary."""

    __slots__ = ("graph", "ref")
    __array_ufunc__ = None  # NumPy scalars leave the operators to this class

    def __init__(self, graph: Graph, ref: int) -> None:
        self.graph = graph
        self.ref = ref

    # ── sums: signs are folded, the smaller id comes first ────────────────────────────────────────────────────────

    def __add__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            if other.graph is not self.graph:
                return operator.add(*_together(self, other))
            return _sum(self.graph, self.ref, other.ref)
        if isinstance(other, NUMBERS):
            return self if other == 0.0 else _sum(self.graph, self.ref, self.graph.constant(other))
        return NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            if other.graph is not self.graph:
                return operator.sub(*_together(self, other))
            return _sum(self.graph, self.ref, -other.ref)
        if isinstance(other, NUMBERS):
            return self if other == 0.0 else _sum(self.graph, self.ref, -self.graph.constant(other))
        return NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return Expr(self.graph, -self.ref).__add__(other)

    def __neg__(self) -> Expr:
        return Expr(self.graph, -self.ref)

    def __pos__(self) -> Expr:
        return self

    # ── products ──────────────────────────────────────────────────────────────────────────────────────────────────

    def __mul__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            graph = self.graph
            if other.graph is not graph:
                return operator.mul(*_together(self, other))
            a, b = self.ref, other.ref
            negative = (a < 0) != (b < 0)
            a, b = abs(a), abs(b)
            node = ("mul", a, b) if a <= b else ("mul", b, a)
            ref = graph.index.get(node)
            if ref is None:
                nodes = graph.nodes
                if nodes[a][0] == "const":
                    return _scaled(graph, nodes[a][1], -b if negative else b)
                if nodes[b][0] == "const":
                    return _scaled(graph, nodes[b][1], -a if negative else a)
                ref = len(nodes)
                nodes.append(node)
                graph.index[node] = ref
            return Expr(graph, -ref if negative else ref)
        if isinstance(other, NUMBERS):
            return _scaled(self.graph, float(other), self.ref)
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if other.__class__ is Expr:
            if other.graph is not self.graph:
                return operator.truediv(*_together(self, other))
            return _quotient(self.graph, self.ref, other.ref)
        if isinstance(other, NUMBERS):
            if other == 0.0:
                raise ZeroDivisionError("an expression is divided by the constant 0; check the divisor")
            return _scaled(self.graph, 1.0 / float(other), self.ref)
        return NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            return 0.0 if other == 0.0 else _quotient(self.graph, self.graph.constant(other), self.ref)
        return NotImplemented

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            if other == 0:
                return 1.0
            if other == 0.5:
                return self.sqrt()
            if other == int(other) and abs(other) <= 16:
                whole = _whole_power(self, abs(int(other)))
                return whole if other > 0 else 1.0 / whole
        if isinstance(other, (Expr, *NUMBERS)):
            return self._call("pow", other)
        return NotImplemented

    def __rpow__(self, other: Any) -> Any:
        if isinstance(other, NUMBERS):
            return Expr(self.graph, self.graph.constant(other))._call("pow", self)
        return NotImplemented

    # ── functions ─────────────────────────────────────────────────────────────────────────────────────────────────

    def _call(self, name: str, *others: Any) -> Any:
        return _called(name, (self, *others))

    def sin(self) -> Any:
        return -Expr(self.graph, -self.ref).sin() if self.ref < 0 else self._call("sin")  # odd

    def cos(self) -> Any:
        return Expr(self.graph, abs(self.ref))._call("cos")  # even

    def tan(self) -> Any:
        return -Expr(self.graph, -self.ref).tan() if self.ref < 0 else self._call("tan")

    def asin(self) -> Any:
        return -Expr(self.graph, -self.ref).asin() if self.ref < 0 else self._call("asin")

    def acos(self) -> Any:
        return self._call("acos")

    def atan2(self, x: Any) -> Any:
        return self._call("atan2", x)

    def ratan2(self, y: Any) -> Any:
        """atan2(y, self) for a plain number y."""
        return Expr(self.graph, self.graph.constant(y))._call("atan2", self)

    def sqrt(self) -> Any:
        return self._call("sqrt")

    def exp(self) -> Any:
        return self._call("exp")

    def log(self) -> Any:
        return self._call("log")

    def sign(self) -> Any:
        return -Expr(self.graph, -self.ref).sign() if self.ref < 0 else self._call("sign")

    def floor(self) -> Any:
        return self._call("floor")

    def minimum(self, other: Any) -> Any:
        return self._call("min", other)

    def maximum(self, other: Any) -> Any:
        return self._call("max", other)

    def __abs__(self) -> Any:
        return Expr(self.graph, abs(self.ref))._call("abs")

    # ── comparisons give expressions, never a bool ────────────────────────────────────────────────────────────────

    def __lt__(self, other: Any) -> Any:
        return self._call("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._call("le", other)

    def __gt__(self, other: Any) -> Any:
        return _called("lt", (other, self))

    def __ge__(self, other: Any) -> Any:
        return _called("le", (other, self))

    def equals(self, other: Any) -> Any:
        """1.0 where both have the same value, else 0.0. (`==` compares nodes, not values.)"""
        return self._call("eq", other)

    def __eq__(self, other: object) -> bool:
        """True if both are the same node; else TracingError, since different nodes may still have equal values."""
        if other.__class__ is Expr:
            assert isinstance(other, Expr)
            if other.graph is self.graph and other.ref == self.ref:
                return True
        elif not isinstance(other, NUMBERS):
            return NotImplemented
        raise TracingError(
            "whether two expressions have equal values is not known while they are traced. Write "
            "where(equal(a, b), value_if_equal, other_value) with the functions of kinemorph.algebra.scalar"
        )

    __hash__ = object.__hash__

    def block(self, block: Block, args: Sequence[Any]) -> list[Any]:
        """The outputs of a block applied to `args`: expressions of this graph, or plain numbers."""
        graph = innermost((self, *args))
        return graph.block(block, [graph.reference(arg) for arg in args])

    @property
    def tables(self) -> Any:
        """What opens tables of numbers inside the graph of this expression, and sums over their rows."""
        from kinemorph.codegen.graphs.row_sums import Tables

        return Tables(self.graph)

    def where(self, chosen: Any, otherwise: Any) -> Any:
        """The expression that is `chosen` where this one is not zero, else `otherwise`."""
        return _called("where", (self, chosen, otherwise))

    def __bool__(self) -> NoReturn:
        raise TracingError(
            "whether an expression is true is not known while it is traced, so `if`, `and`, `min` and similar cannot "
            "be used on it; use where(condition, a, b), minimum(a, b), ... of kinemorph.algebra.scalar"
        )

    def __float__(self) -> NoReturn:
        raise TracingError(
            "an expression has no value while it is traced, so it cannot be converted to a float; it gets a value when "
            "its program is called. Instead of the functions of `math` use sin, cos, sqrt, ... of "
            "kinemorph.algebra.scalar"
        )

    def __repr__(self) -> str:
        return f"Expr({'-' if self.ref < 0 else ''}#{abs(self.ref)} of {len(self.graph)} nodes)"


def innermost(values: Iterable[Any]) -> Graph:
    """The graph in which expressions are combined: that of one for each row of a table, if there is such a one."""
    found: Graph | None = None
    for value in values:
        if value.__class__ is Expr and (found is None or value.graph.depth > found.depth):
            found = value.graph
    assert found is not None
    return found


def _called(name: str, args: tuple[Any, ...]) -> Any:
    """The result of an op on expressions and numbers."""
    graph = innermost(args)
    return apply(graph, name, tuple([graph.reference(arg) for arg in args]))


def _together(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Both expressions, which are of different graphs, in the inner one of these graphs."""
    graph = innermost((a, b))
    return Expr(graph, graph.reference(a)), Expr(graph, graph.reference(b))


def _refuse_foreign() -> NoReturn:
    raise TracingError(
        "an expression of one trace is used in another trace, where it has no meaning; pass it as an input of the "
        "traced function instead"
    )


def apply(graph: Graph, name: str, refs: tuple[int, ...]) -> Any:
    """The result of an op on signed references: a float if all arguments are constants, else an Expr."""
    rule = _RULES.get(name)
    if rule is not None:
        return rule(graph, *refs)
    if name == "where":
        condition = graph.value_of(refs[0])
        if condition is not None or refs[1] == refs[2]:
            return _known(graph, refs[2] if condition == 0.0 else refs[1])
    values = [graph.value_of(ref) for ref in refs]
    if None not in values:
        return float(OPS[name].meaning(*values))
    return Expr(graph, graph.intern((name, *refs)))


def _known(graph: Graph, ref: int) -> Any:
    """Node `ref`, or minus node `-ref` if `ref` is negative: as a float if it is a constant, else as an Expr."""
    value = graph.value_of(ref)
    return Expr(graph, ref) if value is None else value


def _sum(graph: Graph, a: int, b: int) -> Any:
    """The sum of two signed references, simplified: an Expr, or a float if it is a constant."""
    if a == -b:
        return 0.0
    if a == b:
        return _scaled(graph, 2.0, a)
    size_a, size_b = abs(a), abs(b)
    if size_a > size_b:
        a, b, size_a, size_b = b, a, size_b, size_a
    # the first term is made positive: -a - b = -(a + b), -a + b = -(a - b)
    node = ("add", size_a, size_b) if (a < 0) == (b < 0) else ("sub", size_a, size_b)
    ref = graph.index.get(node)
    if ref is None:
        nodes = graph.nodes
        if nodes[size_a][0] == "const" or nodes[size_b][0] == "const":
            folded = _sum_with_constant(graph, a, b)
            if folded is not None:
                return folded
        ref = len(nodes)
        nodes.append(node)
        graph.index[node] = ref
    return Expr(graph, -ref if a < 0 else ref)


def _sum_with_constant(graph: Graph, a: int, b: int) -> Any:
    """a + b for signed references of which one is a constant, with constants folded; None if nothing can be folded."""
    constant = graph.value_of(a)
    other = b
    if constant is None:
        constant, other = graph.value_of(b), a
    assert constant is not None
    if constant == 0.0:
        return _known(graph, other)
    value = graph.value_of(other)
    if value is not None:
        return constant + value
    inner = graph.nodes[abs(other)]
    if inner[0] not in ("add", "sub"):
        return None
    sign = -1 if other < 0 else 1
    left, right = sign * inner[1], sign * (inner[2] if inner[0] == "add" else -inner[2])
    for known, rest in ((left, right), (right, left)):
        number = graph.value_of(known)
        if number is not None:
            total = number + constant
            return _known(graph, rest) if total == 0.0 else _sum(graph, rest, graph.constant(total))
    return None


def _scaled(graph: Graph, factor: Number, ref: int) -> Any:
    """factor * ref; a constant factor that `ref` already has is merged with it."""
    if factor == 0.0:
        return 0.0
    if factor == 1.0:
        return Expr(graph, ref)
    if factor == -1.0:
        return Expr(graph, -ref)
    nodes = graph.nodes
    inner = nodes[abs(ref)]
    if inner[0] == "mul" and nodes[inner[1]][0] == "const":
        product = factor * nodes[inner[1]][1]
        return _scaled(graph, product, inner[2] if ref > 0 else -inner[2])
    if inner[0] == "const":
        return factor * inner[1] if ref > 0 else -factor * inner[1]
    constant = graph.constant(factor)
    if constant < 0:
        constant, ref = -constant, -ref
    # the constant is the first argument, whatever its id, so that constant factors are easy to find
    found = graph.intern(("mul", constant, abs(ref)))
    return Expr(graph, -found if ref < 0 else found)


def _quotient(graph: Graph, a: int, b: int) -> Any:
    """The quotient a / b of two signed references, simplified: an Expr, or a float if it is a constant."""
    divisor = graph.value_of(b)
    if divisor is not None:
        if divisor == 0.0:
            raise ZeroDivisionError("an expression is divided by the constant 0; check the divisor")
        return _scaled(graph, 1.0 / divisor, a)
    if abs(a) == abs(b):
        return 1.0 if a == b else -1.0
    if a == 0:
        return 0.0
    ref = graph.intern(("div", abs(a), abs(b)))
    return Expr(graph, -ref if (a < 0) != (b < 0) else ref)


_RULES: dict[str, Callable[..., Any]] = {
    "neg": lambda graph, a: _known(graph, -a),
    "add": _sum,
    "sub": lambda graph, a, b: _sum(graph, a, -b),
    "mul": lambda graph, a, b: Expr(graph, a) * Expr(graph, b),
    "div": _quotient,
}


def _whole_power(base: Any, exponent: int) -> Any:
    """base ** exponent by repeated squaring, exponent >= 1."""
    result = None
    while True:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        if exponent == 0:
            return result
        base = base * base
