"""Outcomes as Markdown, short enough for a comment on a pull request."""

from __future__ import annotations

from snellen.engine.keep.gate_record import GateRecord
from snellen.report import Page, gate_blocks, markdown_of


def to_markdown(record: GateRecord, run: str) -> str:
    """The outcomes as a page of Markdown: the verdict, then a row for each condition, those that fail first.

    >>> from snellen.check import gate, to_markdown
    >>> from snellen import audit, gate
    >>> _ = audit("observer:texture", "phantom:test?size=32&n=240&texture_bias=1", "occlusion",
    ...     out="runs/first", quiet=True)
    >>> record = gate("runs/first", require=["accuracy > 0.9"], quiet=True)
    >>> to_markdown(record, "runs/first").splitlines()[0]
    '# Gate open: runs/first'
    """
    word = "open" if record.passed else "closed"
    return markdown_of(Page(f"Gate {word}: {run}", tuple(gate_blocks(record))))
