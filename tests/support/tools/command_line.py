"""The command line, run in this process."""

from __future__ import annotations

import json
from typing import Any

from typer.testing import CliRunner, Result

from kinemorph.cli import app

runner = CliRunner()


def run(*arguments: str) -> Result:
    return runner.invoke(app, list(arguments))


def parsed(*arguments: str, code: int = 0) -> Any:
    """What a verb prints with --json."""
    result = run(*arguments, "--json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)
