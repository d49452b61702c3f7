"""The law of controllers that are functions in C."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinemorph.algebra.scalar import S
from kinemorph.mechanics.elements.checks import wrong
from kinemorph.mechanics.elements.control.functions import CalledLaw
from kinemorph.mechanics.elements.instant import ElementView
from kinemorph.mechanics.elements.law import register
from kinemorph.model.elements.control.c_functions import CController, is_c_text
from kinemorph.model.input_reader import short
from kinemorph.model.robot import Robot

NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]{0,62}")  # of a function in C
MACRO = re.compile(r"[A-Za-z_]\w*(=[\w .,+*/()<>&|!~^%:?'\"-]*)?", re.ASCII)
KEYWORDS = """auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"""


class CControllerLaw(CalledLaw):
    """A sampled controller whose function is C, which runs in a process of its own."""

    runs = "c"
    check = "Check that it does not divide by 0, sets every output, and takes no more numbers than `reads` names."

    def problems(self, element: CController, robot: Robot) -> list[str]:
        found = super().problems(element, robot)
        if not isinstance(element.trusted, bool):
            problem = f"trusted is {short(element.trusted)}; expected True or False"
            found.append(wrong(element.name, problem, "Leave it out.", "trusted"))
        return found

    def function_problems(self, element: CController) -> list[str]:
        name, found = element.function, []
        if not isinstance(name, str) or not NAME.fullmatch(name) or name == "main" or name in KEYWORDS.split():
            problem = f"function is {short(name)}; expected the name of a function in C that is not `main`"
            found.append(wrong(element.name, problem, "Give the name of the function to call.", "function"))
        if not element.source:
            problem = "it has no source; expected files that end in .c, or C as text"
            found.append(wrong(element.name, problem, "Name the file that defines its function.", "source"))
        for source in element.source:
            if not isinstance(source, str) or not (is_c_text(source) or source.endswith(".c")):
                problem = f"source {short(source)} is no C; expected a file that ends in .c, or C as text with a brace"
                found.append(wrong(element.name, problem, "Name files of C.", "source"))
        for macro in element.defines:
            if not isinstance(macro, str) or not MACRO.fullmatch(macro):
                problem = f"{short(macro)} is given in `defines`; expected a name, or a name with a value"
                found.append(wrong(element.name, problem, 'Write "SIMULATION" or "GAIN=3".', "defines"))
        return found

    def sample(self, element: CController, view: ElementView, clock: int) -> Sequence[S]:
        assert clock == 1, "the function in C is no expression: `decide` or a call in a program take its place"
        return super().sample(element, view, clock)


register(CController, CControllerLaw())
