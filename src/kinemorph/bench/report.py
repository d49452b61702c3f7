"""`kinemorph bench`: checks which measurements were requested, makes them, and reports the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinemorph.bench import result_tables as shown
from kinemorph.bench import tables
from kinemorph.bench.model_files import result_tables as of_files
from kinemorph.bench.peers import robots as bench_models
from kinemorph.bench.tables import MakeGrid
from kinemorph.bench.timing import Row, Say
from kinemorph.errors import KinemorphError
from kinemorph.words import did_you_mean

if TYPE_CHECKING:
    from rich.console import RenderableType

    from kinemorph.display.faces.grid import Grid


@dataclass(frozen=True)
class Comparison:
    """What `kinemorph bench NAME` compares, and how its rows are shown.

    `grids`       functions that make its tables of text
    `own_robots`  the Python file that has its own robots and a function `compare`; "" where robots can be chosen
    `pinocchio`   whether it needs Pinocchio
    `agreed`      whether a row shows that both sides agree
    """

    grids: tuple[MakeGrid, ...] = ()
    own_robots: str = ""
    pinocchio: bool = True
    agreed: Callable[[Row], bool] = lambda row: True


COMPARISONS = {
    "speed": Comparison(agreed=lambda row: row["ours_us"] is not None),
    "compile": Comparison((shown.building_grid,)),
    "growth": Comparison((shown.growth_grid,)),
    "simulate": Comparison(
        (
            shown.simulating_grid,
            shown.batches_grid,
            shown.standing_grid,
            shown.terrain_grid,
            shown.curves_grid,
            of_files.files_grid,
            of_files.defaults_grid,
        ),
        "runs.equal_accuracy",
        pinocchio=False,
        agreed=lambda row: row["reached"] or not row["contestant"].startswith("Kinemorph"),
    ),
    "loops": Comparison(
        (shown.looped_grid, shown.loop_runs_grid),
        "loops.four_bar_runs",
        agreed=lambda row: row["kind"] != "speed" or row["ours_us"] is not None,
    ),
    "load": Comparison((shown.loading_grid,), agreed=lambda row: row["agreed"]),
    "replay": Comparison((shown.replaying_grid,), "replays.page_times", pinocchio=False),
    "modules": Comparison(
        (shown.scale_grid, shown.forward_grid, shown.redocking_grid),
        "modules.redocking_rows",
        agreed=lambda row: row.get("agreed", True),
    ),
    "walk": Comparison(
        (shown.amru5_grid, shown.leg_grid, shown.first_grid),
        "walking.equal_error",
        pinocchio=False,
        agreed=lambda row: row.get("reached", True),
    ),
    "hybrid": Comparison(
        (shown.compass_grid, shown.impacts_grid, shown.basin_grid),
        "hybrid.compare",
        pinocchio=False,
        agreed=lambda row: row.get("reached", True) and row.get("ours_us", 0.0) is not None,
    ),
    "rigid": Comparison((shown.rigid_grid,), "rigid.compare", pinocchio=False),
    "identify": Comparison(
        (shown.regressors_grid, shown.triangles_grid),
        "identify.compare",
        agreed=lambda row: row.get("ours_us", 0.0) is not None,
    ),
    "cockroach": Comparison(
        (shown.cockroach_grid, shown.curves_grid),
        "cockroach.compare",
        pinocchio=False,
        agreed=lambda row: row["reached"],
    ),
    "track": Comparison((shown.tracking_grid,), "tracking.compare", pinocchio=False),
    "programs": Comparison(
        (shown.programs_grid, shown.fmus_grid),
        "programs.compare",
        pinocchio=False,
        agreed=lambda row: row["error"] is None or row["error"] < 1e-6,
    ),
    "studio": Comparison((shown.start_grid, shown.click_grid, shown.live_grid), "studio.compare", pinocchio=False),
    "studies": Comparison((shown.trivial_grid, shown.gaits_grid), "studies.compare", pinocchio=False),
}
DRAWN = ("simulate", "loops", "rigid")
COMPILED = "hexapod36"  # the robot whose compile times have targets


@dataclass(frozen=True)
class ModelFiles:
    """The model files that `bench simulate` runs instead of its own problems.

    `most` is the number of files that are compared, the first that all contestants read; None for all. `error` is the
    largest error of a run; None for the usual one. Where it `tunes` nothing, files are run by default only.
    """

    paths: tuple[Path, ...]
    most: int | None = None
    error: float | None = None
    tunes: bool = True


@dataclass(frozen=True)
class Choice:
    """The measurements to make: a table, and names of robots, algorithms and modes, which are known to exist."""

    table: str
    robots: tuple[str, ...]
    algorithms: tuple[str, ...]
    modes: tuple[str, ...]
    quick: bool
    file: Path | None
    models: ModelFiles | None = None


@dataclass(frozen=True)
class Report:
    """The measured rows of one table, and the description of the machine."""

    table: str
    rows: list[Row]
    machine: dict[str, Any]

    @property
    def agreed(self) -> bool:
        """Whether both sides gave the same results in every row; for runs, whether ours are as accurate as required."""
        return all(map(COMPARISONS[self.table].agreed, self.rows))

    def for_terminal(self) -> list[RenderableType]:
        """The machine and the complete tables, for printing in a terminal."""
        return [grid.for_terminal() for grid in self._grids(page=False)]

    def as_page(self) -> str:
        """The machine and the tables as Markdown; the table of speeds is shorter than in a terminal."""
        return "\n".join(grid.markdown() for grid in self._grids(page=True))

    def draw(self, path: Path) -> None:
        """Draws the errors of runs over the times that they take: hexapods, the four-bar, or rigid contact."""
        if self.table == "rigid":
            from kinemorph.bench.rigid.picture import draw_rigid

            draw_rigid(self.rows, path)
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
            made = [make(self.rows) for make in COMPARISONS[self.table].grids]
            return [head, *(grid for grid in made if grid.rows or self.table != "simulate")]
        if page:
            return [head, *tables.speed_pages(self.rows)]
        return [head, tables.speed_grid(self.rows, self.machine["peak_gflops"])]


def chosen(
    table: str,
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
    if COMPARISONS[table].pinocchio:
        bench_models.pinocchio()
    if COMPARISONS[table].own_robots:
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


def table_of(name: str | None, compile_times: bool, growth: bool) -> str:
    """The name of the requested table, given by its name or by an option; raises where two are requested."""
    asked = [name] if name else []
    asked += [other for other, wanted in (("compile", compile_times), ("growth", growth)) if wanted]
    if len(set(asked)) > 1:
        given = " and ".join(f"--{one}" if one != name else f"'{one}'" for one in asked)
        raise KinemorphError(f"{given} are two tables. Request one at a time.")
    (found,) = _known("table", asked[:1] or ["speed"], tuple(COMPARISONS))
    return found


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
        how: Any = {"most": given.most, "error": given.error, "tunes": given.tunes, "quick": choice.quick}
        made = compare(given.paths, pace, **how, say=say, note=note)
    elif COMPARISONS[choice.table].own_robots:
        module = import_module(f"kinemorph.bench.{COMPARISONS[choice.table].own_robots}")
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
