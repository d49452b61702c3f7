"""Study files: the same study in Python and in TOML, round trips, the schema, and mistakes with their lines."""

from __future__ import annotations

import dataclasses
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scipy import stats

from kinemorph.errors import ModelError, ModelWarning, ParseError, UnsupportedError
from kinemorph.model.elements.forces.springs import Spring
from kinemorph.model.run_plans import RunPlan
from kinemorph.studies.experiments.experiment import experiment_of
from kinemorph.studies.spaces.distributions import LogNormal, Normal, Triangular
from kinemorph.studies.spaces.parts import Choice, Range, Values
from kinemorph.studies.spaces.space import Space
from kinemorph.studies.statistics.plans import MonteCarloPlan, SensitivityPlan
from kinemorph.studies.study_files.reader import examine_study, load_study_plan
from kinemorph.studies.study_files.schema import study_schema
from kinemorph.studies.study_files.study_plan import BestRuns, StudyPlan
from kinemorph.studies.study_files.writer import save_study_plan, study_text

SCHEMA = Draft202012Validator(study_schema())

GAITS = """\
kinemorph_study = 1
name = "gaits"
model = "robot.toml"
store = "results/gaits.study"
workers = 2
keep = { best = 5, of = "distance", largest = true }
until = "2 s"
seconds = 60
memory = 2e9

[run]
method = "rk4"
step = "1 ms"
q = { knee = "30 deg" }

[space]
design = "latin"
count = 64
seed = 3

[space.parts.mass]
range = [0.5, 2.0]
log = true

[space.parts.gait]
choices = ["trot", "wave"]

[space.parts.lag]
range = ["-10 deg", "10 deg"]
when = { gait = "wave" }

[space.parts."q.knee"]
values = ["5 deg", 0.2]

[space.parts.knee]
choices = [1, 2.5]
when = { "q.knee" = ["5 deg", 0.2], gait = ["wave"] }

[space.parts.clearance]
normal = [1e-4, 1e-5]
low = 0

[space.parts.friction]
lognormal = [0.6, 0.1]

[space.parts.push]
triangular = [0, 10, 40]
high = 30

[space.parts.foot.choices.soft]
kind = "spring"
body_a = "world"
body_b = "foot"
stiffness = 3.0

[space.parts.foot.choices.hard]
kind = "spring"
body_a = "world"
body_b = "foot"
stiffness = 30.0

[measures]
distance = "q.x"
"cost of transport" = "work / q.x"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("robot.toml", "other.toml"):
        (tmp_path / name).write_text("kinemorph = 1\n")
    return tmp_path


def python_space() -> Space:
    """The space of GAITS in Python."""
    degree = 3.141592653589793 / 180
    knee = Values([5 * degree, 0.2])
    return Space(
        {
            "mass": Range(0.5, 2, log=True),
            "gait": Choice("trot", "wave"),
            "lag": Range(-10 * degree, 10 * degree),
            "q.knee": knee,
            "knee": Choice(1, 2.5),
            "clearance": Normal(1e-4, 1e-5, low=0.0),
            "friction": LogNormal(0.6, 0.1),
            "push": Triangular(0, 10, 40, high=30),
            "foot": Choice(
                {
                    "soft": Spring("foot", "world", "foot", stiffness=3.0),
                    "hard": Spring("foot", "world", "foot", stiffness=30.0),
                }
            ),
        },
        design="latin",
        count=64,
        seed=3,
        when={"lag": {"gait": "wave"}, "knee": {"q.knee": knee.numbers, "gait": "wave"}},
    )


def write(folder: Path, text: str, name: str = "gaits.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_same_study_in_python_and_in_a_file_has_the_same_keys(folder: Path) -> None:
    plan = load_study_plan(write(folder, GAITS))
    assert plan.space.items.keys == python_space().items.keys
    assert plan.space == python_space()
    assert plan == StudyPlan(
        space=python_space(),
        model=folder / "robot.toml",
        name="gaits",
        measures={"distance": "q.x", "cost of transport": "work / q.x"},
        run=RunPlan(method="rk4", step=0.001, q={"knee": 30 * 3.141592653589793 / 180}),
        until=2.0,
        keep=BestRuns(5, "distance", largest=True),
        store=folder / "results" / "gaits.study",
        workers=2,
        seconds=60.0,
        memory=2_000_000_000,
    )
    assert plan.kind == "sweep"
    assert plan.arguments["workers"] == 2 and "monte_carlo" not in plan.arguments


def test_base_and_packages_of_a_model_are_in_the_file_and_reach_it(folder: Path) -> None:
    rod = '<link name="rod"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    (folder / "rod.urdf").write_text(f'<robot name="rod">{rod}</inertial></link></robot>')
    text = 'kinemorph_study = 1\nmodel = "rod.urdf"\nbase = "free"\npackage_dirs = ["meshes"]\n'
    text += '[space.parts."q.rod_root.z"]\nvalues = [1.0, 2.0]\n'
    text += '[measures]\nheight = "q.rod_root.z"\ntop = "max(q.rod_root.z)"\n'
    plan = load_study_plan(write(folder, text))
    assert (plan.base, plan.package_dirs) == ("free", (folder / "meshes",))
    assert load_study_plan(save_study_plan(plan, folder / "again.toml")).package_dirs == (folder / "meshes",)
    assert not list(SCHEMA.iter_errors(tomllib.loads(text)))
    asked = {name: plan.arguments[name] for name in ("base", "package_dirs")}
    experiment = experiment_of(plan.model, plan.measures, **asked)
    assert "rod_root.z" in experiment.model().system.robot.q_names
    with pytest.raises(UnsupportedError, match="base: model files are read in this way, but the model is"):
        experiment_of(experiment.model().system, plan.measures, base="free").model()


def test_models_and_defaults_are_relative_to_the_file(folder: Path) -> None:
    text = 'kinemorph_study = 1\n[space.parts.model]\nchoices = ["robot.toml", "other.toml"]\n'
    plan = load_study_plan(write(folder, text, "both.toml"))
    assert (plan.name, plan.model, plan.store, plan.measures) == ("both", None, folder / "both.study", {})
    assert plan.space.objects == {"model": {name: folder / name for name in ("robot.toml", "other.toml")}}
    assert plan.space.items.keys == Space({"model": Choice("robot.toml", "other.toml")}).items.keys
    again = load_study_plan(save_study_plan(plan, folder / "elsewhere" / "both.toml"))
    assert [path.resolve() for path in again.space.objects["model"].values()] == [
        folder / "robot.toml",
        folder / "other.toml",
    ]


def test_a_plan_is_written_and_read_back_as_the_same_plan(folder: Path) -> None:
    plan = load_study_plan(write(folder, GAITS))
    text = study_text(plan, folder)
    assert load_study_plan(write(folder, text, "gaits2.toml")) == plan
    assert list(SCHEMA.iter_errors(tomllib.loads(text))) == []
    assert list(SCHEMA.iter_errors(tomllib.loads(GAITS))) == []
    drawn = dataclasses.replace(
        plan, run="crawl", keep="failed", workers="tcp://host:8786",
        space=Space({"a": Values([1, 2]), "model": Choice({"one": folder / "robot.toml"})}, "random", 50),
        model=None, monte_carlo=MonteCarloPlan(error={"distance": 0.01}, confidence=0.9, most=500),
    )  # fmt: skip
    text = study_text(drawn, folder)
    assert load_study_plan(write(folder, text)) == drawn
    assert list(SCHEMA.iter_errors(tomllib.loads(text))) == []
    assert drawn.kind == "monte_carlo" and drawn.arguments["error"] == {"distance": 0.01}


def test_statistical_studies_need_no_design(folder: Path) -> None:
    top = 'kinemorph_study = 1\nmodel = "robot.toml"\n[space.parts.a]\nnormal = [1, 0.1]\n'
    draws = load_study_plan(write(folder, f"{top}[monte_carlo]\ncount = 200\n"))
    assert draws.monte_carlo == MonteCarloPlan(count=200)
    assert (draws.space.design, draws.space.count) == ("random", 200)
    found = load_study_plan(write(folder, f'{top}[sensitivity]\nmethod = "morris"\nlevels = 6\n'))
    assert found.sensitivity == SensitivityPlan(method="morris", levels=6)
    assert found.arguments["method"] == "morris" and found.kind == "sensitivity"


def test_what_a_file_cannot_contain_is_told(folder: Path) -> None:
    for part, measure, sentence in [
        (
            Choice({"f": len}),
            "q.x",
            "part 'a': its choice 'f' is builtin_function_or_method, which a study file cannot",
        ),
        (stats.gamma(2.0), "q.x", "part 'a': it is Distributed, which a study file cannot contain. Use values."),
        (Choice(1), len, "measure 'm': it is builtin_function_or_method, and a study file cannot contain Python code."),
    ]:
        plan = StudyPlan(Space({"a": part}, "random", 4), measures={"m": measure})  # type: ignore[dict-item]
        with pytest.raises(ModelError) as caught:
            study_text(plan)
        assert sentence in str(caught.value)


SPACE = "[space.parts.a]\nchoices = [1, 2]\n"
HEAD = 'kinemorph_study = 1\nmodel = "robot.toml"\n'


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", 1, "the key 'kinemorph_study', which gives the version of the format, is missing, expected 1. Write"),
        ("kinemorph_study = 2\n", 1, "is 2, expected 1"),
        (
            "kinemorph = 1\n",
            1,
            "is a model, expected a study file. Write a study file with kinemorph_study = 1 and model",
        ),
        ("kinemorph_study = 1\nname = gaits\n", 2, "the text is not well-formed TOML"),
        (HEAD, 1, "the table [space] is missing"),
        (f"kinemorph_study = 1\n{SPACE}", 1, "the key 'model' is missing, and the space has no part 'model'"),
        (
            f'kinemorph_study = 1\nmodel = "robt.toml"\n{SPACE}',
            2,
            "model names the file 'robt.toml', which does not exist",
        ),
        (f'kinemorph_study = 1\nmodel = "robot.py"\n{SPACE}', 2, "but a study file never runs Python code"),
        (
            f"{HEAD}{SPACE}[space.parts.model]\nchoices = ['no.toml']\n",
            6,
            "names the file 'no.toml', which does not exist",
        ),
        (f"{HEAD}{SPACE}[space.parts.model]\nchoices = ['robot.toml']\n", 2, "has a part 'model', expected only one"),
        (f"{HEAD}worker = 2\n{SPACE}", 3, "the key 'worker' is not known"),
        (f"{HEAD}worker = 2\n{SPACE}", 3, "Did you mean 'workers'?"),
        (f"{HEAD}workers = -1\n{SPACE}", 3, "workers is -1, expected a number of processes, here, dask or an address"),
        (f'{HEAD}workers = "dusk"\n{SPACE}', 3, "Did you mean 'dask'?"),
        (f'{HEAD}keep = "faild"\n{SPACE}', 3, "keep is 'faild', expected one of failed, all. Did you mean 'failed'?"),
        (f'{HEAD}keep = {{ best = 0, of = "m" }}\n{SPACE}', 3, "keep best is 0, expected a whole number of 1 or more"),
        (f"{HEAD}keep = {{ best = 3 }}\n{SPACE}", 3, "the key 'of' is missing"),
        (
            f'{HEAD}keep = {{ best = 3, of = "distnce" }}\n{SPACE}[measures]\ndistance = "q.x"\n',
            3,
            "keep of is 'distnce', expected one of the measures: distance. Did you mean 'distance'?",
        ),
        (f'{HEAD}until = "2 m"\n{SPACE}', 3, "until: '2 m' has the unit of a length"),
        (f"{HEAD}seconds = 0\n{SPACE}", 3, "seconds is 0, expected a finite number above 0"),
        (
            f'{HEAD}keep = {{ best = 3, of = "m" }}\n[space]\n',
            3,
            "keep of is 'm', expected one of the measures: none. Add",
        ),
        (f"{HEAD}{SPACE}[measures]\ndistance = 3\n", 6, "measure 'distance'"),
        (f"{HEAD}measures = 3\n{SPACE}", 3, "measures is 3, expected a table with a text for each measure"),
        (f"{HEAD}run = 3\n{SPACE}", 3, "run is 3, expected text"),
        (f"{HEAD}[run]\nmethd = 'rk4'\n{SPACE}", 4, "Did you mean 'method'?"),
        (f"{HEAD}[run]\nstep = -1\n{SPACE}", 4, "step is -1.0 s, expected a finite number above 0"),
        (
            f"{HEAD}[space]\ndesign = 'sobl'\n{SPACE}",
            4,
            "design is 'sobl', expected one of grid, sobol, latin, random. Did",
        ),
        (
            f"{HEAD}[space]\ndesign = 'sobol'\n{SPACE}",
            3,
            "the design sobol needs a count of items. Write count = 1024.",
        ),
        (f"{HEAD}[space]\ndesign = 'sobol'\ncount = 0\n{SPACE}", 5, "count is 0, expected a whole number"),
        (f"{HEAD}[space]\ncnt = 3\n{SPACE}", 4, "the key 'cnt' is not known"),
        (f"{HEAD}[space]\n", 3, "it has no parts, expected at least one. Write [space.parts.NAME]"),
        (f"{HEAD}[space.parts.a]\n", 3, "part 'a': it has no values, expected exactly one of range, values, choices"),
        (f"{HEAD}[space.parts.a]\nrange = [0, 1]\nvalues = [1]\n", 3, "part 'a': it has range, values together"),
        (f"{HEAD}[space.parts.a]\nrange = [1]\n", 4, "range has 1 item, expected 2 items"),
        (f"{HEAD}[space.parts.a]\nrange = ['1 bar', 2]\n", 4, "range[0]"),
        (
            f"{HEAD}[space.parts.a]\nrange = [2, 1]\npoints = 3\n",
            4,
            "expected low < high. Correct the numbers; choices =",
        ),
        (
            f"{HEAD}[space.parts.a]\nrange = [0, 1]\n",
            4,
            "a grid needs the number of points of the range from 0 to 1. Write",
        ),
        (f"{HEAD}[space.parts.a]\nrange = [0, inf]\npoints = 3\n", 4, "high is inf, expected a finite number"),
        (
            f"{HEAD}[space.parts.a]\nrange = [0, 1]\npoints = 1\n",
            5,
            "points is 1, expected a whole number of 2 or more",
        ),
        (f"{HEAD}[space.parts.a]\nvalues = [1]\nlog = true\n", 5, "the key 'log' has no meaning beside values"),
        (
            f"{HEAD}[space.parts.a]\nnormal = [1, 2]\n",
            4,
            "Normal is a distribution, which a grid cannot contain. Write",
        ),
        (f"{HEAD}[space.parts.a]\nchoices = [[1]]\n", 4, "choices[0] is [1], expected a text or a number"),
        (f"{HEAD}[space.parts.a]\nchoices = ['x', 'x']\n", 4, "the choice 'x' is given twice"),
        (f"{HEAD}[space.parts.a.choices.x]\nkind = 'sprin'\n", 3, "Did you mean 'spring'?"),
        (
            f"{HEAD}{SPACE}when = {{ b = 1 }}\n",
            5,
            "part 'a': its condition names the part 'b', which the space does not",
        ),
        (f"{HEAD}{SPACE}when = 3\n", 5, "when is 3, expected a table of values of other parts"),
        (f"{HEAD}{SPACE}when = {{ a = 1 }}\n", 5, "the conditions of 'a' form a circle"),
        (f"{HEAD}{SPACE}[monte_carlo]\nconfidnce = 0.9\n", 6, "Did you mean 'confidence'?"),
        (f"{HEAD}{SPACE}[monte_carlo]\ncount = 0\n", 6, "count is 0, expected a finite number above 0"),
        (f"{HEAD}{SPACE}[monte_carlo]\nerror = {{ m = -1 }}\n", 6, "error m is -1.0, expected a finite number above 0"),
        (
            f"{HEAD}{SPACE}[monte_carlo]\nconfidence = 95\n",
            6,
            "confidence is 95.0, expected a finite number between 0 and 1",
        ),
        (f"{HEAD}memory = inf\n{SPACE}", 3, "memory is inf, expected a finite number above 0"),
        (f"{HEAD}{SPACE}[sensitivity]\nmethod = 'sobl'\n", 6, "Did you mean 'sobol'?"),
        (f"{HEAD}{SPACE}[sensitivity]\n[monte_carlo]\n", 5, "[monte_carlo] and [sensitivity] are given together"),
    ],
)
def test_a_mistake_is_told_with_its_line_and_a_remedy(folder: Path, text: str, line: int, sentence: str) -> None:
    path = write(folder, text)
    found = [one for one in examine_study(path).errors if sentence in str(one)]
    assert [one.line for one in found] == [line], [str(one) for one in examine_study(path).findings]
    assert str(found[0]).startswith(f"{path}:{line}: ") and found[0].remedy
    with pytest.raises(ParseError, match=r"gaits\.toml"):
        load_study_plan(path)


def test_a_missing_file_and_many_mistakes_are_told_together(folder: Path) -> None:
    assert "the file does not exist" in str(examine_study(folder / "none.toml").errors[0])
    text = f"{HEAD}worker = 2\nuntil = -1\n[space]\nseed = -1\n[space.parts.a]\nrange = [2, 1]\npoints = 3\n"
    assert [one.line for one in examine_study(write(folder, text)).errors] == [3, 4, 8, 6]


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (f"{HEAD}[space]\ndesign = 'sobol'\ncount = 100\n{SPACE}", 5, "even only for powers of two. Use 64 or 128."),
        (f"{HEAD}[space]\ncount = 100\n{SPACE}", 4, "count = 100 has no effect in a grid"),
        (f"{HEAD}[space.parts.a]\nchoices = ['5 deg', '7 deg']\n", 4, "Write values = [...] for numbers."),
    ],
)
def test_questionable_values_are_warnings(folder: Path, text: str, line: int, sentence: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no warning besides the finding
        found = examine_study(write(folder, text))
    assert found.plan is not None
    assert [(one.severity, one.line) for one in found.findings] == [("warning", line)]
    with pytest.warns(ModelWarning, match=r"gaits\.toml") as told:
        load_study_plan(folder / "gaits.toml")
    assert sentence in str(told[0].message)


def test_the_schema_describes_every_key_and_refuses_mistakes() -> None:
    schema = study_schema()
    part = schema["properties"]["space"]["properties"]["parts"]["additionalProperties"]
    tables: list[Any] = [schema, schema["properties"]["monte_carlo"], schema["properties"]["sensitivity"], part]
    for table in tables:
        for key, found in table["properties"].items():
            if key not in ("space", "monte_carlo", "sensitivity"):
                assert found.get("description"), key
    for bad in (f"{HEAD}worker = 2\n{SPACE}", f"{HEAD}[space.parts.a]\n", f'{HEAD}workers = "dusk"\n{SPACE}', HEAD):
        assert not SCHEMA.is_valid(tomllib.loads(bad)), bad
