"""Write what is generated in docs/reference: models, data, distortions, audits, commands and the glossary.

python docs/build.py                # after a change of a docstring, a help text, a command or an option
python docs/build.py --terminal     # also the README's terminal output and start/notebook.md: runs their commands
python docs/build.py --picture RUN  # also the pictures of report.md and the README, from a run of `snellen demo`
python docs/build.py --phantom      # also the pictures of reference/phantom.md
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from snellen.audits import AUDITS
from snellen.catalogue import catalogue
from snellen.data import OPTIONS
from snellen.distort import DISTORTIONS
from snellen.distort.fills import PAINTS
from snellen.distort.law import LAWS
from snellen.notation import format_value
from snellen.report.glossary import GLOSSARY, SIGN_MEANINGS

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS))
from commands_page import commands_page, wrapped  # noqa: E402

README = DOCS.parent / "README.md"
ENVIRONMENT = {
    **os.environ,
    "COLUMNS": "80",
    "PYTHONPATH": str(DOCS.parent / "src"),
}  # of what is shown: this tree, 80 columns
TERMINAL = re.compile(r"(?<=```console\n)\$ (snellen (?:[^\n]*\\\n)*[^\n]*)\n(.*?)(?=```)", re.S)


def models_page() -> str:
    """The text of models.md."""
    return "\n".join([
        _head("Models", "What stands for MODEL in a command."), _pairs("models"),
        "Which text your own model needs: [your own model](../start/own-model.md). `NAME=` in front names it;\n"
        "a `*` makes runs of one model. Code of your own: [write a plug-in](../contribute/plugins.md).\n",
        "## Attribution methods\n", "What stands for `--method`, and for `method=` of audits. What each does: [maps](maps.md).\n",
        _pairs("methods"),
    ])  # fmt: skip


def data_page() -> str:
    """The text of data.md."""
    return "\n".join([
        _head("Data", "What stands for DATA in a command."), _pairs("data"),
        "`?column=value` keeps only the rows with that value; join several with `&`. For `phantom:` the options are its dials\n"
        "([the phantom world](phantom.md)). Any dataset also takes these options, in this order:\n",
        "\n".join(_item(f"?{name}=", meaning) for name, meaning in OPTIONS.items()) + "\n",
        "Which text your own images need: [your own model](../start/own-model.md#2-name-the-data).\n",
    ])  # fmt: skip


def distortions_page() -> str:
    """The text of distortions.md."""
    return "\n".join([
        _head("Distortions", "What changes the pixels."),
        "Give arguments by position or by name; `a | b` chains. The text form prints all fields and is the distortion's\n"
        "identity. They stand in [audits](audits.md): `interference([occlude(0.3)])`, and in `snellen.distort.apply`.\n",
        *(_entry(name, cls) for name, cls in DISTORTIONS.items()),
        "### Fills\n", "\n".join(_item(name, _fill(name)) for name in PAINTS) + "\n",
        "### Laws\n", "A parameter may be a law. It is then drawn again for each image.\n",
        "\n".join(_item(f"{name}({', '.join(_fields(cls))})", _first(cls)) for name, cls in LAWS.items()) + "\n",
    ])  # fmt: skip


def audits_page() -> str:
    """The text of audits.md."""
    return "\n".join([
        _head("Audits", "What stands for `--audits`."),
        "Every audit also asks about clean images and mild noise (`noise(uniform(0, 0.025))`). Which question each answers:\n"
        "[your own model](../start/own-model.md#3-choose-audits).\n",
        *(_entry(name, cls) for name, cls in AUDITS.items()),
    ])  # fmt: skip


def _head(title: str, purpose: str) -> str:
    return f"# {title}\n\n{purpose} Written by `python docs/build.py` from the code's own documentation; do not edit.\n"


def glossary() -> str:
    """The text of glossary.md."""
    parts = [
        "# Glossary\n",
        "Written by `python docs/build.py` from `snellen.report.glossary`; do not edit. Terminal, report and docs use",
        "these words. DI is explained at length in [interference](../understanding/interference.md).\n",
        "## Terms\n",
    ]
    parts += ["\n".join(wrapped(f"**{term}.** {meaning}", "")) + "\n" for term, meaning in GLOSSARY.items()]
    parts += ["## Marks beside numbers\n"]
    parts.append(
        "\n".join("\n".join(wrapped(f"- {sign} {meaning}", "  ")) for sign, meaning in SIGN_MEANINGS.items()) + "\n"
    )
    return "\n".join(parts)


def tutorial() -> str:
    """The text of start/notebook.md: the script, part by part, with what each part prints."""
    source = (DOCS.parent / "examples" / "tutorial.py").read_text()
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run(
            [sys.executable, str(DOCS.parent / "examples" / "tutorial.py")],
            cwd=folder, capture_output=True, text=True, check=True, timeout=600, env=ENVIRONMENT,
        )  # fmt: skip
    _, *parts = re.split(r"^# (?=\d+\. )", source, flags=re.M)
    outputs = re.split(r"^== \d+ ==\n", ended.stdout, flags=re.M)[1:]
    lines = [
        "# In a notebook\n",
        "The same words as on the command line. `snellen.audit` returns a `Run`; a notebook shows it as the first screen of its\n"
        "report, and `run.plot(...)` shows the charts of one audit. Needs no data: the observers answer by rule.\n",
        "Written by `python docs/build.py --terminal` from `examples/tutorial.py`, which the tests run; do not edit.\n",
    ]
    for part, output in zip(parts, outputs, strict=True):
        title, _, code = part.partition("\n")
        code = "\n".join(line for line in code.strip().splitlines() if not line.startswith('print("== '))
        shown = "\n".join(line.rstrip() for line in output.strip().splitlines())
        lines += [f"## {title}\n", f"```python\n{code.strip()}\n```\n", f"```text\n{shown}\n```\n"]
    lines.append("Next: [your own model](own-model.md), and [every name](../reference/names.md) that Python offers.\n")
    return "\n".join(lines)


def terminal(readme: str) -> str:
    """The README's text with the output that its command prints now."""

    def run(match: re.Match[str]) -> str:
        command = shlex.split(match[1].replace("\\\n", " "))
        with tempfile.TemporaryDirectory() as folder:
            ended = subprocess.run(
                [sys.executable, "-m", *command],
                cwd=folder,
                capture_output=True,
                text=True,
                check=True,
                timeout=600,
                env=ENVIRONMENT,
            )
        return f"$ {match[1]}\n" + "\n".join(line.rstrip() for line in ended.stdout.splitlines()) + "\n"

    return TERMINAL.sub(run, readme)


def pictures(run: Path) -> None:
    """The three pictures of docs/report.md from the report of a run of `snellen demo`, with Debian's Chromium: the first screen,
    the chapter on occlusion in dark colours, and the first screen of a phone."""
    from playwright.sync_api import sync_playwright

    address = (run / "report.html").resolve().as_uri()
    images = DOCS / "images"
    images.mkdir(exist_ok=True)
    with sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        for name, width, height in (("report", 1200, 800), ("report-phone", 360, 780)):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(address)
            page.screenshot(path=images / f"{name}.png")
        page = browser.new_page(viewport={"width": 1200, "height": 860}, color_scheme="dark")
        page.goto(f"{address}#occlusion")
        page.wait_for_function("document.getElementById('occlusion').closest('details').open")
        page.evaluate("document.getElementById('occlusion').closest('details').scrollIntoView()")
        page.screenshot(path=images / "report-chapter.png")
        browser.close()


def _pairs(kind: str) -> str:
    return "\n".join(_item(text, meaning) for text, meaning in catalogue(kind)) + "\n"


def _item(code: str, meaning: str) -> str:
    return "\n".join(wrapped(f"- `{code}`: {meaning}", "  "))


def _entry(name: str, cls: type) -> str:
    fields = [f"{f.name}={format_value(f.default)}" for f in dataclasses.fields(cls)]
    form = "\n".join(f"    {line}" for line in wrapped(f"{name}({', '.join(fields)})", "    "))
    return f"### {name}\n\n{form}\n\n{_paragraphs(inspect.getdoc(cls) or '')}\n"


def _paragraphs(text: str, lines: int = 6) -> str:
    """A docstring whose long paragraphs are divided between sentences, so that none has more than six lines."""
    parts: list[str] = []
    for paragraph in text.split("\n\n"):
        if paragraph.count("\n") < lines:
            parts.append(paragraph)
            continue
        block = ""
        for sentence in re.split(r"(?<=\.) (?=[A-Z`])", " ".join(paragraph.split())):
            if block and len(wrapped(f"{block} {sentence}", "")) > lines - 1:
                parts.append("\n".join(wrapped(block, "")))
                block = sentence
            else:
                block = f"{block} {sentence}".strip()
        parts.append("\n".join(wrapped(block, "")))
    return "\n\n".join(parts)


def _fields(cls: type) -> list[str]:
    return [f.name for f in dataclasses.fields(cls)]


def _first(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0]


def _fill(name: str) -> str:
    plain = {"black": "0", "white": "255", "grey": "127"}
    return f"every channel {plain[name]}" if name in plain else _first(PAINTS[name])


PAGES = {
    "models.md": models_page,
    "data.md": data_page,
    "distortions.md": distortions_page,
    "audits.md": audits_page,
    "commands.md": commands_page,
    "glossary.md": glossary,
}  # of docs/reference


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--terminal", action="store_true", help="run the README's command and paste what it prints")
    parser.add_argument(
        "--picture", type=Path, metavar="RUN", help="take the pictures of report.md from this run of the demo"
    )
    parser.add_argument("--phantom", action="store_true", help="draw the pictures of reference/phantom.md")
    chosen = parser.parse_args()
    for name, text in PAGES.items():
        (DOCS / "reference" / name).write_text(text())
    if chosen.terminal:
        (DOCS / "start/notebook.md").write_text(tutorial())
        README.write_text(terminal(README.read_text()))
    if chosen.picture:
        pictures(chosen.picture)
    if chosen.phantom:
        from phantom_pictures import draw

        draw(DOCS / "images")


if __name__ == "__main__":
    main()
