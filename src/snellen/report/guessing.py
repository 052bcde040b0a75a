"""What can be right without looking: guessing among the classes, or always naming the most frequent one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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


def best_guess(folder: RunFolder, on: str, classes: Sequence[str]) -> Guess:
    """The accuracies of not looking at one dataset of a run, by the labels of its readable images."""
    chance = 1 / max(1, len(classes))
    counts: Counter[int] = Counter()
    for file in sorted((folder.path / "samples" / on).glob("*.parquet")):
        rows = read_rows(file, ["label", "error"]).to_pylist()
        counts.update(row["label"] for row in rows if row["label"] >= 0 and not row["error"])
    if not counts:
        return Guess(chance, 0.0)
    label, most = counts.most_common(1)[0]
    constant = most / counts.total()
    # A difference that no page would print is none.
    return Guess(chance, constant, classes[label] if percent(constant) != percent(chance) else "")


def constant_answer(folder: RunFolder, cells: Sequence[str], classes: Sequence[str]) -> str:
    """The class that nearly all answers of some cells are, in words such as `'dog' to every image`; '' where they vary."""
    import pyarrow.compute as pc

    counts: Counter[int] = Counter()
    for file in folder.store.files("answers") if cells else ():
        table = read_rows(file, ["cell", "pred"], filters=pc.field("cell").isin(list(cells)))
        counts.update(table["pred"].to_pylist())
    if not counts:
        return ""
    (pred, most), total = counts.most_common(1)[0], counts.total()
    if pred < 0 or most < CONSTANT * total:
        return ""
    return f"'{classes[pred]}' to " + ("every image" if most == total else f"{percent(most / total)} of the images")
