"""`kinemorph bench`: checks which measurements were requested, makes them, and reports the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from kinemorph.bench import tables
from kinemorph.bench.hybrid import tables as hybrid_tables
from kinemorph.bench.identify import tables as identify_tables
from kinemorph.bench.model_files import tables as file_tables
from kinemorph.bench.modules import tables as module_tables
from kinemorph.bench.peers import robots as bench_models
from kinemorph.bench.programs import tables as program_tables
from kinemorph.bench.rigid import tables as rigid_tables
from kinemorph.bench.studies import tables as study_tables
from kinemorph.bench.studio import tables as studio_tables
from kinemorph.bench.timing import Row, Say
from kinemorph.bench.tracking import tables as tracking_tables
from kinemorph.bench.walking import tables as walking_tables
from kinemorph.errors import KinemorphError
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kinemorph.display.tables.grid import Grid

TableName = Literal[
    "speed",
    "compile",
    "growth",
    "simulate",
    "loops",
    "load",
    "replay",
    "modules",
    "walk",
    "hybrid",
    "rigid",
    "identify",
    "cockroach",
    "track",
    "programs",
    "studio",
    "studies",
]
TABLES: tuple[TableName, ...] = get_args(TableName)
DRAWN: tuple[TableName, ...] = ("simulate", "loops", "rigid")
COMPILED = "hexapod36"  # the robot whose compile times have targets
# tables with their own robots, and the Python file of each, which has a function `compare`
OWN_ROBOTS = {
    "simulate": "runs.equal_accuracy",
    "loops": "loops.four_bar_runs",
    "modules": "modules.redocking_rows",
    "replay": "replays.page_times",
    "walk": "walking.equal_error",
    "hybrid": "hybrid.compare",
    "rigid": "rigid.compare",
    "identify": "identify.compare",
    "cockroach": "cockroach.compare",
    "track": "tracking.compare",
    "programs": "programs.compare",
    "studio": "studio.compare",
    "studies": "studies.compare",
}
WITHOUT_PINOCCHIO = (
    "simulate",
    "replay",
    "walk",
    "hybrid",
    "rigid",
    "cockroach",
    "track",
    "programs",
    "studio",
    "studies",
)
GRIDS: dict[str, tuple[Callable[[Sequence[Row]], Grid], ...]] = {
    "compile": (tables.building_grid,),
    "growth": (tables.growth_grid,),
    "load": (tables.loading_grid,),
    "replay": (tables.replaying_grid,),
    "modules": (module_tables.scale_grid, module_tables.forward_grid, module_tables.redocking_grid),
    "walk": (walking_tables.walks_grid, walking_tables.leg_grid, walking_tables.first_grid),
    "hybrid": (hybrid_tables.walks_grid, hybrid_tables.impacts_grid, hybrid_tables.basin_grid),
    "rigid": (rigid_tables.rigid_grid,),
    "identify": (identify_tables.regressors_grid, identify_tables.triangles_grid),
    "track": (tracking_tables.tracking_grid,),
    "programs": (program_tables.programs_grid, program_tables.fmus_grid),
    "studio": (studio_tables.start_grid, studio_tables.click_grid, studio_tables.live_grid),
    "studies": (study_tables.trivial_grid, study_tables.gaits_grid),
    "loops": (tables.looped_grid, tables.loop_runs_grid),
    "cockroach": (tables.cockroach_grid, tables.curves_grid),
    "simulate": (
        tables.simulating_grid,
        tables.batches_grid,
        tables.standing_grid,
        tables.terrain_grid,
        tables.curves_grid,
        file_tables.files_grid,
    ),
}
# table -> whether a row shows that both sides agree
AGREED: dict[str, Callable[[Row], bool]] = {
    "simulate": lambda row: row["reached"] or not row["contestant"].startswith("Kinemorph"),
    "load": lambda row: row["agreed"],
    "walk": lambda row: row.get("reached", True),
    "cockroach": lambda row: row["reached"],
    "modules": lambda row: row.get("agreed", True),
    "hybrid": lambda row: row.get("reached", True) and row.get("ours_us", 0.0) is not None,
    "identify": lambda row: row.get("ours_us", 0.0) is not None,
    "programs": lambda row: row["error"] is None or row["error"] < 1e-6,
    "loops": lambda row: row["kind"] != "speed" or row["ours_us"] is not None,
    "speed": lambda row: row["ours_us"] is not None,
}


@dataclass(frozen=True)
class ModelFiles:
    """The model files that `bench simulate` runs instead of its own problems.

    `most` is the number of files that are compared, the first that all contestants read; None for all. `error` is the
    largest error of a run; None for the usual one.
    """

    paths: tuple[Path, ...]
    most: int | None = None
    error: float | None = None


@dataclass(frozen=True)
class Choice:
    """The measurements to make: a table, and names of robots, algorithms and modes, which are known to exist."""

    table: TableName
    robots: tuple[str, ...]
    algorithms: tuple[str, ...]
    modes: tuple[str, ...]
    quick: bool
    file: Path | None
    models: ModelFiles | None = None


@dataclass(frozen=True)
class Report:
    """The measured rows of one table, and the description of the machine."""

    table: TableName
    rows: list[Row]
    machine: dict[str, Any]

    @property
    def agreed(self) -> bool:
        """Whether both sides gave the same results in every row; for runs, whether ours are as accurate as required."""
        return all(map(AGREED.get(self.table, lambda row: True), self.rows))

    def for_terminal(self) -> list[RenderableType]:
        """The machine and the complete tables, for printing in a terminal."""
        return [grid.for_terminal() for grid in self._grids(page=False)]

    def as_page(self) -> str:
        """The machine and the tables as Markdown; the table of speeds is shorter than in a terminal."""
        return "\n".join(grid.markdown() for grid in self._grids(page=True))

    def draw(self, path: Path) -> None:
        """Draws the errors of runs over the times that they take: hexapods, the four-bar, or rigid contact."""
        if self.table == "rigid":
            rigid_tables.draw_rigid(self.rows, path)
            return
        if self.table == "loops":
            from kinemorph.bench.loops.picture import draw_loops

            draw_loops(self.rows, path)
            return
        from kinemorph.bench.standing.equal_error import as_works
        from kinemorph.display.charts.work_precision import work_precision

        works = as_works(self.rows)
        if not works:
            raise KinemorphError("there is nothing to draw: no hexapod was simulated. Leave --picture out.")
        work_precision(works, title="hexapods on the ground: RMS error over 10 s and time on one core", path=path)

    def _grids(self, *, page: bool) -> list[Grid]:
        head = tables.machine_grid(self.machine)
        if self.table != "speed":
            made = [make(self.rows) for make in GRIDS[self.table]]
            return [head, *(grid for grid in made if grid.rows or self.table != "simulate")]
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
    models: ModelFiles | None = None,
) -> Choice:
    """The requested measurements, with names checked; None stands for all, or for the few names of a quick run."""
    if models is not None and table != "simulate":
        raise KinemorphError(
            f"--files is given, but table '{table}' runs no model files; expected table simulate. Write "
            "`kinemorph bench simulate --files FILE...`."
        )
    if table not in WITHOUT_PINOCCHIO:
        bench_models.pinocchio()
    if table in OWN_ROBOTS:
        if robots or algorithms or modes or file:
            raise KinemorphError(
                f"`bench {table}` has its own robots. Leave --robot, --robots, --algorithm and --mode out."
            )
        return Choice(table, (), (), (), quick, None, models)
    if table == "load":
        if algorithms or modes or file:
            raise KinemorphError("`bench load` reads robot files. Leave --robots, --algorithm and --mode out.")
        from kinemorph.bench.speed.loading_times import chosen_files

        return Choice(table, chosen_files(robots, quick=quick), (), (), quick, None)
    from kinemorph.bench.speed.contest import ALGORITHMS
    from kinemorph.bench.speed.evaluation_times import MODES

    if table == "growth" and (robots or algorithms or modes or file):
        raise KinemorphError("--growth measures its own chains. Leave --robot, --robots, --algorithm and --mode out.")
    if table == "compile" and modes:
        raise KinemorphError(
            f"--mode '{modes[0]}' says how functions are called, and --compile calls none. Leave one of them out."
        )
    if not robots:
        robots = (COMPILED,) if table == "compile" else bench_models.QUICK_SET if quick else bench_models.BENCH_SET
    known = _known("algorithm", algorithms, tuple(ALGORITHMS)), _known("mode", modes, MODES)
    return Choice(table, tuple(robots), *known, quick, file)


def table_of(name: str | None, compile_times: bool, growth: bool) -> TableName:
    """The name of the requested table, given by its name or by an option; raises where two are requested."""
    asked = [name] if name else []
    asked += [other for other, wanted in (("compile", compile_times), ("growth", growth)) if wanted]
    if len(set(asked)) > 1:
        given = " and ".join(f"--{one}" if one != name else f"'{one}'" for one in asked)
        raise KinemorphError(f"{given} are two tables. Request one at a time.")
    (found,) = _known("table", asked[:1] or ["speed"], TABLES)
    return cast(TableName, found)


def _known(what: str, given: Sequence[str] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    """The given names in the spelling of `known`, all known names where none is given; raises for an unknown name."""
    spelled = {name.lower(): name for name in known}
    for name in given or ():
        if name.lower() not in spelled:
            raise KinemorphError(
                f"there is no {what} '{name}'.{did_you_mean(name, known)} Choose from: {', '.join(known)}."
            )
    return tuple(dict.fromkeys(spelled[name.lower()] for name in given)) if given else known


def measured(choice: Choice, *, say: Say, note: Say) -> Report:
    """Makes the chosen measurements. `say` receives the progress, `note` remarks for the reader of the table."""
    from kinemorph.bench import machine, timing
    from kinemorph.bench.speed import compile_times, evaluation_times, loading_times

    pace = timing.QUICK if choice.quick else timing.THOROUGH
    if choice.models is not None:
        from kinemorph.bench.model_files.compare import compare

        given = choice.models
        made = compare(given.paths, pace, most=given.most, error=given.error, quick=choice.quick, say=say, note=note)
    elif choice.table in OWN_ROBOTS:
        module = import_module(f"kinemorph.bench.{OWN_ROBOTS[choice.table]}")
        made = module.compare(pace, quick=choice.quick, say=say, note=note)
    elif choice.table == "compile":
        made = compile_times.building(choice.robots, choice.algorithms, file=choice.file)
    elif choice.table == "growth":
        made = compile_times.growth(compile_times.QUICK_LENGTHS if choice.quick else compile_times.LENGTHS, pace)
    elif choice.table == "load":
        made = loading_times.loading(choice.robots, pace, quick=choice.quick)
    else:
        asked = choice.robots, choice.algorithms, choice.modes
        made = evaluation_times.compare(*asked, pace, file=choice.file, say=say, note=note)
    rows = []
    for row in made:
        rows.append(row)
        say(f"measured {len(rows)}: {', '.join(str(row[key]) for key in list(row)[:4])}")
    return Report(choice.table, rows, machine.machine(pace))
