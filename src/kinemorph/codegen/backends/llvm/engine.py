"""From LLVM IR to callable functions, with llvmlite: parse, optimize for this CPU, compile, load.

    key ──► cache ──► object code ──► Engine
              └─ on a miss: emit ──► LLVM IR ──► optimized ──► object code, stored under the key

A program found in the cache is neither emitted nor parsed, and the same object code runs in both cases. llvmlite is
imported when the first program is compiled or loaded. Only one thread at a time calls LLVM, the one that
holds LLVM_LOCK.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.codegen.backends import Effort, Precision
from kinemorph.codegen.backends.llvm import python_objects
from kinemorph.codegen.backends.llvm.improvement import Improvable, packed
from kinemorph.codegen.graphs.program import Runnable
from kinemorph.codegen.storing.shared_numbers import shared_numbers
from kinemorph.disk_cache import TEXT, code_cache, package_folder, source_lines
from kinemorph.errors import CompileError
from kinemorph.vocabulary.frozen_array import FrozenArray

PASSES, SPEED = 1, 2  # optimization levels of the passes (2 takes longer, code is no faster) and of the code generator
LEAST = 0  # the level for programs that are called a few times: compiled 5 times as fast, runs 1.2 to 2 times as long
# the passes for code without matrix loops: all passes take five times as long, and the graph is already simplified
FEW_PASSES = ("always_inliner", "sroa", "simplify_cfg", "new_gvn", "simplify_cfg")
LEAST_PASSES = ("always_inliner", "sroa")  # where the code generator takes the least time, too
MATRICES = "; loops over matrices\n"  # a comment in LLVM IR that is fast only with all passes, above all the vectorizer
BORDER = "\n\n; ── from here on a part that is compiled as it stands, without passes ──\n\n"
# subpackages that do not influence the LLVM IR of a program other than through its key
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
        "programs",
        "studies",
        "display",
        "studio",
        "bench",
        "cli",
    )
)

# the widest vector registers by CPU feature [bit], widest first
REGISTERS: tuple[tuple[str, int], ...] = (("avx512f", 512), ("avx", 256), ("sve", 128), ("neon", 128), ("sse2", 128))
LIST = "numbers"  # the global variable of an LLVM module with the digests of its arrays of numbers

LLVM_LOCK = threading.RLock()
if hasattr(os, "register_at_fork"):
    # a process is forked between two calls of LLVM, or its copy of the lock would stay locked
    os.register_at_fork(before=LLVM_LOCK.acquire, after_in_parent=LLVM_LOCK.release, after_in_child=LLVM_LOCK.release)
_TYPES: dict[str, Any] = {"bool": ctypes.c_bool, "int64": ctypes.c_int64, "pointer": ctypes.c_void_p, "void": None}


def load_module(key: str, name: str, emit: Callable[[], str], effort: Effort = "best") -> Engine:
    """The compiled LLVM module with a key, from the cache on disk or by compiling the LLVM IR that `emit` returns.

    The key contains everything that the IR depends on, except `facts`; `name` names the program in messages. Code that
    grows is compiled in the least time, if there is a cache and no code for speed in it: the engine is `improvable`.
    """
    store, best = code_cache(), _digest(key, SPEED)
    grows = effort == "growing" and SPEED > LEAST
    speed = LEAST if effort == "least" else SPEED
    code = store.read(_digest(key, speed)) if store else None
    if store and code is None and grows:
        speed = LEAST
        code = store.read(_digest(key, speed))
    if code is None:
        text = emit()
        code = compile_text(name, text, speed)
        if store:
            store.write(_digest(key, speed), code)
            if grows:
                store.write(best, packed(text), TEXT)
    improvable = Improvable(store, best, name, SPEED, emit) if store and grows and speed == LEAST else None
    return Engine(code, improvable)


def _digest(key: str, speed: int) -> str:
    """The name in the cache of the code of an LLVM module that is compiled with a level of optimization."""
    effort = ("in the least time",) if speed == LEAST else ()
    return hashlib.sha256("\n".join((*facts(), *effort, key)).encode()).hexdigest()


def facts() -> tuple[str, ...]:
    """Everything that code depends on besides its program, as text.

    These are LLVM and its options, the CPU, the version of this package, and the memory layout of Python objects.
    """
    version = sys.modules[__name__.partition(".")[0]].__version__
    objects = f"{python_objects.HEAD} {python_objects.ITEMS} {python_objects.layout_is_known()}"
    return (*_target(), str(SPEED), version, emitter_digest(package_folder()), objects)


@cache
def emitter_digest(package: Path) -> str:
    """A hash of the source files of the package that determine what is emitted."""
    digest = hashlib.sha256()
    for line in source_lines(package, NO_SAY):
        digest.update(line)
    return digest.hexdigest()


@cache
def _binding() -> Any:
    """llvmlite's `binding` module, initialized for this computer's CPU."""
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def _target() -> tuple[str, str, str, str, str]:
    """(LLVM version, llvmlite version, target triple, CPU name, CPU features) that code is compiled for."""
    import llvmlite

    binding = _binding()
    version = ".".join(map(str, binding.llvm_version_info))
    features = binding.get_host_cpu_features().flatten()
    if vector_bits() == 512:  # full register width in loops; LLVM prefers half of it on some CPUs
        features += ",-prefer-256-bit"
    return version, llvmlite.__version__, binding.get_process_triple(), binding.get_host_cpu_name(), features


@cache
def vector_bits() -> int:
    """The width of this CPU's SIMD registers [bit]."""
    return max(simd_bits(_binding().get_host_cpu_features()), 128)


def simd_bits(features: Mapping[str, bool]) -> int:
    """The width of the widest vector registers [bit] of a CPU with these features; 64 if there are none."""
    return next((bits for feature, bits in REGISTERS if features.get(feature)), 64)


def llvm_target() -> dict[str, Any]:
    """LLVM's version and the CPU that it compiles for, by name; or a "problem" if llvmlite cannot be imported."""
    try:
        binding = _binding()
    except ImportError as error:
        return {"problem": f"llvmlite cannot be imported: {error}. Run: pip install llvmlite"}
    features = binding.get_host_cpu_features()
    bits = simd_bits(features)
    return {
        "version": ".".join(map(str, binding.llvm_version_info)),
        "triple": binding.get_process_triple(),
        "cpu": binding.get_host_cpu_name(),
        "simd_bits": bits,
        "simd_doubles": bits // 64,
        "fma": bool(features.get("fma")) or bool(features.get("neon")),
    }


def _machine(speed: int) -> Any:
    """LLVM's code generator for this CPU, at optimization level `speed`.

    It makes code for loading into a running process, where data and libraries may be at any address.
    """
    _, _, triple, cpu, features = _target()
    target = _binding().Target.from_triple(triple)
    return target.create_target_machine(cpu=cpu, features=features, opt=speed, jit=True)


def compile_text(name: str, source: str, speed: int | None = None) -> bytes:
    """LLVM IR compiled to an object file in memory. It contains no address of this process, so others can load it.

    Code after a BORDER in the source is only inlined; no other passes run on it. `name` is for messages, `speed`
    the optimization level of the code generator (by default SPEED).
    """
    with LLVM_LOCK:
        speed = SPEED if speed is None else speed
        machine = _machine(speed)
        worked, _, plain = source.partition(BORDER)
        passes: int | tuple[str, ...] = PASSES if MATRICES in worked else FEW_PASSES
        module = _optimized(name, worked, machine, passes if speed > LEAST else LEAST_PASSES)
        if plain:
            module.link_in(_optimized(name, plain, machine, 0))
        return bytes(machine.emit_object(module))


def _optimized(name: str, source: str, machine: Any, passes: int | tuple[str, ...]) -> Any:
    """LLVM IR as an LLVM module, after the passes with these names, or those of an optimization level."""
    binding = _binding()
    try:
        module = binding.parse_assembly(source)
        module.verify()
    except RuntimeError as error:
        raise CompileError(
            f"program '{name}': LLVM does not accept the code emitted for it. Use the backend 'interpreter' or 'c'. "
            f"LLVM says: {error}"
        ) from error
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    tuning = binding.create_pipeline_tuning_options(speed_level=passes if isinstance(passes, int) else PASSES)
    tuning.loop_vectorization = True
    tuning.loop_interleaving = False  # loops of blocks are short
    builder = binding.create_pass_builder(machine, tuning)
    if isinstance(passes, int):
        manager = builder.getModulePassManager()
    else:
        manager = binding.create_new_module_pass_manager()
        for each in passes:
            getattr(manager, f"add_{each}_pass")()
    manager.run(module, builder)
    return module


class Engine:
    """A compiled LLVM module. The machine code exists as long as the engine; every returned function keeps it alive.

    llvmlite unloads the code when its object is finalized. In unreachable cycles the garbage collector finalizes all
    objects first, in any order, and finalizers of others may still call the code. The collector does not look into
    NumPy arrays: held by one, llvmlite's object is finalized when the engine itself is freed, which is later.
    """

    def __init__(self, code: bytes, improvable: Improvable | None = None) -> None:
        self.improvable = improvable  # how code for speed may follow; None where this is the best
        with LLVM_LOCK:
            binding, machine = _binding(), _machine(LEAST)
            empty = binding.parse_assembly("")  # an execution engine needs a module
            empty.triple = machine.triple
            engine = binding.create_mcjit_compiler(empty, machine)
            engine.add_object_file(binding.ObjectFileRef.from_data(code))
            engine.finalize_object()
        self._engine = np.array(engine, dtype=object)
        self.kept: list[object] = []  # what the code refers to

    def address(self, name: str) -> int:
        """The address of the machine code of a function."""
        with LLVM_LOCK:
            return int(self._engine.item().get_function_address(name))

    def place(self, name: str) -> int:
        """The address of a global variable."""
        with LLVM_LOCK:
            return int(self._engine.item().get_global_value_address(name))

    def function(self, name: str, result: str, arguments: Sequence[str]) -> Any:
        """A function of the LLVM module, callable from Python; it runs without Python's interpreter lock.

        `result` and `arguments` are types: "bool", "int64", "pointer" or "void".
        """
        prototype = ctypes.CFUNCTYPE(_TYPES[result], *(_TYPES[kind] for kind in arguments))
        function: Any = prototype(self.address(name))
        function.engine = self
        return function


# ── numbers that the code refers to ───────────────────────────────────────────────────────────────────────────────────


def pointer(numbers: FrozenArray) -> str:
    """The name of the global variable of an LLVM module that points to an array of numbers."""
    return f"@{LIST}.{numbers.digest}"


def pointers_to(arrays: Iterable[FrozenArray]) -> str:
    """The definitions of the pointers to arrays of numbers, and of the list of their digests, as LLVM IR."""
    unique = {numbers.digest: pointer(numbers) for numbers in arrays}
    text = " ".join(unique)
    lines = [f"{name} = global ptr null" for name in unique.values()]
    return "\n".join([*lines, f'@{LIST} = constant [{len(text) + 1} x i8] c"{text}\\00"'])


def point_to_numbers(engine: Engine, program: Runnable, precision: Precision) -> None:
    """Sets the pointers of a loaded LLVM module to its program's arrays of numbers, which the engine keeps alive."""
    for digest in ctypes.string_at(engine.place(LIST)).decode().split():
        array = shared_numbers(digest, program, precision)
        ctypes.c_void_p.from_address(engine.place(f"{LIST}.{digest}")).value = array.ctypes.data
        engine.kept.append(array)
