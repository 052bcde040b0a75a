"""How every set is built: its folder, locked; portions of work, in several processes, kept until it is complete, so that a
stopped build continues; counts, settings, and what was built. A builder states only what is its own."""

from __future__ import annotations

import os
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, get_type_hints

import msgspec

from snellen.atomic import write_atomic
from snellen.build.crew import Spread, crew
from snellen.build.destination import Destination
from snellen.build.encode import encode_json
from snellen.build.request import BuildRequest
from snellen.errors import UserError, option
from snellen.files import decode_json, expand_home, read_bytes, read_json
from snellen.hashing import checksum
from snellen.settings_file import write_settings

SUMMARY, SETTINGS = "counts.json", "settings.yaml"
POOL = ".pool"  # the folder of what is kept of portions, removed when the set is complete
Amount = Annotated[int, msgspec.Meta(ge=0)]
Result = TypeVar("Result")
Task = TypeVar("Task")


@dataclass(frozen=True)
class Built(ABC):
    """What was built: its folder. Fields that a builder adds are the counts.json of the set; in JSON nan is null."""

    out: Path

    @classmethod
    def read(cls, out: Path) -> Self:
        """What a complete set tells of itself."""
        hints = get_type_hints(cls, include_extras=True)
        known = [(declared.name, hints[declared.name]) for declared in fields(cls) if declared.name != "out"]
        struct = msgspec.defstruct("Counts", [(name, kind | None if kind is float else kind) for name, kind in known])
        try:
            counts: Any = read_json(out / SUMMARY, struct, "file of the set's counts")
        except UserError as error:
            raise UserError(f"{error}; build the set again, into another {option('out')}") from None
        values = msgspec.structs.asdict(counts)
        return cls(out, **{name: float("nan") if value is None else value for name, value in values.items()})

    @property
    def json(self) -> str:
        """The same as JSON."""
        values = {**asdict(self), "out": str(self.out)}
        plain = {name: None if value != value else value for name, value in values.items()}
        return encode_json(plain, indent=1).decode().rstrip()

    @property
    @abstractmethod
    def lines(self) -> list[str]:
        """What to print of it."""

    @property
    def notes(self) -> Sequence[str]:
        """What to look at."""
        return getattr(self, "warnings", ())


def not_taken(rejected: Mapping[str, int], page: Path) -> str:
    """A line on what was not taken, by reason."""
    return f"not taken: {reasons_of(rejected) or 'none'}; see {page}"


def reasons_of(rejected: Mapping[str, int]) -> str:
    """How often each reason was met, in words."""
    return ", ".join(f"{count:,} {reason}" for reason, count in rejected.items())


@dataclass(frozen=True)
class Portion(Generic[Task]):
    """What one process works on at a time; what became of it is kept under its number."""

    number: int
    tasks: Sequence[Task]


@dataclass(frozen=True)
class Site:
    """Where a set is made: its folder, the processes that work on it, and whether to show how far they are."""

    to: Destination
    spread: Spread
    quiet: bool

    @property
    def pool(self) -> Path:
        """Where what is not yet in its place is kept."""
        return self.to.part / POOL

    def each(self, work: Callable[[Task], Result], tasks: Iterable[Task], total: int) -> Iterator[Result]:
        """What `work` makes of each of `total` tasks."""
        with show_progress(total, self.quiet) as advance:
            for result in self.spread(work, tasks):
                yield result
                advance(1)

    def rows(
        self,
        portions: Iterable[Portion[Task]],
        work: Callable[[Portion[Task]], list[Result]],
        kind: type[Result],
        is_whole: Callable[[Portion[Task], Sequence[Result]], bool],
        load: Callable[[Portion[Task]], Portion[Task]] = lambda portion: portion,
    ) -> list[Result]:
        """What became of all portions: rows that `work` makes, or those that an earlier run kept where they are whole.

        `load` fills a portion, such as with photos, just before it is worked on.
        """
        portions = list(portions)
        rows: list[Result] = []
        missing = []
        with show_progress(sum(len(portion.tasks) for portion in portions), self.quiet) as advance:
            for portion in portions:
                earlier = read_rows(portion_file(self.pool, portion.number), kind)
                if earlier is None or not is_whole(portion, earlier):
                    missing.append(portion)
                else:
                    rows += earlier
                    advance(len(portion.tasks))
            for tasks, new in self.spread(partial(_work_on, work, self.pool), map(load, missing)):
                rows += new
                advance(tasks)
        return rows


B = TypeVar("B", bound=Built)


class Builder(ABC, Generic[B]):
    """A set to build: what tells it from others (`facts`, kept in the file `facts_file`), how it is made, and what came of it."""

    facts_file: ClassVar[str]
    whole: ClassVar[str] = "set built by snellen"
    identity: ClassVar[tuple[str, str]] = ("schema", "data")
    built: type[B]

    request: BuildRequest
    facts: dict[str, Any]

    @abstractmethod
    def make(self, site: Site) -> Mapping[str, Any] | None:
        """Write all files of the set; what its counts.json says, None for none."""

    def check(self) -> None:
        """Refuse, before the folder is made, what would be refused later; not asked of a complete set."""

    def result(self, out: Path) -> B:
        """What a complete set tells of itself."""
        return self.built.read(out)

    def run(self) -> B:
        """Build the set, or what is missing of it; a complete one is left as it is."""
        request = self.request
        assert request.out is not None
        to = Destination(expand_home(request.out), self.facts, self.facts_file, self.whole, self.identity)
        if not (to.out / self.facts_file).exists():
            self.check()
        with to.writing() as missing:
            if missing:
                with crew(getattr(request, "workers", 1)) as spread, to.refusals():
                    summary = self.make(Site(to, spread, request.quiet))
                if summary is not None:
                    to.write(SUMMARY, encode_json(summary, indent=1))
                write_settings(to.part / SETTINGS, request)
                shutil.rmtree(to.part / POOL, ignore_errors=True)
                to.finish()
        return self.result(to.out)


@contextmanager
def show_progress(total: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that is told how many more of `total` images are done; it shows a bar on a terminal unless it is to be quiet."""
    if quiet or not sys.stderr.isatty():
        yield lambda images: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("writing"), BarColumn(), MofNCompleteColumn(), TextColumn("images"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("writing", total=total)
        yield lambda images: bar.advance(task, images)


def portion_file(pool: Path, number: int) -> Path:
    """Where the rows of a portion are kept."""
    return pool / f"{number:06d}.json"


def keep_rows(file: Path, rows: Sequence[Any]) -> None:
    """Write rows, dataclasses, with a checksum in the first line."""
    content = encode_json([asdict(row) for row in rows])
    write_atomic(file, checksum(content).encode() + b"\n" + content)


def read_rows(file: Path, kind: type[Result]) -> list[Result] | None:
    """The rows of an earlier run; None where there are none, or their file is damaged: then they are made again."""
    if not os.path.lexists(file):
        return None
    try:
        first, _, content = read_bytes(file, "verdicts").partition(b"\n")
        if checksum(content).encode() != first:
            return None
        rows: list[Result] = decode_json(content, list[kind], file)  # type: ignore[valid-type]
        return rows
    except UserError:
        return None


def _work_on(work: Callable[[Portion[Any]], list[Any]], pool: Path, portion: Portion[Any]) -> tuple[int, list[Any]]:
    """Work on a portion and keep what became of it; how many tasks it had, and its rows."""
    rows = work(portion)
    keep_rows(portion_file(pool, portion.number), rows)
    return len(portion.tasks), rows
