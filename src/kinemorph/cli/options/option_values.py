"""Reads the texts of options: numbers, values by name, frequency windows, paths of pictures.

Angles are in radians unless they end in `deg`, as in `30deg`. Every error message names the option.
"""

from __future__ import annotations

import math
from pathlib import Path

from kinemorph.errors import KinemorphError
from kinemorph.words import listed

Values = list[float] | dict[str, float]
PICTURES = (".png", ".svg", ".pdf")


def values(text: str | None, option: str) -> Values | None:
    """The numbers in a text: a list for `0.1,0.2`, a dictionary for `elbow=0.1,wrist=30deg`, None for None."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise KinemorphError(f"{option} is empty; expected numbers. Write 0.1,0.2, or values by name: elbow=0.1.")
    named = ["=" in part for part in parts]
    if not any(named):
        return [number(part, option) for part in parts]
    if not all(named):
        bare = parts[named.index(False)]
        raise KinemorphError(
            f"{option} is '{text}': '{bare}' has no name, but other values have one. Write name=value for all values, "
            "or for none."
        )
    found: dict[str, float] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in found:
            raise KinemorphError(f"{option} is '{text}': the name '{name}' appears twice. Give one value for it.")
        found[name] = number(value, f"{option} {name}")
    return found


def number(text: str, option: str) -> float:
    """The finite number in a text; `30deg` is converted to radians."""
    try:
        value = math.radians(float(text.removesuffix("deg"))) if text.endswith("deg") else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise KinemorphError(f"{option} is '{text}'; expected a finite number. Write 0.5, or 30deg for an angle.")
    return value


def above_zero(value: float | None, option: str, unit: str = "") -> float | None:
    """The value itself. Raises KinemorphError unless it is None or a finite number above zero."""
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise KinemorphError(f"{option} is {f'{value:g} {unit}'.strip()}; expected a finite number above 0.")
    return value


def window(text: str | None) -> tuple[float, float] | None:
    """(lowest, highest) frequency [Hz] of a window such as `0.5:20`; `:20` begins at 0, `0.5:` has no upper end."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    try:
        found = (float(low or "0"), float(high or "inf"))
    except ValueError:
        found = (math.nan, math.nan)
    if not colon or not 0.0 <= found[0] < found[1]:
        raise KinemorphError(
            f"--window is '{text}'; expected two frequencies in Hz with a colon between, the lower one first. "
            "Write for example 0.5:20."
        )
    return found


def picture(path: Path | None, option: str, endings: tuple[str, ...] = PICTURES) -> Path | None:
    """The path itself, after its folder is created where needed. None stays None.

    Raises KinemorphError if the path has another ending than `endings`, is a folder, or cannot be written.
    """
    if path is None:
        return None
    if path.suffix.lower() not in endings:
        raise KinemorphError(
            f"{option} is '{path}'; expected a file name that ends in {listed(endings)}. Change the ending."
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(f"{option} '{path}' cannot be written: {error.strerror}. Choose another folder.") from None
    if path.is_dir():
        raise KinemorphError(f"{option} '{path}' is a folder; expected a file. Name a file in it.")
    return path


def names(text: str | None) -> list[str]:
    """The names in a text, which are separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def camera(text: str | None) -> str | tuple[float, float] | None:
    """A camera: (elevation, azimuth) in degrees for `20,-60`; any other text, such as `left`, is returned unchecked."""
    if text is None or "," not in text:
        return text
    parts = [part.strip().removesuffix("deg") for part in text.split(",")]
    if len(parts) != 2:
        raise KinemorphError(
            f"--camera is '{text}'; expected a direction, or elevation and azimuth in degrees. Write left, or 20,-60."
        )
    return number(parts[0], "--camera"), number(parts[1], "--camera")
