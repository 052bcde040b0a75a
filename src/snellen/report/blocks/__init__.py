"""Blocks: what a page shows, as frozen dataclasses that are JSON. How a block looks is the renderers' business.

A *line* is a tuple of plain texts and `Span`s. A *hue* is the colour of a dot: "0" to "7" for models by their place in a
run, "bar" for what belongs to none, "" for no dot.
"""

from __future__ import annotations

from snellen.report.blocks.kinds import (
    BLOCK_TYPES,
    BLOCKS,
    NAMES,
    PARTS,
    Block,
    Bullets,
    CardBlock,
    Chapter,
    Chart,
    Command,
    Definitions,
    Details,
    FactLine,
    Gallery,
    Heading,
    Panels,
    Prose,
    Published,
    Strip,
    Table,
)
from snellen.report.blocks.page import Page, from_json, to_json
from snellen.report.blocks.parts import Answer, Badge, Bar, Entry, Group, Line, Picture, Row, Shot, Span, TableCell
from snellen.report.blocks.short_forms import bold, code, heads, lead, note, prose

__all__ = [
    "BLOCKS",
    "BLOCK_TYPES",
    "NAMES",
    "PARTS",
    "Answer",
    "Badge",
    "Bar",
    "Block",
    "Bullets",
    "CardBlock",
    "Chapter",
    "Chart",
    "Command",
    "Definitions",
    "Details",
    "Entry",
    "FactLine",
    "Gallery",
    "Group",
    "Heading",
    "Line",
    "Page",
    "Panels",
    "Picture",
    "Prose",
    "Published",
    "Row",
    "Shot",
    "Span",
    "Strip",
    "Table",
    "TableCell",
    "bold",
    "code",
    "from_json",
    "heads",
    "lead",
    "note",
    "prose",
    "to_json",
]
