"""`python docs/gallery.py`: open each results page with its finding and its picture, and write docs/results/index.md from them.

Both are listed in docs/gallery.yaml. Run it after a script has written a results page again: it puts the opening back, and draws
the picture from the page's own table.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from gallery_chart import Bars, Counts, drawing

DOCS = Path(__file__).resolve().parent
RESULTS, IMAGES = DOCS / "results", DOCS / "images"
HEAD = """# Results

What was measured with snellen, page by page: the finding, its picture, then the tables and the commands that repeat it. Written
by `python docs/gallery.py`; do not edit. The kept findings themselves: [data](data/README.md).
"""


@dataclass(frozen=True)
class Opening:
    """One sentence or two that say what was found, and the picture: bars of a table of the page, or a file that is there."""

    name: str
    finding: str
    about: str  # the page that it is about, below docs
    chart: Bars | Counts | None = None
    picture: str = ""
    alt: str = ""

    @property
    def shown(self) -> str:
        """The picture in Markdown, as seen from docs/results."""
        words = self.chart.title if self.chart else self.alt
        return f"![{words}](../images/{f'results-{self.name}.svg' if self.chart else self.picture})"


def sections() -> dict[str, list[Opening]]:
    """The openings of docs/gallery.yaml under their headings."""
    read = yaml.safe_load((DOCS / "gallery.yaml").read_text())
    return {heading: [opening(name, **entry) for name, entry in pages.items()] for heading, pages in read.items()}


def opening(name: str, finding: str, about: str, bars: dict[str, Any] | None = None, counts: dict[str, str] | None = None,
            **picture: str) -> Opening:  # fmt: skip
    chart = (
        Bars(**{key: tuple(value) if isinstance(value, list) else value for key, value in bars.items()})
        if bars
        else None
    )
    return Opening(name, finding.strip(), about, chart or (Counts(**counts) if counts else None), **picture)


def opened(text: str, one: Opening) -> str:
    """A results page with its finding and picture right below its title, once."""
    title, _, rest = text.partition("\n\n")
    rest = re.sub(r"\A> \*\*Finding\.\*\* .*?\n\n!\[[^\n]*\n\nAbout: [^\n]*\n\n", "", rest, flags=re.S)
    heading = (DOCS / one.about).read_text().partition("\n")[0].removeprefix("# ")
    about = f"About: [{heading}](../{one.about}) · [all results](index.md)"
    quote = "\n".join(f"> {line}" for line in wrapped(f"**Finding.** {one.finding}", 118))
    return f"{title}\n\n{quote}\n\n{one.shown}\n\n{about}\n\n{rest}"


def gallery(texts: dict[str, str]) -> str:
    """The text of docs/results/index.md: every page by its name, its finding and its picture."""
    parts = [HEAD]
    for heading, openings in sections().items():
        parts.append(f"## {heading}\n")
        for one in openings:
            title = texts[one.name].partition("\n")[0].removeprefix("# ")
            finding = "\n".join(wrapped(one.finding, 120))
            parts += [f"### [{title}]({one.name}.md)\n", f"{finding}\n", f"{one.shown}\n"]
    return "\n".join(parts)


def wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def files() -> dict[Path, str]:
    """What this script writes: pages with their openings, pictures and the gallery."""
    openings = [one for section in sections().values() for one in section]
    texts = {one.name: (RESULTS / f"{one.name}.md").read_text() for one in openings}
    made = {RESULTS / "index.md": gallery(texts)}
    for one in openings:
        made[RESULTS / f"{one.name}.md"] = opened(texts[one.name], one)
        if one.chart:
            made[IMAGES / f"results-{one.name}.svg"] = drawing(texts[one.name], one.chart)
    return made


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
