"""From LLVM IR text to callable functions, by llvmlite: parse, optimize for this CPU, compile, load.

    key ──► cache ──► object code ──► Engine
              └─ on a miss: emit ──► text ──► optimized ──► object code, kept under the key

A program found in the cache is neither emitted nor parsed, and what runs is the same object code either way. llvmlite
is imported when the first program is compiled or loaded. LLVM is entered by one thread at a time.
"""

from __future__ import annotations

import ctypes
import hashlib
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from kinemorph.codegen.backends.llvm import python_objects
from kinemorph.codegen.storing.cache import code_cache, package_folder, source_lines
from kinemorph.errors import CompileError

PASSES, SPEED = 1, 2  # optimization levels of the passes (2 takes longer for code no faster) and of the code generator
# what code needs that is no work on matrices: the graph has left nothing for the other passes, five times as long
FEW_PASSES = ("always_inliner", "sroa", "simplify_cfg", "new_gvn", "simplify_cfg")
MATRICES = "; loops over matrices\n"  # a comment in text that needs all passes: their vectorizer above all
BORDER = "\n\n; ── from here on a part that is compiled as it stands, without passes ──\n\n"
# the rooms that have no say in the text of a program: whatever they decide is in its key
NO_SAY = frozenset(
    (
        "algebra",
        "model",
        "mechanics",
        "deriving",
        "formats",
        "plants",
        "simulation",
        "analysis",
        "display",
        "bench",
        "cli",
    )
)

_LOCK = threading.Lock()
_TYPES: dict[str, Any] = {"bool": ctypes.c_bool, "int64": ctypes.c_int64, "pointer": ctypes.c_void_p, "void": None}


def load_module(key: str, name: str, emit: Callable[[], str]) -> Engine:
    """The compiled module with that key, from the cache on disk or by compiling what `emit` gives.

    The key says everything that the text depends on, save what `facts` says; `name` is the program's, for messages.
    """
    digest = hashlib.sha256("\n".join((*facts(), key)).encode()).hexdigest()
    store = code_cache()
    code = store.read(digest) if store else None
    if code is None:
        code = compile_text(name, emit())
        if store:
            store.write(digest, code)
    return Engine(code)


def facts() -> tuple[str, ...]:
    """What code depends on besides its program: LLVM, its effort, the CPU, this package, Python's objects in memory."""
    version = sys.modules[__name__.partition(".")[0]].__version__
    objects = f"{python_objects.HEAD} {python_objects.ITEMS} {python_objects.layout_is_known()}"
    return (*_target(), str(SPEED), version, emitter_digest(package_folder()), objects)


@cache
def emitter_digest(package: Path) -> str:
    """A hash of the source files that decide what is emitted."""
    digest = hashlib.sha256()
    for line in source_lines(package, NO_SAY):
        digest.update(line)
    return digest.hexdigest()


@cache
def _binding() -> Any:
    """llvmlite's binding, ready for this computer's CPU."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def _target() -> tuple[str, str, str, str, str]:
    """Versions of LLVM and llvmlite; triple, CPU and features that code is made for."""
    import llvmlite

    binding = _binding()
    version = ".".join(map(str, binding.llvm_version_info))
    features = binding.get_host_cpu_features().flatten()
    if vector_bits() == 512:  # loops as wide as the lanes; LLVM prefers half of it on some CPUs
        features += ",-prefer-256-bit"
    return version, llvmlite.__version__, binding.get_process_triple(), binding.get_host_cpu_name(), features


@cache
def vector_bits() -> int:
    """The width of this CPU's SIMD registers."""
    features = _binding().get_host_cpu_features()
    return 512 if features.get("avx512f") else 256 if features.get("avx") else 128


def _machine() -> Any:
    """A code generator for this CPU. Code for `jit` may lie any distance from its data and from the libraries."""
    _, _, triple, cpu, features = _target()
    target = _binding().Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=SPEED, jit=True)


def compile_text(name: str, source: str) -> bytes:
    """LLVM IR as an object file in memory. It holds no address of this process, so that any other can load it.

    What follows a BORDER in the text is a part of the module that goes through no passes but inlining.
    """
    with _LOCK:
        machine = _machine()
        worked, _, plain = source.partition(BORDER)
        module = _optimized(name, worked, machine, PASSES if MATRICES in worked else None)
        if plain:
            module.link_in(_optimized(name, plain, machine, 0))
        return bytes(machine.emit_object(module))


def _optimized(name: str, source: str, machine: Any, passes: int | None) -> Any:
    """LLVM IR as a module, after the passes of that level, or FEW_PASSES."""
    binding = _binding()
    try:
        module = binding.parse_assembly(source)
        module.verify()
    except RuntimeError as error:
        raise CompileError(f"program '{name}': LLVM refuses the code emitted for it: {error}") from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    tuning = binding.create_pipeline_tuning_options(speed_level=PASSES if passes is None else passes)
    tuning.loop_vectorization = True
    tuning.loop_interleaving = False  # loops of blocks are short
    builder = binding.create_pass_builder(machine, tuning)
    manager = builder.getModulePassManager() if passes is not None else binding.create_new_module_pass_manager()
    for few in FEW_PASSES if passes is None else ():
        getattr(manager, f"add_{few}_pass")()
    manager.run(module, builder)
    return module


class Engine:
    """A compiled module. The machine code lives as long as the engine; every function handed out keeps it alive."""

    def __init__(self, code: bytes) -> None:
        with _LOCK:
            binding, machine = _binding(), _machine()
            empty = binding.parse_assembly("")  # an engine is made around a module
            empty.triple = machine.triple
            self._engine = binding.create_mcjit_compiler(empty, machine)
            self._engine.add_object_file(binding.ObjectFileRef.from_data(code))
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
