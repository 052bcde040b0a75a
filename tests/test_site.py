"""The site: built strictly, every page in it and reachable, its search works in a folder, and nothing comes from the network."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = Path("/usr/bin/chromium")
LOOKED_AT = (
    "index.html",
    "start/own-model.html",
    "questions/drop.html",
    "reference/commands.html",
    "results/index.html",
)


@cache
def script(path: str) -> ModuleType:
    """A script of this repository, as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_navigation_once() -> None:
    assert script("docs/build_site.py").wrong_in_navigation() == []


def test_no_page_is_a_dead_end_or_lost() -> None:
    found = script("benchmarks/pages.py").survey(ROOT)
    assert len(found.pages) > 80
    assert (found.dead_ends, found.lost, found.far) == ((), (), ())


def test_a_command_is_wrapped_between_its_words_and_other_code_is_left() -> None:
    as_command = script("docs/build_site.py").as_command

    def shown(code: str) -> str:
        return re.sub(r"<pre>.*?</pre>", as_command, f"<pre><span></span><code>{code}</code></pre>", flags=re.S)

    assert shown("snellen audit a \\\n    --out b") == (
        "<pre class=\"command\"><span></span><code>snellen audit <span class='whole'>a \\</span>\n"
        "    <span class='whole'>--out</span> b</code></pre>"
    )
    for code in ("import snellen", '<span class="nn">snellen</span>', "model  value\nblack  0.08"):
        assert 'class="command"' not in shown(code)


def test_dead_ends_and_lost_pages_are_found(tmp_path: Path) -> None:
    texts = {
        "index.md": "[a](a.md)",
        "a.md": "[c](c.md#x)",
        "c.md": "[d](d.md)",
        "d.md": "[e](e.md)",
        "e.md": "[f](f.md)",
    }
    texts |= {"f.md": "alone [here](f.md#self) and [there](https://x.org/y.md)", "g.md": "[a](a.md)"}
    (tmp_path / "docs").mkdir()
    for name, text in texts.items():
        (tmp_path / "docs" / name).write_text(text)
    found = script("benchmarks/pages.py").survey(tmp_path)
    assert (found.dead_ends, found.lost, found.far) == (("f.md",), ("g.md",), ("e.md", "f.md"))


def test_what_a_built_page_gets_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="b.html#there">b</a> <a href="b.html#gone">b</a> <img src="no.png">')
    (tmp_path / "b.html").write_text(
        '<h1 id="there">b</h1><script src="https://cdn.example/x.js"></script><a href="a.html">a</a>'
    )
    assert script("docs/build_site.py").wrong_in_pages(tmp_path) == [
        "a.html links to b.html#gone, which is not there",
        "a.html links to no.png, which is not there",
        "b.html loads https://cdn.example/x.js",
    ]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built in a folder of its own."""
    pytest.importorskip("zensical")
    out: Path = tmp_path_factory.mktemp("built") / "site"
    script("docs/build_site.py").build(out)
    return out


@pytest.mark.slow
def test_the_site_has_every_page_and_leads_nowhere_wrong(site: Path) -> None:
    pages = {page.relative_to(ROOT / "docs").with_suffix(".html") for page in (ROOT / "docs").rglob("*.md")}
    pages = {page.with_name("index.html") if page.name == "README.html" else page for page in pages}
    assert pages == {page.relative_to(site) for page in site.rglob("*.html")}
    assert script("docs/build_site.py").wrong_in_pages(site) == []
    assert sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) < 20_000_000


@pytest.mark.slow
def test_a_broken_link_and_a_page_outside_the_navigation_end_the_build(tmp_path: Path) -> None:
    pytest.importorskip("zensical")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    with (tmp_path / "docs/start/install.md").open("a") as page:
        page.write("\n[nowhere](gone.md)\n")
    done = subprocess.run([sys.executable, "docs/build_site.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "gone.md" in done.stderr
    assert "Traceback" not in done.stderr
    (tmp_path / "docs/start/install.md").write_text("# Install\n")
    (tmp_path / "docs/start/forgotten.md").write_text("# Forgotten\n")
    done = subprocess.run([sys.executable, "docs/build_site.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    assert "docs/start/forgotten.md is not in the navigation of mkdocs.yml" in done.stderr


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's Chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_pages_fit_the_screen_and_ask_no_network(site: Path, browser: Any, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page, asked, errors = context.new_page(), [], []
    page.set_default_timeout(0)  # however busy the machine is
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in LOOKED_AT:
        page.goto((site / name).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        broken = "[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
        assert page.evaluate(broken) == []
        dark = page.evaluate(
            "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).every(one => one < 80)"
        )
        assert dark == (scheme == "dark"), name
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    context.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "page"),
    [
        ("worst combination of edits", "questions/edits.html"),
        ("Holm", "understanding/intervals.html"),
        ("bg_gap", "backgrounds"),
    ],
)
def test_the_search_finds_pages_without_a_server(site: Path, browser: Any, words: str, page: str) -> None:
    tab = browser.new_page()
    tab.set_default_timeout(0)
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((site / "start/install.html").as_uri())
    tab.locator(".md-search__button").click()
    tab.keyboard.type(words)
    links = tab.locator(f"a[href*='{page}']").filter(visible=True)
    links.first.wait_for(timeout=60_000)
    assert [url for url in asked if not url.startswith(("file:", "data:", "about:"))] == []
    links.first.click()
    tab.wait_for_url(f"**/*{page}*")
    tab.close()
