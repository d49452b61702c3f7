"""What a program computes, as a short text: programs with equal keys are compiled to the same code.

The key covers ops, constants to the last bit, references, shapes, and of a loop program every statement. Names of
programs and arrays do not enter, nor do nodes that no output needs, nor the places of the others in their graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kinemorph.codegen.graphs.graph import LEAVES
from kinemorph.codegen.graphs.program import Port, Program
from kinemorph.codegen.loops.loop_program import Affine, Call, For, If, LoopProgram, Statement, View, While
from kinemorph.vocabulary.blocks import Item

_KEYS: WeakKeyDictionary[Program | LoopProgram, str] = WeakKeyDictionary()


def program_key(program: Program | LoopProgram) -> str:
    """A hash of what a program computes."""
    if program not in _KEYS:
        _KEYS[program] = _hashed(program)
    return _KEYS[program]


def _hashed(program: Program | LoopProgram) -> str:
    digest = hashlib.sha256(f"{_shapes(program.inputs)} -> {_shapes(program.outputs)}\n".encode())
    parts = _loop_parts(program) if isinstance(program, LoopProgram) else _parts(program)
    if isinstance(program, Program) and program.for_one is not None:
        parts.append(program_key(program.for_one).encode())
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def _shapes(ports: Sequence[Port]) -> str:
    return ", ".join(str(port.shape) for port in ports)


# ── programs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _parts(program: Program) -> list[bytes]:
    """The ops in order, the data of the leaves, all references one after the other: an op says how many are its own."""
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


# ── loop programs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _loop_parts(loop: LoopProgram) -> list[bytes]:
    """The arrays, the constants, the keys of what is called, and the statements, which name all of these by number."""
    fixed = [port for port, _ in loop.constants]
    arrays = {port.name: k for k, port in enumerate((*loop.inputs, *loop.outputs, *loop.buffers, *fixed))}
    called = {id(program): k for k, program in enumerate(loop.programs)}

    def place(view: View) -> str:
        at = f" at ({place(view.at)}) by {view.stride}" if view.at else ""
        return f"array {arrays[view.array]}, {view.size} from {number(view.offset)}{at}"

    def number(value: Affine | View) -> str:
        return place(value) if isinstance(value, View) else f"{value.constant} {value.terms}"

    def written(body: Sequence[Statement]) -> str:
        return "{" + "".join(map(statement, body)) + "}"

    def statement(one: Statement) -> str:
        match one:
            case Call(program, outs, ins):
                return f"call {called[id(program)]} [{'; '.join(map(place, (*outs, *ins)))}]\n"
            case For(counter, start, stop, body, apart):
                return f"for {counter} in {number(start)} to {number(stop)} {apart} {written(body)}\n"
            case While(condition, body):
                return f"while {place(condition)} {written(body)}\n"
            case If(condition, then, otherwise):
                return f"if {place(condition)} {written(then)} {written(otherwise)}\n"

    return [
        f"{_shapes(loop.buffers)}; {_shapes(fixed)}".encode(),
        np.array([value for _, values in loop.constants for value in values], dtype=np.float64).tobytes(),
        " ".join(program_key(program) for program in loop.programs).encode(),
        written(loop.body).encode(),
    ]
