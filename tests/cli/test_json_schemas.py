"""What every verb prints with --json: its keys, the kinds of their values, and some of the values themselves.

Programs of users read these keys. `json_schemas.json` holds, for each command line of QUICK and SLOW, every path of its
output with the kinds of the values found there: `poles[].alpha` stands for the alphas of all poles. A later version may
add paths; it may neither lose one nor change its kinds. For the command lines of VALUES the file holds numbers and
names, too, so that a value under a wrong key is noticed.

`pytest --update-golden` writes the entries of the command lines that it runs again, from one process (-n 0).
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kinemorph.bench.timing import Pace
from kinemorph.cli.application import VERBS
from kinemorph.cli.verbs.analyze import Analysis
from kinemorph.cli.verbs.study import What
from support.tools.command_line import parsed, run

STORED = Path(__file__).with_name("json_schemas.json")
SCHEMAS, VALUED = "schemas", "values"  # the two parts of the file
ROOT = "$"  # the path of the whole output
ABSENT = ...  # stands for a value whose key only other items of the list have
KINDS = {dict: "object", list: "list", str: "text", bool: "bool", int: "number", float: "number"}
KINDS |= {type(None): "null", type(ABSENT): "absent"}
NAMED = ("op_counts", "outcomes[].sizes")  # objects whose keys are data; `*` stands for all of them
INSTALLED = ("extras[].version", "cache.problem", "browser")  # may be null: they depend on the computer
DIGITS, NOISE = 7, 1e-9  # numbers are stored with one digit more than is compared; smaller ones count as zero

# ── command lines ─────────────────────────────────────────────────────────────────────────────────────────────────────

FILES = {
    "wrong.urdf": """
<robot name="arm">
<link name="a"><inertial><mass value="1,5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="abc"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>
""",
    "doubtful.urdf": """
<robot name="arm">
<link name="a"/>
<link name="b"><inertial><mass value="1"/><inertia ixx="9" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>
""",
    "damped.urdf": """
<robot name="arm">
<link name="a"/>
<link name="b"><inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
<dynamics damping="0.3"/></joint>
</robot>
""",
    "fingers.toml": """
kinemorph = 1

[bodies]
palm = { mass = 0.4, solid = { kind = "box", size = [0.08, 0.06, 0.04] } }
left = { mass = 0.05, solid = { kind = "box", size = [0.01, 0.02, 0.06] } }
right = { mass = 0.05, solid = { kind = "box", size = [0.01, 0.02, 0.06] } }

[joints]
wrist = { kind = "universal", parent = "world", child = "palm", axis = "x", axis2 = "y" }
left = { kind = "prismatic", parent = "palm", child = "left", axis = "x", lower = 0, upper = 0.04 }
right = { kind = "prismatic", parent = "palm", child = "right", axis = [-1, 0, 0] }

[couplings.right]
leader = "left"
multiplier = 1

[elements.closing]
kind = "pid"
joints = ["left"]
kp = 10
ki = 1
kd = 1
reference = 0.02

[settings]
q = { left = 0.01 }
max_step = 0.01

[starts.open]
q = { left = 0.03 }

[runs.close]
time = 0.05
start = "open"
""",
    "markers.csv": """
t [s],m1.x [m],m1.y [m],m1.z [m]
0.0,0.0,0.0,-0.5
0.02,0.0499,0.0,-0.4975
0.04,0.0993,0.0,-0.49
""",
    "swings.toml": """
kinemorph_study = 1
model = "pendulum.toml"
until = 0.1
[space.parts.l1]
range = [1.0, 2.0]
points = 2
[space.parts."q.q1"]
values = [0.2, 0.4]
[measures]
angle = "q.q1"
""",
}
FILES["draws.toml"] = FILES["swings.toml"] + "[monte_carlo]\ncount = 8\n"
FILES["effects.toml"] = FILES["swings.toml"] + '[sensitivity]\nmethod = "morris"\ncount = 4\n'
FILES["refused.toml"] = FILES["swings.toml"].replace('"q.q1"\n', '"1 / (l1 - l1)"\n')

# Each scene is played from top to bottom in a folder of its own, which begins with FILES.
QUICK = (
    """
    info
    info puma
    info spatial_slider_crank
    info organism9
    info kneed_walker
    info amru5_leg
    info cockroach_leg
    info fingers.toml
    """,
    """
    new dog --kind quadruped
    check dog.toml
    export pendulum --to toml
    export four_bar --output four_bar.urdf
    check four_bar.urdf
    program pendulum --to python --time 0.1 --output swing
    """,
    """
    check wrong.urdf
    check doubtful.urdf swings.toml missing.urdf
    check wrong.urdf --fix
    """,
    """
    assemble organism9
    assemble organism9 --tables
    derive pendulum
    derive pendulum --emit text
    derive pendulum --emit c --output arm
    derive puma --function jacobian --frame flange --emit graph
    derive four_bar --function actuation --actuated q1 --emit graph
    """,
    """
    analyze double_pendulum equilibrium --torque q1=2
    analyze double_pendulum poles
    analyze damped.urdf poles
    analyze double_pendulum modes --count 1
    analyze double_pendulum lqr --weight q.q1=10 --every 0.01
    analyze four_bar mobility
    analyze four_bar assembly --lock q1
    analyze bolt_like static --over crank_joint=0:90deg:3
    optimize pendulum --cost q.q1 --over m1=1:2 --search random --population 2 --condition q.q1=-1:1
    optimize pendulum --cost q.q1 --over m1=1:2 --search random --population 2 --condition q.q1=2:
    """,
    """
    simulate double_pendulum --q 0.5,0.2 --time 0.1 --method rk4 --step 0.01 --save run.npz
    show run.npz --columns q,v
    show pendulum --html pendulum.html
    simulate double_pendulum --method euler --step 2 --time 100
    simulate fingers.toml --run close
    simulate rocking_block --time 1
    """,
    """
    gait maps --r 3.83 --coupling ring --epsilon 0.5 --seeds 5 --steps 2000
    gait double_pendulum --kind maps --every 0.2 --amplitude 20deg --time 0.2 --method heun --step 0.01 --gains 40,4
    """,
    """
    excite pendulum --time 2 --harmonics 2 --draws 2 --starts 1 --rate 20 --csv motion.csv
    identify pendulum motion.csv --validate motion.csv --no-pictures
    track pendulum markers.csv --attach m1=link1@0,0,-0.49
    """,
    """
    export pendulum --output pendulum.toml
    sweep swings.toml --workers here
    study swings.study
    study swings.study best --count 2
    study swings.study resume --workers here
    study swings.study plot --output swings.png
    study swings.study export --output swings.csv
    study swings.study show --output swings.html
    sweep draws.toml --workers here
    study draws.study
    sweep effects.toml --workers here
    sweep refused.toml --workers here
    study refused.study failed
    """,
    """
    analyze rimless_wheel orbit
    analyze pendulum orbit --period 1 --torque q1=20
    analyze rimless_wheel basin --over v.pitch=0.5:1.5:3
    """,
    """
    analyze compass_walker continuation --over slope=2.8deg:4.6deg
    analyze compass_walker diagram --over slope=3deg:4.8deg:3
    """,
    "verify double_pendulum --states 2",
    """
    doctor
    doctor --clear-cache
    """,
)
SLOW = (
    """
    verify double_pendulum --table --states 2
    check doubtful.urdf --verify
    """,
    """
    report pendulum --to html --output pendulum.html
    verify --report pendulum.html
    """,
    "demo --robot double_pendulum --output out",
    "demo --output out",
    "gait hexapod24 --time 0.05 --method heun --step 0.005",
    """
    studio --no-open
    show pendulum --view
    """,
    """
    bench --compile --robot pendulum
    bench --quick --robot pendulum --algorithm ABA --mode python-call
    bench load --quick --robot panda
    """,
)
CODES = {  # exit codes that are not 0
    "check wrong.urdf": 1,
    "check wrong.urdf --fix": 1,
    "check doubtful.urdf swings.toml missing.urdf": 2,
    "optimize pendulum --cost q.q1 --over m1=1:2 --search random --population 2 --condition q.q1=2:": 1,
    "simulate double_pendulum --method euler --step 2 --time 100": 1,
    "analyze pendulum orbit --period 1 --torque q1=20": 1,
    "sweep refused.toml --workers here": 1,
}
# command lines whose values are compared, at paths that begin so
VALUES = {
    "info puma": ("mass", "bodies[]", "joints[]", "frames[]", "q_names", "v_names"),
    "analyze double_pendulum equilibrium --torque q1=2": ("converged", "stable", "q[]"),
    "analyze double_pendulum poles": ("q[]", "poles[]"),
    "analyze damped.urdf poles": ("q[]", "poles[]"),
    "analyze double_pendulum modes --count 1": ("coordinates[]", "shapes[]"),
    "analyze four_bar mobility": ("",),
    "analyze four_bar assembly --lock q1": ("modes[]", "q_names", "held"),
    "analyze bolt_like static --over crank_joint=0:90deg:3": ("torques", "loads", "margins"),
    "analyze rimless_wheel orbit": ("period", "coordinates[]", "multipliers[]"),
    "simulate double_pendulum --q 0.5,0.2 --time 0.1 --method rk4 --step 0.01 --save run.npz": ("samples", "final"),
    "show run.npz --columns q,v": ("columns[]",),
    "study swings.study best --count 2": ("$[].item", "$[].values", "$[].measures"),
    "verify double_pendulum --states 2": ("checks[].name",),
}


def lines_of(scene: str) -> list[str]:
    return [line.strip() for line in scene.strip().splitlines()]


def has_json(line: str) -> bool:
    return not line.startswith("report")  # whose options do not include --json


LINES = [line for scene in (*QUICK, *SLOW) for line in lines_of(scene) if has_json(line)]

# ── schemas ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def by_path(values: list[Any], path: str = ROOT) -> Iterator[tuple[str, list[Any]]]:
    """All paths that begin with `path`, each with all values that are found there. `values` are those of `path`."""
    yield path, values
    objects = [value for value in values if isinstance(value, dict)]
    if path.endswith(NAMED):
        named = [value for one in objects for value in one.values()]
        yield from by_path(named, f"{path}.*") if named else ()
    else:
        for key in dict.fromkeys(key for one in objects for key in one):
            below = key if path == ROOT else f"{path}.{key}"
            yield from by_path([one.get(key, ABSENT) for one in objects], below)
    items = [item for value in values if isinstance(value, list) for item in value]
    yield from by_path(items, f"{path}[]") if items else ()


def kinds_of(values: list[Any]) -> str:
    return " | ".join(sorted({KINDS[type(value)] for value in values}))


def schema_of(output: Any) -> dict[str, str]:
    """Every path of an output with the kinds of its values."""
    return {path: "any" if path in INSTALLED else kinds_of(values) for path, values in by_path([output])}


def values_of(output: Any, begins: tuple[str, ...]) -> dict[str, list[Any]]:
    """Numbers, names and other single values of an output, at paths with one of these beginnings."""
    found = {}
    for path, values in by_path([output]):
        single = [_rounded(value) for value in values if not isinstance(value, (dict, list)) and value is not ABSENT]
        if single and path.startswith(begins):
            found[path] = single
    return found


def _rounded(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.{DIGITS}g}") if abs(value) > NOISE else 0.0


def schema_differences(stored: dict[str, str], found: dict[str, str]) -> list[str]:
    """A sentence for each path that is lost, or whose values are of other kinds. Paths may be added."""
    told = []
    for path, kinds in stored.items():
        if path not in found:
            told.append(f"{path} is missing; expected {kinds}.")
        elif set(found[path].split(" | ")) not in (set(kinds.split(" | ")), set(kinds.split(" | ")) - {"absent"}):
            told.append(f"{path} is {found[path]}; expected {kinds}.")
    return told


def value_differences(stored: dict[str, list[Any]], found: dict[str, list[Any]]) -> list[str]:
    """A sentence for each path whose values differ in one of the first six digits."""
    told = []
    for path, values in stored.items():
        others = found.get(path, values)  # that it is missing is told by the schema
        if len(others) != len(values) or not all(map(_agree, values, others)):
            told.append(f"{path} has the values {others}; expected {values}.")
    return told


def _agree(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=NOISE)
    return bool(one == other)


# ── tests ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with FILES."""
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text.lstrip())
    return tmp_path


def scenes() -> list[Any]:
    named = [(scene, ()) for scene in QUICK] + [(scene, (pytest.mark.slow,)) for scene in SLOW]
    return [pytest.param(scene, marks=marks, id=lines_of(scene)[0]) for scene, marks in named]


@pytest.mark.parametrize("scene", scenes())
def test_json_keeps_its_keys_kinds_and_values(
    scene: str, folder: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the studio and the viewer stop at once
    monkeypatch.setattr("kinemorph.display.serving.until_stopped.UntilStopped.wait", lambda self: None)
    if "--clear-cache" in scene:
        monkeypatch.setenv("KINEMORPH_CACHE", "kept")
    if "bench" in scene:
        pytest.importorskip("pinocchio")
        # short samples
        monkeypatch.setattr("kinemorph.bench.timing.QUICK", Pace(rounds=1, seconds=1e-5))
        monkeypatch.setattr("kinemorph.bench.machine.machine", lambda pace: {"peak_gflops": 1.0})
    stored, told = json.loads(STORED.read_text(encoding="utf-8")), []
    for line in lines_of(scene):
        if not has_json(line):
            assert run(*shlex.split(line)).exit_code == 0
            continue
        output = parsed(*shlex.split(line), code=CODES.get(line, 0))
        schema, values = schema_of(output), values_of(output, VALUES.get(line, ()))
        if request.config.getoption("--update-golden"):
            stored[SCHEMAS][line], stored[VALUED][line] = schema, values
            continue
        assert line in stored[SCHEMAS], f"run this test with --update-golden: '{line}' is new"
        differences = schema_differences(stored[SCHEMAS][line], schema)
        differences += value_differences(stored[VALUED].get(line, {}), values)
        told += [f"kinemorph {line} --json: {sentence}" for sentence in differences]
    if request.config.getoption("--update-golden"):
        STORED.write_text(_text(stored), encoding="utf-8")
    if told:
        told.append("Keys may be added; --update-golden stores what was changed on purpose.")
        pytest.fail("\n".join(told), pytrace=False)


def _text(stored: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The text of the file: one line for each path, in the order of LINES; empty entries are left out."""
    parts = []
    for part, commands in stored.items():
        entries = []
        for line in LINES:
            rows = [f"{json.dumps(path)}: {json.dumps(what)}" for path, what in commands.get(line, {}).items()]
            entries += [f"{json.dumps(line)}: {{\n" + ",\n".join(rows) + "\n}"] if rows else []
        parts.append(f"{json.dumps(part)}: {{\n" + ",\n".join(entries) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def test_every_verb_analysis_and_action_is_stored() -> None:
    """All but `report`, which has no --json."""
    words = [line.split() for line in LINES]
    assert set(VERBS) - {row[0] for row in words} == {"report"}
    assert {row[2] for row in words if row[0] == "analyze"} == set(Analysis)
    assert {[*row, "status"][2] for row in words if row[0] == "study"} == set(What)
    stored = json.loads(STORED.read_text(encoding="utf-8"))
    assert list(stored[SCHEMAS]) == LINES and set(stored[VALUED]) == set(VALUES)
