"""A long day with the studio: 10,000 edits, 500 runs and 200 reloads leave memory, threads, files and processes as
they were.

    KINEMORPH_SOAK=0.2 python -m pytest -m slow tests/studio/robustness/test_soak.py -s

does a fifth of it. The growth is measured after a warm-up of a tenth, and printed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.studio.command import started_studio
from support.tools.browsing import Browser
from support.tools.studio_panels import PATIENCE, STUDIO, make_project, open_panel

pytestmark = pytest.mark.slow
SHARE = float(os.environ.get("KINEMORPH_SOAK", "1"))
EDITS, RUNS, RELOADS = (max(round(SHARE * count), 5) for count in (10_000, 500, 200))
WARM = 0.1  # the share of the work that is done before the first measurement
MOST_GROWTH = 50.0  # [MB]
EDIT = f"""async ([first, count]) => {{
  for (let k = first; k < first + count; k += 1) {{
    await {STUDIO}.edit({{verb: "set", path: ["parameters", "m1", "value"], value: 1 + (k % 97) / 100}});
  }}
}}"""
RUN = f"""async (count) => {{
  for (let k = 0; k < count; k += 1) {{
    const {{ number }} = await {STUDIO}.ask("start_run", {{document: "swing.toml", run: "fall"}});
    for (;;) {{
      const {{ results }} = await {STUDIO}.ask("runs", {{document: "swing.toml"}});
      const one = results.find((each) => each.number === number);
      if (one && !["waiting", "working"].includes(one.state)) {{
        if (one.state !== "finished" && one.state !== "done") throw new Error(JSON.stringify(one));
        break;
      }}
      await new Promise((resolve) => setTimeout(resolve, 20));
    }}
  }}
}}"""


class Size(NamedTuple):
    """What a server and a page take: memory [MB], threads and open files of the server, memory of the scripts [MB]."""

    memory: float
    threads: int
    files: int
    heap: float


def children(process: int) -> list[int]:
    """The process ids of the children of a process."""
    listed = (one.read_text().split() for one in Path(f"/proc/{process}/task").glob("*/children"))
    return [int(number) for numbers in listed for number in numbers]


def size_of(process: int, page: Any) -> Size:
    """The size of the server and of the page, after both have settled."""
    page.wait_for_timeout(3000)
    debugger = page.context.new_cdp_session(page)
    debugger.send("HeapProfiler.collectGarbage")
    heap = debugger.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    debugger.detach()
    status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    memory = int(status["VmRSS"].split()[0]) / 1024
    return Size(memory, int(status["Threads"]), len(list(Path(f"/proc/{process}/fd").iterdir())), heap)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A studio in a process of its own, and its address."""
    if not Path("/proc/self/status").exists():
        pytest.skip("sizes of processes are read from /proc, which this system does not have")
    folder = make_project(tmp_path_factory.mktemp("soak"))
    process, told = started_studio(folder)
    yield process, told["url"]
    if process.poll() is None:
        process.kill()
        process.wait()


def test_memory_threads_files_and_processes_do_not_grow(
    server: tuple[subprocess.Popen[str], str], browser: Browser
) -> None:
    process, address = server
    with browser.page(1200, 800) as page:
        page.set_default_timeout(PATIENCE)
        open_panel(page, address, "swing.toml", "Runs")
        first: Size | None = None
        began = time.perf_counter()
        for share in (WARM, 1.0 - WARM):
            for start in range(0, round(share * EDITS), 100):
                page.evaluate(EDIT, [start, min(100, round(share * EDITS) - start)])
            for start in range(0, round(share * RUNS), 10):
                page.evaluate(RUN, min(10, round(share * RUNS) - start))
            for _ in range(max(round(share * RELOADS), 2)):
                page.reload()
                page.get_by_role("tab", selected=True).wait_for()
                page.wait_for_function(f"() => {STUDIO}.stage?.webgl")
            now = size_of(process.pid, page)
            print(f"\nafter {time.perf_counter() - began:.0f} s: {now}, {len(children(process.pid))} processes")
            first = first or now
        print(f"{EDITS} edits, {RUNS} runs, {RELOADS} reloads: {now.memory - first.memory:+.1f} MB server, ", end="")
        print(f"{now.heap - first.heap:+.1f} MB page, {now.threads - first.threads:+} threads, ", end="")
        print(f"{now.files - first.files:+} files")
        assert now.memory - first.memory < MOST_GROWTH and now.heap - first.heap < MOST_GROWTH
        assert now.threads - first.threads <= 16 and now.files - first.files <= 16  # connections that browsers keep
        assert page.complaints == []
    left = children(process.pid)
    assert left  # the workers
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    time.sleep(1.0)
    assert not [one for one in left if Path(f"/proc/{one}").exists()]
