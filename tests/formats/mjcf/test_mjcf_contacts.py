"""How geoms of MJCF files touch the ground: pairs, frictions, exclusions and soft laws, beside MuJoCo."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

from kinemorph import load_text
from kinemorph.elements import contacts
from kinemorph.errors import ModelWarning
from kinemorph.mechanics.elements.contact.normal_forces import normal_law
from kinemorph.model.system import System

G = 9.81


def loaded(text: str) -> System:
    """The system of an MJCF text with the contacts of its file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        system = load_text(text, "mjcf")
    return replace(system, elements=(*system.elements, *contacts(system)))


def test_a_contact_pair_with_the_ground_acts_like_geoms_with_its_parameters() -> None:
    """The pair acts although its geoms have no groups, and the geom without a pair touches nothing."""
    laws = 'solref="0.005 1.2" solimp="0.8 0.97 0.002 0.4 3"'
    text = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" {floor}/><body name="b" pos="0 0 1">
        <freejoint/><geom name="foot" size="0.1" {foot}/><geom name="head" pos="0 0 1" size="0.1" {head}/></body>
        </worldbody>{pairs}</mujoco>"""
    none = 'contype="0" conaffinity="0" friction="0.1"'
    pairs = f'<contact><pair geom1="foot" geom2="floor" friction="0.7 0.7 0 0 0" margin="0.01" {laws}/></contact>'
    given = loaded(text.format(floor=none, foot=none, head=none, pairs=pairs)).elements
    alike = f'friction="0.7" {laws}'
    plain = loaded(text.format(floor=alike, foot=f'margin="0.01" {alike}', head=none, pairs="")).elements
    assert given == plain and len(given) == 1
    (deep,) = loaded(text.format(floor=f'{none} margin="0.03"', foot=none, head=none, pairs=pairs)).elements
    assert deep.ground.point[2] == pytest.approx(0.01), "the margin of a pair counts, not those of its geoms"  # type: ignore[attr-defined]
    off = text.format(floor=none, foot=none, head=none, pairs=pairs).replace(
        "<worldbody>", '<option><flag contact="disable"/></option><worldbody>'
    )
    assert loaded(off).elements == ()


def test_pairs_are_between_their_geoms_alone_and_may_be_more_slippery_than_both() -> None:
    text = """<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody>
        <geom name="low" type="plane" size="1 1 1"/><geom name="high" type="plane" size="1 1 1" pos="0 0 1"/>
        <body name="a"><freejoint/><geom name="a" size="0.1"/></body>
        <body name="b"><freejoint/><geom name="b" size="0.1"/></body></worldbody><contact>
        <pair geom1="a" geom2="low" friction="0.05 0.05 0 0 0"/><pair geom1="high" geom2="b"/></contact></mujoco>"""
    found = [(one.body, one.ground.point[2], one.friction.coefficient) for one in contacts(loaded(text).robot)]  # type: ignore[union-attr]
    assert found == [("a", 0.0, 0.05), ("b", 1.0, 1.0)]


@pytest.mark.parametrize(
    ("floor", "ball", "mu"),
    [
        ('friction="0.3"', 'friction="0.7"', 0.7),
        ('friction="0.9" condim="1"', 'friction="0.3"', 0.9),
        ('friction="0.9" condim="1" priority="1"', 'friction="0.3"', 0.0),
        ('friction="0.9"', 'friction="0.3" condim="1"', 0.9),
        pytest.param('friction="0.2"', 'friction="0.3" condim="1" priority="2"', 0.0, marks=pytest.mark.slow),
        pytest.param('friction="0.2" priority="1"', 'friction="0.8"', 0.2, marks=pytest.mark.slow),
    ],
)
def test_friction_of_two_geoms_is_that_of_mujoco(floor: str, ball: str, mu: float) -> None:
    """The larger condim and the larger friction count, also where they are those of different geoms."""
    mujoco = pytest.importorskip("mujoco")
    text = f"""<mujoco><worldbody><geom type="plane" size="1 1 1" {floor}/><body name="b" pos="0 0 0.0999"><freejoint/>
        <geom size="0.1" {ball}/></body></worldbody></mujoco>"""
    data = mujoco.MjData(model := mujoco.MjModel.from_xml_string(text))
    mujoco.mj_forward(model, data)
    (touching,) = data.contact
    assert mu == pytest.approx(touching.friction[0] if touching.dim > 1 else 0.0)
    (contact,) = loaded(text).elements
    assert (contact.friction.coefficient if contact.friction else 0.0) == pytest.approx(mu)


def test_exclusions_are_between_bodies() -> None:
    """A plane on a fixed body is a ground of this body and not of the world."""
    text = """<mujoco><worldbody>{}<body name="table" pos="0 0 0.2"><geom type="plane" size="1 1 1"/></body>
        <body name="b" pos="0 0 0.29"><freejoint/><geom name="ball" size="0.1"/></body></worldbody>
        <contact><exclude body1="{}" body2="b"/></contact></mujoco>"""
    assert [len(loaded(text.format("", name)).elements) for name in ("table", "world")] == [0, 1]
    with pytest.warns(ModelWarning, match="exclusions .* from some of the grounds.*'ball'"):
        assert len(contacts(load_text(text.format('<geom type="plane" size="1 1 1"/>', "world"), "mjcf"))) == 2


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_laws_carry_the_weight_at_the_depth_of_mujoco(cone: str) -> None:
    """Impedances may fall with the depth; numbers of solref below 0 are not mixed; steps and impratio count."""
    mujoco = pytest.importorskip("mujoco")
    geoms = ('condim="6"', 'solref="0.02 0.3"', 'solref="0.001 1" priority="1"',
             'solref="-3000 -60" solimp="0.9 0.8 0.001"', 'solimp="0.95 0.6 0.002"',
             'solmix="3" solref="0.04 1"', 'solref="0.01 1" priority="1"')  # fmt: skip
    bodies = "".join(
        f'<body pos="{k} 0 0.1"><freejoint/><geom size="0.1" friction="0.7" {geom}/></body>'
        for k, geom in enumerate(geoms)
    )
    text = f"""<mujoco><option cone="{cone}" impratio="2"/><worldbody><geom type="plane" size="1 1 1"
        solimp="0.8 0.97 0.003"/>{bodies}</worldbody></mujoco>"""
    data = mujoco.MjData(model := mujoco.MjModel.from_xml_string(text))
    mujoco.mj_step(model, data, 2000)
    made = loaded(text).elements
    assert len(made) == len(geoms)
    for one, depth, mass in zip(made, 0.1 - data.qpos[2::7], model.body_mass[1:], strict=True):
        assert float(normal_law(one.normal).at_rest(depth)) == pytest.approx(G * mass, rel=1e-6)  # type: ignore[attr-defined]


def test_forces_that_only_the_first_ground_decides_are_told() -> None:
    text = """<mujoco><worldbody><geom type="plane" size="1 1 1"/><geom type="plane" size="1 1 1" {}/>
        <body pos="0 0 0.09"><freejoint/><geom name="ball" size="0.1"/></body></worldbody></mujoco>"""
    for other in ('solref="0.01 1"', 'friction="1.5"'):
        with pytest.warns(ModelWarning, match="forces of their own on grounds after the first.*'ball'"):
            load_text(text.format(other), "mjcf")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_text(text.format('friction="0.5"'), "mjcf")
