"""Pinocchio's C++, built for this CPU from the headers of its Python package, and called through ctypes.

`peer.cpp` is compiled once, header-only, with `-O3 -march=native -DNDEBUG`; that takes minutes. The library is stored
in the cache folder under a hash of everything it is made from. A model is passed joint by joint, as numbers.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from kinemorph.algebra.arrays import Array
from kinemorph.bench.peers.pinocchio_twin import PinocchioTwin, joint_here
from kinemorph.bench.timing import Say
from kinemorph.disk_cache import VARIABLE, CodeCache, cache_folder
from kinemorph.errors import CompileError, MissingExtraError

SOURCE = Path(__file__).parent / "peer.cpp"
FLAGS = (
    *("-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-shared", "-fPIC", "-w"),
    # as in Pinocchio's own build: its list of joints is longer than Boost's default
    *("-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30"),
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
COMPILERS = ("g++", "c++", "clang++")
HEADERS = {
    "libpinocchio": "pinocchio/config.hpp",
    "cmeel-boost": "boost/version.hpp",
    "cmeel-eigen": "eigen3/Eigen/Core",
}
INCLUDE = "cmeel.prefix/include"

# the order of the enumerations in peer.cpp
ALGORITHMS = (
    "rnea",
    "crba",
    "crba_world",
    "aba",
    "aba_world",
    "drnea",
    "daba",
    "fk",
    "jacobian",
    "constrained",
    "lcaba",
    "impulse",
    "regressor",
)
JOINTS = (
    *("RX", "RY", "RZ", "RevoluteUnaligned", "RUBX", "RUBY", "RUBZ", "RevoluteUnboundedUnaligned"),
    *("PX", "PY", "PZ", "PrismaticUnaligned", "HelicalUnaligned", "Planar", "Spherical", "FreeFlyer"),
)


def _folder() -> Path:
    """The folder of compiled libraries in the cache. Raises CompileError if it cannot be used."""
    outer = cache_folder()
    if outer is None:
        raise CompileError(
            f"the cache on disk is switched off by {VARIABLE}, and Pinocchio's C++ would be compiled for minutes in "
            "each run. Unset this variable."
        )
    for folder in (outer, outer / "bench"):
        problem = CodeCache(folder).problem()  # its files are executed, so it has to belong to the user alone
        if problem:
            raise CompileError(f"the cache folder '{folder}' cannot be used ({problem}). Set {VARIABLE} to another.")
    return outer / "bench"


def _include_folders() -> tuple[list[str], list[str]]:
    """(folders with the headers of Pinocchio, Boost and Eigen; names and versions of the packages that have them)."""
    folders, versions = [], []
    for package, header in HEADERS.items():
        try:
            found = importlib.metadata.distribution(package)
        except importlib.metadata.PackageNotFoundError:
            raise MissingExtraError(package, "bench") from None
        path = Path(str(found.locate_file(INCLUDE)))
        if not (path / header).is_file():
            raise CompileError(
                f"the header '{header}' is not in the installed package '{package}' {found.version}. Reinstall it."
            )
        folders += [str(path), str(path / "eigen3")]
        versions.append(f"{package} {found.version}")
    return sorted(set(folders)), versions


def compiler() -> str:
    """The path of the C++ compiler: the one that CXX names, or else a common one. Raises CompileError without one."""
    for name in (os.environ.get("CXX", ""), *COMPILERS):
        found = shutil.which(name) if name else None
        if found:
            return found
    raise CompileError(
        f"no C++ compiler is found: neither {', '.join(COMPILERS)} nor the one that CXX names. Install one of them."
    )


def built_library(say: Say) -> Path:
    """The path of the compiled library, compiled if it is not in the cache; `say` receives the progress.

    Raises MissingExtraError or CompileError where it cannot be compiled.
    """
    command = compiler()
    folders, versions = _include_folders()
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=False).stdout
    # -march=native depends on the CPU; the compiler can print what it stands for
    target = subprocess.run(
        [command, "-march=native", "-dM", "-E", "-x", "c++", os.devnull], capture_output=True, text=True, check=False
    ).stdout
    made_from = "\n".join([SOURCE.read_text(encoding="utf-8"), *FLAGS, *versions, version, target])
    key = hashlib.sha256(made_from.encode()).hexdigest()[:24]
    folder = _folder()
    library = folder / f"peer-{key}.so"
    if library.is_file():
        return library
    say(f"building Pinocchio's C++ with {Path(command).name}, once; this takes some minutes")
    part = folder / f"peer-{key}.{os.getpid()}.part"
    line = [command, *FLAGS, *(f"-I{path}" for path in folders), str(SOURCE), "-o", str(part)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode:
        part.unlink(missing_ok=True)
        first = next((line for line in done.stderr.splitlines() if "error" in line), done.stderr[:200])
        raise CompileError(
            f"Pinocchio's C++ does not compile with {command}: {first[:300]}. Name another compiler in CXX."
        )
    os.replace(part, library)  # atomic: two processes may build at once
    say(f"built {library.name}")
    return library


class CppPeer:
    """Pinocchio's model of a robot in C++. Each instance has its own workspace, so it may run in its own thread."""

    label = "Pinocchio C++"

    def __init__(self, twin: PinocchioTwin, tip: str, library: Path) -> None:
        self._code = _loaded(library)
        model = twin.model
        self._sizes = {
            "rnea": model.nv, "aba": model.nv, "aba_world": model.nv, "crba": model.nv**2, "crba_world": model.nv**2,
            "drnea": 3 * model.nv**2, "daba": 3 * model.nv**2, "fk": 16 * (model.njoints - 1), "jacobian": 6 * model.nv,
            "constrained": model.nv, "lcaba": model.nv, "impulse": model.nv,
            "regressor": 10 * model.nv * (model.njoints - 1),
        }  # fmt: skip
        self._peer = self._code.peer_new(_pointer(_row(model.gravity.linear)))
        for index in range(1, model.njoints):
            joint, inertia, at = model.joints[index], model.inertias[index], model.jointPlacements[index]
            _, axis, pitch = joint_here(joint)
            kind = JOINTS.index(joint.shortname().removeprefix("JointModel"))
            numbers: list[Any] = [_row(axis), pitch, _row(at.rotation), _row(at.translation), float(inertia.mass)]
            numbers += [_row(inertia.lever), _row(inertia.inertia)]
            numbers.append(_row(model.armature[joint.idx_v : joint.idx_v + joint.nv]))
            arguments = [x if isinstance(x, float) else _pointer(x) for x in numbers]
            self._code.peer_joint(self._peer, int(model.parents[index]), kind, *arguments)
        self._code.peer_ready(self._peer, int(twin.at[tip][0]))
        for pair in twin.closures:
            first, second = ([_row(pose[:3, :3]), _row(pose[:3, 3])] for pose in (pair.first_pose, pair.second_pose))
            ends = [(pair.first, *map(_pointer, first)), (pair.second, *map(_pointer, second))]
            self._code.peer_loop(self._peer, *ends[0], *ends[1])
        for algorithm, prox in twin.prox.items():
            self._code.peer_settle(self._peer, ALGORITHMS.index(algorithm), *prox)

    def results(self, algorithm: str, q: Array, v: Array, x: Array) -> Array:
        """The results of an algorithm at n states, each flattened, shape (n, size)."""
        out = np.full((len(q), self._sizes[algorithm]), np.nan)
        self._run(algorithm, q, v, x, out)
        return out

    def work(self, algorithm: str, q: Array, v: Array, x: Array) -> Callable[[], Any]:
        """A function that evaluates all states once, in one foreign call, which releases Python's interpreter lock.

        q (n, nq), v (n, nv) and x (n, nv), acceleration or force, are C-contiguous and in Pinocchio's convention.
        Results stay in Pinocchio's workspace, as in its normal use.
        """
        return partial(self._run, algorithm, q, v, x)

    def march(self, algorithm: str, steps: int, step: float, q: Array, v: Array) -> None:
        """Makes `steps` steps of RK4 of size `step` [s] without joint forces; q and v are updated in place."""
        self._code.peer_march(self._peer, ALGORITHMS.index(algorithm), steps, step, q.ctypes.data, v.ctypes.data)

    def _run(self, algorithm: str, q: Array, v: Array, x: Array, out: Array | None = None) -> None:
        place = None if out is None else out.ctypes.data
        self._code.peer_run(
            self._peer, ALGORITHMS.index(algorithm), len(q), q.ctypes.data, v.ctypes.data, x.ctypes.data, place
        )

    def __del__(self) -> None:
        if getattr(self, "_peer", None):
            self._code.peer_delete(self._peer)


def _row(values: Any) -> Array:
    """The numbers as a flat array, row by row, as the C interface reads them."""
    return np.array(values, dtype=np.float64).ravel()


def _pointer(values: Array) -> Any:
    return values.ctypes.data_as(ctypes.c_void_p)


@cache
def _loaded(library: Path) -> Any:
    code = ctypes.CDLL(str(library))
    pointer: Any = ctypes.c_void_p
    integer: Any = ctypes.c_int
    real: Any = ctypes.c_double
    code.peer_new.restype = pointer
    code.peer_new.argtypes = [pointer]
    code.peer_joint.argtypes = [pointer, integer, integer, pointer, real, pointer, pointer, real] + [pointer] * 3
    code.peer_ready.argtypes = [pointer, integer]
    code.peer_loop.argtypes = [pointer, *[integer, pointer, pointer] * 2]
    code.peer_settle.argtypes = [pointer, integer, real, integer]
    code.peer_march.argtypes = [pointer, integer, ctypes.c_long, real, pointer, pointer]
    code.peer_run.argtypes = [pointer, integer, ctypes.c_long] + [pointer] * 4
    code.peer_delete.argtypes = [pointer]
    for name in ("peer_joint", "peer_ready", "peer_loop", "peer_settle", "peer_march", "peer_run", "peer_delete"):
        getattr(code, name).restype = None
    return code
