"""LLVM's version, the CPU that it compiles for, and the width of the CPU's vector registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# the widest vector registers by CPU feature [bit], widest first
REGISTERS: tuple[tuple[str, int], ...] = (("avx512f", 512), ("avx", 256), ("sve", 128), ("neon", 128), ("sse2", 128))


def llvm_target() -> dict[str, Any]:
    """LLVM's version and the CPU that it compiles for, by name; or a "problem" if llvmlite cannot be imported."""
    try:
        import llvmlite.binding as binding
    except ImportError as error:
        return {"problem": f"llvmlite cannot be imported: {error}. Run: pip install llvmlite"}
    features: Mapping[str, bool] = binding.get_host_cpu_features()
    bits = simd_bits(features)
    return {
        "version": ".".join(map(str, binding.llvm_version_info)),
        "triple": binding.get_process_triple(),
        "cpu": binding.get_host_cpu_name(),
        "simd_bits": bits,
        "simd_doubles": bits // 64,
        "fma": bool(features.get("fma")) or bool(features.get("neon")),
    }


def simd_bits(features: Mapping[str, bool]) -> int:
    """The width of the widest vector registers [bit]; 64 if there are none."""
    return next((bits for feature, bits in REGISTERS if features.get(feature)), 64)
