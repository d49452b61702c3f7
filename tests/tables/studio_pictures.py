"""The pictures and the film of docs/studio.md, taken by a browser without a window.

    python tests/tables/studio_pictures.py [name ...]

writes docs/pictures/studio_NAME.png for all of PICTURES or for those named, and studio_crawl.webp for `crawl`. It needs
the extras [dev] and [studio], and Chromium. A script, not a test: look at what it makes.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
WIDTH, HEIGHT = 1400, 860
FILM = (980, 602)  # pixels of the film
PATIENCE = 180_000  # [ms]
SETTLED = 2500  # time that a page gets to draw what it was told [ms]
PLACES = [(4, 4), (4, 5), (4, 6), (3, 4), (3, 3), (2, 3), (5, 4), (5, 3), (6, 3)]  # of m0 ... m8 on the empty board
FRONTS = ">v<>>>>^>"
HEAD = 'kinemorph = 1\nname = "organism9"\n\n[assembly]\nground = true\n'
GRID = "grid = '''\nB>5 .   .   .\nB>4 B>3 .   .\n.   B>0 Bv1 B<2\nB^7 B>6 .   .\nB>8 .   .   .\n'''\n"
GAIT = """
[elements.wave]
kind = "rhythmic"
joints = [{hinges}]
amplitude = "25 deg"
frequency = "1 Hz"
phase_step = "40 deg"
ramp = 0.3

[elements.drive]
kind = "pd"
joints = [{hinges}]
reference = "wave"
kp = 40
kd = 1
lower = -7
upper = 7

[runs.crawl]
time = "2 s"
output_step = "20 ms"
""".format(hinges=", ".join(f'"m{k}_hinge"' for k in range(9)))


def shown(page: Any, tab: str) -> None:
    """Opens a panel."""
    page.get_by_role("tab", name=tab, exact=True).click()


def assemble(page: Any) -> None:
    """Nine modules: the grid and the picture."""
    shown(page, "Assemble")
    page.get_by_role("gridcell", name="Backbone m7").wait_for()
    page.get_by_role("gridcell", name="Backbone m7").focus()


def tables(page: Any) -> None:
    """The tables of the paper, with a module lit up everywhere."""
    shown(page, "Tables")
    page.get_by_role("button", name="v3: m3").first.click()


def equations(page: Any) -> None:
    """The equations of a double pendulum."""
    page.get_by_role("combobox", name="Document").select_option("double_pendulum.toml")
    shown(page, "Equations")
    page.get_by_role("button", name="Write equations").click()
    page.get_by_role("button", name="q2: coordinate").click()
    page.evaluate("() => document.querySelector('.equations').scrollIntoView()")


def model(page: Any) -> None:
    """The form of a joint of a four-bar linkage."""
    page.get_by_role("combobox", name="Document").select_option("four_bar.toml")
    shown(page, "Model")
    page.get_by_role("treeitem", name=re.compile("^bodies ")).get_by_text("bodies").click()
    page.get_by_role("treeitem", name="rocker", exact=True).click()
    page.get_by_role("heading", name="bodies.rocker", exact=True).wait_for()


def runs(page: Any) -> None:
    """A finished crawl with the way of its base."""
    page.get_by_role("combobox", name="Document").select_option("organism9.toml")
    shown(page, "Runs")
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("button", name=re.compile("^Play crawl #")).wait_for()
    for column in ("q.m1_hinge", "q.m2_hinge"):
        page.get_by_role("textbox", name="Find columns").fill(column)
        page.get_by_role("checkbox", name=column, exact=True).check()
        page.wait_for_timeout(SETTLED)
    page.get_by_role("textbox", name="Find columns").fill("q.m")
    page.get_by_role("heading", name=re.compile("^crawl #")).scroll_into_view_if_needed()


def live(page: Any) -> None:
    """A live run that is pulled."""
    page.get_by_role("combobox", name="Document").select_option("double_pendulum.toml")
    shown(page, "Live")
    page.get_by_role("button", name="Start live run").click()
    page.get_by_role("button", name="Resume").click()
    page.wait_for_timeout(1500)
    page.get_by_role("button", name="Hold body").click()
    page.get_by_role("textbox", name="Target z").fill("-0.6")
    page.get_by_role("textbox", name="Target z").press("Enter")
    page.wait_for_timeout(2500)
    page.get_by_role("button", name="Pause").first.click()
    page.evaluate("() => window.kinemorph.studio.stage.view()")


SHOTS: dict[str, Callable[[Any], Any]] = {
    "assemble": assemble, "tables": tables, "model": model, "equations": equations, "runs": runs, "live": live,
}  # fmt: skip


def crawl(page: Any, studio: Any) -> list[tuple[bytes, int]]:
    """The film: modules are clicked together, then they crawl. Pictures with the time that each is shown [ms]."""
    from support.studio.hands import Clicks

    frames: list[tuple[bytes, int]] = []
    page.get_by_role("combobox", name="Document").select_option("new.toml")
    shown(page, "Assemble")
    hand = Clicks(page)
    page.set_default_timeout(PATIENCE)
    hand.cell(4, 4).wait_for()
    page.wait_for_timeout(SETTLED)
    frames.append((page.screenshot(), 800))
    for number, (place, front) in enumerate(zip(PLACES, FRONTS, strict=True)):
        hand.place(place, front)
        page.get_by_role("gridcell", name=f"Backbone m{number},").wait_for()
        page.wait_for_timeout(1500)
        frames.append((page.screenshot(), 450))
    frames[-1] = (frames[-1][0], 1000)
    file = studio.folder / "new.toml"
    file.write_text(file.read_text() + GAIT)
    shown(page, "Runs")
    page.get_by_role("combobox", name="Run", exact=True).select_option("crawl")
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("button", name=re.compile("^Play crawl #")).wait_for()
    page.wait_for_timeout(SETTLED)
    page.get_by_role("button", name="Close message").click()  # the file was changed by this script
    page.evaluate("() => window.kinemorph.studio.stage.pause()")
    for k in range(0, 41):
        page.evaluate("(t) => window.kinemorph.studio.stage.setTime(t)", k * 0.05)
        page.wait_for_timeout(350)
        frames.append((page.screenshot(), 50))
    frames[-1] = (frames[-1][0], 1500)
    return frames


def keep(shot: bytes, name: str) -> None:
    """Writes a picture in 256 colors."""
    from PIL import Image

    image = Image.open(io.BytesIO(shot)).convert("RGB")
    image = image.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE)
    image.save(PICTURES / name, optimize=True)
    print(f"wrote {name}, {(PICTURES / name).stat().st_size / 1e3:.0f} kB")


def keep_film(frames: list[tuple[bytes, int]], name: str) -> None:
    """Writes a film that begins again at its end."""
    from PIL import Image

    images = [Image.open(io.BytesIO(shot)).convert("RGB").resize(FILM, Image.Resampling.LANCZOS) for shot, _ in frames]
    lasting = [time for _, time in frames]
    images[0].save(
        PICTURES / name, save_all=True, append_images=images[1:], duration=lasting, loop=0, quality=70, method=5
    )
    print(f"wrote {name}, {(PICTURES / name).stat().st_size / 1e3:.0f} kB, {len(images)} pictures")


def main() -> None:
    """All pictures and the film, or those named."""
    from playwright.sync_api import sync_playwright

    import kinemorph
    from kinemorph.bench.peers.chromium import ADVICE, find_chromium, launch
    from kinemorph.formats.toml.templates import TEMPLATES
    from kinemorph.studio.open_studio import open_studio

    program, names = find_chromium(), sys.argv[1:] or [*SHOTS, "crawl"]
    if program is None:
        sys.exit(ADVICE)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "robots"
        folder.mkdir()
        (folder / "organism9.toml").write_text(HEAD + GRID + GAIT)
        (folder / "new.toml").write_text(HEAD + 'grid = ""\n')
        (folder / "four_bar.toml").write_text(TEMPLATES["four_bar"].named("four_bar"))
        kinemorph.save(kinemorph.library.double_pendulum(), folder / "double_pendulum.toml")
        if {"runs", "crawl"} & {*names}:  # compiled code is kept, so that the film does not wait for it
            kinemorph.load(folder / "organism9.toml").run("crawl")  # type: ignore[union-attr]
        browser = launch(playwright, program)
        with open_studio(folder / "organism9.toml", open=False) as studio:
            for name in names:
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                page.set_default_timeout(PATIENCE)
                page.goto(studio.url)
                page.get_by_role("tab", selected=True).wait_for()
                page.wait_for_timeout(SETTLED)
                if name == "crawl":
                    keep_film(crawl(page, studio), "studio_crawl.webp")
                else:
                    SHOTS[name](page)
                    page.wait_for_timeout(2 * SETTLED)
                    keep(page.screenshot(), f"studio_{name}.png")
                page.close()
        browser.close()


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests"))
    main()
