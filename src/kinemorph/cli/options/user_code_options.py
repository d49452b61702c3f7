"""Options for code of a user in a program: whether there is some, and what it declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from kinemorph.cli.application import option
from kinemorph.cli.options import option_values
from kinemorph.errors import KinemorphError

if TYPE_CHECKING:
    from kinemorph.programs.user_code import UserCode


@dataclass(frozen=True)
class UserCodeOptions:
    """Code of a user in a program, which the files user.c, user.py or user_*.m contain."""

    user: Annotated[
        bool, option("Call code of your own for forces: user.c, user.py or user_*.m, written once and never replaced.")
    ] = False
    user_states: Annotated[
        str | None,
        option("States of your code, with initial values (pressure=1e5); its function user_rates has rates.", "VALUES"),
    ] = None
    user_memory: Annotated[
        str | None, option("Memory of your code, with initial values; its function user_sample changes it.", "VALUES")
    ] = None
    sample_every: Annotated[float | None, option("Time in seconds between calls of your user_sample.")] = None
    save_every: Annotated[float | None, option("Time in seconds between calls of your user_save.")] = None
    user_file: Annotated[Path | None, option("A user.c that goes into the program in place of a template.", "FILE")] = (
        None
    )

    @property
    def code(self) -> UserCode | None:
        """The user's code that these options describe; None where none of them is given. Each one implies --user."""
        from kinemorph.programs.user_code import UserCode

        given = (self.user_states, self.user_memory, self.sample_every, self.save_every, self.user_file)
        if not self.user and all(one is None for one in given):
            return None
        return UserCode(
            self._named("user_states"), self._named("user_memory"), self.sample_every, self.save_every, self.user_file
        )

    def _named(self, name: str) -> Mapping[str, float]:
        """The numbers of an option by name; raises KinemorphError where they have no names."""
        text, flag = getattr(self, name), f"--{name.replace('_', '-')}"
        found = option_values.values(text, flag)
        if isinstance(found, list):
            raise KinemorphError(f"{flag} is '{text}'; expected values by name, such as pressure=1e5. Give names.")
        return found or {}
