"""The studio from a script: nine modules are placed by commands, as clicks would do it, and crawl.

    python examples/46_studio.py [folder]

`open_studio` starts a server on this computer and returns at once. The script edits the model file as a page does: by
commands, which are data, keep the comments of the file and can be undone. Every page that shows the file follows. The
run of the file is carried out by `System.run`, as `kinemorph simulate crawler.toml --run crawl` does. The studio needs
`pip install 'kinemorph[studio]'`.
"""

import sys
from pathlib import Path

import kinemorph

out = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder = out / "46_studio"
folder.mkdir(parents=True, exist_ok=True)
file = folder / "crawler.toml"
file.write_text(
    """# The organism of the MODUROB paper, module by module.
kinemorph = 1
name = "crawler"

[assembly]
ground = true
grid = "B>0"  # the base
""",
    encoding="utf-8",
)

# the other eight modules of the paper's figure: row and column beside the base, and where the front points
PLACES = [(0, 1, "v", 1), (0, 2, "<", 2), (-1, 0, ">", 3), (-1, -1, ">", 4), (-2, -1, ">", 5)]
PLACES += [(1, 0, ">", 6), (1, -1, "^", 7), (2, -1, ">", 8)]

with kinemorph.open_studio(folder, open=False) as studio:
    document = studio.document("crawler.toml")
    row, column = 0, 0  # cell of the base, which moves when the grid grows at its upper or left edge
    for down, right, front, number in PLACES:
        cell = [row + down, column + right]
        document.apply({"verb": "place", "cell": cell, "kind": "B", "front": front, "name": str(number)})
        row, column = row + max(0, -cell[0]), column + max(0, -cell[1])
    hinges = [f"m{k}_hinge" for k in range(9)]
    wave = {"kind": "rhythmic", "joints": hinges, "amplitude": "25 deg", "frequency": "0.5 Hz"}
    wave["phases"] = [f"{40 * k} deg" for k in range(9)]
    drive = {"kind": "pd", "joints": hinges, "reference": "wave", "kp": 40, "kd": 1, "lower": -7, "upper": 7}
    document.apply({"verb": "add", "path": "elements.wave", "value": wave})
    document.apply({"verb": "add", "path": "elements.drive", "value": drive})
    document.apply({"verb": "add", "path": "runs.crawl", "value": {"time": "2 s"}})
    print(*document.history, sep="\n")
    print(file.read_text(encoding="utf-8"))

system = kinemorph.load(file)
assert isinstance(system, kinemorph.System)
tables = kinemorph.modules.assembly_tables(system.assembly)
print(tables.dtl.text())
run = system.run("crawl")
print(run.outcome, f"crawled {run['q.m0_root.x'][-1] - run['q.m0_root.x'][0]:+.3f} m")
picture = kinemorph.draw(system, title="nine modules, placed by commands")
picture.savefig(out / "46_studio.png", dpi=120)
print("wrote", out / "46_studio.png")
