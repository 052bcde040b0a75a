"""`make site`, or `python docs/build_site.py`: build the site and check it. Exit code 1 names what is wrong.

Zensical stops on a link or an anchor of a page that leads nowhere. What it does not look at is checked here: a page that the
navigation leaves out or names without there being one, links and pictures of the built pages, and anything they would load from
the network.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
SHIM = "iframe-worker.js"  # the search in a folder needs it; Zensical would load it from the network
LOADED = {
    "script": "src",
    "img": "src",
    "link": "href",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}


class Settings(yaml.SafeLoader):
    """Of mkdocs.yml; what is Python in it (how anchors are made) is for Zensical alone."""


Settings.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


class Built(HTMLParser):
    """What a built page refers to, what it loads, and the anchors it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag in LOADED and LOADED[tag] in found and found.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(found[LOADED[tag]])


def build(out: Path) -> str:
    """Build the site into a folder named `site`; what Zensical prints. RuntimeError where it finds something wrong."""
    place = ROOT
    if out != ROOT / "site":  # Zensical builds beside the pages: a copy of them
        place = out.parent
        shutil.copytree(DOCS, place / "docs", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "mkdocs.yml", place)
    command = [
        sys.executable,
        "-m",
        "zensical",
        "build",
        "--strict",
        "--clean",
        "--config-file",
        str(place / "mkdocs.yml"),
    ]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, env={"NO_COLOR": "1", "PATH": ""})
    if done.returncode:
        told = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
        raise RuntimeError(told.partition("Traceback (")[0])
    (out / "404.html").unlink()  # for the root of a server alone
    for page in out.rglob("*.html"):
        ours = "../" * (len(page.relative_to(out).parts) - 1) + SHIM
        text = page.read_text().replace("https://unpkg.com/iframe-worker/shim", ours)
        text = re.sub(r"<code>(--[\w-]+)</code>", r'<code class="whole">\1</code>', text)
        page.write_text(re.sub(r"<pre>.*?</pre>", as_command, text, flags=re.S))
    return done.stdout


def as_command(block: re.Match[str]) -> str:
    """A block of code that holds a command, of a class that site.css wraps, without a break inside an option or after it."""
    if not re.search(r"(^|>)(snellen|pip|python)( |<span class=\"w\">)", block[0], re.M):
        return block[0]
    kept = re.sub(r"(?<![\w-])--?[a-z][\w-]*( \\(?=\n))?|\S+ \\(?=\n)", r"<span class='whole'>\g<0></span>", block[0])
    return kept.replace("<pre>", '<pre class="command">', 1)


def listed(nav: Any) -> Iterator[str]:
    """The pages that the navigation names."""
    if isinstance(nav, str):
        yield nav
    for entry in nav.values() if isinstance(nav, dict) else nav if isinstance(nav, list) else ():
        yield from listed(entry)


def wrong_in_navigation() -> list[str]:
    named = list(listed(yaml.load((ROOT / "mkdocs.yml").read_text(), Settings)["nav"]))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    return [
        *(f"mkdocs.yml names {page}, which is not there" for page in named if page not in there),
        *(f"mkdocs.yml names {page} twice" for page in set(named) if named.count(page) > 1),
        *(f"docs/{page} is not in the navigation of mkdocs.yml" for page in sorted(there - set(named))),
    ]


def wrong_in_pages(site: Path) -> list[str]:
    """Links and pictures of the built pages that lead nowhere, and what would be loaded from the network."""
    pages = {page: Built(page.read_text()) for page in sorted(site.rglob("*.html"))}
    wrong = []
    for page, built in pages.items():
        for address in dict.fromkeys(built.links + built.loads):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                if address in built.loads and parts.scheme != "data":
                    wrong.append(f"{page.relative_to(site)} loads {address}")
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            if target.is_dir():
                target /= "index.html"
            anchors = pages[target].anchors if target in pages else set()
            if not target.exists() or (target in pages and parts.fragment and unquote(parts.fragment) not in anchors):
                wrong.append(f"{page.relative_to(site)} links to {address}, which is not there")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    out = ROOT / "site"
    wrong = wrong_in_navigation()
    began = time.perf_counter()
    try:
        build(out)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    took = time.perf_counter() - began
    wrong += wrong_in_pages(out)
    for line in wrong:
        print(line, file=sys.stderr)
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    print(f"{len(list(out.rglob('*.html')))} pages, {size / 1e6:.1f} MB in {took:.1f} s: open {out / 'index.html'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
