"""Values of options, read from text: numbers, values by name, frequency windows, paths of pictures.

Angles are in radians; `30deg` is an angle in degrees. Every error message names the option.
"""

from __future__ import annotations

import math
from pathlib import Path

from kinemorph.errors import KinemorphError

Values = list[float] | dict[str, float]
PICTURES = (".png", ".svg", ".pdf")


def values(text: str | None, option: str) -> Values | None:
    """Reads `0.1,0.2` as numbers in order, `elbow=0.1,wrist=30deg` as numbers by name."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise KinemorphError(f"{option} is empty. Write numbers, 0.1,0.2, or values by name, elbow=0.1.")
    named = ["=" in part for part in parts]
    if not any(named):
        return [number(part, option) for part in parts]
    if not all(named):
        bare = parts[named.index(False)]
        raise KinemorphError(f"{option}: '{bare}' has no name, but other values have one. Name all of them, or none.")
    found: dict[str, float] = {}
    for part in parts:
        name, _, value = (piece.strip() for piece in part.partition("="))
        if name in found:
            raise KinemorphError(f"{option}: '{name}' is given twice. Give it once.")
        found[name] = number(value, f"{option} {name}")
    return found


def number(text: str, option: str) -> float:
    """Reads a finite number; `30deg` is converted to radians."""
    try:
        value = math.radians(float(text.removesuffix("deg"))) if text.endswith("deg") else float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise KinemorphError(f"{option}: '{text}' is not a finite number. Write 0.5, or 30deg for an angle.")
    return value


def above_zero(value: float | None, option: str, unit: str = "") -> float | None:
    """Checks that a number, if one is given, is finite and above zero."""
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise KinemorphError(f"{option} is {f'{value:g} {unit}'.strip()}; expected a finite number above 0.")
    return value


def window(text: str | None) -> tuple[float, float] | None:
    """Reads a frequency window `0.5:20` [Hz]; either side may be left open."""
    if text is None:
        return None
    low, colon, high = text.partition(":")
    found = (number(low or "0", "--window"), number(high, "--window") if high else math.inf)
    if not colon or not 0.0 <= found[0] < found[1]:
        raise KinemorphError(f"--window is '{text}'; expected two frequencies in Hz, the lower one first: 0.5:20.")
    return found


def picture(path: Path | None, option: str, endings: tuple[str, ...] = PICTURES) -> Path | None:
    """Checks the path of a picture, if one is given: its ending is known, and its folder exists or can be made."""
    if path is None:
        return None
    if path.suffix.lower() not in endings:
        raise KinemorphError(f"{option} '{path}': use a name that ends in {', '.join(endings)}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KinemorphError(f"{option} '{path}': cannot be written: {error.strerror}. Choose another place.") from None
    if path.is_dir():
        raise KinemorphError(f"{option} '{path}' is a folder. Name a file in it.")
    return path


def names(text: str | None) -> list[str]:
    """Names that are separated by commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def camera(text: str | None) -> str | tuple[float, float] | None:
    """Reads `left`, or elevation and azimuth in degrees: `20,-60`. The camera itself checks words."""
    if text is None or "," not in text:
        return text
    parts = [part.strip().removesuffix("deg") for part in text.split(",")]
    if len(parts) != 2:
        raise KinemorphError(f"--camera is '{text}'; expected a word, left, or two angles in degrees, 20,-60.")
    return number(parts[0], "--camera"), number(parts[1], "--camera")
