"""How SQLite keeps its promises: by a write-ahead log (WAL) on local folders, by a rollback journal on other ones.

A write-ahead log needs memory that processes share, which network folders do not have. Linux says which folders these
are; where that is unknown, the rollback journal is used, which is right everywhere and a little slower.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal

Journal = Literal["wal", "delete"]
MOUNTS = Path("/proc/mounts")
LOCAL = frozenset(
    {
        *("apfs", "bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "msdos", "ntfs", "ntfs3"),
        *("overlay", "ramfs", "reiserfs", "tmpfs", "ufs", "vfat", "xfs", "zfs"),
    }
)  # kinds of folders of Linux on disks or in memory of this machine; all others may be network folders


def journal_of(folder: Path) -> Journal:
    """The kind of journal for a store in this folder."""
    return "wal" if kind_of(folder) in LOCAL else "delete"


def kind_of(folder: Path, mounts: Path | None = None) -> str:
    """The kind of file system of a folder, such as "ext4" or "nfs4"; empty where it is unknown."""
    try:
        lines = (mounts or MOUNTS).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place, found = os.path.realpath(folder), ("", "")
    for line in lines:
        words = line.split(" ")
        if len(words) < 3:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), words[1])  # a blank is written as \040
        inside = place == point or place.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(found[0]):  # a later mount hides an earlier one of the same place
            found = (point, words[2])
    return found[1]
