"""From a click on the topology grid to the draw call of the scene with the new module.

The studio runs in a process of its own, on trees of 9, 50 and 200 modules. Each click places a module beside another
one; Undo takes it back before the next click. Pauses between clicks are as a person makes them, some of them so long
that the model is being read, and finer pictures are being made, when the next click comes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinemorph.bench.modules.models import tree_grid
from kinemorph.bench.studio.watched_pages import studio_process, wait_until, watched_page
from kinemorph.bench.targets import CLICK_MS, WHILE_COMPUTING, judge_click
from kinemorph.bench.timing import Row, Say
from kinemorph.formats.loading import save
from kinemorph.model.library.textbook import chain

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CLICKS, QUICK_CLICKS = 40, 6
PAUSES = (0.0, 0.15, 0.3, 0.6, 1.0)  # between a new scene and the next click [s]
BUSY = "a run of a chain"
RUN = '\n[runs.long]\nmethod = "dop853"\ntime = 20000.0\noutput_step = 2.0\nrtol = 1e-10\n'  # longer than all clicks


def click_rows(browser: Browser, folder: Path, *, quick: bool, say: Say) -> Iterator[Row]:
    """Yields one row per number of modules, and one for clicks in a tab while a run of another tab is computed."""
    project = folder / "organisms"
    project.mkdir()
    for count in CLICK_MS:
        text = f"kinemorph = 1\nname = 'tree{count}'\n[assembly]\ngrid = '''\n{tree_grid(count)}\n'''\n"
        (project / f"tree{count}.toml").write_text(text, encoding="utf-8")
    save(chain(12), project / "chain.toml")
    (project / "chain.toml").write_text((project / "chain.toml").read_text(encoding="utf-8") + RUN, encoding="utf-8")
    times = QUICK_CLICKS if quick else CLICKS
    with studio_process(project) as address:
        for count in CLICK_MS:
            say(f"clicking at {count} modules")
            with watched_page(browser) as page:
                _open(page, address, f"tree{count}.toml")
                yield _row(f"{count} modules", count, _clicked(page, times, count))
        say("clicking while a run is computed")
        with watched_page(browser) as other, watched_page(browser) as page:
            _open(page, address, "tree9.toml")
            _open(other, address, "chain.toml")
            other.evaluate("probe.ask('start_run', { document: 'chain.toml', run: 'long' })")
            page.bring_to_front()
            latencies = _clicked(page, times, 9)
            runs = other.evaluate("probe.ask('runs', { document: 'chain.toml' })")["results"]
            row = _row(f"9 modules, {BUSY} in another tab", WHILE_COMPUTING, latencies)
            yield row | {"computing": [run["state"] for run in runs]}


def _row(what: str, asked: int | str, latencies: list[float]) -> Row:
    slowest = float(np.quantile(latencies, 0.95))
    return {
        "kind": "click",
        "what": what,
        "clicks": len(latencies),
        "median_ms": float(np.median(latencies)),
        "ms_95": slowest,
    } | judge_click(asked, slowest)._asdict()


def _open(page: Any, address: str, name: str) -> None:
    """Opens a document of the studio, and waits for its first picture."""
    page.goto(f"{address}#{name}")
    wait_until(page, "probe.first !== null && Boolean(window.kinemorph?.studio?.state)")
    page.wait_for_timeout(1000)


def _clicked(page: Any, times: int, seed: int) -> list[float]:
    """The times [ms] from a click to the draw call of its scene, for clicks at different empty cells."""
    page.get_by_role("tab", name="Assemble").click()
    page.get_by_role("grid", name="Topology grid").wait_for()
    wait_until(page, "probe.isRead()")
    chance, found = random.Random(seed), list[float]()
    undo = page.get_by_role("button", name="Undo", exact=True)
    pauses = itertools.cycle(PAUSES)
    for _ in range(times + 1):  # the first click makes what later ones find made
        places = page.evaluate(FREE_CELLS)
        name = chance.choice(places)
        target = page.get_by_role("gridcell", name=name, exact=False)
        target.scroll_into_view_if_needed()
        page.evaluate("probe.arm()")
        target.click(force=True)
        wait_until(page, "probe.clicked === null && !probe.armed")
        found.append(page.evaluate("probe.latencies.at(-1)"))
        page.wait_for_timeout(1e3 * next(pauses))
        page.evaluate("probe.arm()")
        undo.click()
        wait_until(page, "probe.clicked === null && !probe.armed")
        page.wait_for_timeout(1e3 * next(pauses))
    return found[1:]


# the names of empty cells beside exactly one module, so that a module there docks and closes no loop
FREE_CELLS = """() => {
  const cells = new Map(), names = new Map();
  for (const cell of document.querySelectorAll("[role=gridcell]")) {
    const name = cell.getAttribute("aria-label"), [, row, column] = /^Row (\\d+), column (\\d+):/.exec(name) ?? [];
    cells.set(`${row},${column}`, !/: empty/i.test(name));
    names.set(`${row},${column}`, `Row ${row}, column ${column}:`);
  }
  const beside = (key) => {
    const [row, column] = key.split(",").map(Number);
    return [[1, 0], [-1, 0], [0, 1], [0, -1]].filter(([i, j]) => cells.get(`${row + i},${column + j}`)).length;
  };
  return [...cells.keys()].filter((key) => !cells.get(key) && beside(key) === 1).map((key) => names.get(key));
}"""
