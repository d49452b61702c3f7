"""Public names that are imported when they are first used, so that `import kinemorph` stays fast (PEP 562).

Also `uncollected`, which makes importing and reading of models faster.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from kinemorph.words import did_you_mean

MODULE = ":module"  # ends the entry in `homes` of a public name that is itself a module


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for the module `package`, whose public names are defined in other modules.

    `homes` maps every public name to the module that defines it, such as "kinemorph.model.robot". If the name is itself
    a module, the entry is its path followed by ":module".
    """

    def get(name: str) -> Any:
        if name in homes:
            home = homes[name]
            value = import_module(home.removesuffix(MODULE))
            value = value if home.endswith(MODULE) else getattr(value, name)
            vars(import_module(package))[name] = value
            return value
        for home in import_module("kinemorph").HOMES.values():  # is it a public name of another module?
            subject = home.removesuffix(MODULE)
            if subject != home and name in getattr(import_module(subject), "HOMES", ()):
                raise AttributeError(f"module '{package}' has no attribute '{name}'. Use {subject}.{name}.")
        raise AttributeError(
            f"module '{package}' has no attribute '{name}'.{did_you_mean(name, homes)} Its public names are "
            f"{', '.join(homes)}."
        )

    def names() -> list[str]:
        own = vars(import_module(package))
        return sorted({*homes, *(name for name in own if name.startswith("__"))})

    return get, names


@contextmanager
def uncollected() -> Iterator[None]:
    """Pauses the garbage collector inside this context.

    Models and imported modules consist of many small objects that stay; the collector would visit all of them again
    and again while more are made, which takes a third of the time of reading and a fifth of that of importing.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()
