"""The verb excite: its figures, the element, table and picture that it writes, bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kinemorph import load
from kinemorph.elements import FourierSeries
from kinemorph.formats.findings import Findings
from kinemorph.formats.toml.writer import written_system
from kinemorph.identification import read_recording
from kinemorph.model.library.choosing import choose
from support.tools.command_line import parsed, run
from support.tools.each_case import each_case

QUICK = ("--time", "4", "--harmonics", "3", "--draws", "5", "--starts", "1", "--rate", "20")


def test_it_writes_element_and_table(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("e.toml", "motion.csv")]
    asked = [text for option, file in zip(("--element", "--csv"), files, strict=True)
             for text in (option, str(file))]  # fmt: skip
    limits = ("--velocity", "4", "--effort", "q1=30", "--position", "q1=-90deg:90deg", "--keep-in=-9,-9,-9:9,9,9")
    data = parsed("excite", "pendulum", *QUICK, *limits, *asked)
    assert data["files"] == [str(file) for file in files]
    assert data["gain"] > 1.0 and len(data["unknowns"]) == 6 and data["samples"] == 80
    assert {row["quantity"] for row in data["limits"]} >= {"position", "torque", "distance"}
    assert any("acceleration" in text for text in data["assumed"])
    model = tmp_path / "model.toml"
    model.write_text(written_system(choose("pendulum"), Findings("x")) + files[0].read_text())
    (element,) = load(model).elements
    assert isinstance(element, FourierSeries) and element.period == 4.0 and element.joints == ("q1",)
    assert [list(row) for row in element.sines] == data["sines"]
    recording = read_recording(files[1], choose("pendulum").robot)
    assert recording.q.shape == (81, 1) and np.abs(recording.q).max() <= np.pi / 2.0
    assert recording.v is not None and recording.v[0, 0] == 0.0


def test_it_prints_what_the_sheet_says() -> None:
    limits = ("--velocity", "4", "--effort", "30", "--position", "q1=-90deg:90deg")
    text = run("excite", "pendulum", *QUICK, *limits, "--friction", "none").stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[:6] == [
        "Exciting motion of pendulum", "joints that move 1", "duration 4 s", "harmonics 3", "samples 80", "unknowns 3",
    ]  # fmt: skip
    assert lines[7].startswith("standard deviations ")
    assert lines[7].endswith(" times smaller than of the median of random motions")
    assert lines[11].startswith("Largest standard deviations: link1.hz 0.00")
    assert "name limit least most lower upper share" in lines and "unknown standard deviation" in lines
    assert lines[-1] == "Noise of forces: 1 % of their limits (standard deviation)."


BAD = [
    (("four_bar",), "closed chains"),
    (("pendulum", "--position", "q1"), "--position is 'q1'; expected a joint and its range"),
    (("pendulum", "--keep-out", "1,2:3"), "--keep-out is '1,2:3'; expected two corners"),
    (("pendulum", "--velocity", "q7=1"), "velocity names 'q7', which is not a joint of 'pendulum' that moves"),
    (("pendulum", "--share", "2"), "share is 2; expected a number above 0, at most 1"),
    (("pendulum", "--picture", "motion.txt"), "expected a file name that ends in .png"),
]


@each_case(("asked", "says"), BAD, ids=[says[:20] for _, says in BAD])
def test_bad_input_is_a_sentence(asked: tuple[str, ...], says: str) -> None:
    result = run("excite", *asked)
    assert result.exit_code == 2 and says in result.stderr and "Traceback" not in result.stderr


@pytest.mark.slow
def test_a_model_file_gives_its_limits(tmp_path: Path) -> None:
    picture = tmp_path / "motion.png"
    data = parsed("excite", "scara", "--time", "6", "--draws", "10", "--starts", "1", "--picture", str(picture))
    assert data["files"] == [str(picture)] and picture.stat().st_size > 10_000
    used = {(row["name"], row["quantity"]): row for row in data["limits"]}
    assert used["shoulder", "torque"]["upper"] == 60.0 and used["elbow", "position"]["upper"] == 2.6
    assert ("lift", "torque") not in used and any("torque is given for lift" in text for text in data["assumed"])
