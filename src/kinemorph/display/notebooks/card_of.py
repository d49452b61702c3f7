"""`card_of`: the HTML card that a notebook shows for a model or a result, chosen by its type.

`card_of.register` adds a card for a type of your own: a function from the object to HTML.
"""

from __future__ import annotations

from functools import singledispatch

from kinemorph.display.faces.card import card_of_sheet
from kinemorph.display.html import escaped
from kinemorph.display.notebooks.model_cards import dynamics_card, plant_card, system_card
from kinemorph.display.notebooks.module_cards import assembly_card, module_type_card


@singledispatch
def card_of(subject: object) -> str:
    """The card of an object as HTML: that of its sheet where it has one, else its plain text."""
    if hasattr(subject, "sheet"):
        return card_of_sheet(subject.sheet())
    text = str(subject)
    return f"<pre>{escaped(text, len(text)) if chr(10) in text else escaped(text)}</pre>"  # tables in full


for _card in (
    system_card,
    dynamics_card,
    plant_card,
    assembly_card,
    module_type_card,
):
    card_of.register(_card)  # by the type that its first parameter names
