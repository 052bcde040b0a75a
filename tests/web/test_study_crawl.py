"""All that a participant can fetch, followed link by link: nothing of it depends on what a picture shows but its pixels."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import httpx
import numpy as np
from PIL import Image, PngImagePlugin
from tests.web.participants import answer_to, participant, running

from snellen.web.study.openapi import describe_api

CLASSES = ("aardvark", "zebra")
PATH = re.compile(r"""["'`]\.?(/[A-Za-z0-9_./-]*)["'`?#]""")
PER_REPLY = {"content-length", "date", "set-cookie"}  # headers that may differ between two pictures


def pictures(folder: Path) -> str:
    """Ten pictures whose names, metadata and columns all hold the word `secret`."""
    folder.mkdir()
    rng, rows = np.random.default_rng(0), []
    for number in range(10):
        notes = PngImagePlugin.PngInfo()
        notes.add_text("Comment", "secret comment")
        name = f"secret-file-{number}.png"
        pixels = rng.integers(0, 256, (16, 16, 3), np.uint8)
        Image.fromarray(pixels).save(folder / name, pnginfo=notes)
        rows.append(
            [name, CLASSES[number % 2], f"secret-id-{number}", f"secret-source-{number}", f"secret-{number % 3}"]
        )
    with (folder / "index.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["path", "label", "id", "source", "level"], *rows])
    return f"manifest:{folder}/index.csv"


def crawl(client: httpx.Client) -> dict[str, httpx.Response]:
    """What GET, HEAD and OPTIONS answer to all that pages, scripts, styles and the state of this participant name."""
    found: dict[str, httpx.Response] = {}
    waiting = ["/", "/favicon.ico", "/robots.txt", "/picture", *describe_api()["paths"]]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = client.get(path)
        found |= {f"{method} {path}": client.request(method, path) for method in ("HEAD", "OPTIONS")}
        if not path.startswith("/picture"):
            base = "/static" if path.startswith("/static/") else ""
            waiting += [
                base + name if name.endswith(".js") and base else name for name in PATH.findall(found[path].text)
            ]
    return found


def test_nothing_but_pixels_depends_on_what_a_picture_is(tmp_path):
    with running(tmp_path / "study", pictures(tmp_path / "data"), size=16, participants=2, per_person=6) as study:
        headers, pages, seen = set(), set(), 0
        for name in study.links:
            with participant(study, name) as client:
                while (state := client.get("/api/state").json())["current"]:
                    found = crawl(client)
                    assert found.keys() >= {
                        "/",
                        *(f"/static/{name}" for name in ("study.js", "web.js", "timing.js", "web.css")),
                    }
                    assert {path for path in found if path.startswith("/picture/")} == {
                        path for trial in (state["current"], state["following"]) if trial for path in trial["pictures"]
                    }
                    pages.add(found["/"].content)
                    for path, reply in found.items():
                        told = f"{path} {reply.headers} {dict(client.cookies)} {reply.content!r}".lower()
                        assert "secret" not in told, path
                        assert path == "/" or not any(label in told for label in CLASSES), path  # which asks for them
                    for path in state["current"]["pictures"]:
                        assert Image.open(io.BytesIO(found[path].content)).info == {}
                        kept = {name: value for name, value in found[path].headers.items() if name not in PER_REPLY}
                        headers.add(tuple(sorted(kept.items())))
                        seen += 1
                    client.post("/api/answer", json=answer_to(state["current"]["trial"], CLASSES[0]))
        assert seen == 12
        assert len(headers) == 1  # no ETag, no date of a file
        assert len(pages) == 1  # the same page for every person and picture
