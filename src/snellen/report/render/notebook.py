"""The first screen and charts of a run for notebooks: fragments that stand inside a page of someone else's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from snellen.atomic import write_atomic
from snellen.errors import UserError, harmless, unknown
from snellen.files.plain import place_to_write
from snellen.report.blocks import NAMES, Chart
from snellen.report.figures import drawing
from snellen.report.first_screen import FirstScreen, first_screen
from snellen.report.glossary import SIGN_MEANINGS, sentence_on
from snellen.report.render.html import environment
from snellen.report.results import AnyFinding, Results
from snellen.report.sections import SECTIONS
from snellen.report.words import UNKNOWN, in_unit, interval


def screen_html(screen: FirstScreen) -> str:
    """The first screen as a fragment of HTML that needs nothing else; every value is escaped."""
    words = {"value": _value, "interval": _interval, "sign": _sign}
    template = environment().get_template("notebook.html")
    return harmless(template.render(screen=screen, signs=SIGN_MEANINGS, di=sentence_on("DI"), **words))


def run_html(results: Results) -> str:
    """The first screen of a run."""
    return screen_html(first_screen(results))


def _value(finding: AnyFinding | None) -> str:
    return UNKNOWN if finding is None else in_unit(finding.value, finding.unit)


def _interval(finding: AnyFinding | None) -> str:
    ends = UNKNOWN if finding is None else interval(finding.low, finding.high, finding.unit)
    return "" if ends == UNKNOWN else ends


def _sign(finding: AnyFinding | None) -> str:
    return finding.interference.sign if finding is not None and finding.interference else ""


# Charts


@dataclass(frozen=True)
class Plot:
    """The charts of one audit: shown in a notebook as they are, as SVG (`svgs`, one per title), saved by `save`."""

    name: str
    titles: tuple[str, ...]
    svgs: tuple[str, ...]

    def _repr_html_(self) -> str:
        from markupsafe import escape

        charts = (f"<figure><figcaption>{escape(t)}</figcaption>{s}</figure>" for t, s in zip(self.titles, self.svgs))
        return f'<div style="display:flex;flex-wrap:wrap">{"".join(charts)}</div>'

    def save(self, path: Path | str) -> list[Path]:
        """Write the charts as SVG files and give their paths: the first at `path`, further ones numbered after it."""
        first = place_to_write(path)
        if first.suffix != ".svg":
            raise UserError(f"expected a name that ends in .svg, got '{first}'")
        places = [first, *(first.with_stem(f"{first.stem}-{number}") for number in range(2, len(self.svgs) + 1))]
        for place, picture in zip(places, self.svgs):
            write_atomic(place, picture.encode())
        return places


def plot_of(results: Results, name: str) -> Plot:
    """The charts of an audit of a run, those that its report has."""
    if name not in SECTIONS:
        raise unknown("plot", name, SECTIONS)
    charts = _charts(results, name)
    if not charts:
        available = [other for other in SECTIONS if other != name and _charts(results, other)]
        has = f"it has {', '.join(available)}" if available else "it has none"
        raise UserError(f"the run has no chart of '{name}': {has}")
    return Plot(name, tuple(chart.title for chart in charts), tuple(map(drawing, charts)))


def _charts(results: Results, name: str) -> list[Chart]:
    return [chart for block in SECTIONS[name].blocks(results) for chart in _charts_in(block)]


def _charts_in(value: Any) -> Iterator[Chart]:
    """The charts in a block, whatever they are inside of."""
    if isinstance(value, Chart):
        if value.spec:  # one with nothing to draw has only its title and caption
            yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _charts_in(item)
    elif type(value) in NAMES:
        for declared in fields(value):
            yield from _charts_in(getattr(value, declared.name))
