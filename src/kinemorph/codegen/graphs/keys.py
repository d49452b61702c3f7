"""What a program computes, as a short text: programs with equal keys are compiled to the same code.

The key covers ops, constants to the last bit, references and shapes; of a loop program, every statement (`loops.keys`).
Names of programs and arrays do not enter, nor do nodes that no output needs, nor the places of the others in the graph.
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
    """The key of a program with these ports that consists of these parts."""
    digest = hashlib.sha256(f"{shapes_of(inputs)} -> {shapes_of(outputs)}\n".encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def shapes_of(ports: Sequence[Port]) -> str:
    """The shapes of ports as a text, without their names."""
    return ", ".join(str(port.shape) for port in ports)


def graph_parts(program: Program) -> list[bytes]:
    """The ops in order, the data of the leaves, and all references in a row; an op decides how many are its own."""
    nodes, order = program.graph.nodes, program.order
    place = np.zeros(len(nodes), dtype=np.int64)
    place[order] = np.arange(1, len(order) + 1)  # ids as if nothing but this program were in the graph
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
    """An op with all its fixed data."""
    if isinstance(op, str):
        return op
    return op.label if isinstance(op, Item) else str(op.key)
