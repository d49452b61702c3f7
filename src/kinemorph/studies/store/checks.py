"""Checksums by which damaged rows are found.

The key of an item is the checksum of its values. The check of a result covers everything that must belong together: all
facts that determine results (the aspects of the study), the key of the item, its number, state, cause and kept run, and
the name and value of each measure. A result that was moved, mixed up or computed under other aspects does not pass.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kinemorph.algebra.arrays import Array
from kinemorph.studies.items import Indices
from kinemorph.studies.store.aspects import is_shared
from kinemorph.studies.store.table import TOGETHER, Keys

CHECK_BYTES = 8
Checks = npt.NDArray[np.int64]


class Results(NamedTuple):
    """Results of n items, as in the table; `measures` (n, k) has NaN where there is no value."""

    numbers: Indices
    states: npt.NDArray[np.int8]
    names: tuple[str, ...]
    measures: Array
    causes: Mapping[int, str]
    runs: Mapping[int, str]


def text_check(name: str, value: str) -> int:
    """The check of a row of two texts."""
    return int.from_bytes(_digest(json.dumps([name, value]).encode()), "little", signed=True)


def aspects_digest(aspects: Mapping[str, str]) -> bytes:
    """A digest of everything that determines the results of all items."""
    shared = sorted((name, text) for name, text in aspects.items() if is_shared(name))
    return blake2b(json.dumps(shared).encode(), digest_size=16).digest()


def result_checks(digest: bytes, keys: Keys, results: Results) -> Checks:
    """The checks of results, shape (n,). `digest` is that of the aspects, `keys` are those of the items.

    A measure without a value counts as absent, so that measures can be added later.
    """
    pieces = [
        _block_checks(digest, keys[start : start + TOGETHER], _block(results, slice(start, start + TOGETHER)))
        for start in range(0, len(results.numbers), TOGETHER)
    ]
    return np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int64)


def _block(results: Results, rows: slice) -> Results:
    return results._replace(numbers=results.numbers[rows], states=results.states[rows], measures=results.measures[rows])


def _block_checks(digest: bytes, keys: Keys, results: Results) -> Checks:
    """The checks of so many results that they fit into memory as Python objects."""
    checks = np.empty(len(results.numbers), dtype=np.int64)
    order = sorted(range(len(results.names)), key=lambda k: results.names[k])
    names = [_digest(results.names[k].encode()) for k in order]
    values = results.measures[:, order]
    for rows, present in _alike(~np.isnan(values)):
        fields: list[Any] = [("aspects", "V16"), ("key", "V16"), ("number", "<i8"), ("state", "<i8")]
        fields += [field for k in present for field in ((f"name{k}", f"V{CHECK_BYTES}"), (f"value{k}", "<f8"))]
        records = np.empty(len(rows), dtype=fields)
        records["aspects"] = np.void(digest)
        records["key"], records["number"] = keys[rows], results.numbers[rows]
        records["state"] = results.states[rows]
        for k in present:
            records[f"name{k}"], records[f"value{k}"] = np.void(names[k]), values[rows, k]
        checks[rows] = _digests(records, results)
    return checks


def _alike(present: npt.NDArray[np.bool_]) -> Iterator[tuple[Indices, list[int]]]:
    """Rows that have the same measures, and the indices of these measures."""
    if present.all():
        yield np.arange(len(present)), list(range(present.shape[1]))
        return
    patterns, kind = np.unique(np.packbits(present, axis=1), axis=0, return_inverse=True)
    for number in range(len(patterns)):
        rows = np.flatnonzero(kind.reshape(-1) == number)
        yield rows, np.flatnonzero(present[rows[0]]).tolist()


def _digests(records: npt.NDArray[Any], results: Results) -> Checks:
    """Digests of records, followed by the cause and the kept run of those that have them."""
    data, size = records.tobytes(), records.dtype.itemsize
    parts: Sequence[bytes] = [data[k : k + size] for k in range(0, len(data), size)]
    if results.causes or results.runs:
        numbers = records["number"].tolist()
        texts = [(results.causes.get(number), results.runs.get(number)) for number in numbers]
        parts = [
            part if cause is None and run is None else part + json.dumps([cause, run]).encode()
            for part, (cause, run) in zip(parts, texts, strict=True)
        ]
    return np.frombuffer(b"".join([_digest(part) for part in parts]), dtype="<i8").astype(np.int64)


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=CHECK_BYTES).digest()
