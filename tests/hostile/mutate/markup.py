"""XML: entities that grow or lead elsewhere, encodings nobody knows, elements removed, nested or filled with nonsense."""

from __future__ import annotations

from pathlib import Path
from random import Random
from xml.etree import ElementTree

from . import nasty
from .unfit import fitting

LAUGHS = "<!DOCTYPE a [<!ENTITY a 'aaaaaaaaaa'>{}]>".format(
    "".join(f"<!ENTITY {b} '{f'&{a};' * 10}'>" for a, b in zip("abcdefghi", "bcdefghij"))
)
ELSEWHERE = "<!DOCTYPE a [<!ENTITY j SYSTEM 'file:///etc/passwd'>]>"
RAWS = (
    f"{LAUGHS}<annotation><object><name>&j;</name></object></annotation>",
    f"{ELSEWHERE}<annotation><object><name>&j;</name></object></annotation>",
    "<?xml version='1.0' encoding='klingon'?><annotation/>",
    "<?xml version='1.0' encoding='utf-16'?><annotation/>",
    "<?xml version='1.0' encoding='utf-7'?><annotation/>",
    "<?xml version='1.1'?><annotation/>",
    "<a>" * 100_000,
    "<a>" * 50_000 + "</a>" * 50_000,
    "<annotation/>",
    "<annotation>" + "<object/>" * 20_000 + "</annotation>",
    f"<annotation {'a' * 100_000}='b'/>",
    "<annotation>\x00</annotation>",
)


def mutate(file: Path, draw: Random) -> str:
    if draw.random() < 0.25:
        file.write_bytes(draw.choice(RAWS).encode())
        return "markup: raw"
    with fitting():
        tree = ElementTree.fromstring(file.read_bytes())
    element = draw.choice(list(tree.iter()))
    how = draw.choice(["text", "text", "text", "text", "tag", "children", "repeat", "attribute"])
    if how == "text":
        leaves = [one for one in tree.iter() if not len(one)]
        draw.choice(leaves or [element]).text = nasty.text(draw)
    elif how == "tag":
        element.tag = draw.choice(["x", "object", "bndbox", "xmin", "{urn:x}name"])
    elif how == "children":
        element[:] = []
    elif how == "repeat":
        element.extend([*element] * draw.choice([1, 3, 100]))
    else:
        element.set("a", nasty.text(draw))
    with fitting():  # it may be nested too deeply
        text = ElementTree.tostring(tree, encoding="unicode")
    file.write_bytes(text.encode(errors="replace"))
    return f"markup: {how}"
