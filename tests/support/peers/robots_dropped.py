"""Robots with a free base, of files that nobody here wrote, dropped on the ground of their files beside MuJoCo.

    python tests/support/peers/robots_dropped.py docs/robots_dropped.md RECORD FOLDER[:PATTERN,...][@FORCE] ...

Every MJCF file below a folder is taken that is a scene or that no scene beside it includes; of files for MJX, which are
simplified copies, only those without another scene. URDF files are taken where a pattern names them, with a free base.
With a FORCE [N] the robots are shoved. What came of each robot (`robot_drops`) is kept in the file RECORD, a line for
each, so that a survey can be continued. Each robot has a time limit, in a process that may die of it. It fetches
nothing.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

if __name__ == "__main__":  # this file is started as a script
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from support.peers.robot_drops import DROP, LAST, UNTIL, Drop, dropped
from support.peers.robot_folders import ANSWER, Answering, NoAnswer, answer_from_stdin, robot_files

SECONDS = 900.0  # the most time for one robot
DEEP = 5e-3  # [m]: deepest that a robot may be in the ground, or as deep as in MuJoCo
CLOSES = 0.01  # of the exchanged energy: an error of the balance that is counted
CARRIED = 0.01  # the most by which the force of the ground may differ from the weight where MuJoCo's robot rests


def chosen_files(folder: Path, patterns: tuple[str, ...]) -> Iterator[tuple[Path, str]]:
    """The files of a folder that are dropped, with their formats."""
    if patterns:
        for pattern in patterns:
            yield from ((path, "mjcf" if path.suffix == ".xml" else "urdf") for path in sorted(folder.glob(pattern)))
        return
    models = [path for path, format in robot_files(folder) if format == "mjcf"]
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in models}
    seen: set[str] = set()
    for path in models:
        beside = [other for other in models if other.parent == path.parent and other != path]
        included = any(f'"{path.name}"' in texts[other] and "<include" in texts[other] for other in beside)
        simplified = "mjx" in path.stem and any("mjx" not in other.stem for other in beside)
        if not included and not simplified and texts[path] not in seen:
            seen.add(texts[path])
            yield path, "mjcf"


def answer(path: str, format: str, root: str, shove: str) -> Drop | None:
    """What came of a robot, in a process of its own."""
    return dropped(Path(path), format, Path(root), float(shove))


def survey(record: Path, arguments: list[str]) -> list[Drop]:
    """Drops the robots that the record does not have yet, and returns all of them."""
    done = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()] if record.exists() else []
    known = {(row["path"], row.get("shove", "0")) for row in done}
    process = Answering(__file__, SECONDS)
    for argument in arguments:
        argument, _, shove = argument.partition("@")
        name, _, patterns = argument.partition(":")
        folder = Path(name).resolve()
        for path, format in chosen_files(folder, tuple(filter(None, patterns.split(",")))):
            if (str(path), shove or "0") in known:
                continue
            try:
                found = process.ask(str(path), format, str(folder), shove or "0")
            except NoAnswer as error:
                found = Drop(path.relative_to(folder.parent).as_posix(), path.stem, 0, 0, "", 0.0, f"died: {error}")
            done.append({"path": str(path), "shove": shove or "0", "drop": found})
            with record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done[-1]) + "\n")
            print(path.name, Drop(*found).outcome if found else "no free base", file=sys.stderr, flush=True)
    return [Drop(*row["drop"]) for row in done if row["drop"]]


def main() -> None:
    """Drops all robots of the folders, and writes the page."""
    target, record, *arguments = sys.argv[1:]
    drops = survey(Path(record), arguments)
    Path(target).write_text(page(drops), encoding="utf-8")


PAGE = """# Robots of others, dropped on the ground of their files

{count} robots with a free base, of {folders}, were put at a keyframe of their file or in the default pose, {drop:g}
cm over the ground of the file (z = 0 if it has none), with the controls of the keyframe or zero, and ran for
{until:g} s: here by `kinemorph simulate FILE --ground` with its default method, and in MuJoCo with the steps and
options of the file. URDF files get a free base; for them MuJoCo runs our own MJCF of the robot on a plane, with the
contact forces that the file states, or MuJoCo's default ones, and steps of 2 ms, or 0.2 ms for the
{finer} that are more than {drop:g} cm deep in the ground otherwise: they fly off.
In {balanced} files MuJoCo replaces inertias that no body can have
(`balanceinertia`).

* **{finished} of {count} finish** ({share:.0f} %).
* **Depth:** {shallow} of {finished} are never deeper in the ground than {deep:g} mm. {softer} more are less deep than
  in MuJoCo. Deeper than that, here and in MuJoCo: {deeper}. {soft} of the {both} robots that are deeper
  than {deep:g} mm are so by a law of their files, which say how soft the ground is (`solref` and `solimp`, or `kp` and
  `kd`). By the default law, where the file states none, the deepest of {usual} robots is {worst} mm in the ground.
* **Energy:** the balance of {closing} of {finished} closes to {closes:g} % of the energy that was exchanged; the
  largest error is {largest:.2g} %, of {loudest}.
* **Through the ground:** bodies for which the file has no collision shapes, or excludes them, pass through the ground,
  in MuJoCo too, of {through}. A warning names them.
* **Weight:** in MuJoCo {rested} come to rest on the ground. Of these, {carrying} carry their weight here to
  {percent:g} %, as the mean over the last {last:g} s.
* **Loops:** {loops}. Where the data of redundant loops contradict each other, as in ToddlerBot, they stay open by as
  much; a warning says so.

Falls are chaotic: a fall that goes on after the feet have touched depends on the last digits, in MuJoCo too. The
columns "1 mm" and "1 cm" say until when the base is within that distance of MuJoCo's, where MuJoCo has the contacts
with the ground only, as Kinemorph does; "apart" is this distance at the end. Robots that stand end beside MuJoCo's;
those that fall end elsewhere. Three things differ by their nature ([contact.md](contact.md#contacts-from-the-file)):
MuJoCo's contacts add inertia to an impact, its friction creeps by millimeters per second, and its steps of 2 ms fall 1
mm farther in 0.1 s.

{notes}

Made by `python tests/support/peers/robots_dropped.py docs/robots_dropped.md RECORD FOLDER ...`, which has the rules.
The robots are not part of this project. In some copies large meshes were missing; small cubes stand in for them, here
and in MuJoCo.

## Robots

Columns in pairs are here / MuJoCo. "Force" is the vertical force of the ground over the weight, "energy" the largest
error of the energy balance here over the energy exchanged.

{table}

## Where the base ends

Position [m] and quaternion (w, x, y, z) of the base after {until:g} s, here and in MuJoCo as the file says.

{places}
{failures}"""


NOTES = {  # what is known of some robots, by a part of the names of their files
    "apptronik_apollo": """Apollo touches the ground with its feet only, as its file says. In MuJoCo its thighs touch
each other, too; here its legs cross. It then falls through the ground and hangs from its feet, which are deepest at
that time. At its first impact it is 2.8 mm deep, MuJoCo's 7.1 mm. At equal states its feet are as deep as MuJoCo's to 1
um.
""",
    "hyq_no_sensors": """HyQ's file states `kp` 1e6 N/m and `kd` 100 N s/m for its legs: 85 kg that fall onto their
knees sink in by several millimeters, with this law in MuJoCo, too. `rodas` at a tolerance of 1e-6 gives the same 10.2
mm.
""",
    "racecar": """The racecar's file states `kp` 1e7 N/m and `kd` 1 N s/m: it bounces nearly without loss for all of the
time, in MuJoCo, too, so that the mean force at the end is no weight.
""",
    "dm_control/": """The dog and two fruit flies of dm_control, with 85 to 132 degrees of freedom, were left out: they
take minutes each. A fruit fly of the same kind is among the robots of mujoco_menagerie.
""",
    "gymnasium/": """The free robots of gymnasium_robotics are those of gymnasium, byte for byte, and are not dropped
twice.
""",
}


def page(drops: list[Drop]) -> str:
    """The tables as a page of the docs."""
    ended = [one for one in drops if one.outcome == "finished"]
    shallow = [one for one in ended if (one.depth or 0.0) <= DEEP]
    softer = [one for one in ended if one not in shallow and (one.depth or 0.0) <= (one.depth_home or 0.0)]
    deeper = [one for one in ended if one not in shallow and one not in softer]
    usual = [one for one in ended if not one.stated]
    loudest = max(ended, key=lambda one: one.unbalanced or 0.0, default=None)
    through = [one for one in ended if any("passes through the ground" in text for text in one.told)]
    rested = [one for one in ended if _rests(one)]
    carrying = [one for one in rested if one.carried is not None and abs(one.carried - 1.0) <= CARRIED]
    closed = [one for one in ended if one.loops is not None]
    loops = ", ".join(f"{_name(one)} {one.loops:.0e} m" for one in closed) or "no robot has any"
    failed = [one for one in drops if one.outcome != "finished"]
    rows = "\n".join(f"| {_name(one)} | {one.outcome.replace('|', '/')} |" for one in failed)
    return PAGE.format(
        count=len(drops),
        folders=", ".join(dict.fromkeys(one.file.partition("/")[0] for one in drops)),
        drop=100.0 * DROP,
        until=UNTIL,
        finished=len(ended),
        share=100.0 * len(ended) / max(len(drops), 1),
        shallow=len(shallow),
        deep=1e3 * DEEP,
        softer=len(softer),
        deeper=", ".join(map(_deeper, deeper)) or "none",
        soft=sum(one.stated for one in [*softer, *deeper]),
        both=len(softer) + len(deeper),
        usual=len(usual),
        worst=_mm(max((one.depth or 0.0 for one in usual), default=None)),
        balanced=sum(one.balanced for one in drops),
        finer=sum(0.0 < one.step < 1e-3 and one.file.endswith(".urdf") for one in drops),
        closing=sum((one.unbalanced or 0.0) <= CLOSES for one in ended),
        closes=100.0 * CLOSES,
        largest=100.0 * (loudest.unbalanced or 0.0) if loudest else 0.0,
        loudest=_name(loudest) if loudest else "none",
        through=", ".join(map(_name, through)) or "none",
        rested=len(rested),
        carrying=len(carrying),
        percent=100.0 * CARRIED,
        last=LAST,
        loops=f"largest gaps over the run: {loops}",
        notes="\n".join(text for part, text in NOTES.items() if any(part in one.file for one in drops)),
        table=_table(drops),
        places=_places(ended),
        failures=f"\n## Not finished\n\n| robot | why |\n|---|---|\n{rows}\n" if failed else "",
    )


def _rests(one: Drop) -> bool:
    """Whether MuJoCo's robot rests on the ground at the end."""
    return one.rests and one.carried_home is not None and abs(one.carried_home - 1.0) <= CARRIED


def _deeper(one: Drop) -> str:
    """A robot that is deep in the ground, here and in MuJoCo, and when."""
    return f"{_name(one)} ({_mm(one.depth)} mm at {one.deepest:.2f} s, {_mm(one.depth_home)} mm)"


def _name(one: Drop) -> str:
    name = one.file.removesuffix(".xml").removesuffix(".urdf").removesuffix("/scene")
    return f"{name}, shoved by {one.shove:g} N" if one.shove else name


def _table(drops: list[Drop]) -> str:
    """A row for each robot."""
    head = (
        "robot", "dof", "contacts", "start", "depth [mm]", "force", "rests in MuJoCo", "apart [mm]", "1 mm [s]",
        "1 cm [s]", "energy [%]",
    )  # fmt: skip
    lines = [f"| {' | '.join(head)} |", "|---|" + "---:|" * 2 + "---|" + "---:|" * (len(head) - 4)]
    for one in drops:
        if one.outcome != "finished":
            continue
        apart = ""
        if one.base_there:
            apart = f"{1e3 * math.dist(one.base[:3], one.base_there[:3]):.1f}"
        cells = (
            _name(one), one.nv, one.contacts, one.start or "-",
            f"{_mm(one.depth)} / {_mm(one.depth_home)}", f"{_part(one.carried)} / {_part(one.carried_home)}",
            "yes" if _rests(one) else "no", apart, f"{one.within_mm:.2f}", f"{one.within_cm:.2f}",
            "-" if one.unbalanced is None else f"{100.0 * one.unbalanced:.2g}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _places(drops: list[Drop]) -> str:
    """The final poses of the bases."""
    lines = ["| robot | here | MuJoCo |", "|---|---|---|"]
    for one in drops:
        ends = (" ".join(f"{x:.4f}" for x in base) for base in (one.base, one.base_home))
        lines.append(f"| {_name(one)} | {' | '.join(ends)} |")
    return "\n".join(lines)


def _mm(depth: float | None) -> str:
    return "-" if depth is None else f"{1e3 * depth:.2f}"


def _part(share: float | None) -> str:
    return "-" if share is None or not math.isfinite(share) else f"{share:.4f}"


if __name__ == "__main__":
    answer_from_stdin(answer) if sys.argv[1:2] == [ANSWER] else main()
