"""What can be right without looking: guessing among the classes, or always naming the most frequent one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snellen.engine.keep.run_folder import RunFolder
from snellen.engine.keep.shard_file import read_rows
from snellen.report.words import percent

CONSTANT = 0.95  # share of the images from which one answer is called the answer to nearly all of them


@dataclass(frozen=True)
class Guess:
    """Accuracies without looking: `chance` among the classes, and `constant` by the most frequent class, whose name is `answer`,
    empty where it gains nothing."""

    chance: float
    constant: float
    answer: str = ""

    @property
    def level(self) -> float:
        """The better of the two: what an accuracy must be above to mean anything."""
        return max(self.chance, self.constant)

    @property
    def numbers(self) -> str:
        """Both in brackets, such as `always 'dog' 66.7%, chance 50.0%`."""
        chance = f"chance {percent(self.chance)}"
        return f"always '{self.answer}' {percent(self.constant)}, {chance}" if self.answer else chance

    @property
    def threshold(self) -> str:
        """What an accuracy is to be above, in words, such as `chance (50.0%)`."""
        if not self.answer:
            return f"chance ({percent(self.chance)})"
        return f"always answering '{self.answer}' ({percent(self.constant)}; chance {percent(self.chance)})"

    @property
    def line(self) -> str:
        """What a line at this level is, in words."""
        return f"always answering '{self.answer}', which is above chance" if self.answer else "chance"


def best_guess(
    folder: RunFolder,
    on: str,
    classes: Sequence[str],
    among: Collection[str] | None = None,
    chance: float | None = None,
) -> Guess:
    """The accuracies of not looking at one dataset of a run, by the labels of its readable images; `among` some samples alone.
    `chance` is that of a model which is offered some of the classes only."""
    chance = 1 / max(1, len(classes)) if chance is None else chance
    counts: Counter[int] = Counter()
    for file in sorted((folder.path / "samples" / on).glob("*.parquet")):
        rows = read_rows(file, ["sample", "label", "error"]).to_pylist()
        readable = (row for row in rows if row["label"] >= 0 and not row["error"])
        counts.update(row["label"] for row in readable if among is None or row["sample"] in among)
    if not counts:
        return Guess(chance, 0.0)
    label, most = counts.most_common(1)[0]
    constant = most / counts.total()
    # A difference that no page would print is none.
    return Guess(chance, constant, classes[label] if percent(constant) != percent(chance) else "")


@dataclass(frozen=True)
class CountedAnswers:
    """The answers that findings rest on, `preds` [cells × samples], and the `samples` that count for one of them."""

    samples: frozenset[str]
    preds: tuple[int, ...]


@dataclass(frozen=True)
class Counted:
    """Of all answers of a run: how many scores each cell has, by its key, and the samples that what was shown excludes."""

    scores: Mapping[str, int]
    excluded: Mapping[str, set[str]]

    @classmethod
    def of(cls, folder: RunFolder) -> Counted:
        """Counted over the files once."""
        import pyarrow.compute as pc

        scores: Counter[str] = Counter()
        for file in folder.store.files("answers"):
            table = read_rows(file, ["cell", "score"])
            for count in table.filter(pc.is_valid(table["score"]))["cell"].value_counts().to_pylist():
                scores[count["values"]] += count["counts"]
        return cls(scores, _excluded(folder))

    def all_count(self, cells: Sequence[Mapping[str, Any]], samples: int) -> bool:
        """Whether each of so many samples counts for each of some cells, rows of the `cells` table."""
        return all(self.scores.get(row["cell"]) == samples and row["shown"] not in self.excluded for row in cells)


def counted_answers(
    folder: RunFolder, cells: Sequence[Mapping[str, Any]], excluded: Mapping[str, set[str]]
) -> CountedAnswers:
    """Of rows of the `cells` table: a sample counts where every run of a model has a score for it and its distortion applied."""
    import pyarrow.compute as pc

    answers: dict[str, dict[str, int]] = {row["cell"]: {} for row in cells}
    for file in folder.store.answer_files(answers) if cells else ():
        columns = ["cell", "sample", "pred", "score"]
        table = read_rows(file, columns, filters=pc.field("cell").isin(list(answers)))
        known = table.filter(pc.is_valid(table["score"]))
        for cell, sample, pred in zip(*(known[name].to_pylist() for name in columns[:3])):
            answers[cell][sample] = pred
    counted: dict[tuple[str, str], set[str]] = {}
    for row in cells:
        own = answers[row["cell"]].keys() - excluded.get(row["shown"], set())
        which = (row["model"], row["distortion"])
        counted[which] = counted.get(which, own) & own
    preds = (answers[row["cell"]][name] for row in cells for name in counted[row["model"], row["distortion"]])
    return CountedAnswers(frozenset().union(*counted.values()), tuple(preds))


def _excluded(folder: RunFolder) -> dict[str, set[str]]:
    """What was shown → the samples that its distortion could not be applied to."""
    excluded: dict[str, set[str]] = {}
    for file in folder.store.files("shown"):
        table = folder.store.rows(file, ["shown", "sample", "excluded"])
        for row in table.filter(table["excluded"]).to_pylist():
            excluded.setdefault(row["shown"], set()).add(row["sample"])
    return excluded


def constant_answer(preds: Sequence[int], classes: Sequence[str]) -> str:
    """The class that nearly all answers are, in words such as `'dog' to every image`; '' where they vary."""
    counts = Counter(preds)
    if not counts:
        return ""
    (pred, most), total = counts.most_common(1)[0], counts.total()
    if pred < 0 or most < CONSTANT * total:
        return ""
    return f"'{classes[pred]}' to " + ("every image" if most == total else f"{percent(most / total)} of the images")
