"""`make docs`: write what is generated in the docs — reference.md; with --picture RUN the README's picture, with
--phantom the pictures of phantom.md."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from pathlib import Path

from snellen.audits import AUDITS
from snellen.catalogue import catalogue
from snellen.data import OPTIONS
from snellen.distort import DISTORTIONS
from snellen.distort.fills import PAINTS
from snellen.distort.law import LAWS
from snellen.notation import format_value

DOCS = Path(__file__).parent


def reference() -> str:
    """The text of reference.md."""
    parts = ["# Reference\n", "Written by `make docs` from the code's own documentation; do not edit.\n"]
    parts += ["## Models\n", _pairs("models"), "## Data\n", _pairs("data")]
    parts.append("`?column=value` keeps only the rows with that value; several are joined with `&`. For `phantom:` the "
                 "options are its dials.\n")  # fmt: skip
    parts.append("Any data take these options too, in this order:\n")
    parts.append("\n".join(f"- `?{name}=`: {meaning}" for name, meaning in OPTIONS.items()) + "\n")
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
    parts += ["## Methods of making maps\n", _pairs("methods")]
    return "\n".join(parts)


def picture(run: Path, width: int = 1240) -> None:
    """The verdict, the curves and some examples of a run's report as docs/images/report.png, with Debian's Chromium."""
    import io

    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto((run / "report.html").resolve().as_uri())
        whole = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")

        def top(words: str) -> int:
            box = page.get_by_role("heading", name=words, exact=True).bounding_box()
            assert box is not None
            return int(box["y"]) - 12

        second = page.locator(".card:not(.warning)").nth(1).bounding_box()
        assert second is not None
        curves, errors, examples = top("Accuracy under a square"), top("Where the errors go"), top("Examples")
        browser.close()
    bands = [(0, int(second["y"]) - 6), (curves, errors - 64), (examples, examples + 560)]
    parts = [whole.crop((0, start, width, stop)) for start, stop in bands]
    shown = Image.new("RGB", (width, sum(part.height for part in parts)))
    at = 0
    for part in parts:
        shown.paste(part, (0, at))
        at += part.height
    (DOCS / "images").mkdir(exist_ok=True)
    shown.quantize(128).save(DOCS / "images" / "report.png", optimize=True)


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
    parser.add_argument("--phantom", action="store_true", help="draw the pictures of phantom.md")
    chosen = parser.parse_args()
    (DOCS / "reference.md").write_text(reference())
    if chosen.picture:
        picture(chosen.picture)
    if chosen.phantom:
        from phantom_pictures import draw

        draw(DOCS / "images")


if __name__ == "__main__":
    main()
