"""What `snellen sweep matrix` prints: its plan and cost, or its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.sweep.matrix_plan import MatrixPlan, RowCost
    from snellen.sweep.matrix_table import Matrix, MatrixValue

NAMES = {"unoccluded_accuracy": "unoccluded", "mean_rank": "rank", "occlusion_residual": "beyond"}
BEYOND = "occluded accuracy beyond what unoccluded accuracy predicts, in points; * p < 0.05 over all of them (Holm)"


def print_matrix(matrix: Matrix) -> None:
    """A line for each row, best mean rank first, with 95% intervals; and where the report is."""
    from snellen.cli.printing import print_table

    names = [row.name for row in sorted(matrix.rows, key=lambda row: _rank(matrix, row.name))]
    beyond = [pair for pair in matrix.head if pair[0] == "occlusion_residual"]
    for title, head in (
        ("unoccluded accuracy and mean rank", [pair for pair in matrix.head if pair not in beyond]),
        (BEYOND, beyond),
    ):
        if head:
            show(title)
            rows = [(name, *(_cell(matrix.of(name, *pair)) for pair in head)) for name in names]
            print_table([("row", *(where or NAMES[measure] for measure, where in head)), *rows])
            show()
    show(f"table: {matrix.folder / 'matrix.csv'}")
    show(f"report: {matrix.run.path / 'report.html'}")


def print_cost(plan: MatrixPlan, costs: Sequence[RowCost], *, as_json: bool) -> None:
    """Rows, trials and how many images go through each network; hours where they were measured."""
    from snellen.cli.printing import print_table

    request = plan.request
    if as_json:
        show_json(
            {"learnt": plan.learnt, "held_out": plan.held_out, "test": len(plan.test), "rows": [*map(asdict, costs)]}
        )
        return
    timed = all(cost.seconds is not None for cost in costs)
    head = (
        "row",
        "network",
        "trials",
        "epochs",
        "images in trials",
        f"in {request.runs} run{'s' * (request.runs > 1)}",
    )
    rows = [
        (cost.name, cost.arch, f"{cost.trials:,}", f"{cost.epochs:,}", f"{cost.trial_images:,}", f"{cost.run_images:,}")
        + ((_hours(cost.seconds or 0),) if timed else ())
        for cost in costs
    ]
    print_table([(*head, *(("time",) if timed else ())), *rows])
    show()
    show(
        f"data: {plan.data.text} ({len(plan.data):,} images; grids learn from {plan.learnt:,}, held out {plan.held_out:,})"
    )
    show(
        f"test: {plan.test.text} ({len(plan.test):,} images, {len(costs) * request.runs:,} networks; read after training)"
    )
    show(f"images in training: {sum(cost.images for cost in costs):,}, forward and backward")
    if timed:
        show(f"time of training here, one after the other: {_hours(sum(cost.seconds or 0 for cost in costs))}")


def _cell(value: MatrixValue | None) -> str:
    """A number with its interval; shares in percent, ranks as they are."""
    if value is None or value.value is None:
        return "–"
    scale, digits = (1, 2) if value.measure == "mean_rank" else (100, 1)
    ends = (
        ""
        if value.low is None or value.high is None
        else f" [{scale * value.low:.{digits}f}, {scale * value.high:.{digits}f}]"
    )
    star = " *" if value.p is not None and value.p < 0.05 else ""
    return f"{scale * value.value:.{digits}f}{ends}{star}"


def _rank(matrix: Matrix, row: str) -> tuple[float, float]:
    """What rows are sorted by: the mean over all mean ranks, then unoccluded accuracy."""
    ranks = [
        value.value for value in matrix.values if value.row == row and value.measure == "mean_rank" and value.value
    ]
    clean = matrix.of(row, "unoccluded_accuracy", "")
    return (sum(ranks) / len(ranks) if ranks else 0.0, -(clean.value or 0.0) if clean else 0.0)


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"
