"""The page as HTML: one file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snellen.measure import CATEGORIES
from snellen.report import words
from snellen.report.adversarial_charts import histogram_chart, shares_chart
from snellen.report.background_charts import (
    HUES,
    categories_chart,
    progress_chart,
    published_chart,
    size_chart,
    variants_chart,
)
from snellen.report.background_gallery import heads
from snellen.report.charts import COLOURS, bar_chart, bar_ends, curve_chart, svg
from snellen.report.interference_charts import highest, index_chart, sweep_chart
from snellen.report.iocclusion import highest_ratio, ratio_chart

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
        ratio=lambda panel: Markup(svg(ratio_chart(panel, models, highest_ratio(page["ratios"])))),
        indices=lambda model: Markup(svg(index_chart(model, highest(page["interference"]["models"])))),
        sweep=lambda held: Markup(svg(sweep_chart(held, models))),
        background_charts={
            "variants": lambda: Markup(svg(variants_chart(page["background"]))),
            "categories": lambda rows, by: Markup(svg(categories_chart(rows, by))),
            "sizes": lambda: Markup(svg(size_chart(page["background"]))),
            "progress": lambda what: Markup(svg(progress_chart(page["background"]["progress"], what))),
            "published": lambda: Markup(svg(published_chart(page["background"]))),
        },
        adversarial_charts={
            "by_class": lambda: Markup(svg(shares_chart(page["adversarial"]["by_class"], models, "share fooled"))),
            "histogram": lambda: Markup(svg(histogram_chart(page["adversarial"]["rates"], models))),
            "totals": lambda: Markup(svg(shares_chart(_totals(page["adversarial"]), models, "share turned into it"))),
        },
        background_heads=heads(),
        background_hues=dict(zip(CATEGORIES, HUES)),
        bars=lambda chart, beside: Markup(svg(bar_chart(chart, bar_ends(beside)))),
    )


def _totals(held: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The totals by class, with the published ones where the classes are the same."""
    beside = [{**row, "published": True} for row in held["published_totals"]] if held["comparable"] else []
    return [*held["totals"], *beside]
