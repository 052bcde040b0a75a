"""Every kind of data and of model whose text names a file is tried on damaged files: it stands in the table of readers."""

from __future__ import annotations

import re
from pathlib import Path

from snellen.data import SCHEMES
from snellen.models.kinds import KINDS

NO_FILES = {  # kind → why no file of the user's is read
    "phantom": "generated",
    "observer": "made of code",
    "opencv": "reads files of OpenCV",
    "python": "runs the user's own code",
    "timm": "reads what timm downloads",
    "torchvision": "reads what torchvision downloads, models and data",
    "tta": "reads what its model's text names",
    "http": "reads answers of a service, which are readers of their own",
    "https": "the same",
    "chat": "the same",
}


def registered(sources: str) -> set[str]:
    """The kinds of data and models in the texts that the readers give to the library: `tar:{}/photos.tar`."""
    return set(re.findall(r"\b(\w+):[^\s\"]*\{", sources))


def test_every_kind_that_reads_files_has_a_reader() -> None:
    here = Path(__file__).parent
    known = registered((here / "readers.py").read_text() + (here / "calls.py").read_text())
    kinds = {*SCHEMES, *KINDS}
    assert kinds - known - set(NO_FILES) == set(), "add them to tests/hostile/readers.py, or say why not here"
    assert set(NO_FILES) <= kinds, "no longer a kind"


def test_a_kind_is_found_in_the_text_that_names_it() -> None:
    text = 'calls.data("tar:{}/a.tar"), calls.weights("a=zoo:smallnet@{}/b"), f"predictions:{folder / name}", "plain: text"'
    assert registered(text) == {"tar", "zoo", "predictions"}
