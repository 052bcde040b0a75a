"""Coverage-guided fuzzing of what reads untrusted text: anything but a result or a UserError stops it.

python benchmarks/fuzz.py language 60      # seconds; needs `pip install atheris`
python benchmarks/fuzz.py manifest 60
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["snellen"]):
    from snellen.audits import parse_audits
    from snellen.check.condition import parse_condition
    from snellen.data import load_data
    from snellen.distort import parse
    from snellen.errors import UserError

PLACE = Path(tempfile.mkdtemp(prefix="snellen-fuzz-"))


def language(content: bytes) -> None:
    """A distortion, a list of audits and a condition of the same text."""
    text = content.decode(errors="replace")
    for read in (parse, parse_audits, parse_condition):
        try:
            made = read(text)
        except UserError as error:
            assert len(str(error).splitlines()) == 1
            continue
        if read is parse:
            assert parse(str(made)) == made, text


def manifest(content: bytes) -> None:
    """A CSV file of these bytes, with a head so that most get past the first check."""
    (PLACE / "list.csv").write_bytes(b"path,label,x0,y0,x1,y1\n" + content)
    try:
        load_data(f"manifest:{PLACE}/list.csv")
    except UserError as error:
        assert len(str(error).splitlines()) == 1


def main() -> None:
    target = {"language": language, "manifest": manifest}[sys.argv[1]]
    seconds = float(sys.argv[2])
    start, tried = time.monotonic(), 0

    def one(content: bytes) -> None:
        nonlocal tried
        target(content)
        tried += 1
        if time.monotonic() - start > seconds:
            print(f"{target.__name__}: {tried:,} inputs in {seconds:.0f} s, nothing found", flush=True)
            os._exit(0)

    corpus = PLACE / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(
        ["occlude(0.3, black) | shuffle(4)", "accuracy[fill=black] > 0.9", "a.png,cat,0,0,1,1\n"]
    ):
        (corpus / str(number)).write_text(seed)
    atheris.Setup([sys.argv[0], str(corpus), "-verbosity=0"], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
