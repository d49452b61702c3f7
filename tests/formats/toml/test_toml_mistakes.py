"""Wrong TOML model files: what is said of every mistake, on its line and with its remedy, whatever the bytes are."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kinemorph
from kinemorph.errors import ParseError
from kinemorph.formats.findings import Findings
from kinemorph.formats.repairs import repaired
from kinemorph.formats.sources import Options, Source
from kinemorph.formats.toml import reader as toml
from support.texts.toml_texts import ARM, read, sound, told
from support.tools.each_case import each_case

MISTAKES = {
    # the file
    "": ("structure", 1, "the key 'kinemorph', which gives the version of the format, is missing"),
    "kinemorph = 2": ("structure", 1, "the key 'kinemorph', which gives the version of the format, is 2"),
    "kinemorph = 1\nbodys = 3": ("unknown", 2, "the key 'bodys' is not known, expected one of"),
    "kinemorph = 1\nbodies = 3": ("structure", 2, "'bodies' is 3, expected a table with one table per name"),
    "kinemorph = 1\n[bodies]\na = 3": ("structure", 3, "it is 3, expected a table"),
    "kinemorph = 1\nname = 3": ("structure", 2, "name is 3, expected text"),
    "kinemorph = 1\ngravity = [1, 2]": ("structure", 2, "gravity has 2 items, expected 3 items"),
    "kinemorph = 1\nparameters = []": ("structure", 2, "'parameters' is [], expected a table"),
    "kinemorph = 1": ("name", 1, "has no bodies"),
}


def before(text: str) -> tuple[str, str]:
    return "[bodies.link]", f"{text}\n[bodies.link]"


def body(text: str) -> tuple[str, str]:
    return "inertia =", f"{text}\ninertia ="


def joint(text: str) -> tuple[str, str]:
    return 'child = "link"', f'child = "link"\n{text}'


CHANGES = {
    # in a body
    ("mass = 1", "mas = 1"): ("unknown", 4, "the key 'mas' is not known, expected one of mass, solid, com"),
    ("mass = 1", 'mass = "1,5"'): ("number", 4, "mass is '1,5': column 2: found ','"),
    ("mass = 1", 'mass = "abc"'): ("number", 4, "mass is 'abc': column 1: there is no parameter 'abc'"),
    ("mass = 1", 'mass = "5 mm"'): (
        *("unit", 4, "mass: '5 mm' has the unit of a length, expected a mass such as '250 g'"),
    ),
    ("mass = 1", "mass = true"): ("number", 4, "mass is True, expected a number [kg]"),
    ("mass = 1", "mass = nan"): ("number", 4, "mass is nan, expected a finite number"),
    ("mass = 1", "mass = inf"): ("data", 4, "mass is inf, expected a finite number"),
    ("mass = 1", "mass = -1"): ("mass", 4, "mass is -1 kg"),
    ("mass = 1", f"mass = 1{'0' * 400}"): ("number", 4, "expected a finite number"),
    ("mass = 1", "mass = 1979-05-27"): ("number", 4, "expected a number"),
    ("[0.1, 0.1, 0.1]", "[0.1, 0.1]"): ("structure", 5, "inertia has 2 items, expected three moments"),
    ("[0.1, 0.1, 0.1]", "[[1, 0, 0], [0, 1, 0], 3]"): ("structure", 5, "expected three rows of three"),
    ("[0.1, 0.1, 0.1]", "{ xx = 1, yy = 1 }"): ("structure", 5, "inertia: the key 'zz' is missing"),
    ("[0.1, 0.1, 0.1]", '[0.1,\n"1 kg", 0.1]'): ("unit", 6, "inertia[1]: '1 kg' has the unit of a mass"),
    body("solid = 3"): ("structure", 5, "solid is 3, expected a table"),
    body("solid = {}"): ("structure", 5, "solid: the key 'kind' is missing"),
    body('solid = { kind = "boxx" }'): ("structure", 5, "solid: the kind is 'boxx', expected one of"),
    body('solid = { kind = "sphere", radius = 1 }'): ("structure", 6, "inertia is given together with solid"),
    body('solid = { kind = "box", size = [1, 2] }'): ("structure", 5, "solid size has 2 items"),
    body("shapes = {}"): ("structure", 5, "shapes is {}, expected a list"),
    body('shapes = [\n{ kind = "sphere" }]'): ("structure", 6, "shapes[0]: the key 'radius' is missing"),
    body('shapes = [{ kind = "mesh" }]'): ("structure", 5, "shapes[0]: the key 'file' is missing"),
    body('shapes = [{ kind = "sphere", radius = -1 }]'): ("data", 5, "radius is -1.0, expected above 0"),
    body('shapes = [{ kind = "line", start = [0, 0, 0], end = [0, 0, 1], color = [1, 1] }]'): (
        *("structure", 5, "shapes[0] color has 2 items, expected 3 or 4 items"),
    ),
    # in a joint
    ('kind = "revolute"', 'kind = "revolut"'): ("structure", 7, "kind is 'revolut', expected one of revolute"),
    ('kind = "revolute"', "kind = 3"): ("structure", 7, "kind is 3, expected one of revolute"),
    ('kind = "revolute"', 'typ = "revolute"'): ("unknown", 7, "the key 'typ' is not known"),
    ('kind = "revolute"\n', ""): ("structure", 6, "the key 'kind' is missing"),
    ('parent = "world"', 'parent = "wrold"'): ("name", 8, "parent: there is no body 'wrold'"),
    ('parent = "world"', "parent = 1"): ("structure", 8, "parent is 1, expected text"),
    ('child = "link"', 'child = "lnk"'): ("root", 3, "it is not the child of any joint, expected exactly one joint"),
    joint("axis = [0, 0, 2]"): ("axis", 10, "with length 2, expected length 1"),
    joint('axis = "w"'): ("axis", 10, "axis is 'w', expected one of x, y, z"),
    joint('lower = "5 mm"'): ("unit", 10, "lower: '5 mm' has the unit of a length"),
    joint("lower = [1, 2]"): ("structure", 10, "lower has 2 items, expected 1 item"),
    joint("lower = 2\nupper = 1"): ("data", 10, "lower limit 2 is above upper limit 1"),
    joint("rpy = [0, 0, inf]"): ("number", 10, "expected finite angles"),
    joint("rpy = [0, 0, 0]\nquaternion = [1, 0, 0, 0]"): ("structure", 11, "rpy and quaternion are given together"),
    joint("quaternion = [1, 0, 0, 1]"): ("rotation", 10, "with length 1.41421, expected length 1"),
    joint("rotation = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]"): ("data", 10, "is a reflection"),
    joint("rotation = 3"): ("structure", 10, "rotation is 3, expected 3 items"),
    joint("placement = 3"): ("structure", 10, "placement is 3, expected a table"),
    joint("placement = {}\ntranslation = [0, 0, 0]"): ("structure", 10, "placement is given together with translation"),
    joint("child_placement = { rpi = [0, 0, 0] }"): ("unknown", 10, "the key 'rpi' is not known"),
    joint("normalize = 1"): ("structure", 10, "normalize is 1, expected true or false"),
    # elsewhere
    before("[frames.f]"): ("structure", 3, "the key 'body' is missing"),
    before('[couplings.hinge]\nleader = "x"'): ("data", 4, "there is no tree joint 'x'"),
    before("[elements.e]"): ("structure", 3, "the key 'kind' is missing"),
    before('[elements.e]\nkind = "motor"'): ("structure", 3, "the kind is 'motor', expected one of"),
    before('[elements.e]\nkind = "actuator"\njoint = "x"'): ("name", 5, "there is no joint 'x'"),
    before('[elements.e]\nkind = "actuator"\njoint = "hinge"\ngear = "l"\n[parameters]\nl = 1'): (
        *("number", 6, "gear is 'l', expected a plain number"),
    ),
    before("[settings]\nq = [1, 2]"): ("structure", 4, "q has 2 items, expected 1 item"),
    before("[settings]\nq = { hing = 1 }"): ("unknown", 4, "the key 'hing' is not known"),
    before('[settings]\nq = { hinge = "1 m" }'): ("unit", 4, "q hinge: '1 m' has the unit of a length"),
    before("[settings]\nv = [inf]"): ("number", 4, "v is [inf], expected finite numbers"),
    before("[settings]\ntime = 0"): ("number", 4, "time is 0 s, expected a finite time above 0"),
    before("[parameters]\na = 'b + 1'\nb = '2 * a'"): ("structure", 4, "it depends on itself: a -> b -> a"),
    before("[parameters]\na = 'a'"): ("structure", 4, "it depends on itself: a -> a"),
    before("[parameters]\na = 'c + 1'"): ("number", 4, "the value is 'c + 1': column 1"),
    before("[parameters]\na = { valu = 1 }"): ("unknown", 4, "the key 'valu' is not known"),
    before("[parameters]\na = { value = '5 mm', unit = 'mm' }"): ("unit", 4, "expected one unit"),
    before("[parameters]\na = inf"): ("number", 4, "expected a finite number"),
    before("[parameters]\na = '5 foo'"): ("unit", 4, "the unit 'foo' is not known"),
    before(f"[bodies.{'x' * 2000}]"): ("name", 3, "the name has 2000 characters"),
}


@pytest.mark.parametrize("text", MISTAKES, ids=lambda text: repr(text)[:40])
def test_a_wrong_file_is_told(text: str) -> None:
    _like(told(text), MISTAKES[text])


@each_case("change", CHANGES, ids=lambda change: change[1][:40].replace("\n", " "))
def test_a_wrong_line_is_told(change: tuple[str, str]) -> None:
    assert change[0] in ARM
    _like(told(ARM.replace(*change, 1)), CHANGES[change])


def _like(found: tuple[str, int, str], expected: tuple[str, int, str]) -> None:
    assert found[:2] == expected[:2], found
    assert expected[2] in found[2]


REMEDIES = {
    ("mass = 1", "mass = l1"): 'in quotes, such as "l1"',
    ("mass = 1", "mass = 1 kg"): "words and quantities in quotes",
    ("mass = 1", 'mass = "2 gram"'): "Did you mean 'g'?",
    ("mass = 1", 'mass = "2 ^ 3"'): "Write ** for a power.",
    ("mass = 1", 'mass = "1 + 5 kg"'): "Make the quantity a parameter",
    ("[bodies.link]\nmass = 1", '[parameters]\nb = 1\n[bodies.link]\nmass = "2 b"'): 'Write "2 * b" for a product.',
    ("[0.1, 0.1, 0.1]", "[1, 0, 0, 1, 0, 1]"): "Write [xx, yy, zz]",
    ("[0.1, 0.1, 0.1]", "{ ixx = 1, iyy = 1, izz = 1 }"): "Write xx for ixx.",
    ('kind = "revolute"', 'kind = "hinge"'): "Did you mean 'revolute'?",
    ('kind = "revolute"', 'kind = "floating"'): "Did you mean 'free'?",
    ('child = "link"', 'child = "link'): "Close the quotes.",
    ('child = "link"', 'child: "link"'): "Write key = value.",
    ("[bodies.link]", "[bodies.link]\n[bodies.link]"): "Rename one of the two",
    joint("axis = [0, 1]"): "Write 3 items.",
}


@each_case("change", REMEDIES, ids=lambda change: change[1][:40].replace("\n", " "))
def test_a_slip_is_one_sentence_with_the_remedy_that_fits(change: tuple[str, str]) -> None:
    assert change[0] in ARM
    _, (finding,) = read(ARM.replace(*change, 1))
    assert REMEDIES[change] in finding.remedy, finding


def test_a_start_by_the_name_of_a_joint_that_closes_a_loop_is_told_as_such() -> None:
    ring = """kinemorph = 1
[bodies]
a = { mass = 1, solid = { kind = "sphere", radius = 1 } }
b = { mass = 1, solid = { kind = "sphere", radius = 1 } }
[joints]
j = { kind = "revolute", parent = "world", child = "a" }
k = { kind = "revolute", parent = "world", child = "b" }
l = { kind = "revolute", parent = "a", child = "b" }
[settings]
q = { l = 1 }
"""
    _, (finding,) = read(ring)
    assert (finding.rule, finding.line) == ("name", 10) and "joint 'l' closes a loop" in finding.problem


def test_angles_of_more_than_a_turn_are_doubtful_unless_they_have_a_unit() -> None:
    _, (finding,) = read(ARM + "rpy = [0, 0, 90]\n")
    assert (finding.severity, finding.rule, finding.line) == ("warning", "unit", 10)
    assert finding.remedy == 'Write "90 deg" if degrees are meant.'
    assert not read(ARM + 'rpy = [0, "800 deg", 6.28]\n')[1]


def test_all_mistakes_are_told_at_once() -> None:
    _, found = read(ARM.replace("mass = 1", "mas = 1").replace("revolute", "revolut").replace("0.1]", '"x"]'))
    assert [(finding.rule, finding.line) for finding in found] == [("unknown", 4), ("number", 5), ("structure", 7)]


def test_more_mistakes_than_are_listed() -> None:
    text = "kinemorph = 1\n" + "".join(f"[joints.j{i}]\nlower = 'x'\n" for i in range(300))
    with pytest.raises(ParseError, match="more findings"):
        kinemorph.load_text(text, "toml")


def test_what_is_safe_to_repair_carries_its_repair() -> None:
    text = ARM.replace("mass = 1", 'mass = "1,5"  # kg').replace("[0.1, 0.1", '[0.1, "0,1"') + "axis = [0, 0, 2]\n"
    findings = Findings("arm.toml")
    assert toml.read(Source("arm.toml", text.encode()), Options(), findings) is None
    assert [(finding.rule, finding.line, finding.repair is not None) for finding in findings.found] == [
        ("number", 4, True),
        ("number", 5, True),
        ("axis", 10, True),
    ]
    mended = repaired(findings.document, findings.found).decode()
    assert "mass = 1.5  # kg" in mended
    robot = sound(mended).robot
    assert (robot.bodies[0].mass, robot.joints[0].axis) == (1.5, (0.0, 0.0, 1.0))


def test_a_parameter_of_another_unit_is_doubtful() -> None:
    text = ARM.replace("mass = 1", 'mass = "l"') + '[parameters]\nl = "1 m"\nf = { value = 2, unit = "furlong" }\n'
    system, found = read(text)
    assert system is not None
    assert [(finding.severity, finding.rule, finding.line) for finding in found] == [
        ("warning", "unit", 12),
        ("warning", "unit", 4),
    ]


# ── whatever the bytes ────────────────────────────────────────────────────────────────────────────────────────────────


PIECES = [line for line in ARM.splitlines() if line] + [
    *("[settings]", "q = { hinge = 1 }", "[parameters]", "a = 'b'", "b = 1", "c = { value = '5 mm' }", "[elements.e]"),
    *('kind = "actuator"', 'joint = "hinge"', "[frames.f]", 'body = "link"', "[couplings.hinge]", 'leader = "hinge"'),
    *(
        "axis = 'x'",
        "rpy = [1, 2, 3]",
        "shapes = [{ kind = 'box', size = [1, 1, 1] }]",
        "lower = '-5 deg'",
        "gravity = 3",
    ),
    *("solid = { kind = 'rod', length = 'a' }", "[bodies.link.inertia]", "xx = 1", "[[bodies.link.shapes]]"),
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14), st.binary(max_size=4), st.integers(0, 300))
def test_nothing_but_findings_comes_out(pieces: list[str], noise: bytes, at: int) -> None:
    data = "\n".join(["kinemorph = 1", *pieces]).encode()
    findings = Findings("arm.toml")
    system = toml.read(Source("arm.toml", data[:at] + noise + data[at:]), Options(), findings)
    assert (system is None) == findings.failed


@pytest.mark.parametrize(
    ("rest", "rule", "told"),
    [
        ("[settings]\nq = [0, 0, 0, 0]", "rotation", "length 0, expected 1"),
        ('[settings]\nq = { "j.qw" = 2 }', "rotation", "length 2, expected 1"),
        ('[elements.m]\nkind = "actuator"\njoint = "j"\ncontrol = "positon"', "structure", "effort, position"),
        ('[settings]\nloops = "projektion"', "structure", "one of projection, baumgarte, partitioning"),
    ],
)
def test_starts_and_drives_that_cannot_be_are_refused(rest: str, rule: str, told: str) -> None:
    ball = 'kinemorph = 1\n[bodies.b]\nmass = 1\ninertia = [1, 1, 1]\n[joints.j]\nkind = "spherical"\n'
    findings = Findings("robot.toml")
    text = f'{ball}parent = "world"\nchild = "b"\n{rest}\n'
    assert toml.read(Source("robot.toml", text.encode()), Options(), findings) is None
    (error,) = findings.errors
    assert error.rule == rule and told in error.problem
