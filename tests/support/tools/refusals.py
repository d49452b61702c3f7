"""Model files with a mistake: they are refused with a finding on its line."""

from __future__ import annotations

import pytest

from kinemorph.errors import ParseError
from kinemorph.formats.loading import load_text


def assert_refused(text: str, format: str, old: str, new: str, *, line: int, problem: str, remedy: str = "") -> None:
    """Asserts that the text, with `new` in place of the first `old`, is refused as a file of this format.

    One of the findings has to contain `problem`; the first of them is on this line, and contains `remedy`.
    """
    assert old in text
    with pytest.raises(ParseError) as caught:
        load_text(text.replace(old, new, 1), format)
    found = [one for one in caught.value.findings if problem in one.problem]  # type: ignore[attr-defined]
    assert found, str(caught.value)
    assert found[0].line == line and remedy in found[0].remedy, str(caught.value)
