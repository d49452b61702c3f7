"""Public names that are imported when they are first used, so that `import kinemorph` stays light (PEP 562)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import reduce
from importlib import import_module
from typing import Any

from kinemorph.words import did_you_mean

MODULE = ":module"  # the home of a public name that is itself a module ends like this


def lazy_names(
    package: str, homes: Mapping[str, str], moved: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a module whose names live elsewhere.

    `homes` gives for every name the module that defines it, such as "kinemorph.model.robot"; where the name is itself a
    module, its path with ":module" behind it. `moved` gives for names of earlier versions where they are now, such as
    "modules.Dock"; they still work, with a DeprecationWarning that says so.
    """
    moved = moved or {}

    def get(name: str) -> Any:
        if name in homes:
            home = homes[name]
            value = import_module(home.removesuffix(MODULE))
            value = value if home.endswith(MODULE) else getattr(value, name)
            vars(import_module(package))[name] = value
            return value
        if name in moved:
            warnings.warn(
                f"kinemorph.{name} is now kinemorph.{moved[name]}; the old name will go with version 0.2.",
                DeprecationWarning,
                stacklevel=2,
            )
            return reduce(getattr, moved[name].split("."), import_module("kinemorph"))
        for home in import_module("kinemorph").HOMES.values():  # a name that is public elsewhere
            subject = home.removesuffix(MODULE)
            if subject != home and name in getattr(import_module(subject), "HOMES", ()):
                raise AttributeError(f"module '{package}' has no attribute '{name}'. It is {subject}.{name}.")
        raise AttributeError(
            f"module '{package}' has no attribute '{name}'.{did_you_mean(name, homes)} Its public names are "
            f"{', '.join(homes)}."
        )

    def names() -> list[str]:
        own = vars(import_module(package))
        return sorted({*homes, *(name for name in own if name.startswith("__"))})

    return get, names
