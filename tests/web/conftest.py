"""A browser for the tests of pages, and patience for all that ask a server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.web.browsing import CHROMIUM

PATIENCE = 120  # seconds: far more than any answer takes
IMPATIENT = httpx.Timeout(5)  # what httpx gives an answer by itself


@pytest.fixture(scope="session", autouse=True)
def patient() -> Iterator[None]:
    """No test fails because a busy machine answers after 5 s."""
    begin = httpx.Client.__init__

    def begin_patiently(client: httpx.Client, **settings: Any) -> None:
        if settings.get("timeout", IMPATIENT) == IMPATIENT:
            settings["timeout"] = PATIENCE
        begin(client, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpx.Client, "__init__", begin_patiently)
        yield


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--force-color-profile=srgb"]
        )
        yield chromium
        chromium.close()
