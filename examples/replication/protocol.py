"""What the scripts of all papers do: train groups of runs, audit them together, and leave a small folder to take away."""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import snellen
from snellen.data import Dataset
from snellen.exam.run import Run
from snellen.models.checkpoint import read_card
from snellen.train import Progress, Recipe, train


def arguments(about: str | None, **defaults: Any) -> argparse.ArgumentParser:
    """The flags that all scripts share."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default=defaults["arch"], nargs="+" if isinstance(defaults["arch"], list) else None)
    parser.add_argument("--recipe", default=defaults["recipe"], help="a preset, or fast")
    parser.add_argument("--epochs", type=int, help="default: the recipe's")
    parser.add_argument("--updates", type=int, help="length in steps instead")
    parser.add_argument("--runs", type=int, default=defaults.get("runs", 5))
    parser.add_argument("--every", type=int, default=1, help="measure the test accuracy after so many epochs")
    parser.add_argument("--limit", type=int, help="at most so many images for training and test")
    parser.add_argument("--audits", default=None, help="default: all")
    parser.add_argument("--device")
    parser.add_argument("--compile", action="store_true", help="by torch.compile: a quarter faster on a GPU")
    parser.add_argument(
        "--root", type=Path, default=Path("datasets"), help="folder of the files of examples/download.py"
    )
    parser.add_argument("--out", type=Path, default=Path("runs") / "replication" / defaults["name"])
    parser.add_argument("--test-only", action="store_true", help="do not ask about the training images")
    parser.add_argument("--bring", type=Path, help="copy findings, predictions and the table here")
    return parser


def train_group(recipe: Recipe, data: Dataset, folder: Path, chosen: argparse.Namespace, **how: Any) -> list[Path]:
    """The runs of one recipe (`--runs` of them, unless `runs` says otherwise); what is there is kept, what was stopped
    goes on."""
    runs = how.pop("runs", None) or chosen.runs
    how |= {"every": chosen.every, "compile": chosen.compile}
    return train(recipe, data, folder, runs, device=chosen.device, progress=_say, **how)


def audit_groups(
    groups: Mapping[str, Sequence[Path]],
    test: Dataset,
    learnt: Dataset | None,
    chosen: argparse.Namespace,
    folder: str = "run",
    **how: Any,
) -> Run:
    """All groups on the same images; needs neither DuckDB nor a renderer of charts."""
    models = {name: [str(path) for path in paths] for name, paths in groups.items()}
    learnt = None if chosen.test_only else learnt
    asked = {"audits": chosen.audits, "train": learnt, "device": chosen.device, **how}
    return snellen.audit(models, test, out=chosen.out / folder, report=False, **asked)


def each(work: Any, jobs: Sequence[Any], processes: int) -> list[Any]:
    """What comes of each job, in order; one that fails is reported at once, and the others go on."""
    if processes == 1:
        return [work(job) for job in jobs]
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(work, job) for job in jobs]
        for future in futures:
            future.add_done_callback(_report_failure)
        return [future.result() for future in futures]


def _report_failure(future: Future[Any]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        print(f"failed: {error}", file=sys.stderr, flush=True)


def curves_table(groups: Mapping[str, Sequence[Path]]) -> str:
    """Accuracy, best accuracy, diversity and mix diversity (both of the last epoch), mean ± sd over runs; seconds.

    Seconds an epoch are the median over all epochs, measuring the test accuracy included; those of a run include compiling.
    """
    head = "| group | runs | accuracy % | best % | diversity | mix diversity | seconds an epoch | seconds a run |"
    lines = [head, "|---" * 8 + "|"]
    for name, paths in groups.items():
        cards = [read_card(path) for path in paths]
        last = [card["history"][-1] for card in cards]
        numbers = [
            _spread([100 * card["accuracy"] for card in cards], 2),
            _spread([100 * card["best"]["accuracy"] for card in cards], 2),
            _spread([row["diversity"] for row in last], 3),
            _spread([row["mix_diversity"] for row in last], 3),
            f"{median(row['seconds'] for card in cards for row in card['history']):.3f}",
            _spread([card["seconds"] for card in cards], 0),
        ]
        lines.append(f"| {name} | {len(cards)} | " + " | ".join(numbers) + " |")
    return "\n".join(lines) + "\n"


def bring_back(run: Run, table: str, folder: Path) -> None:
    """What is worth taking off a machine: findings, the predicted class of every answer, the table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("findings.json", "findings.csv", "run.json"):
        shutil.copy(run.path / name, folder / name)
    cells = pa.concat_tables([pq.read_table(file) for file in run.store.files("cells")], promote_options="default")
    kept = [pq.read_table(file, columns=["cell", "sample", "pred"]) for file in run.store.files("answers")]
    answers = pa.concat_tables(kept, promote_options="default")
    small = answers.set_column(2, "pred", answers["pred"].cast(pa.int16()))
    pq.write_table(cells, folder / "cells.parquet", compression="zstd")
    pq.write_table(small, folder / "predictions.parquet", compression="zstd", use_dictionary=True)
    (folder / "table.md").write_text(table)


def finish(run: Run, groups: Mapping[str, Sequence[Path]], chosen: argparse.Namespace) -> None:
    """Print the table and the findings, and bring them back where asked."""
    table = curves_table(groups)
    print(table)
    frame = run.findings().query("name != 'difference'")
    print(frame[[column for column in ("model", "name", "value", "low", "high") if column in frame]].to_string())
    bring_back(run, table, chosen.bring or chosen.out / "brought")


def _spread(values: Sequence[float], digits: int) -> str:
    deviation = f" ± {stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{fmean(values):.{digits}f}{deviation}"


def _say(done: Progress) -> None:
    reached = f", accuracy {done.accuracy:.4f}" if done.accuracy is not None else ""
    text = f"{done.run}: epoch {done.epoch} of {done.epochs}, loss {done.loss:.3f}{reached}, {done.left:.0f} s left"
    print(text, file=sys.stderr, flush=True)
