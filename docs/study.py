"""The pictures of human-study.md: a participant's page on a wide screen, and on a telephone in the dark."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from snellen.web import background
from snellen.web.study import StudyFolder, StudyRequest, StudyStore, create_study, study_app

IMAGES = Path(__file__).parent / "images"
SCREENS = {
    "study-question": {"viewport": {"width": 900, "height": 640}, "color_scheme": "light"},
    "study-phone": {"viewport": {"width": 360, "height": 640}, "color_scheme": "dark", "has_touch": True},
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        settings = {"protocol": "kassaw2024", "tree": "data", "participants": 2, "practice": 0, "per_person": 20}
        path = Path(folder) / "study"
        links = create_study(StudyRequest(source="phantom:test?size=96&n=60", out=path, **settings)).links
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with background(study_app(StudyStore(StudyFolder(path)), "t" * 32)) as url:
            for (name, screen), token in zip(SCREENS.items(), links.values()):
                page = browser.new_context(**screen).new_page()
                page.goto(f"{url}/#{token}")
                page.click("#agree")
                page.click("#begin")
                page.wait_for_selector("#choices button")
                page.locator("#choices button").first.click()
                shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
                shot.quantize(96).save(IMAGES / f"{name}.png", optimize=True)
        browser.close()


if __name__ == "__main__":
    main()
