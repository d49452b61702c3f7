"""What shared libraries of other systems export, which cannot be run here: PE of Windows, Mach-O of macOS, ELF."""

from __future__ import annotations

import struct
from typing import NamedTuple


class Header(NamedTuple):
    """The format of a library, its processor by the number of the format, and the names that it exports."""

    format: str
    processor: int
    exports: set[str]


def library_header(data: bytes) -> Header:
    """The header of one library; raises AssertionError where the bytes are none."""
    if data[:2] == b"MZ":
        return _pe(data)
    if data[:4] == b"\x7fELF":
        return _elf(data)
    return _mach_o(data)


def parts(data: bytes) -> list[bytes]:
    """The libraries in a universal library of macOS, one for each processor."""
    magic, count = struct.unpack_from(">II", data)
    assert magic == 0xCAFEBABE
    rows = [struct.unpack_from(">5I", data, 8 + 20 * k) for k in range(count)]
    assert all(place % (1 << align) == 0 for _, _, place, _, align in rows)
    return [data[place : place + size] for _, _, place, size, _ in rows]


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode()


def _pe(data: bytes) -> Header:
    (start,) = struct.unpack_from("<I", data, 0x3C)
    assert data[start : start + 4] == b"PE\0\0"
    machine, count, _, _, _, optional, kind = struct.unpack_from("<HHIIIHH", data, start + 4)
    assert struct.unpack_from("<H", data, start + 24)[0] == 0x20B and kind & 0x2000  # 64 bits, a DLL
    (table,) = struct.unpack_from("<I", data, start + 24 + 112)
    sections = [struct.unpack_from("<IIII", data, start + 24 + optional + 40 * k + 8) for k in range(count)]

    def place(address: int) -> int:
        return next(address - first + raw for size, first, _, raw in sections if first <= address < first + size)

    number, _, names = struct.unpack_from("<III", data, place(table) + 24)
    found = struct.unpack_from(f"<{number}I", data, place(names))
    return Header("PE", machine, {_text(data, place(one)) for one in found})


def _elf(data: bytes) -> Header:
    kind, machine = struct.unpack_from("<HH", data, 16)
    assert kind == 3 and data[4] == 2  # a shared library of 64 bits
    (at,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + size * k) for k in range(count)]
    symbols = next(row for row in sections if row[1] == 11)
    strings = sections[symbols[6]][4]
    found = [struct.unpack_from("<IBBHQQ", data, symbols[4] + k) for k in range(0, symbols[5], 24)]
    return Header("ELF", machine, {_text(data, strings + row[0]) for row in found if row[3] != 0})


def _mach_o(data: bytes) -> Header:
    magic, cpu, _, kind, count, _, _, _ = struct.unpack_from("<8I", data)
    assert magic == 0xFEEDFACF and kind == 6  # 64 bits, a dylib
    at, found, signed = 32, set[str](), False
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 2:
            place, number, strings, _ = struct.unpack_from("<4I", data, at + 8)
            for k in range(number):
                name, sort, section, _, _ = struct.unpack_from("<IBBHQ", data, place + 16 * k)
                if sort & 1 and section:
                    found.add(_text(data, strings + name).removeprefix("_"))
        signed |= command == 0x1D
        at += size
    assert signed or cpu != 0x0100000C  # Apple's ARM processors run signed code only
    return Header("Mach-O", cpu, found)
