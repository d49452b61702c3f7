"""Local arrays of a function: small ones on the stack, big ones on the heap.

The stack of a thread has a few megabytes; the trajectories of a batch in lanes may need more.
"""

from __future__ import annotations

from kinemorph.codegen.backends.llvm.math import Real

ON_STACK = 65536  # [byte] size of the largest array on the stack
ALIGNMENT = 64  # [byte] size of a cache line and of the widest register

MEMORY = """declare noalias ptr @malloc(i64)
declare void @free(ptr)
declare ptr @llvm.ptrmask.p0.i64(ptr, i64)"""


class Arrays:
    """The local arrays of one function; their values have the type `real` unless `add` gives another."""

    def __init__(self, real: Real) -> None:
        self.real = real
        self.counts: dict[str, int] = {}
        self.types: dict[str, Real] = {}

    def add(self, name: str, count: int, real: Real | None = None) -> str:
        """Adds an array of at least `count` values; several requests for a name share one array. Returns the name."""
        self.counts[name] = max(self.counts.get(name, 1), count)
        self.types[name] = real or self.real
        return name

    @property
    def on_heap(self) -> list[str]:
        """The names of the arrays that are on the heap."""
        return [name for name, count in self.counts.items() if count * self.types[name].bytes > ON_STACK]

    def begin(self) -> list[str]:
        """Lines for the start of the function, which allocate the arrays."""
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
        """Lines for the end of the function, which free the arrays on the heap."""
        return [f"  call void @free(ptr {name}.memory)" for name in self.on_heap]
