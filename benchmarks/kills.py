"""Kill every command at random points of its progress, change what it reads, and resume it: does it end as a new one does?

    python benchmarks/kills.py 300                  # SIGKILLs, spread over all commands
    python benchmarks/kills.py 30 --only iruo,audit
    python benchmarks/kills.py --case 17            # one case again, with the same seed

Each command runs in a forked child, so that a kill costs no import, on inputs of a few small images. It is killed when it would
give its k-th file a name, or after a share of the processor time that it takes; neither depends on how busy the machine is. Then,
in most cases, its inputs change: all pictures, one of them, the weights, or pictures that keep their size and time (which only
builders compare by content; fingerprints of data are of sizes and times). Resumed, it must end with what an uninterrupted command
makes of these inputs (`equal`), or refuse in one line (`noticed`; never where nothing changed). Anything else is `different` or
`failed`, and ends this program with 1.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.data import resumed_builds
from tests.data.resumed_builds import BUILDS, make_inputs, pictures, replace_pictures

import snellen.cli
from snellen.errors import UserError
from snellen.hashing import checksum

NOTHING, PICTURES, ONE, SAME_TIMES, WEIGHTS = "nothing", "pictures", "one picture", "same times", "weights"
GOOD, BAD = ("equal", "noticed"), ("different", "failed")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Command:
    """What is killed: how it is run on inputs into a folder, what it leaves there, and which changes it may meet."""

    run: Callable[[Path, Path], Any]
    result: Callable[[Path], str]
    changes: tuple[str, ...] = (NOTHING, PICTURES, ONE)


def typed(words: str) -> Callable[[Path, Path], Any]:
    """A command line; `{inputs}`, `{photos}`, `{net}` and `{out}` are its places."""

    def run(inputs: Path, out: Path) -> None:
        places = {"photos": f"folder:{inputs}/photos", "inputs": inputs, "net": f"{inputs}/net.safetensors", "out": out}
        snellen.cli.main([word.format(**places) for word in words.split()])

    return run


def tree(out: Path) -> str:
    """All files of a set but its settings, which name its own folder."""
    files = sorted(path for path in out.rglob("*") if path.is_file() and path.name != "settings.yaml")
    return "\n".join(f"{path.relative_to(out)} {checksum(path.read_bytes())}" for path in files)


def run_tables(out: Path) -> str:
    """Findings and answers of a run."""
    run = snellen.load_run(out)
    return run.findings().to_csv() + run.predictions().to_csv()


def network(out: Path) -> str:
    """The weights and the history of a training."""
    from safetensors.torch import load_file

    from snellen.models.checkpoint import read_card

    files = sorted(out.glob("*.safetensors"))
    weights = [{name: checksum(value.numpy().tobytes()) for name, value in load_file(file).items()} for file in files]
    history = [[epoch.get("loss") for epoch in read_card(file).get("history", ())] for file in files]
    return f"{[file.name for file in files]} {weights} {history}"


def texts(*names: str) -> Callable[[Path], str]:
    return lambda out: "".join((out / name).read_text() for name in names)


BUILT, ASKED = (NOTHING, PICTURES, ONE, SAME_TIMES), (NOTHING, PICTURES, ONE, WEIGHTS)
COMMANDS: dict[str, Command] = {
    **{f"build {name}": Command(build, tree, BUILT) for name, build in BUILDS.items() if name != "phantom"},
    "build phantom": Command(BUILDS["phantom"], tree, (NOTHING,)),
    "audit": Command(
        typed(
            "audit {net} --data {photos} --audits interference([shuffle(2)]) --shard 6 --batch-size 3 --out {out} -q"
        ),
        run_tables,
        ASKED,
    ),
    "search": Command(
        typed(
            "search {net} --data {photos} --set mnist --length 2 --evaluations 30 --random 10 --restarts 1 --images 12 "
            "--population 4 --no-references --out {out} -q"
        ),
        run_tables,
        ASKED,
    ),
    "dissect": Command(typed("dissect {net} --data {photos} --grid 8 --out {out} -q"), run_tables, ASKED),
    "train": Command(
        typed("train smallnet --data {photos} --set epochs=4 --runs 2 --device cpu --out {out} -q"), network
    ),
    "sweep": Command(
        typed("sweep methods a={net} --test mixed_same={photos} --test mixed_rand={photos}?label=star --out {out} -q"),
        texts("sweep.csv"),
        ASKED,
    ),
    "sweep matrix": Command(
        typed(
            "sweep matrix {inputs}/matrix.yaml --data {photos} --test {photos} --device cpu "
            "--audits occluders(synthetic=[black],diffuse=[],lattices=[]) --out {out} -q"
        ),
        lambda out: texts("matrix.csv")(out) + "".join(map(network, sorted((out / "models").iterdir()))),
    ),
    "calibrate": Command(
        typed("calibrate --only square_edges --images 40 --quick --out {out} -q"), texts("calibration.md"), (NOTHING,)
    ),
}


def child(work: Callable[[], Any], log: Path, seconds: float | None = None) -> int:
    """Carry out some work in a process of its own: its exit code, or −9 where it was killed, at the latest after so many
    seconds of processor time."""
    process = os.fork()
    if process == 0:
        with log.open("w") as file:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
        code: Any = 3
        try:
            work()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            code = 2
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.stderr.flush()
        os._exit(code)
    while seconds is not None and spent(process) < seconds:
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
        time.sleep(0.001)
    if seconds is not None:
        os.kill(process, signal.SIGKILL)  # one that has ended waits to be reaped, so its id is still its own
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def spent(process: int) -> float:
    """Processor seconds of a process."""
    words = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS


class Bench:
    """A folder with pristine inputs, those of the case, and what whole commands make of them."""

    def __init__(self, place: Path) -> None:
        self.place, self.inputs, self.log = place, place / "inputs", place / "log.txt"
        self.known: dict[tuple[str, str], tuple[str, int, float]] = {}
        self._done(partial(prepare, place / "pristine"), "making the inputs")

    def restore(self) -> None:
        shutil.rmtree(self.inputs, ignore_errors=True)
        shutil.copytree(self.place / "pristine", self.inputs)

    def whole(self, name: str, change: str) -> tuple[str, int, float]:
        """Of an uninterrupted command on changed inputs: its result, how many files it names, its processor seconds."""
        if (name, change) not in self.known:
            out, report = self.place / "whole", self.place / "report.txt"
            shutil.rmtree(out, ignore_errors=True)
            self._done(partial(count, COMMANDS[name], self.inputs, out, report), f"{name}, {change}")
            files, seconds, result = report.read_text().split("\n", 2)
            self.known[name, change] = result, int(files), float(seconds)
        return self.known[name, change]

    def result(self, name: str) -> str:
        report = self.place / "report.txt"
        self._done(lambda: report.write_text(COMMANDS[name].result(self.place / "out")), f"the result of {name}")
        return report.read_text()

    def _done(self, work: Callable[[], Any], what: str) -> None:
        if child(work, self.log):
            raise SystemExit(f"{what} failed: {self.log.read_text()[-2000:]}")


def count(command: Command, inputs: Path, out: Path, report: Path) -> None:
    before = time.process_time()
    files = resumed_builds.count_files(lambda: ended(command.run, inputs, out))
    report.write_text(f"{files}\n{time.process_time() - before}\n{command.result(out)}")


def ended(run: Callable[[Path, Path], Any], inputs: Path, out: Path) -> None:
    try:
        run(inputs, out)
    except SystemExit as stop:
        if stop.code:
            raise


MATRIX = """
defaults: {arch: smallnet, epochs: 1}
rows:
  - {name: plain, grid: {lr: [0.1, 0.2]}}
  - {name: mixed, mix: mixup, init: 'row:plain', grid: {lr: [0.05]}}
"""


def prepare(pristine: Path) -> None:
    """What all commands read: the files of the builders, photos in folders, two networks, and the rows of a matrix."""
    from snellen.data.phantom import export
    from snellen.models.checkpoint import save_checkpoint
    from snellen.models.zoo import build

    make_inputs(pristine)
    (pristine / "matrix.yaml").write_text(MATRIX)
    photos = export("phantom:test?size=16&n=48", "folder", pristine / "photos").out
    for file in photos.rglob("*.png"):
        with Image.open(file) as picture:
            picture.copy().save(file, compress_level=0)
    classes = sorted(path.name for path in photos.iterdir() if path.is_dir())
    for seed, name in enumerate(("net", "other")):
        torch.manual_seed(seed)
        card = {"arch": "smallnet", "classes": classes, "size": [16, 16], "mean": [0.5] * 3, "std": [0.25] * 3}
        save_checkpoint(pristine / f"{name}.safetensors", build("smallnet", len(classes)), card)


def alter(inputs: Path, change: str) -> None:
    """Change the inputs of a command; the same change gives the same content and the same later times."""
    every = [*pictures(inputs), *sorted((inputs / "photos").rglob("*.png"))]
    if change == WEIGHTS:
        shutil.copyfile(inputs / "other.safetensors", inputs / "net.safetensors")
    if change in (PICTURES, SAME_TIMES):
        replace_pictures(every)
    if change == ONE:
        firsts: dict[Path, Path] = {}
        for file in every:
            firsts.setdefault(next(part for part in file.parents if part.parent == inputs), file)
        replace_pictures(list(firsts.values()))
    if change in (PICTURES, ONE):
        for file in every:
            later = file.stat().st_mtime_ns + 10**9
            os.utime(file, ns=(later, later))


def attempt(bench: Bench, number: int, seed: int, names: list[str]) -> tuple[str, str, str, int]:
    """One case: the command, what changed, what came of it, and how often it was killed."""
    draw = random.Random(f"{seed}/{number}")
    name = names[number % len(names)]
    command = COMMANDS[name]
    change = draw.choice(command.changes)
    bench.restore()
    _, files, seconds = bench.whole(name, NOTHING)
    out = bench.place / "out"
    kills = kill_often(bench, command, draw, files, seconds)
    alter(bench.inputs, change)
    if draw.random() < 0.3:
        kills += killed(bench, command, out, draw, files, seconds)
    wanted, _, _ = bench.whole(name, change)
    code = child(partial(command.run, bench.inputs, out), bench.log)
    lines = bench.log.read_text().strip().splitlines()
    if code == 0:
        outcome = "equal" if bench.result(name) == wanted else "different"
    else:
        told = code == 2 and len(lines) == 1 and lines[0].startswith("error: ")
        outcome = "noticed" if told and change != NOTHING else "failed"
    print(f"{number}: {name}, {change}: {outcome} after {kills} kills  {lines[-1][:150] if code else ''}", flush=True)
    return name, change, outcome, kills


def kill_often(bench: Bench, command: Command, draw: random.Random, files: int, seconds: float) -> int:
    """Kill a command one to three times, so that it is not complete then; how often it was killed."""
    out = bench.place / "out"
    while True:
        shutil.rmtree(out, ignore_errors=True)
        wanted, kills = draw.randint(1, 3), 0
        while kills < wanted and killed(bench, command, out, draw, files, seconds):
            kills += 1
        if kills == wanted:
            return kills


def killed(bench: Bench, command: Command, out: Path, draw: random.Random, files: int, seconds: float) -> bool:
    """Run a command and kill it at a random point; whether it was still running then."""
    finished = bench.place / "finished"
    finished.unlink(missing_ok=True)
    run = partial(run_whole, command, bench.inputs, out, finished)
    if draw.random() < 0.5:
        code = child(partial(run_until, run, draw.randint(1, files)), bench.log)
    else:
        code = child(run, bench.log, draw.uniform(0, seconds))
    return code == -signal.SIGKILL and not finished.exists()


def run_whole(command: Command, inputs: Path, out: Path, finished: Path) -> None:
    ended(command.run, inputs, out)
    finished.touch()


def run_until(run: Callable[[], Any], files: int) -> None:
    resumed_builds.kill_at(files)
    run()


def table_of(outcomes: list[tuple[str, str, str, int]]) -> str:
    """Outcomes and kills by command and change."""
    rows = [("command", "inputs", "kills", *GOOD, *BAD)]
    for name, change in sorted({outcome[:2] for outcome in outcomes}):
        own = [outcome for outcome in outcomes if outcome[:2] == (name, change)]
        counts = Counter(outcome[2] for outcome in own)
        rows.append(
            (name, change, str(sum(outcome[3] for outcome in own)), *(str(counts[one]) for one in (*GOOD, *BAD)))
        )
    counts = Counter(outcome[2] for outcome in outcomes)
    rows.append(("all", "", str(sum(outcome[3] for outcome in outcomes)), *(str(counts[one]) for one in (*GOOD, *BAD))))
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(text.ljust(width) for text, width in zip(row, wide)).rstrip() for row in rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int, nargs="?", default=100, help="at least so many SIGKILLs")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="words in names of commands, separated by commas")
    parser.add_argument("--case", type=int, help="one case alone, and its folder is kept")
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # no pool of threads exists when children are forked
    np.seterr(all="ignore")
    words = chosen.only.split(",")
    names = [name for name in COMMANDS if any(word in name for word in words)]
    bench = Bench(Path(tempfile.mkdtemp(prefix="snellen-kills-")))
    outcomes: list[tuple[str, str, str, int]] = []
    if chosen.case is not None:
        outcomes.append(attempt(bench, chosen.case, chosen.seed, names))
        print(bench.place)
    else:
        number = 0
        while sum(outcome[3] for outcome in outcomes) < chosen.kills:
            outcomes.append(attempt(bench, number, chosen.seed, names))
            number += 1
        shutil.rmtree(bench.place)
    print(table_of(outcomes))
    return int(any(outcome[2] in BAD for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
