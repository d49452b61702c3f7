"""Sheets: a result says once what it holds, and every face shows it, also one of a class that nobody registered."""

from __future__ import annotations

import json
import math
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np

import kinemorph
from kinemorph import library
from kinemorph.display.faces.blocks import blocks
from kinemorph.display.faces.document import Document, Section
from kinemorph.display.faces.languages.words import Words
from kinemorph.display.faces.page import page_of
from kinemorph.display.faces.terminal import parts_of, text_of
from kinemorph.display.notebooks.card_of import card_of
from kinemorph.display.reports.writers import html, latex, typst
from kinemorph.sheet import QUANTITIES, Facts, Field, Note, Points, Pose, Sheet, Table, Verdict, hidden, said

SOURCES = Path(kinemorph.__file__).parent


class Drop:
    """A result of a user's own: how far things fall."""

    def sheet(self) -> Sheet:
        height, color = Field("height", "value", "m", ".3f"), Field("color", "verdict", form={1: "passed", 2: "failed"})
        rows = [(1.5, 1), (np.float64(0.25), 2), (math.nan, 1), (None, 2)]
        return Sheet(
            "Drop of",
            "a <b>stone</b>",
            (
                Verdict(
                    False,
                    said("{n} of {m} poles grows: unstable.", "{n} of {m} poles grow: unstable.", n=3, m=4),
                    "well",
                ),
                Facts(((Field("q", "coordinate", form="name"), "z_1"), (QUANTITIES["states"], 12345))),
                Table("drops", (height, color, Field("", "pole", form=3)), [(*row, 1e-7) for row in rows], marked=[1]),
                Table("", (Field("", "pole"),), [(k,) for k in range(100)], marked=[98, 99]),
                Note("No equilibrium was found.", "warning"),
                Note("Something that no table translates.", key="note"),
                Points(np.array([-1.0 + 2.0j, 0.5]), [1], "Poles"),
                Pose(library.pendulum(), np.array([0.3]), said("{robot} at rest", robot="pendulum")),
                hidden(raw={"a": np.arange(3), "b": math.inf}),
            ),
        )


def test_json_has_raw_numbers_by_key() -> None:
    data = json.loads(json.dumps(Drop().sheet().data(), allow_nan=False))
    assert data == {
        "name": "a <b>stone</b>",
        "well": False,
        "q": "z_1",
        "states": 12345,
        "drops": [{"height": h, "color": c} for h, c in ((1.5, 1), (0.25, 2), (None, 1), (None, 2))],
        "note": "Something that no table translates.",
        "raw": {"a": [0, 1, 2], "b": None},
    }


def test_every_face_shows_a_class_that_nobody_registered() -> None:
    sheet = Drop().sheet()
    text = text_of(sheet)
    assert text.startswith("Drop of a <b>stone</b>\n3 of 4 poles grow: unstable.\n")
    assert "random states   12,345" in text
    for row in ("1.500 passed 1e-07", "0.250 failed 1e-07", "not finite passed 1e-07", "failed 1e-07"):
        assert row.split() in [line.split() for line in text.splitlines()], row
    assert "\n  99" in text  # a terminal shows all rows
    card = card_of(Drop())
    assert "a &lt;b&gt;stone&lt;/b&gt;" in card and "1·10⁻⁷" in card and "data:image/png" in card
    assert "88 more rows are not listed." in card and ">99<" in card  # rows that stand out are among the first
    kinds = [part["kind"] for part in page_of(sheet)]
    assert kinds == ["text", "facts", "table", "table", "text", "text", "points"]
    json.dumps(page_of(sheet), allow_nan=False)


def test_reports_show_a_sheet_in_both_languages() -> None:
    """Numbers, heads and sentences are French; a message without a translation is quoted; every writer takes it."""
    words = Words("fr")
    made = blocks(Drop().sheet(), words)
    shown = re.sub(r"\s+", " ", repr(made))
    for text in ("3 des 4 pôles s’amplifient", "coordonnée", "états aléatoires", "0,250", "Aucun équilibre"):
        assert text in shown, text
    assert "Code(text='Something that no table translates.')" in shown and "pendulum au repos" in shown
    document = Document("a title", "fr", [Section("drop", "Drop", made)])
    for writer in (typst, latex, html):
        assert writer.source(document, words)


def test_a_heading_stands_in_one_place() -> None:
    """Besides its translation, and sentences about it."""
    found = subprocess.run(
        ["grep", "-rnE", "[\"'](damping ratio|real part)[\"']", str(SOURCES), "--include=*.py", "--include=*.js"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    places = [line.split(":")[0] for line in found if "french" not in line and "said(" not in line]
    assert places and all(place.endswith("kinemorph/sheet.py") for place in places), found


def test_poles_say_the_same_everywhere() -> None:
    found = kinemorph.poles(library.pendulum(), q=[math.pi])
    assert [row["alpha"] for row in found.sheet().data()["poles"]] == found.alpha.tolist()
    told = "1 of 2 poles grows: unstable."
    assert told in str(found) and told in card_of(found) and told in repr(page_of(found.sheet()))
    assert told in [part for part in parts_of(found.sheet()) if isinstance(part, str)]


RUN = """\
Run of pendulum
finished at t = 1 s

begins                   0 s
ends                     1 s
samples                  11
method                   rk4
step                     0.05 s
steps                    20
rejected steps           0
energy drift             1.73e-05 J
largest kinetic energy   4.46 J

Events
      t [s]  event  kind
----------------------------
0.534786286  low    crossing

Last state
              value  unit
--------------------------
q.q1  -0.9800633976  rad
v.q1  -0.5718294818  rad/s

Energies
energy               at the start [J]  at the end [J]   change [J]
------------------------------------------------------------------
kinetic                             0         0.16349      0.16349
potential                     -5.3004         -5.4639     -0.16351
kinetic + potential           -5.3004         -5.3004  -1.4563e-05
The energy drift is the largest change of kinetic + potential - supplied + dissipated energy between events."""


def test_a_run_says_the_same_everywhere() -> None:
    low = kinemorph.Guard("low", lambda q: q[0])
    options = {"method": "rk4", "step": 0.05, "output_step": 0.1, "events": [low]}
    run = kinemorph.simulate(library.pendulum(), 1.0, q=[1.0], **options)
    run = replace(run, statistics=replace(run.statistics, seconds=0.0))  # as from a file that does not store times
    assert text_of(run.sheet()) == RUN
    data, card, kinds = run.sheet().data(), card_of(run), [part["kind"] for part in page_of(run.sheet())]
    assert data["energy"]["drift"] > 1e-5 and data["events"][0]["name"] == "low"
    assert "<polyline" in card and "over time" in card and "curves" not in kinds and kinds[:2] == ["text", "facts"]
    assert str(run) == repr(run)  # one line
