"""Records: frozen dataclasses of our own making behave as those of the standard library, method by method."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, astuple, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import pytest

from kinemorph.display.tables import element_tables
from kinemorph.frozen import dataclass
from kinemorph.model.elements.contact.contact_laws import EasyDynNormal
from kinemorph.model.elements.contact.contacts import Contact
from kinemorph.model.shapes import Mesh

MAKERS = {"ours": dataclass, "theirs": dataclasses.dataclass}


def family(dataclass: Any) -> dict[str, Any]:
    """The same classes by either decorator."""

    @dataclass(frozen=True)
    class Part:
        """A part."""

        name: str
        mass: float = 1.0
        tags: list[str] = field(default_factory=list, compare=False)
        hidden: int = field(default=3, repr=False)

        @cached_property
        def twice(self) -> float:
            return 2.0 * self.mass

    @dataclass(frozen=True)
    class Wheel(Part):
        """A part that inherits fields, replaces a default and checks itself."""

        mass: float = 2.0
        radius: float = 0.5

        def __post_init__(self) -> None:
            if self.radius < 0.0:
                raise ValueError(self.name)

    @dataclass(frozen=True, eq=False)
    class Apart:
        """Equal to itself alone."""

        name: str

    @dataclass(frozen=True, repr=False)
    class Special:
        """With methods of its own."""

        name: str

        def __repr__(self) -> str:
            return "special"

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Special)

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True)
    class Empty:
        """Without fields."""

    return {kind.__name__: kind for kind in (Part, Wheel, Apart, Special, Empty)}


@dataclass(frozen=True)
class Kept:
    """At the top of a module, so that it can be pickled."""

    name: str
    size: float = 0.0


@pytest.fixture(params=MAKERS)
def kinds(request: pytest.FixtureRequest) -> dict[str, Any]:
    return family(MAKERS[request.param])


def test_objects_are_compared_by_their_fields(kinds: dict[str, Any]) -> None:
    Part, Wheel = kinds["Part"], kinds["Wheel"]
    assert Part("a") == Part("a", 1.0, ["not compared"]) and hash(Part("a")) == hash(Part("a", 1.0, ["x"]))
    assert Part("a") != Part("b") and Part("a") != Part("a", hidden=4) and Part("a") != ("a", 1.0, 3)
    assert Part("a", 2.0) != Wheel("a", 2.0)  # of another class
    assert kinds["Empty"]() == kinds["Empty"]() and len({kinds["Empty"](), kinds["Empty"]()}) == 1
    assert kinds["Apart"]("a") != kinds["Apart"]("a")
    assert len({kinds["Special"]("a"), kinds["Special"]("b")}) == 1


def test_objects_tell_their_fields(kinds: dict[str, Any]) -> None:
    assert repr(kinds["Part"]("a")).endswith("Part(name='a', mass=1.0, tags=[])")
    assert repr(kinds["Special"]("a")) == "special" and repr(kinds["Empty"]()).endswith("Empty()")


def test_arguments_and_defaults(kinds: dict[str, Any]) -> None:
    Part, Wheel = kinds["Part"], kinds["Wheel"]
    assert Part("a").tags is not Part("a").tags
    wheel = Wheel("w", radius=2.0)
    assert (wheel.name, wheel.mass, wheel.hidden, wheel.radius) == ("w", 2.0, 3, 2.0)
    assert list(inspect.signature(Wheel).parameters) == ["name", "mass", "tags", "hidden", "radius"]
    for wrong in (lambda: Part(), lambda: Part("a", 1.0, [], 3, 4), lambda: Part("a", weight=1.0)):
        with pytest.raises(TypeError, match=r"Part\.__init__\(\)"):
            wrong()
    with pytest.raises(ValueError, match="w"):
        Wheel("w", radius=-1.0)


def test_objects_do_not_change(kinds: dict[str, Any]) -> None:
    part = kinds["Part"]("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'mass'"):
        part.mass = 2.0
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'mass'"):
        del part.mass
    assert part.mass == 1.0 and part.twice == 2.0  # which is kept in the object


def test_what_the_standard_library_does_with_dataclasses(kinds: dict[str, Any]) -> None:
    part = kinds["Part"]("a", 2.0)
    assert is_dataclass(part) and [f.name for f in fields(part)] == ["name", "mass", "tags", "hidden"]
    assert replace(part, mass=3.0) == kinds["Part"]("a", 3.0)
    assert asdict(part) == {"name": "a", "mass": 2.0, "tags": [], "hidden": 3} and astuple(part) == ("a", 2.0, [], 3)
    assert copy.deepcopy(part) == part
    match part:
        case object(name=name, mass=mass):
            assert (name, mass) == ("a", 2.0)
    assert kinds["Part"].__match_args__ == ("name", "mass", "tags", "hidden")
    assert pickle.loads(pickle.dumps(Kept("a", 2.0))) == Kept("a", 2.0)


def test_the_text_of_a_record_has_the_sizes_of_long_tables_only() -> None:
    """A contact with a mesh printed all vertices."""
    corners = tuple((float(k), 0.0, 1.0) for k in range(1532))
    contact = Contact("foot", "leg", EasyDynNormal(1e4, 1e2), shape=Mesh(corners, ((0, 1, 2),), "foot.stl"))
    mesh = "Mesh(vertices=<1532 x 3 numbers>, faces=((0, 1, 2),), source='foot.stl'"
    assert mesh in repr(contact) and len(repr(contact)) < 1000
    twelve = Mesh(corners[:12], ())
    assert repr(twelve.vertices) in repr(twelve)


def test_reports_group_elements_with_the_same_data_only() -> None:
    """Data are compared, not their texts, in which long tables are sizes."""
    meshes = [Mesh(tuple((x, float(k), 0.0) for k in range(60)), ()) for x in (0.0, 0.0, 1.0)]
    feet = [Contact(f"foot{k}", "leg", EasyDynNormal(1e4, 1e2), shape=mesh) for k, mesh in enumerate(meshes)]
    assert [len(group) for _, group in element_tables._groups(feet)] == [2, 1]
