"""Arrays that live during one function: small ones on the stack, big ones from the C library's memory.

A thread's stack is a few megabytes; a batch of trajectories in lanes is not.
"""

from __future__ import annotations

from kinemorph.codegen.backends.llvm.math import Real

ON_STACK = 65536  # bytes up to which an array lies on the stack
ALIGNMENT = 64  # bytes: a cache line, and the widest register

MEMORY = """declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"""


class Arrays:
    """The arrays of one function, each of `count` values."""

    def __init__(self, real: Real) -> None:
        self.real = real
        self.counts: dict[str, int] = {}
        self.types: dict[str, Real] = {}

    def add(self, name: str, count: int, real: Real | None = None) -> str:
        """Asks for an array, of values of another type where one is given; gives its name back."""
        self.counts[name] = max(self.counts.get(name, 1), count)
        self.types[name] = real or self.real
        return name

    @property
    def on_heap(self) -> list[str]:
        """The names of the arrays that are allocated from the C library."""
        return [name for name, count in self.counts.items() if count * self.types[name].bytes > ON_STACK]

    def begin(self) -> list[str]:
        """Lines for the start of the function."""
        lines = []
        for name, count in self.counts.items():
            real = self.types[name]
            if name not in self.on_heap:
                lines.append(f"  {name} = alloca [{count} x {real.text}], align {ALIGNMENT}")
                continue
            lines.append(f"  {name}.memory = call noalias ptr @malloc(i64 {count * real.bytes + ALIGNMENT})")
            lines.append(f"  {name}.above = getelementptr i8, ptr {name}.memory, i64 {ALIGNMENT - 1}")
            lines.append(f"  {name} = call ptr @llvm.ptrmask.p0.i64(ptr {name}.above, i64 {-ALIGNMENT})")
        return lines

    def end(self) -> list[str]:
        """Lines for the end of the function."""
        return [f"  call void @free(ptr {name}.memory)" for name in self.on_heap]
