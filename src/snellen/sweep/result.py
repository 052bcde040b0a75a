"""What a sweep leaves: one tidy table (CSV, Parquet, JSON) and a page with its chart and commands."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from snellen.atomic import check_place, write_atomic
from snellen.errors import UserError
from snellen.files import expand_home, read_json
from snellen.files.plain import place_here
from snellen.files.spreadsheet import to_csv
from snellen.lock import own_folder
from snellen.settings_file import write_settings
from snellen.sweep.points import SweepPlan
from snellen.sweep.request import SweepRequest
from snellen.terminal import tell
from snellen.train.request import RecipeChoice
from snellen.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from snellen.report.pages.sweep_result import SweepPage, SweepRow
    from snellen.sweep.run_sweep import Left


R = TypeVar("R", bound=SweepRequest)


@dataclass(frozen=True)
class Sweep:
    """A finished sweep: its folder, and its page (what `sweep.json` holds)."""

    folder: Path
    page: SweepPage

    def table(self) -> pd.DataFrame:
        """One row per point, test and measure: value, low, high (95%, over images), n, std and per_run (over runs)."""
        return table_of(self.page.rows)

    def wide(self) -> pd.DataFrame:
        """Points as rows, tests and gaps as columns, values alone."""
        table = self.table()
        return table.pivot(index="point", columns="test", values="value").reindex(
            index=list(dict.fromkeys(table["point"])), columns=list(dict.fromkeys(table["test"]))
        )

    def to_json(self) -> dict[str, Any]:
        """The page as plain values."""
        import msgspec

        plain: dict[str, Any] = msgspec.to_builtins(self.page)
        return plain


def table_of(rows: Sequence[SweepRow]) -> pd.DataFrame:
    """The rows of a sweep as a table; numbers that are not known are nan."""
    import msgspec
    import pandas as pd

    from snellen.report.pages.sweep_result import SweepRow

    frame = pd.DataFrame([msgspec.structs.astuple(row) for row in rows], columns=list(SweepRow.__struct_fields__))
    return frame.astype(dict.fromkeys(("x", "value", "low", "high", "std"), float))


def load_sweep(folder: Path | str) -> Sweep:
    """The sweep in a folder.

    >>> from snellen.sweep import load_sweep, methods
    >>> _ = methods({"shape": "observer:shape"}, {"plain": "phantom:test?size=32&n=24"},
    ...     "sweeps/methods", quiet=True)
    >>> load_sweep("sweeps/methods").table().shape
    (1, 16)
    """
    from snellen.report.pages.sweep_result import SweepPage

    folder = place_here(folder, "the folder of a sweep")
    path = folder / "sweep.json"
    if not os.path.exists(path):
        raise UserError(f"'{folder}' holds no sweep.json; give the --out of a sweep that has ended")
    try:
        page: SweepPage = read_json(path, SweepPage)
        page.check(path)
    except UserError as error:
        raise UserError(f"{error}; run the same `snellen sweep` again to rewrite it") from error
    return Sweep(folder, page)


def run_settings(
    cls: type[R],
    plan: Callable[[R], SweepPlan],
    resolve: Callable[[type[R], Mapping[str, Any], Path | None], R],
    values: Mapping[str, Any],
) -> Sweep | Left:
    """The sweep of settings given in Python, where nothing is printed unless `quiet=False`; with `dry_run` what is left to do.

    `config` is a settings file, `command` the line that the page names as its origin.
    """
    settings = {"quiet": True, **values}
    command, config = settings.pop("command", ""), settings.pop("config", None)
    request = resolve(cls, settings, None if config is None else expand_home(config))
    return run_request(plan(request), request, command)


def run_request(plan: SweepPlan, request: SweepRequest, command: str = "") -> Sweep | Left:
    """Carry a plan out and write its table, page and settings; with `dry_run` only how much of it is left to do."""
    from snellen.sweep.run_sweep import left, run_points

    if request.dry_run:
        return left(plan)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UserError("a sweep runs in one process; train with accelerate first, then `snellen sweep methods`")
    check_place(plan.out)
    with own_folder(plan.out, leave=False):
        rows = run_points(plan, _callbacks(plan, request.quiet))
        sweep = Sweep(plan.out, page_of(plan, rows, command))
        write(sweep, request.html)
        recipe = [request.how] if isinstance(request, RecipeChoice) else []
        write_settings(plan.out / "settings.yaml", request, *recipe)
    return sweep


def page_of(plan: SweepPlan, rows: Sequence[SweepRow], command: str) -> SweepPage:
    """The page of a plan that was carried out."""
    from snellen.report.pages.sweep_result import SweepPage
    from snellen.sweep.command_lines import commands_of

    return SweepPage(
        kind=plan.kind,
        title=plan.title,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        snellen=__version__,
        command=command,
        commands=commands_of(plan),
        recipe=asdict(plan.recipe) if any(point.data is not None for point in plan.points) else None,
        runs=plan.runs,
        axis=plan.axis,
        tests={name: data.text for name, data in plan.tests.items()},
        source=plan.source,
        gaps=list(plan.gaps),
        rows=list(rows),
    )


def write(sweep: Sweep, html: bool = True) -> None:
    """sweep.csv, sweep.parquet, sweep.json and, if wanted, sweep.html."""
    import io

    table, parquet = sweep.table(), io.BytesIO()
    table.to_parquet(parquet, index=False)
    renderings = {
        "csv": to_csv(table).encode(),
        "parquet": parquet.getvalue(),
        "json": (json.dumps(sweep.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode(),
    }
    for suffix, content in renderings.items():
        write_atomic(sweep.folder / f"sweep.{suffix}", content)
    if html:
        from snellen.report.pages import sweep as pages

        pages.write(sweep.page, sweep.folder / "sweep.html")


def _callbacks(plan: SweepPlan, quiet: bool) -> Any:
    """Progress: lines on a terminal, notices anywhere, and the table so far after every point."""
    from snellen.sweep.run_sweep import SweepCallbacks

    loud, began = not quiet and sys.stderr.isatty(), time.perf_counter()

    def say(text: str) -> None:
        if loud:
            tell(f"{text} ({_clock(time.perf_counter() - began)})")

    def epoch(done: Any) -> None:
        if loud:
            left = f", {_clock(done.left)} left" if done.epoch < done.epochs else ""
            line = f"  {done.run}: epoch {done.epoch} of {done.epochs}, loss {done.loss:.3f}{left}"
            end = "\n" if done.epoch == done.epochs else "\r"
            tell(line.ljust(100), end)

    notice: Callable[[str], None] = (lambda text: None) if quiet else (lambda text: tell(f"note: {text}"))

    def point(rows: Sequence[SweepRow]) -> None:
        write_atomic(plan.out / "sweep.csv", to_csv(table_of(rows)).encode())

    return SweepCallbacks(say, epoch, notice, point)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"
