"""From LLVM IR text to callable functions, by llvmlite: parse, optimize for this CPU, compile in memory.

llvmlite is imported when the first program is compiled. LLVM is entered by one thread at a time.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from kinemorph.errors import CompileError

_LOCK = threading.Lock()
_TYPES: dict[str, Any] = {"bool": ctypes.c_bool, "int64": ctypes.c_int64, "pointer": ctypes.c_void_p, "void": None}


@cache
def _binding() -> Any:
    """llvmlite's binding, ready for this computer's CPU."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


class Engine:
    """A compiled module. The machine code lives as long as the engine; every function handed out keeps it alive."""

    def __init__(self, name: str, source: str, *, speed: int = 2) -> None:
        with _LOCK:
            binding = _binding()
            try:
                module = binding.parse_assembly(source)
                module.verify()
            except RuntimeError as error:
                raise CompileError(f"program '{name}': LLVM refuses the code emitted for it: {error}") from error
            machine = binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
                cpu=binding.get_host_cpu_name(), features=binding.get_host_cpu_features().flatten(), opt=speed, jit=True
            )
            module.triple = machine.triple
            module.data_layout = str(machine.target_data)
            tuning = binding.create_pipeline_tuning_options(speed_level=speed)
            passes = binding.create_pass_builder(machine, tuning)
            passes.getModulePassManager().run(module, passes)
            self._engine = binding.create_mcjit_compiler(module, machine)
            self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where the machine code of a function begins."""
        with _LOCK:
            return int(self._engine.get_function_address(name))

    def place(self, name: str) -> int:
        """Where a global variable lies."""
        with _LOCK:
            return int(self._engine.get_global_value_address(name))

    def function(self, name: str, result: str, arguments: Sequence[str]) -> Any:
        """A function of the module, callable from Python; the interpreter lock is free while it runs."""
        prototype = ctypes.CFUNCTYPE(_TYPES[result], *(_TYPES[kind] for kind in arguments))
        function: Any = prototype(self.address(name))
        function.engine = self
        return function
