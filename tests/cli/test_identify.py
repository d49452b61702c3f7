"""`kinemorph identify` on the command line: from files of recordings to a model and a report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kinemorph.analysis.identification.system_parameters import system_parameters
from kinemorph.deriving.dynamics import derive
from kinemorph.formats.loading import load, save
from kinemorph.model import library
from kinemorph.model.parameter import evaluate
from support.tools.command_line import parsed, run

ROBOT = library.double_pendulum()
ONE, TWO = ROBOT.v_names


def table(seed: int) -> np.ndarray:
    """t, q, v and tau, shape (800, 7), of a random motion with friction and noise."""
    rng = np.random.default_rng(seed)
    t = 0.01 * np.arange(800)
    w, sizes, shifts = 2.0 * np.pi / 8.0 * np.arange(1, 5), rng.uniform(0.2, 0.6, (2, 4)), rng.uniform(0, 6.3, (2, 4))
    angles = t[:, None, None] * w + shifts
    q, v = (sizes * np.sin(angles)).sum(axis=2), (sizes * w * np.cos(angles)).sum(axis=2)
    a = (-sizes * w**2 * np.sin(angles)).sum(axis=2)
    dynamics = derive(ROBOT, backend="interpreter")
    theta = dynamics.regressor_parameters.copy()
    theta[[name.endswith("viscous") for name in dynamics.regressor_columns]] = 0.4
    tau = dynamics.regressor(q, v, a) @ theta + 0.01 * rng.normal(size=q.shape)
    return np.column_stack([t, q, v, tau])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a model and two recordings, the second one in other names, degrees and currents."""
    monkeypatch.chdir(tmp_path)
    save(ROBOT, tmp_path / "arm.toml")
    names = ["t [s]", *(f"{group}.{joint}" for group in ("q", "v", "tau") for joint in (ONE, TWO))]
    np.savetxt(tmp_path / "one.csv", table(1), delimiter=",", header=",".join(names), comments="")
    other = table(2) * [1.0, *[180.0 / np.pi] * 4, 0.5, 0.5]
    np.savetxt(tmp_path / "two.csv", other, delimiter=",", header="time,p1,p2,w1,w2,i1,i2", comments="")
    return tmp_path


def test_identify_writes_the_model_and_a_report(folder: Path) -> None:
    data = parsed("identify", "arm.toml", "one.csv", "--validate", "one.csv", "--cutoff", "8", "--no-pictures")
    friction = {row["parameter"]: row for row in data["parameters"] if row["parameter"].endswith("viscous")}
    assert all(row["lower"] - 0.01 < 0.4 < row["upper"] + 0.01 for row in friction.values())
    assert data["validation"][0]["error"] == pytest.approx(data["error"], rel=1e-6)
    model = load(folder / "double_pendulum_identified" / "double_pendulum.toml")
    assert evaluate(model.robot.joints[0].damping[0]) == pytest.approx(friction[f"{ONE}.viscous"]["value"], rel=1e-9)
    report = (folder / "double_pendulum_identified" / "report.md").read_text()
    page = (folder / "double_pendulum_identified" / "report.html").read_text()
    for name in (f"{TWO}.viscous", "cut-off 8 Hz"):
        assert name in report and name in page


FILES = [
    (".urdf", ("--armature",), [".urdf", ".sidecar.toml"], ""),
    (".xml", (), [".xml", ".toml"], "offset"),
    (".urdf", ("--armature", "--to", "toml"), [".toml"], ""),
    pytest.param(".toml", ("--armature", "--to", "urdf"), [".urdf", ".sidecar.toml"], "", marks=pytest.mark.slow),
    pytest.param(".urdf", (), [".urdf", ".sidecar.toml"], "", marks=pytest.mark.slow),
]


@pytest.mark.filterwarnings("ignore::kinemorph.errors.ModelWarning")
@pytest.mark.parametrize(("ending", "options", "written", "lost"), FILES)
@pytest.mark.slow
def test_values_that_a_format_lacks_are_written_as_toml_too(
    folder: Path, ending: str, options: tuple[str, ...], written: list[str], lost: str
) -> None:
    """MJCF has no offset, and the sidecar of a URDF has all; the file in TOML has all identified values."""
    save(ROBOT, folder / f"arm{ending}")
    common = ("--cutoff", "8", "--no-pictures", "--output", "out", "--json")
    told = run("identify", f"arm{ending}", "one.csv", *common, *options)
    assert told.exit_code == 0, told.stderr
    names = {"report.md", "report.html", *(f"double_pendulum{end}" for end in written)}
    data = json.loads(told.stdout)
    assert {path.name for path in (folder / "out").iterdir()} == names == {Path(file).name for file in data["files"]}
    notes = [line for line in told.stderr.splitlines() if line.startswith("note:")]
    assert len(notes) == (1 if lost else 0), told.stderr
    assert not lost or (f"{ONE}.{lost}" in notes[0] and "double_pendulum.toml" in notes[0])
    if ".toml" in written:
        kept = system_parameters(load(folder / "out" / "double_pendulum.toml"))
        for row in data["parameters"]:
            assert kept[row["parameter"]] == pytest.approx(row["value"], rel=1e-6, abs=1e-9), row


@pytest.mark.slow
def test_reports_have_pictures(folder: Path) -> None:
    told = run("identify", "arm.toml", "one.csv", "--output", "out")
    assert told.exit_code == 0, told.stderr
    assert "![forces](forces.png)" in (folder / "out" / "report.md").read_text()
    assert (folder / "out" / "report.html").read_text().count("data:image/png;base64,") == 3
    assert all((folder / "out" / f"{what}.png").stat().st_size > 5000 for what in ("forces", "parameters", "residuals"))


def test_columns_can_have_other_names_and_units(folder: Path) -> None:
    columns = ["t=time", f"q.{ONE}=p1", f"q.{TWO}=p2", f"v.{ONE}=w1", f"v.{TWO}=w2", f"tau.{ONE}=2*i1", f"{TWO}=2*i2"]
    options = [word for column in columns for word in ("--column", column)]
    told = run(
        "identify",
        "arm.toml",
        "two.csv",
        *options,
        "--unit",
        "q=deg",
        "--unit",
        "v=deg/s",
        "--no-pictures",
        "--output",
        "out",
    )
    assert told.exit_code == 0, told.stderr
    assert "wrote out/report.html" in told.stderr and f"{ONE}.viscous" in told.stdout
    sentence = "True values are within the intervals with a probability of 95 %."  # the note below a table
    assert all(sentence in text for text in (told.stdout, (folder / "out" / "report.md").read_text()))


def test_one_column_can_be_named_alone(folder: Path) -> None:
    """The sign of one force is turned in the file and turned back; the fit is that of the right file."""
    turned = (folder / "one.csv").read_text().splitlines()[:1]
    np.savetxt(folder / "turned.csv", table(1) * [1, 1, 1, 1, 1, 1, -1], delimiter=",", header=turned[0], comments="")
    common = ("--cutoff", "8", "--no-pictures")
    right = parsed("identify", "arm.toml", "one.csv", *common)
    back = parsed("identify", "arm.toml", "turned.csv", "--column", f"tau.{TWO}=-1*tau.{TWO}", *common)
    assert back["error"] == pytest.approx(right["error"], rel=1e-9)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["missing.csv"], "cannot be read"),
        (["two.csv"], "has no column 't'"),
        (["one.csv", "--column", "q"], "--column is 'q'; expected MEANING=COLUMN"),
        (["one.csv", "--unit", "deg"], "--unit is 'deg'; expected NAME=UNIT"),
        (["one.csv", "--known", "3"], "--known is '3'; expected values by name"),
        (["one.csv", "--period", "8", "--cutoff", "3"], "Give one of them"),
        (["one.csv", "--harmonics", "8"], "--harmonics belongs to --period"),
        (["one.csv", "--friction", "dry"], "friction: 'dry' is unknown"),
    ],
)
def test_bad_requests_are_sentences(folder: Path, options: list[str], sentence: str) -> None:
    told = run("identify", "arm.toml", *options)
    assert told.exit_code == 2
    assert sentence in told.stderr and "Traceback" not in told.stderr
