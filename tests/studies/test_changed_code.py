"""Code behind a study that changes: each way is noticed, or named as what is not followed."""

from __future__ import annotations

import importlib
import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from kinemorph.errors import ChangedError, StudyWarning, UnsupportedError
from kinemorph.studies import Space, Values, sweep
from kinemorph.studies.experiments import origins
from kinemorph.studies.experiments.experiment import Experiment, experiment_of

Files = dict[str, str]
TABLE = Path(__file__).parents[1] / "data" / "changed_code.txt"
TOP = "import kinemorph\nfrom kinemorph import System, elements, library\n"


class Way(NamedTuple):
    """A way to change code: the files of a study, and what takes the place of what in which file."""

    files: Files
    file: str
    old: str
    new: str


def ways() -> dict[str, Way]:
    """All ways to change code, by name; the table says how it is written."""
    head, *sections = TABLE.read_text(encoding="utf-8").split("\n=== ")
    found = {}
    for section in sections:
        title, text = section.split("\n", 1)
        study, *others = f"\n{text}\n".split("\n--- ")
        files = dict(other.partition("\n")[::2] for other in [head.split("\n--- ")[1], *others])
        name, _, change = title.partition(" | ")
        file, _, texts = (change or "helper.py: K = 2.0 -> K = 3.0").partition(": ")
        found[name] = Way(files | {"study.py": TOP + study}, file, *texts.replace("\\n", "\n").split(" -> "))
    return found


WAYS = ways()
TOLD_TOO = {"data file of an object", "function without source", "what a function without source reaches"}

NAMED: dict[str, tuple[str, str]] = {
    "import of a computed name": (
        "import importlib\ndef MODEL(a, name='hel'): return importlib.import_module(name + 'per').h(a)",
        "importlib.import_module in 'MODEL' (study.py, line 5)",
    ),
    "exec": ("def MODEL(a):\n    exec('import ' + a)", "exec in 'MODEL' (study.py, line 5)"),
    "eval": ("def MODEL(a): return eval('2.0 * a')", "eval in 'MODEL' (study.py, line 4)"),
    "functions without source": (
        "exec('def MODEL(a): return eval(a)')",
        "'MODEL' (<string>), whose source is missing or was edited since it was imported",
    ),
    "pickles": ("import pickle\ndef MODEL(a): return pickle.loads(a)()", "pickle.loads in 'MODEL' (study.py, line 5)"),
    "C libraries": ("from ctypes import CDLL\ndef MODEL(a): return CDLL(a).f()", "CDLL in 'MODEL' (study.py, line 5)"),
    "programs": (
        "import subprocess\ndef MODEL(a): return subprocess.run(['./f'])",
        "subprocess.run in 'MODEL' (study.py, line 5)",
    ),
    "surroundings": ("import os\ndef MODEL(a): return os.environ['K']", "os.environ in 'MODEL' (study.py, line 5)"),
    "globals()": ("def MODEL(a): return globals()[a]", "globals in 'MODEL' (study.py, line 4)"),
    "table of modules": (
        "import sys\ndef MODEL(a): return sys.modules['helper'].h(a)",
        "sys.modules in 'MODEL' (study.py, line 5)",
    ),
    "path that is computed": ("def MODEL(a): return open(a).read()", "open in 'MODEL' (study.py, line 4)"),
    "another path that is computed": (
        "def MODEL(a): return open('log.txt').read(), open(a).read()",
        "open in 'MODEL' (study.py, line 4)",
    ),
    "pickles of open files": (
        "import pickle\ndef MODEL(a): return pickle.load(a)()",
        "pickle.load in 'MODEL' (study.py, line 5)",
    ),
    "what a model file includes": (
        "def MODEL(a): return kinemorph.load('arm.xacro')",
        "what arm.xacro includes",
    ),
    "path of an object": (
        "def MODEL(a): return a.read_text()",
        "a.read_text in 'MODEL' (study.py, line 4)",
    ),
    "table of a library": (
        "import numpy as np\ndef MODEL(a): return np.load(f'{a}.npy')",
        "np.load in 'MODEL' (study.py, line 5)",
    ),
    "path in a module that is imported within": (
        "def MODEL(a):\n    import reader\n    return reader.read(a)",
        "open in module 'reader' (reader.py, line 2)",
    ),
    "file that is written": (
        "def MODEL(a):\n    with open('log.txt', 'a') as file:\n        file.write('x')",
        "'log.txt', which is written, in 'MODEL' (study.py)",
    ),
    "random numbers": (
        "import numpy as np\nR = np.random.default_rng(1)\ndef MODEL(a): return R.normal()",
        f"an object numpy.random._generator.Generator of numpy {np.__version__}, which changes while it is used",
    ),
    "module without source": (
        "import types\nM = types.ModuleType('made')\nM.h = abs\ndef MODEL(a): return getattr(M, a)(1)",
        "module 'made', which has no source",
    ),
    "header of a macro": (
        "C = elements.CController('c', 'gain.c', 'gain', ('q.q1',), ('q1',))\n"
        "MODEL = System(library.double_pendulum(), (C,))",
        "#include HEADER of controller 'c'",
    ),
}
OTHERS = {
    "arm.xacro": '<robot><xacro:include filename="hand.xacro"/></robot>',
    "reader.py": "def read(path):\n    return open(path).read()\n",
    "log.txt": "1",
    "gain.c": "#include HEADER\n",
}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Files], Experiment]]:
    """A function that writes the files of a study, imports it as a new process would, and returns what it computes."""
    paths = [str(tmp_path / name) for name in ("", "site-packages", "elsewhere")]
    monkeypatch.setattr(sys, "path", [*paths, *sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)

    def forget() -> None:
        for name, module in [*sys.modules.items()]:
            if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
                del sys.modules[name]
        importlib.invalidate_caches()
        linecache.clearcache()
        if (tmp_path / "site-packages").exists():
            origins.package_text.cache_clear()
            origins._is_own.cache_clear()

    def written(files: Files) -> Experiment:
        forget()
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        made: Any = importlib.import_module("study")
        return experiment_of(made.MODEL, getattr(made, "MEASURES", None), **getattr(made, "OPTIONS", {}))

    yield written
    forget()


@pytest.mark.parametrize("name", WAYS)
def test_a_change_of_code_is_noticed(name: str, study: Callable[[Files], Experiment]) -> None:
    files, file, old, new = WAYS[name]
    first = study(files)
    aspects = first.aspects
    assert bool(first.not_followed) == (name in TOLD_TOO)
    assert study(files).aspects == aspects  # in another process
    assert old in files[file]
    changed = study(files | {file: files[file].replace(old, new)}).aspects
    assert (changed == aspects) == name.startswith("nothing"), changed


@pytest.mark.parametrize("name", NAMED)
def test_what_is_not_followed_is_named(name: str, study: Callable[[Files], Experiment]) -> None:
    text, said = NAMED[name]
    assert study(OTHERS | {"study.py": TOP + "\n" + text}).not_followed == (said,)


def test_code_that_was_edited_after_its_import_is_not_taken_for_what_runs(study: Callable[[Files], Experiment]) -> None:
    files = {"study.py": "import helper\ndef MODEL(a): return helper.h(a)\n", "helper.py": "def h(a): return 2.0 * a\n"}
    first = study(files).aspects
    model = sys.modules["study"].MODEL
    Path("helper.py").write_text("def h(a): return 30.0 * a\n")
    edited = experiment_of(model)
    assert edited.not_followed == ("'h' (helper.py), whose source is missing or was edited since it was imported",)
    assert "2.0" in edited.aspects["model"] and edited.aspects != first
    assert study(files | {"helper.py": "def h(a): return 30.0 * a\n"}).aspects != edited.aspects


def test_a_study_with_a_store_notices_and_says_what_it_cannot_follow(study: Callable[[Files], Experiment]) -> None:
    """Results of old code were given for new code, without a word."""
    space, names = Space({"a": Values([1.0, 2.0])}), ("old", "new")
    text = "import helper\ndef MODEL(a): return helper.h(a)\n"
    for name, k in zip(names, ("2.0", "3.0"), strict=True):
        study({"study.py": text, "helper.py": f"K = {k}\ndef h(a): return K * a\n"})
        model = sys.modules["study"].MODEL
        if name == "new":
            with pytest.raises(ChangedError, match=r": model: 'h\.global K = 2\.0' -> "):
                sweep(model, space, store="x.study", workers=0)
        found = sweep(model, space, store="x.study", workers=0, changed="recompute")
        assert found["value"].tolist() == [float(k), 2.0 * float(k)]


def test_a_study_that_cannot_follow_says_so_once_and_takes_what_the_user_names(
    study: Callable[[Files], Experiment],
) -> None:
    space = Space({"a": Values([1.0, 2.0])})
    study(
        {
            "study.py": "from pathlib import Path\ndef MODEL(a): return a * float(Path('k' + '.txt').read_text())\n",
            "k.txt": "2",
        }
    )
    model = sys.modules["study"].MODEL
    with pytest.warns(StudyWarning) as said:
        first = sweep(model, space, store="x.study", workers=0)
    assert [str(one.message) for one in said] == [
        f"'{Path('x.study').resolve()}' will not notice changes behind read_text in 'MODEL' (study.py, line 2), which "
        "cannot be followed. Name the files and modules behind it, depends=['gains.csv', module], or depends=[] if "
        "there are none."
    ]
    assert first["value"].tolist() == [2.0, 4.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(model, space, workers=0)  # nothing is kept
        sweep(model, space, store="x.study", workers=0, depends=[])
        sweep(model, space, store="y.study", workers=0, depends=["k.txt"])
        Path("k.txt").write_text("3")
        with pytest.raises(ChangedError, match=r"depends: 'k\.txt = file [0-9a-f]+' -> 'k\.txt = file"):
            sweep(model, space, store="y.study", workers=0, depends="k.txt")
        again = sweep(model, space, store="y.study", workers=0, depends="k.txt", changed="recompute")
    assert again["value"].tolist() == [3.0, 6.0]
    with pytest.raises(
        UnsupportedError, match=r"depends: 'none\.txt' does not exist; expected the path of a file or a"
    ):
        sweep(model, space, store="z.study", workers=0, depends=["none.txt"])
