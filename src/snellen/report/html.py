"""The page as HTML: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.report import words
from snellen.report.charts import COLOURS, bar_chart, bar_ends, curve_chart, svg
from snellen.report.interference_charts import highest, index_chart, sweep_chart

FOLDER = Path(__file__).parent


def html_of(page: Mapping[str, Any]) -> str:
    """The page through the template; every value is escaped, only our own charts go in as they are."""
    import jinja2
    from markupsafe import Markup

    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "measured": words.measured, "interval": words.interval, "percent": words.percent, "di": words.index,
        "spread": words.spread,
    }  # fmt: skip
    models = [model["name"] for model in page["models"]]
    return templates.get_template("report.html").render(
        page=page,
        places={model: place % len(COLOURS) for place, model in enumerate(models)},
        curve=lambda panel: Markup(svg(curve_chart(panel, models))),
        indices=lambda model: Markup(svg(index_chart(model, highest(page["interference"]["models"])))),
        sweep=lambda held: Markup(svg(sweep_chart(held, models))),
        bars=lambda chart, beside: Markup(svg(bar_chart(chart, bar_ends(beside)))),
    )
