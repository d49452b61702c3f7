"""Studies, estimates and sensitivities say the same in a text and on a card; JSON has their numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kinemorph.display.notebooks.card_of import card_of
from kinemorph.studies import Choice, Normal, Range, Space, monte_carlo, sensitivity, sweep


def cost(x: float, gait: str) -> dict[str, float]:
    if x > 0.9:
        raise ValueError("short")
    return {"cost": x * x, "way": x}


def height(x: float, y: float) -> float:
    return x**2 + y * x


TEXTS = {
    "study": """\
Study study

items     8
done      6
failed    2
waiting   0

Varied
part  choices       smallest  largest
-------------------------------------
gait  wave, tripod
x                          0        1

Measured
measure  smallest      mean   largest
-------------------------------------
cost            0  0.185185  0.444444
way             0  0.333333  0.666667

Why items failed
items  first item  cause
-----------------------------------------------------------------------------------------------------------
    2           6  the model function 'cost' failed with ValueError: short (test_study_sheets.py, line 16).

smallest cost
item      cost       way  gait           x
------------------------------------------
   0         0         0  wave           0
   1         0         0  tripod         0
   2  0.111111  0.333333  wave    0.333333
   3  0.111111  0.333333  tripod  0.333333
   4  0.444444  0.666667  wave    0.666667
""",
    "drawn": """\
Monte Carlo study of study
Monte Carlo study of 40 items; intervals of 95 % confidence

estimates
measure  estimate of    value      low     high  items
------------------------------------------------------
value    mean         1.57199  1.45695  1.68704     40

items     40
done      40
failed    0
waiting   0

Varied
part    smallest   largest
--------------------------
x       0.833516   1.21334
y     0.00689527  0.937859

Measured
measure  smallest     mean  largest
-----------------------------------
value    0.803795  1.57199  2.29238
""",
    "effects": """\
Sensitivity of study
Sensitivity by the method 'morris' from 12 points of its design; intervals of 95 %

indices of value
part       mu         low     high      mu*         low     high     sigma       low      high
----------------------------------------------------------------------------------------------
x     1.91667     1.12106  2.71228  1.91667     1.12106  2.71228       0.5  0.216901    1.1526
y         0.5  -0.0304077  1.03041      0.5  -0.0304077  1.03041  0.333333  0.272329  0.408004

items     7
done      7
failed    0
waiting   0

Varied
part  smallest  largest
-----------------------
x     0.333333        1
y            0        1

Measured
measure  smallest      mean  largest
------------------------------------
value    0.111111  0.968254        2
""",
}


def made(name: str) -> Any:
    ranges = {"x": Range(0.0, 1.0), "y": Range(0.0, 1.0)}
    if name == "study":
        space = Space({"x": Range(0.0, 1.0, points=4), "gait": Choice("wave", "tripod")})
        with pytest.warns(match="2 of 8 items failed"):
            return sweep(cost, space, workers=0)
    if name == "drawn":
        return monte_carlo(height, {"x": Normal(1.0, 0.1), "y": Range(0.0, 1.0)}, count=40, workers=0)
    return sensitivity(height, ranges, method="morris", count=4, workers=0)


@pytest.mark.parametrize("name", TEXTS)
def test_a_study_says_the_same_everywhere(name: str) -> None:
    found = made(name)
    assert str(found) + "\n" == TEXTS[name]
    card, data = card_of(found), json.loads(json.dumps(found.sheet().data(), allow_nan=False))
    tables = [line for line in TEXTS[name].splitlines() if line.isalpha()]  # titles of one word
    assert all(f">{title}<" in card for title in tables) and "data:image/png" in card
    assert (data["items"], data["name"], bool(data["results"])) == (
        len(getattr(found, "study", found)),
        "study",
        name != "study",
    )
