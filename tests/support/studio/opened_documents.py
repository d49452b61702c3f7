"""Documents of the studio with copies of templates."""

from __future__ import annotations

import shutil
from pathlib import Path

from kinemorph.formats.toml import template_files
from kinemorph.studio.documents.document import Document

TEMPLATES = Path(next(iter(template_files.__path__)))


def opened(tmp_path: Path, name: str = "arm") -> Document:
    """A document with a copy of a template."""
    shutil.copy(TEMPLATES / f"{name}.toml", tmp_path / f"{name}.toml")
    return Document(tmp_path / f"{name}.toml")
