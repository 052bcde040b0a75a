"""The page as Markdown, in brief: verdict, notices, table and how to make it again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from snellen.report.words import UNKNOWN, index, interval, measured, spread


def markdown_of(page: Mapping[str, Any]) -> str:
    """The page's first half as Markdown; values are escaped, so that a class name cannot break a table or add a tag."""
    data = "; ".join(f"{one['text']} ({one['samples']:,} images, {one['classes']} classes)" for one in page["data"])
    models = ", ".join(f"{one['name']} ({_runs(one['runs'])})" for one in page["models"])
    parts = [
        f"# {escaped(page['title'])}",
        f"{escaped(data)} · {escaped(models)} · {page['created'][:10]} · snellen {escaped(page['snellen'])}",
        *_warnings(page),
        "## Verdict",
        *(_model(one) for one in page["verdict"]["models"]),
    ]
    if page["verdict"]["between"]:
        parts += ["**Between the models**", "\n".join(f"- {escaped(said)}" for said in page["verdict"]["between"])]
    parts.append(f"*{escaped(page['verdict']['caveat'])}*")
    if page["notices"]:
        parts += ["## Notices", "\n".join(f"- {escaped(notice)}" for notice in page["notices"])]
    if page["comparison"]:
        parts += ["## The models side by side", _comparison(page["comparison"])]
    parts += ["## Findings", _table(page), LEGEND]
    versions = ", ".join(f"{name} {version}" for name, version in page["reproduce"]["versions"].items())
    parts += ["## Make it again", _fenced(page["command"]), escaped(versions)]
    return "\n\n".join(parts) + "\n"


LEGEND = (
    "Value with its 95 % interval; **bold**: clearly better than every other model. "
    "DI: the data interference of the distortion with its dominant class; ▲ above chance and above mild noise, "
    "△ above chance only. DI is comparative, not absolute. – is not known."
)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(text.split())).replace("\\<", "&lt;").replace("\\>", "&gt;")


def _warnings(page: Mapping[str, Any]) -> list[str]:
    told = [f"- {escaped(one['text'])} — **{escaped(one['advice'])}**" for one in page["warnings"]]
    return ["## Check before you believe", "\n".join(told)] if told else []


def _model(said: Mapping[str, Any]) -> str:
    told = [f"- {escaped(said[part])}" for part in ("clean", "breaks", "background", "trust") if said[part]]
    told += [f"  - {escaped(one)}" for one in said["flagged"]]
    told += [f"- {escaped(said['yardstick'])}"] if said["yardstick"] else []
    return f"**{escaped(said['model'])}**\n\n" + "\n".join(told)


def _table(page: Mapping[str, Any]) -> str:
    heads = ["", *(escaped(model["name"]) for model in page["models"])]
    lines = [heads, ["---"] * len(heads)]
    for section in page["table"]:
        for row in section["rows"]:
            lines.append([escaped(row["label"]), *(_cell(cell, row["name"]) for cell in row["cells"])])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _comparison(held: Mapping[str, Any]) -> str:
    """A row per model; ± is the spread over its runs."""
    heads = ["model", *map(escaped, held["columns"])]
    lines = [heads, ["---"] * len(heads)]
    for row in held["rows"]:
        name = f"{escaped(row['model'])} ({_runs(row['runs'])})"
        lines.append([name, *(_with_spread(cell) for cell in row["cells"])])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _with_spread(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return UNKNOWN
    told = f"{measured(cell['value'], cell['unit'])}{spread(cell['std'], cell['unit'])}"
    trust = cell["trust"]
    if trust:
        di = f"{index(trust['index'])}{spread(trust['std'], 'index')}"
        told += f" · DI {di} {escaped(trust['dominant'] or UNKNOWN)} {trust['sign']}"
    return told.rstrip()


def _cell(cell: Mapping[str, Any] | None, name: str) -> str:
    if cell is None:
        return UNKNOWN
    value = measured(cell["value"], cell["unit"])
    told = f"**{value}**" if cell["best"] else value
    told += f" ({interval(cell['low'], cell['high'], cell['unit'])})"
    trust = cell["trust"]
    if trust:
        dominant = escaped(trust["dominant"] or UNKNOWN)
        told += f" · {dominant} {trust['sign']}" if name == "interference" else (
            f" · DI {index(trust['index'])} {dominant} {trust['sign']}"
        )  # fmt: skip
    return told.rstrip()


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"


def _fenced(text: str) -> str:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"
