"""How every set is built: its folder, locked; portions of work, in several processes, kept until it is complete, so that a
stopped build continues with those whose inputs have not changed since; counts, settings, and what was built. A builder states
only what is its own."""

from __future__ import annotations

import os
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
from snellen.build.destination import POOL, Destination
from snellen.build.encode import encode_json
from snellen.build.request import BuildRequest
from snellen.data.earlier import earlier_rules
from snellen.errors import UserError, option
from snellen.files import decode_json, expand_home, read_bytes, read_json
from snellen.hashing import checksum
from snellen.settings_file import write_settings

SUMMARY, SETTINGS = "counts.json", "settings.yaml"
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

    def each(
        self,
        work: Callable[[Task], Result],
        tasks: Iterable[Task],
        total: int,
        recall: Callable[[Task], Result | None] = lambda task: None,
    ) -> Iterator[Result]:
        """What `work` makes of each of `total` tasks, or what an earlier run made of it, where `recall` knows that."""
        known: list[Result] = []

        def missing() -> Iterator[Task]:
            for task in tasks:
                if (earlier := recall(task)) is None:
                    yield task
                else:
                    known.append(earlier)
                    advance(1)

        with show_progress(total, self.quiet) as advance:
            for result in self.spread(work, missing()):
                yield result
                advance(1)
            yield from known

    def rows(
        self,
        portions: Iterable[Portion[Task]],
        work: Callable[[Portion[Task]], list[Result]],
        kind: type[Result],
        content: Callable[[Portion[Task]], str],
        load: Callable[[Portion[Task]], Portion[Task]] = lambda portion: portion,
        is_there: Callable[[Sequence[Result]], bool] = lambda rows: True,
    ) -> list[Result]:
        """What became of all portions: rows that `work` makes, or those that an earlier run kept, if it read the same.

        `content` is a key of all that the rows of a portion depend on beside the settings; `load` fills a portion, such as with
        photos, just before that; `is_there` says whether the files of kept rows are.
        """
        portions = list(portions)
        rows: list[Result] = []
        with show_progress(sum(len(portion.tasks) for portion in portions), self.quiet) as advance:

            def missing() -> Iterator[Portion[Task]]:
                for portion in portions:
                    earlier = read_rows(portion_file(self.pool, portion.number), kind)
                    filled = load(portion)
                    if earlier is not None and earlier.content == content(filled) and is_there(earlier.rows):
                        rows.extend(earlier.rows)
                        advance(len(portion.tasks))
                    else:
                        yield filled

            for tasks, new in self.spread(partial(_work_on, work, content, self.pool), missing()):
                rows += new
                advance(tasks)
        return rows


B = TypeVar("B", bound=Built)


class Builder(ABC, Generic[B]):
    """A set to build: what tells it from others (`facts`, kept in the file `facts_file`), how it is made, and what came of it."""

    facts_file: ClassVar[str]
    whole: ClassVar[str] = "set built by snellen"
    identity: ClassVar[tuple[str, str]] = ("schema", "data")
    inputs: ClassVar[tuple[str, ...]] = ("data_fingerprint",)  # facts that state what was read
    built: type[B]

    request: BuildRequest
    facts: dict[str, Any]

    @abstractmethod
    def make(self, site: Site) -> Mapping[str, Any] | None:
        """Write all files of the set; what its counts.json says, None for none."""

    def former(self) -> dict[str, Any]:
        """The facts by which earlier versions of snellen knew a complete set of the same settings and inputs."""
        with earlier_rules():
            return type(self)(self.request).facts  # type: ignore[call-arg]

    def check(self) -> None:
        """Refuse, before the folder is made, what would be refused later; not asked of a complete set."""

    def result(self, out: Path) -> B:
        """What a complete set tells of itself."""
        return self.built.read(out)

    def run(self) -> B:
        """Build the set, or what is missing of it; a complete one is left as it is."""
        request = self.request
        assert request.out is not None
        place = expand_home(request.out)
        own = (self.facts_file, self.whole, self.identity, self.inputs)
        to = Destination(place, self.facts, *own, self.former)
        if not (to.out / self.facts_file).exists():
            self.check()
        with to.writing() as missing:
            if missing:
                with crew(getattr(request, "workers", 1)) as spread, to.refusals():
                    summary = self.make(Site(to, spread, request.quiet))
                if summary is not None:
                    to.write(SUMMARY, encode_json(summary, indent=1))
                write_settings(to.part / SETTINGS, request)
                to.own(SETTINGS)
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


@dataclass(frozen=True)
class KeptRows(Generic[Result]):
    """The rows of a portion, and the key of what they were made of."""

    content: str
    rows: list[Result]


def keep_rows(file: Path, content: str, rows: Sequence[Any]) -> None:
    """Write rows, dataclasses, and the key of their content, with a checksum in the first line."""
    written = encode_json({"content": content, "rows": [asdict(row) for row in rows]})
    write_atomic(file, checksum(written).encode() + b"\n" + written)


def read_rows(file: Path, kind: type[Result]) -> KeptRows[Result] | None:
    """The rows of an earlier run; None where there are none, or their file is damaged: then they are made again."""
    if not os.path.lexists(file):
        return None
    try:
        first, _, written = read_bytes(file, "verdicts").partition(b"\n")
        if checksum(written).encode() != first:
            return None
        rows: KeptRows[Result] = decode_json(written, KeptRows[kind], file)  # type: ignore[valid-type]
        return rows
    except UserError:
        return None


def _work_on(
    work: Callable[[Portion[Any]], list[Any]],
    content: Callable[[Portion[Any]], str],
    pool: Path,
    portion: Portion[Any],
) -> tuple[int, list[Any]]:
    """Work on a portion and keep what became of it; how many tasks it had, and its rows.

    What changes while it is worked on no longer has the key, which is taken before.
    """
    key = content(portion)
    rows = work(portion)
    keep_rows(portion_file(pool, portion.number), key, rows)
    return len(portion.tasks), rows
