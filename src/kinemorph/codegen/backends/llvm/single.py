"""The LLVM module for one state at a time: the program, a kernel, and a check that its results are finite."""

from __future__ import annotations

from kinemorph.codegen.backends import Precision
from kinemorph.codegen.backends.llvm.chunks import pointers
from kinemorph.codegen.backends.llvm.entry import entries
from kinemorph.codegen.backends.llvm.math import Real, finite
from kinemorph.codegen.backends.llvm.module import Module
from kinemorph.codegen.graphs.program import Program
from kinemorph.codegen.loops.loop_program import LoopProgram


def emit_one(program: Program | LoopProgram, precision: Precision, direct: bool) -> str:
    """The LLVM IR for one state at a time; `direct` adds the entries for direct calls from Python."""
    heading = f"; {program.name!r}: {program.ops} ops, {program.flops} flops"
    module = Module(Real(precision))
    if isinstance(program, Program) and program.for_one is not None:
        program = program.for_one
    module.main(program)
    outs, ins = pointers(program)
    named, passed = (", ".join(f"{kind} {p}" for p in [*outs, *ins]) for kind in ("ptr noalias", "ptr"))
    lines = [f"define void @kernel({named}) nounwind {{"]
    if not isinstance(program, LoopProgram):
        lines.append(f"  call void @main.constants({', '.join(f'ptr {p}' for p in outs)})")
    lines += [f"  call void @main({passed})", "  ret void", "}"]
    lines += [f"define zeroext i1 @single({named}) nounwind {{", f"  call void @kernel({passed})"]
    found = "true"
    for k, (port, out) in enumerate(zip(program.outputs, outs, strict=True)):
        lines.append(f"  %finite{k} = call i1 @finite(ptr {out}, i64 {port.size})")
        lines.append(f"  %all{k} = and i1 {found}, %finite{k}")
        found = f"%all{k}"
    lines += [f"  ret i1 {found}", "}"]
    parts = [finite(precision), *lines]
    return f"{heading}\n{module.text(*parts, *([entries(program, precision)] if direct else []))}"
