"""The key of a program, a hash of what it computes: programs with equal keys are compiled to the same code.

The key covers ops, constants to the last bit, references and shapes; for a loop program, every statement
(`loops.keys`). It does not depend on the names of programs and arrays, on nodes that no output needs, or on the ids
that nodes have in the graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.vocabulary.blocks import Item

if TYPE_CHECKING:
    from kinemorph.codegen.graphs.program import Port, Program


def hashed(inputs: Sequence[Port], outputs: Sequence[Port], parts: Iterable[bytes]) -> str:
    """The key of a program: a hash of the shapes of its ports and of `parts`, which describe its operations."""
    digest = hashlib.sha256(f"{shapes_of(inputs)} -> {shapes_of(outputs)}\n".encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def shapes_of(ports: Sequence[Port]) -> str:
    """The shapes of ports as text, without their names."""
    return ", ".join(str(port.shape) for port in ports)


def graph_parts(program: Program) -> list[bytes]:
    """The operations of a program as bytes to hash: its ops in order, the data of its leaves, and all references.

    The references are one flat array; an op determines how many of them belong to it.
    """
    nodes, order = program.graph.nodes, program.order
    place = np.zeros(len(nodes), dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)  # ids that the nodes would have in a graph of this program alone
    used = [nodes[i] for i in order]
    leaves = [node[1] for node in used if node[0] in LEAVES]
    refs = [ref for node in used if node[0] not in LEAVES for ref in node[1:]]
    signed = np.array([*refs, *program.refs], dtype=np.int64)
    return [
        "\n".join([_word(node[0]) for node in used]).encode(),
        np.array(leaves, dtype=np.float64).tobytes(),
        (np.sign(signed) * place[np.abs(signed)]).tobytes(),
    ]


def _word(op: Any) -> str:
    """An op as text, with all its fixed data."""
    if isinstance(op, str):
        return op
    return op.label if isinstance(op, Item) else str(op.key)
