"""`kinemorph bench` as data in, report out: what was asked, checked; what was measured, ready to be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from kinemorph.bench.peers import robots as bench_models
from kinemorph.errors import KinemorphError
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kinemorph.bench.peers.pinocchio_cpp import Say
    from kinemorph.bench.tables import Row
    from kinemorph.display.tables.grid import Grid

TableName = Literal["speed", "compile", "growth", "simulate", "loops", "load", "replay", "modules"]
TABLES: tuple[TableName, ...] = get_args(TableName)
DRAWN: tuple[TableName, ...] = ("simulate", "loops")
COMPILED = "hexapod36"  # the robot whose compile times are promised


@dataclass(frozen=True)
class Choice:
    """What to measure; every name is known."""

    table: TableName
    robots: tuple[str, ...]
    algorithms: tuple[str, ...]
    modes: tuple[str, ...]
    quick: bool
    file: Path | None


@dataclass(frozen=True)
class Report:
    """What was measured: the rows, and what they belong to."""

    table: TableName
    rows: list[Row]
    machine: dict[str, Any]

    @property
    def agreed(self) -> bool:
        """Whether both sides gave the same answers in every row; of runs, whether ours are as accurate as asked."""
        if self.table == "simulate":
            return all(row["reached"] for row in self.rows if row["contestant"].startswith("Kinemorph"))
        if self.table in ("load", "modules"):
            return all(row.get("agreed", True) for row in self.rows)
        if self.table == "loops":
            return all(row["ours_us"] is not None for row in self.rows if row["kind"] == "speed")
        return self.table != "speed" or all(row["ours_us"] is not None for row in self.rows)

    def for_terminal(self) -> list[RenderableType]:
        """The machine and the whole table."""
        return [grid.for_terminal() for grid in self._grids(page=False)]

    def as_page(self) -> str:
        """The machine and the table as Markdown, shorter."""
        return "\n".join(grid.markdown() for grid in self._grids(page=True))

    def draw(self, path: Path) -> None:
        """Work and precision of the hexapods on the ground, or of the four-bar with errors over time, as a picture."""
        if self.table == "loops":
            from kinemorph.bench.loops.picture import draw_loops

            draw_loops(self.rows, path)
            return
        from kinemorph.bench.standing.contest import as_works
        from kinemorph.display.charts.work_precision import work_precision

        works = as_works(self.rows)
        if not works:
            raise KinemorphError("there is nothing to draw: no hexapod has run on the ground. Leave --picture out.")
        work_precision(works, title="hexapods on the ground: RMS error over 10 s and time on one core", path=path)

    def _grids(self, *, page: bool) -> list[Grid]:
        from kinemorph.bench import tables

        head = tables.machine_grid(self.machine)
        if self.table == "compile":
            return [head, tables.building_grid(self.rows)]
        if self.table == "growth":
            return [head, tables.growth_grid(self.rows)]
        if self.table == "load":
            return [head, tables.loading_grid(self.rows)]
        if self.table == "replay":
            return [head, tables.replaying_grid(self.rows)]
        if self.table == "modules":
            from kinemorph.bench.modules.tables import modules_grids

            return [head, *modules_grids(self.rows)]
        if self.table == "loops":
            return [head, tables.looped_grid(self.rows), tables.loop_runs_grid(self.rows)]
        if self.table == "simulate":
            runs = [tables.simulating_grid, tables.batches_grid, tables.standing_grid, tables.curves_grid]
            return [head, *(grid for make in runs if (grid := make(self.rows)).rows)]
        if page:
            return [head, *tables.speed_pages(self.rows)]
        return [head, tables.speed_grid(self.rows, self.machine["peak_gflops"])]


def chosen(
    table: TableName,
    robots: Sequence[str] | None = None,
    algorithms: Sequence[str] | None = None,
    modes: Sequence[str] | None = None,
    *,
    quick: bool = False,
    file: Path | None = None,
) -> Choice:
    """What was asked, with names checked; None stands for all, or for the few of a quick run."""
    if table in ("simulate", "loops", "replay", "modules"):
        if robots or algorithms or modes or file:
            raise KinemorphError(
                f"`bench {table}` has its own robots. Leave --robot, --robots, --algorithm and --mode out."
            )
        if table in ("loops", "modules"):
            bench_models.pinocchio()
        return Choice(table, (), (), (), quick, None)
    bench_models.pinocchio()
    if table == "load":
        if algorithms or modes or file:
            raise KinemorphError("`bench load` reads robot files. Leave --robots, --algorithm and --mode out.")
        from kinemorph.bench.speed.loading_times import chosen_files

        return Choice(table, chosen_files(robots, quick=quick), (), (), quick, None)
    from kinemorph.bench.speed.contest import ALGORITHMS
    from kinemorph.bench.speed.speed import MODES

    if table == "growth" and (robots or algorithms or modes or file):
        raise KinemorphError("--growth measures its own chains. Leave --robot, --robots, --algorithm and --mode out.")
    if table == "compile" and modes:
        raise KinemorphError(f"--mode '{modes[0]}' says how to call; --compile calls nothing. Leave one of them out.")
    if not robots:
        robots = (COMPILED,) if table == "compile" else bench_models.QUICK_SET if quick else bench_models.BENCH_SET
    return Choice(
        table,
        tuple(robots),
        _known("algorithm", algorithms, tuple(ALGORITHMS)),
        _known("mode", modes, MODES),
        quick,
        file,
    )


def table_of(name: str | None, compile_times: bool, growth: bool) -> TableName:
    """The one table that was asked for, by its name or by an option."""
    asked = [name] if name else []
    asked += [other for other, wanted in (("compile", compile_times), ("growth", growth)) if wanted]
    if len(set(asked)) > 1:
        given = " and ".join(f"--{one}" if one != name else f"'{one}'" for one in asked)
        raise KinemorphError(f"{given} are two tables. Ask for one at a time.")
    (found,) = _known("table", asked[:1] or ["speed"], TABLES)
    return cast(TableName, found)


def _known(what: str, given: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """The names given, in the spelling of the table."""
    spelled = {name.lower(): name for name in known}
    for name in given or ():
        if name.lower() not in spelled:
            raise KinemorphError(
                f"there is no {what} '{name}'.{did_you_mean(name, known)} Choose from: {', '.join(known)}."
            )
    return tuple(dict.fromkeys(spelled[name.lower()] for name in given)) if given else known


def measured(choice: Choice, *, say: Say, note: Say) -> Report:
    """Measures what was chosen. `say` hears of the progress, `note` what the reader should know."""
    from kinemorph.bench import machine, timing
    from kinemorph.bench.loops import runs as loop_runs
    from kinemorph.bench.replays import replays
    from kinemorph.bench.runs import simulate
    from kinemorph.bench.speed import building, loading_times, speed

    pace = timing.QUICK if choice.quick else timing.THOROUGH
    if choice.table == "compile":
        made = building.building(choice.robots, choice.algorithms, file=choice.file)
    elif choice.table == "growth":
        made = building.growth(building.QUICK_LENGTHS if choice.quick else building.LENGTHS, pace)
    elif choice.table == "load":
        made = loading_times.loading(choice.robots, pace, quick=choice.quick)
    elif choice.table == "replay":
        made = replays.replaying(quick=choice.quick, say=say, note=note)
    elif choice.table == "modules":
        from kinemorph.bench.modules import contest

        made = contest.compare(pace, quick=choice.quick, say=say, note=note)
    elif choice.table == "loops":
        made = loop_runs.compare(pace, quick=choice.quick, say=say, note=note)
    elif choice.table == "simulate":
        made = simulate.compare(pace, quick=choice.quick, say=say, note=note)
    else:
        made = speed.compare(choice.robots, choice.algorithms, choice.modes, pace, file=choice.file, say=say, note=note)
    rows = []
    for row in made:
        rows.append(row)
        say(f"measured {len(rows)}: {', '.join(str(row[key]) for key in list(row)[:4])}")
    return Report(choice.table, rows, machine.machine(pace))
