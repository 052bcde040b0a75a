"""A process that reads hostile inputs one after the other; whoever started it outlives its hangs and crashes.

Started with the folders of the sandbox and of the corpus and a seed; each line on stdin, `reader<TAB>number`, is answered on
the descriptor REPLY with the outcome as one line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from random import Random

if not __package__:  # run as a script
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    __package__ = "hostile"

from .calls import CORPUS, Failed, Refused
from .documents import Schemas
from .mutations import mutate
from .outcome import BAD, LONGEST, Different, Outcome
from .readers import READERS, Reader
from .remote_calls import ADDRESS
from .sandbox import Sandbox

GIB = 1 << 30
ROOM = 6 * GIB  # what a case may take beyond what the libraries map
GROWTH = 2 * GIB  # what a small file may make a reader use
FROM_SCHEMA = 0.3  # the share of inputs that are made from a schema, where there is one
SOURCE = "/src/snellen/"


def main(sandbox: Sandbox, corpus: Path, seed: int) -> None:
    reply = os.fdopen(int(os.environ["HOSTILE_REPLY"]), "w")
    os.environ[CORPUS] = str(corpus)
    sandbox.enter()
    warnings.simplefilter("ignore")
    judge_of = Worker(sandbox, corpus, seed)
    for line in sys.stdin:
        name, number = line.rstrip("\n").split("\t")
        print(json.dumps(asdict(judge_of.attempt(name, int(number)))), file=reply, flush=True)


class Worker:
    """Reads damaged copies of the corpus; the first time that it meets a reader, the files as they are."""

    def __init__(self, sandbox: Sandbox, corpus: Path, seed: int) -> None:
        self.sandbox, self.corpus, self.seed = sandbox, corpus, seed
        self.schemas: dict[str, Schemas] = {}
        self.first: dict[str, Outcome] = {}

    def attempt(self, name: str, number: int) -> Outcome:
        """The outcome of one input; number 0 is undamaged."""
        first = self.first.get(name) or self._learn(name)
        if number == 0 or first.result in BAD:
            return replace(first, number=number)
        case, draw = self._begin(name), Random(f"{self.seed}/{name}/{number}")
        change, files = damage(READERS[name], draw, case, self.schemas[name])
        self.sandbox.note(change)
        return self._read(name, number, change, files)

    def _learn(self, name: str) -> Outcome:
        """The outcome of the undamaged files, read while their schemas are noted."""
        self.schemas[name] = Schemas()
        limit_memory(None)
        with self.schemas[name].watch(self._begin(name)):
            outcome = self._read(name, 0, "nothing", [])
        limit_memory(ROOM)
        self.first[name] = replace(outcome, result="unfit") if outcome.result in ("refused", "net") else outcome
        return self.first[name]

    def _begin(self, name: str) -> Path:
        self.sandbox.begin(self.corpus / READERS[name].folder)
        return self.sandbox.case

    def _read(self, name: str, number: int, change: str, files: list[Path]) -> Outcome:
        sandbox, reader = self.sandbox, READERS[name]
        before, beside, used = sandbox.outside(), sandbox.inside(), most_memory()
        result, message, place = "accepted", "", ""
        try:
            reader.call(sandbox.case)
        except BaseException as error:
            result, message, place = judge(error, sandbox.case, files)
        new, growth = sandbox.outside() - before, most_memory() - used
        if sandbox.has_run():
            result, message = "code run", f"{message} {sorted(new)[:3]}"
        elif new:
            result, message = "wrote outside", f"{sorted(new)[:3]} {message}"
        elif not reader.writes and (left := sandbox.inside() - beside):
            result, message = "left behind", f"{sorted(left)[:3]} {message}"
        elif change != "nothing" and growth > GROWTH:
            result, message = "memory", f"took {growth / GIB:.1f} GiB; {message}"
        sandbox.clean(new)
        return Outcome(name, number, result, change, _plain(message), place)


def limit_memory(room: int | None) -> None:
    """No case may take much more than what is mapped after the libraries of its reader were imported; None lifts that."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = resource.RLIM_INFINITY if room is None else mapped + room
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def most_memory() -> int:
    """The most bytes that this process has had in memory so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def damage(reader: Reader, draw: Random, case: Path, schemas: Schemas) -> tuple[str, list[Path]]:
    """One change or two; what was changed, and which files."""
    changes, files = [], []
    for _ in range(draw.choice([1, 1, 1, 1, 2])):
        by_pattern = [[file for file in sorted(case.glob(one)) if not file.is_dir()] for one in reader.targets]
        if not any(by_pattern):
            break
        file = draw.choice(draw.choice([files for files in by_pattern if files]))
        made = file in schemas.of_file and not changes and draw.random() < FROM_SCHEMA
        change = schemas.write(file, draw) if made else mutate(file, draw, reader.names)
        changes.append(f"{file.relative_to(case)}: {change}")
        files.append(file)
    return "; ".join(changes), files


def judge(error: BaseException, case: Path, files: list[Path]) -> tuple[str, str, str]:
    """The result, the message and the place of what a reader raised."""
    from snellen.errors import UserError
    from snellen.files import Damaged

    text = str(error)
    if isinstance(error, UserError | Refused):
        if "needs more memory than there is" in text:
            return "memory", text, place_of(error.__cause__ or error)
        clear = len(text.splitlines()) == 1 and length_of(text, case) <= LONGEST and text[:1] == text[:1].lower()
        if not clear or not is_named(text, case, files):
            return "vague", text, place_of(error)
        return ("net" if isinstance(error, Damaged) else "refused"), text, ""
    if isinstance(error, MemoryError):
        return "memory", "MemoryError", place_of(error)
    if isinstance(error, Failed | Different):
        return ("traceback" if isinstance(error, Failed) else "different"), text, ""
    return "traceback", f"{type(error).__name__}: {text}", place_of(error)


def length_of(text: str, case: Path) -> int:
    """The characters of a message, less those of where the tests happen to keep their files."""
    for folder in (str(case.parent), os.environ.get(CORPUS, "")):
        text = text.replace(folder, "") if folder else text
    return len(text)


def is_named(text: str, case: Path, files: list[Path]) -> bool:
    """Whether a message names the folder, a damaged file or its folder, or an image to which what was damaged belongs."""
    parts = [str(case), ADDRESS, *(part for file in files for part in (file.name, file.parent.name))]
    return any(part in text for part in parts) or any(
        file.name in text for pattern in ("*.png", "*.jpg") for file in case.rglob(pattern)
    )


def place_of(error: BaseException) -> str:
    """The innermost line of ours."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if SOURCE in frame.filename]
    if not own:
        return "outside our code"
    return f"{own[-1].filename.rpartition(SOURCE)[2]}:{own[-1].lineno} {own[-1].name}"


def _plain(text: str) -> str:
    short = text if len(text) < 2000 else f"{text[:2000]}…"
    return short.encode(errors="backslashreplace").decode()


if __name__ == "__main__":
    main(Sandbox(Path(sys.argv[1])), Path(sys.argv[2]), int(sys.argv[3]))
