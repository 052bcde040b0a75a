"""The journal of a search, which must end in the same result or be refused; and texts of charts and pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .outcome import Different

_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
MOST_TEXTS, LONGEST = 6, 200


def fitness(edits: tuple[str, ...]) -> float:
    return 0.1 + 0.8 * (sum(map(ord, "".join(edits))) % 997) / 997


def search(path: Path) -> Any:
    """A small search that keeps its evaluations in a file."""
    from snellen.search import evolution_search

    return evolution_search(fitness, "mnist", 2, 4, 4, seed=3, checkpoint=path)


def journal(folder: Path) -> object:
    """The search continued from what is left of its journal."""
    result, whole = search(folder / "journal.jsonl"), search(folder / "fresh.jsonl")
    if result != whole:
        raise Different(f"journal.jsonl continued to {result.value:g}, the search itself to {whole.value:g}")
    return result


def chart_texts(folder: Path) -> object:
    """A page with a chart whose models, classes and titles are the lines of a file."""
    from snellen.files import read_bytes
    from snellen.report.blocks import Chart, Command, Page, prose
    from snellen.report.charts import chart, layer, nominal, quantitative
    from snellen.report.render import RENDERINGS

    lines = read_bytes(folder / "texts.txt").decode(errors="surrogateescape").split("\n")
    texts = tuple(dict.fromkeys(line[:LONGEST] for line in lines))[:MOST_TEXTS]
    rows = [{"name": text, "value": len(text)} for text in texts]
    bars = layer("bar", {"x": quantitative("value", texts[0]), "y": nominal("name", texts)})
    drawing = Chart(texts[0], chart(200, 200, rows, bars), (texts,))
    page = Page(texts[0], (prose(*texts), Command("\n".join(texts)), drawing))
    pages = [render(page) for render in RENDERINGS.values()]
    for text in pages:
        if acting := _ACTING.search(text):
            raise Different(f"texts.txt: a page holds {acting[0]!r}")
    return [len(text.encode()) for text in pages]
