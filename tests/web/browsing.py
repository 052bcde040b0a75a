"""A participant of a study in headless Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.gates import wait_until
from tests.web.participants import Running

CHROMIUM = Path("/usr/bin/chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs /usr/bin/chromium (Debian's package)")


def come_in(browser: Any, study: Running, name: str, width: int = 768, height: int = 900, **context: Any) -> Any:
    """A page at the first trial."""
    page = browser.new_context(viewport={"width": width, "height": height}, **context).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{study.url}/#{study.links[name]}")
    page.click("#agree")
    page.click("#begin")
    page.wait_for_selector("#choices button")
    return page


def trial_of(page: Any) -> str:
    """The address of the trial that the server says is next."""
    return str(page.evaluate("fetch('/api/state').then(r => r.json()).then(s => s.current && s.current.trial)"))


def path_to(study: Running, label: str) -> list[str]:
    """The choices that lead to a class."""
    tree, steps = study.store.study.question.tree, [label]
    while tree.get(steps[0]) in tree:
        steps.insert(0, tree[steps[0]])
    return steps


def take_by_mouse(page: Any, study: Running) -> None:
    """Answer the present trial rightly, with a click in the middle where one is wanted."""
    name_by_mouse(page, study, study.item_at(trial_of(page)).label)


def name_by_mouse(page: Any, study: Running, label: str) -> None:
    """Choose a class, with a click in the middle where one is wanted; needs no network."""
    for step in path_to(study, label):
        page.click(f"#choices [data-name='{step}']")
    if study.store.study.question.click:
        page.locator("canvas").click()


def wait_for_done(page: Any, count: int) -> None:
    """Until the server has this many answers of the page's person."""
    done = "fetch('/api/state').then(r => r.json()).then(s => s.done)"
    wait_until(lambda: bool(page.evaluate(done) == count), f"answer {count}")
