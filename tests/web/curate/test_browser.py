"""The desk in a browser: ten images by keys alone, undo, strokes and GrabCut, a lost network, small and dark screens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from snellen.web.curate.app import CurateApp
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.session import Session
from snellen.web.server import background

from .conftest import Served

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = Path("/usr/bin/chromium")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="needs Debian's chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[playwright.Browser]:
    with playwright.sync_playwright() as browsers:
        opened = browsers.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: playwright.Browser, served: Served) -> Iterator[playwright.Page]:
    """The desk as ann sees it; nothing may be reported to the console."""
    with opened(browser, served, width=1280, height=800) as page:
        yield page


class opened:
    """A page of its own for a reviewer, at some size of the screen; complaints of the browser fail the test."""

    def __init__(self, browser: playwright.Browser, served: Served, name: str = "ann", **size: object) -> None:
        viewport = {"width": size.pop("width"), "height": size.pop("height")}
        self.context = browser.new_context(viewport=viewport, **size)
        self.page, self.complaints = self.context.new_page(), []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)
        self.page.goto(f"{served.address}/#{served.session.store.link(name)}")
        self.page.wait_for_selector("#desk[data-item]")

    def __enter__(self) -> playwright.Page:
        return self.page

    def __exit__(self, kind: object, *_: object) -> None:
        self.context.close()
        assert kind is not None or not [line for line in self.complaints if "ERR_INTERNET_DISCONNECTED" not in line]


def shown(page: playwright.Page) -> str:
    """The id of the image that is wholly shown, once nothing is under way."""
    page.wait_for_selector("body:not([aria-busy])")
    return str(page.locator("#desk").get_attribute("data-item"))


def press(page: playwright.Page, key: str) -> str:
    """Press a key that ends in another image being shown; its id."""
    before = shown(page)
    page.keyboard.press(key)
    page.wait_for_function("old => document.getElementById('desk').dataset.item !== old", arg=before)
    return shown(page)


def decisions(session: Session, reviewer: str = "ann") -> dict[str, str]:
    own = session.store.standing()[0].get(reviewer, {})
    return {name: review.decision for name, review in own.items()}


def test_ten_images_are_cleaned_and_one_is_undone_with_keys_alone(page: playwright.Page, served: Served) -> None:
    names = served.session.collection.names
    assert shown(page) == names[0]
    assert page.url.endswith("/")  # the token has left the address bar
    for place, key in enumerate("aa1a23aaaa"):
        assert press(page, key) == names[place + 1]
        assert len(decisions(served.session)) == place + 1  # on disk before the page moved on
    assert page.locator("#counts").inner_text() == f"10 of {len(names)} decided"
    assert press(page, "u") == names[9]
    assert names[9] not in decisions(served.session)
    assert press(page, "1") == names[10]
    own = served.session.store.standing()[0]["ann"]
    reasons = served.session.collection.reasons
    assert {name: review.reason for name, review in own.items() if review.reason} == {
        names[2]: reasons[0], names[4]: reasons[1], names[5]: reasons[2], names[9]: reasons[0],
    }  # fmt: skip
    assert press(page, "ArrowLeft") == names[9]
    assert "rejected: mask keeps background" in page.locator("#decided").inner_text()
    page.keyboard.press("r")
    page.keyboard.type("a 1 and an r are text here")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.getElementById('message').textContent.includes('are text here')")
    assert decisions(served.session)[names[9]] == "reject"
    assert served.session.store.current("ann", names[9]).note == "a 1 and an r are text here"  # type: ignore[union-attr]
    page.reload()
    page.wait_for_selector("#desk[data-item]")
    assert shown(page) == names[10]  # where one stopped


def test_strokes_and_grabcut_change_the_mask_that_is_kept(page: playwright.Page, served: Served) -> None:
    name = shown(page)
    exhibit = served.session.collection.exhibit(0)
    page.keyboard.press("e")
    page.keyboard.press("b")
    canvas = page.locator("#canvas").bounding_box()
    scale = canvas["width"] / exhibit.image.shape[1]
    x0, y0, x1, y1 = (scale * corner for corner in exhibit.box)
    across, down = canvas["x"] + (x0 + x1) / 2, canvas["y"] + (y0 + y1) / 2
    with page.expect_response("**/api/try"):
        page.mouse.move(across - 8, down)
        page.mouse.down()
        page.mouse.move(across + 8, down, steps=5)
        page.mouse.up()
    with page.expect_response("**/api/try"):
        page.keyboard.press("o")
        page.mouse.move(across - 8, down + (y1 - y0) / 4)
        page.mouse.down()
        page.mouse.move(across + 8, down + (y1 - y0) / 4, steps=5)
        page.mouse.up()
    page.wait_for_function("() => document.getElementById('message').textContent.includes('The object covers')")
    press(page, "Enter")
    review = served.session.store.current("ann", name)
    assert review is not None
    assert review.decision == "mend"
    mask = served.session.store.mask(review.number)
    assert mask is not None
    row, column = round((y0 + y1) / 2 / scale), round((x0 + x1) / 2 / scale)
    assert exhibit.mask[row, column]
    assert not mask[row, column]  # painted as background
    assert mask[round(((y0 + y1) / 2 + (y1 - y0) / 4) / scale), column]  # painted as the object
    assert press(page, "ArrowLeft") == name
    page.keyboard.press("e")
    with page.expect_response("**/api/try"):
        page.keyboard.press("c")
    page.keyboard.press("Enter")  # without strokes the mask is the stored one again
    page.wait_for_function("old => document.getElementById('desk').dataset.item !== old", arg=name)
    review = served.session.store.current("ann", name)
    assert review is not None
    assert (review.decision, review.has_mask) == ("accept", False)


def test_the_box_is_dragged_and_moved_by_keys_and_escape_leaves_it(page: playwright.Page, served: Served) -> None:
    name, (x0, y0, x1, y1) = shown(page), served.session.collection.exhibit(0).box
    page.keyboard.press("e")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    canvas = page.locator("#canvas").bounding_box()
    scale = canvas["width"] / 48
    page.mouse.move(canvas["x"] + x0 * scale + 1, canvas["y"] + (y0 + y1) / 2 * scale)
    page.mouse.down()
    page.mouse.move(canvas["x"] + (x0 + 3) * scale, canvas["y"] + (y0 + y1) / 2 * scale, steps=4)
    page.mouse.up()
    page.keyboard.press("ArrowUp")
    press(page, "Enter")
    review = served.session.store.current("ann", name)
    assert review is not None
    assert review.box == (x0 + 3, y0 - 1, x1, y1 - 1)
    assert not review.has_mask


def test_a_lost_network_loses_nothing_and_the_page_waits(browser: playwright.Browser, served: Served) -> None:
    page_of = opened(browser, served, width=1280, height=800)
    with page_of as page:
        first = shown(page)
        page_of.context.set_offline(True)
        page.keyboard.press("a")
        page.wait_for_function("() => document.getElementById('message').textContent.includes('cannot be reached')")
        page.keyboard.press("2")  # not while a decision is under way
        assert page.locator("#desk").get_attribute("data-item") == first
        page_of.context.set_offline(False)
        page.wait_for_function("old => document.getElementById('desk').dataset.item !== old", arg=first)
        assert decisions(served.session) == {first: "accept"}


def test_filters_by_class_and_reason(page: playwright.Page, served: Served) -> None:
    names = served.session.collection.names
    press(page, "1")
    press(page, "a")
    press(page, "1")
    page.select_option("#state-filter", label="rejected: mask keeps background")
    page.wait_for_function("() => document.getElementById('counts').textContent === '2 of 2 decided'")
    assert shown(page) == names[0]
    assert press(page, "ArrowRight") == names[2]
    page.select_option("#state-filter", label="all")
    page.select_option("#class-filter", label="star")
    page.wait_for_function("() => document.getElementById('title').textContent.startsWith('star')")
    assert page.locator("#counts").inner_text().endswith("of 2 decided")


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (768, "light"), (1440, "dark")])
def test_nothing_is_cut_off_and_everything_has_a_name(
    browser: playwright.Browser, served: Served, width: int, scheme: str
) -> None:
    with opened(browser, served, width=width, height=740, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for button in page.locator("button:visible").all():
            box = button.bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            assert box["height"] >= 40
            assert (button.get_attribute("aria-label") or button.inner_text()).strip()
        for image in page.locator("#variants img").all():
            assert image.get_attribute("alt")
            assert image.evaluate("image => image.complete && image.naturalWidth") == 48
        background_colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (background_colour == "rgb(255, 255, 255)") == (scheme == "light")
        page.locator("#accept").click()
        page.wait_for_function("() => document.getElementById('progress').value === 1")


def test_the_shown_image_is_the_stored_one_to_the_pixel(page: playwright.Page, served: Served) -> None:
    """With the overlay off, every pixel of the canvas is that of the file, at a whole multiple."""
    page.keyboard.press("m")
    size, shown_pixels = page.evaluate(
        """() => { const canvas = document.getElementById('canvas');
        const pen = canvas.getContext('2d'); const scale = canvas.width / 48; const pixels = [];
        for (let row = 0; row < 48; row += 1) for (let column = 0; column < 48; column += 1)
          pixels.push([...pen.getImageData((column + 0.5) * scale, (row + 0.5) * scale, 1, 1).data.slice(0, 3)]);
        return [canvas.width, pixels]; }"""
    )
    assert size % 48 == 0
    image = served.session.collection.exhibit(0).image
    assert shown_pixels == image.reshape(-1, 3).tolist()


def test_two_reviewers_settle_a_difference_on_the_page(browser: playwright.Browser, served: Served) -> None:
    names = served.session.collection.names
    with opened(browser, served, "ann", width=1280, height=800) as page:
        press(page, "a")
        press(page, "1")
    with opened(browser, served, "ben", width=1280, height=800) as page:
        press(page, "a")
        press(page, "a")
        page.click("#to-agreement")
        page.wait_for_selector(".differing img[src]")
        assert "50%" in page.locator("#pairs").inner_text()
        page.get_by_role("button", name="ann: reject, mask keeps background").click()
        page.wait_for_function("() => document.getElementById('open').textContent.includes('2 images are settled')")
    assert served.session.settle().rejected == 1
    assert served.session.store.standing()[1][names[1]].reviewer == "ben"


def test_any_data_with_masks_can_be_reviewed(browser: playwright.Browser, tmp_path: Path) -> None:
    session = Session(CurateRequest(dataset="phantom:test?size=40&n=12", out=tmp_path / "reviews"))
    with background(CurateApp(session.desk).starlette) as address:
        with opened(browser, Served(session, address), "reviewer", width=1280, height=800) as page:
            assert page.locator("figcaption").all_inner_texts() == ["only_fg", "no_fg"]
            press(page, "3")
        assert session.settle().rejected == 1
    session.store.close()
