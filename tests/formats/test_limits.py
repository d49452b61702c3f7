"""Limits of model files: what is beyond is refused by the limit's own sentence, before it costs time or memory."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kinemorph.errors import ModelError, ParseError
from kinemorph.formats import limits
from kinemorph.formats.findings import Findings
from kinemorph.formats.loading import Examination, examine, load
from kinemorph.formats.sources import Options
from kinemorph.model.library import pendulum
from support.cases.bad_input import chain


def examined(folder: Path, name: str, text: str) -> Examination:
    (folder / name).write_text(text)
    return examine(folder / name)


def refusal(examination: Examination) -> str:
    """The one sentence by which a file is refused, with its rule."""
    assert examination.system is None
    (finding,) = examination.errors
    return f"{finding.rule}: {finding.problem}"


def test_a_file_that_is_too_large_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(limits.FILE_SIZE + 1)  # takes no room on the disk
    assert refusal(examine(path)).startswith(f"file: the file has {limits.FILE_SIZE + 1} bytes, expected at most")


@pytest.mark.parametrize(("depth", "well"), [(limits.NESTING - 2, True), (limits.NESTING, False)])
def test_elements_may_lie_in_one_another_up_to_a_limit(tmp_path: Path, depth: int, well: bool) -> None:
    nest = "<x>" * depth + "</x>" * depth
    found = examined(tmp_path, "deep.urdf", chain(2).replace("</robot>", f"{nest}</robot>"))
    if well:
        assert found.errors == ()
    else:
        assert refusal(found) == f"file: elements are nested deeper than {limits.NESTING}, the largest depth allowed"


def test_brackets_may_lie_in_one_another_up_to_a_limit(tmp_path: Path) -> None:
    deep = limits.NESTING + 1
    found = examined(tmp_path, "deep.toml", "kinemorph = 1\nx = " + "[" * deep + "]" * deep)
    assert refusal(found).startswith("file: ") and str(limits.NESTING) in refusal(found)


@pytest.mark.parametrize("name", ["many.urdf", "many.sdf", "many.toml"])
def test_elements_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(limits, "ELEMENTS", 50)
    monkeypatch.setattr(limits, "TOML_KEYS", 50)
    text = {
        "many.urdf": f'<robot name="r">{"<a/>" * 60}</robot>',
        "many.sdf": f'<sdf version="1.9">{"<a/>" * 60}</sdf>',
        "many.toml": "kinemorph = 1\n" + "\n".join(f"k{k} = 1" for k in range(60)),
    }[name]
    sentence = refusal(examined(tmp_path, name, text))
    assert sentence.startswith("file: the file has 61 ") and sentence.endswith("expected at most 50")


@pytest.mark.parametrize("line", ["k{}." + "a." * 200 + "x = 1\n", "[k{}." + "a." * 200 + "x]\n"])
def test_long_keys_are_counted_part_by_part(tmp_path: Path, line: str) -> None:
    """Each of them opens as many tables as it has parts, each with a path as long."""
    text = "kinemorph = 1\n" + "".join(line.format(k) for k in range(300))
    assert refusal(examined(tmp_path, "long.toml", text)).endswith(
        f"or more than {limits.TOML_PARTS} parts of dotted keys"
    )


def test_headers_are_keys_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "TOML_KEYS", 50)
    assert "more than 50 keys" in refusal(examined(tmp_path, "many.toml", "kinemorph = 1\n" + "[[bodies.x]]\n" * 60))


@pytest.mark.slow
def test_hints_are_not_looked_for_where_nobody_reads_them(tmp_path: Path) -> None:
    names = "".join(f"p{k} = 1\n" for k in range(2000))
    wrong = "".join(f'b{k} = {{ mass = "z{k}", x{k} = 1 }}\n' for k in range(5000))
    start = time.process_time()
    found = examined(tmp_path, "wrong.toml", f"kinemorph = 1\n[parameters]\n{names}[bodies]\n{wrong}")
    assert found.unlisted > 9000 and time.process_time() - start < 3.0


@pytest.mark.parametrize("name", ["many.urdf", "many.sdf", "many.xml"])
def test_attributes_are_counted(tmp_path: Path, name: str) -> None:
    tag = {"many.urdf": "robot", "many.sdf": "sdf", "many.xml": "mujoco"}[name]
    attributes = " ".join(f'a{k}="1"' for k in range(20_000))
    text = f"<{tag}><a {attributes}/></{tag}>"
    sentence = f"file: an element has more attributes than {limits.ATTRIBUTES}, the largest number allowed"
    assert refusal(examined(tmp_path, name, text)) == sentence
    (tmp_path / name).write_bytes(text.encode("utf-16"))
    assert refusal(examine(tmp_path / name)) == sentence


def test_bodies_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODIES", 20)
    assert examined(tmp_path, "few.urdf", chain(20)).system is not None
    assert refusal(examined(tmp_path, "many.urdf", chain(21))) == "file: the model has 21 bodies, expected at most 20"


def test_findings_are_told_up_to_a_limit_and_then_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FINDINGS", 5)
    found = examined(tmp_path, "bad.urdf", chain(12).replace('mass value="1"', 'mass value="x"'))
    assert (len(found.findings), found.unlisted, found.system) == (5, 7, None)


def test_a_text_in_a_message_is_cut() -> None:
    findings = Findings("a.urdf")
    findings.error("name", 1, "link '" + "a" * 10_000, "b" * 10_000, "c" * 10_000)
    assert len(str(findings.found[0])) < 4 * limits.TEXT_LENGTH


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.urdf")
    assert refusal(examine(tmp_path / "pipe.urdf")) == "file: it is a device or a pipe, expected a file"


@pytest.mark.skipif(not Path("/proc/kallsyms").is_file(), reason="no /proc here")
def test_a_file_that_is_longer_than_it_says_is_read_up_to_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "FILE_SIZE", 1000)
    assert refusal(examine("/proc/kallsyms")) == "file: the file has 1001 bytes, expected at most 1000"


def test_a_document_type_that_an_encoding_hides_is_found(tmp_path: Path) -> None:
    """In UTF-7 a bracket is +ADw-, so that no search for bytes sees it."""
    typed = b"+ADwAIQ-DOCTYPE r [+ADwAIQ-ENTITY a +ACI-xx+ACI-+AD4-]+AD4-"
    path = tmp_path / "hidden.urdf"
    path.write_bytes(b'<?xml version="1.0" encoding="UTF-7"?>' + typed + b'<robot name="&a;"><link name="b"/></robot>')
    assert refusal(examine(path)).startswith("entities: the file has a document type declaration")


def test_names_of_robots_are_limited_too(tmp_path: Path) -> None:
    text = chain(2).replace('name="', f'name="{"q" * 2000}', 1)
    assert refusal(examined(tmp_path, "long.urdf", text)).startswith("name: the name has 20")


def test_a_comment_does_not_make_a_format(tmp_path: Path) -> None:
    found = examined(tmp_path, "commented.xml", "<!-- made from <sdf version='1.9'> -->" + chain(2))
    assert found.format == "urdf" and found.system is not None


@pytest.mark.parametrize("name", ["arm.dh", "arm.xml"])
def test_a_sidecar_that_is_not_read_is_named(tmp_path: Path, name: str) -> None:
    if name == "arm.xml":
        pytest.importorskip("mujoco")
    body = '<body><joint name="j"/><geom size="1"/></body>'
    text = {
        "arm.dh": "# convention: standard\nkind, a, alpha, d, mass, izz\nr, 1, 0, 0, 1, 1\n",
        "arm.xml": f"<mujoco><worldbody>{body}</worldbody></mujoco>",
    }[name]
    (tmp_path / name).write_text(text)
    found = examine(tmp_path / name, options=Options(sidecar=tmp_path / "arm.sidecar.toml"))
    assert found.system is not None and any("is not read" in finding.problem for finding in found.warnings)


@pytest.mark.parametrize("path", [None, 3, pendulum()])
def test_a_file_that_is_no_path_gets_a_sentence(path: object) -> None:
    with pytest.raises(ModelError, match=r"is given as a model file, expected a path"):
        load(path)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("puma", r"'puma' is a robot of the library: build it with kinemorph\.library\.puma\(\)"),
        ("crawler", r"kinemorph\.library\.crawler\(\)"),
        ("puma560", r"Did you mean 'puma'\? Robots of the library are built by"),
        ("qqq", r"does not exist\. Check the path\. \[file\]"),
        ("puma.urdf", r"does not exist\. Check the path\. \[file\]"),
    ],
)
def test_the_name_of_a_robot_in_place_of_a_file_points_to_the_library(name: str, sentence: str) -> None:
    with pytest.raises(ParseError, match=sentence):
        load(name)
