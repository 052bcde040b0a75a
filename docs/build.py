"""`make docs`: write what is generated in the docs — reference.md and, with --picture RUN, the README's picture."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from pathlib import Path

from snellen.audits import AUDITS
from snellen.catalogue import catalogue
from snellen.distort import DISTORTIONS
from snellen.distort.fills import PAINTS
from snellen.distort.law import LAWS
from snellen.text import format_value

DOCS = Path(__file__).parent


def reference() -> str:
    """The text of reference.md."""
    parts = ["# Reference\n", "Written by `make docs` from the code's own documentation; do not edit.\n"]
    parts += ["## Models\n", _pairs("models"), "## Data\n", _pairs("data")]
    parts.append("`?column=value` keeps only the rows with that value; several are joined with `&`. For `phantom:` the "
                 "options are its dials.\n")  # fmt: skip
    parts.append("## Distortions\n")
    parts.append("Arguments may be given by position or by name; `a | b` chains. The text form prints all fields and is "
                 "the distortion's identity.\n")  # fmt: skip
    parts += [_entry(name, cls) for name, cls in DISTORTIONS.items()]
    parts += ["### Fills\n", "\n".join(f"- `{name}`: {_fill(name)}" for name in PAINTS) + "\n"]
    parts += ["### Laws\n", "A parameter may be a law, drawn anew for each image.\n"]
    parts.append(
        "\n".join(f"- `{name}({', '.join(_fields(cls))})`: {_first(cls)}" for name, cls in LAWS.items()) + "\n"
    )
    parts.append("## Audits\n")
    parts.append("Clean images and mild noise (`noise(uniform(0, 0.025))`) are always asked.\n")
    parts += [_entry(name, cls) for name, cls in AUDITS.items()]
    return "\n".join(parts)


def picture(run: Path, width: int = 1180, height: int = 1020) -> None:
    """The head of a run's report as docs/images/report.png, taken with Debian's Chromium."""
    from playwright.sync_api import sync_playwright

    (DOCS / "images").mkdir(exist_ok=True)
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto((run / "report.html").resolve().as_uri())
        page.screenshot(path=DOCS / "images" / "report.png")
        browser.close()


def _pairs(kind: str) -> str:
    rows = "\n".join(f"| `{text}` | {meaning} |" for text, meaning in catalogue(kind))
    return f"| write | it is |\n|---|---|\n{rows}\n"


def _entry(name: str, cls: type) -> str:
    shown = [f"{f.name}={format_value(f.default)}" for f in dataclasses.fields(cls)]
    return f"### `{name}({', '.join(shown)})`\n\n{inspect.getdoc(cls)}\n"


def _fields(cls: type) -> list[str]:
    return [f.name for f in dataclasses.fields(cls)]


def _first(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0]


def _fill(name: str) -> str:
    plain = {"black": "0", "white": "255", "grey": "127"}
    return f"every channel {plain[name]}" if name in plain else _first(PAINTS[name])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, metavar="RUN", help="take the README's picture from this run's report")
    chosen = parser.parse_args()
    (DOCS / "reference.md").write_text(reference())
    if chosen.picture:
        picture(chosen.picture)


if __name__ == "__main__":
    main()
