"""What Volpi & Murino (2019) have of the same set of edits, folded below the worst edits."""

from __future__ import annotations

from snellen.report.blocks import Details, Published, Row, Table, TableCell, heads
from snellen.report.published import published_table

# The table of each published set of edits, and what its networks saw.
TABLES = {
    "mnist": ("1", "a ConvNet on MNIST at 32 pixels, 6 runs, combinations of 3 edits"),
    "cifar10": ("3", "Wide ResNet 16-4 on CIFAR-10, 3 runs, combinations of 5 edits"),
    "camvid": ("4", "FC-DenseNet103 on CamVid, pixel accuracy, 3 runs, combinations of 5 edits"),
    "faces": ("5", "a commercial face detector on 4 × 1,000 faces, combinations of 3 and 5 edits"),
}
ROWS = {
    "original": "clean",
    "random_worst": "RS: lowest of random",
    "searched_worst": "ES: lowest of search",
    "negative_accuracy": "negatives",
    "hue_accuracy": "shifted hues (SAE)",
}


def published_shift_blocks(edits: str) -> list[Details]:
    """The published table of a set of edits by name; nothing for a set of one's own."""
    if edits not in TABLES:
        return []
    number, about = TABLES[edits]
    table = published_table("volpi2019", number)
    columns = list(next(iter(table.values())))
    rows = tuple(
        Row(
            TableCell(_test(name)),
            tuple(TableCell(f"{row[key].value:.3f} ± {row[key].sd:.3f}", row[key].value) for key in columns),
        )
        for name, row in table.items()
    )
    text = (
        f"table {number}: {about}; mean ± standard deviation. ERM is plain training, the others train against shifts. They say "
        "how far apart trainings have been, not how good these models are."
    )
    shown = Table(heads("test", *columns), rows, dense=True)
    return [Details("Published values", (Published("Volpi & Murino 2019", False, text, (shown,)),))]


def _test(name: str) -> str:
    """The words of a row, with its number of edits where the paper has two."""
    test, comma, length = name.partition(", ")
    return f"{ROWS.get(test, test)}{comma}{length}"
