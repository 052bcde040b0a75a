"""`snellen compare`: models, or versions of one, on the same images."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from snellen.cli.options import AsJson, Config, takes
from snellen.exam.compare_request import CompareRequest
from snellen.settings_file import resolve
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.report.pages.compared import ComparedModels


@takes(CompareRequest, arguments=("run", "other"))
def compare(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Compare every pair of models on the same images, and show those that only one of two gets right."""
    from snellen.exam.comparing import compare_requested
    from snellen.report.pages.compared import compared_json

    request = resolve(CompareRequest, settings, config)
    compared = compare_requested(request)
    if json:
        show_json(compared_json(compared))
    elif not request.quiet:
        print_compared(compared)
        if request.page is not None:
            show(f"page: {request.page}")


def print_compared(compared: ComparedModels) -> None:
    """The models by accuracy, and a row for each pair."""
    from snellen.cli.printing import print_table
    from snellen.report.pages.compared import pair_legend, pair_rows
    from snellen.report.words import interval, percent

    best = sorted(compared.accuracies.items(), key=lambda item: -item[1].value)
    rows = [(model, percent(own.value), interval(own.low, own.high, "share")) for model, own in best]
    print_table([("model", "accuracy", "95% interval"), *rows])
    show()
    print_table(pair_rows(compared))
    for line in textwrap.wrap(pair_legend(compared), 80):
        show(line)
