"""A participant in headless Chromium: mouse, keys, reload, a lost network, and what the screen shows pixel by pixel."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.web.browsing import NEEDS_CHROMIUM, come_in, path_to, take_by_mouse, trial_of, wait_for_done
from tests.web.participants import Running, running

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def kassaw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Questions by the tree, a click on the object, the cross."""
    out = tmp_path_factory.mktemp("kassaw") / "study"
    settings = {"protocol": "kassaw2024", "tree": "data", "participants": 12, "breaks": 2, "completion": "THANKS-1"}
    with running(out, "phantom:test?size=64&n=30", **settings) as study:
        yield study


@pytest.fixture(scope="module")
def forced(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Cross, picture for some frames, mask, choice."""
    out = tmp_path_factory.mktemp("forced") / "study"
    settings = {"protocol": "forced", "frames": 6, "fixation_ms": 50, "mask_ms": 50, "participants": 4}
    with running(out, "phantom:test?size=64&n=30", **settings) as study:
        yield study


def test_a_participant_completes_a_study_with_the_mouse(browser, kassaw):
    page = come_in(browser, kassaw, "p001")
    for count in range(1, 5):
        page.wait_for_selector("#trial:not([hidden]) #choices button, #break:not([hidden])")
        if page.is_visible("#break"):
            page.click("#go-on")
            page.wait_for_selector("#choices button")
        take_by_mouse(page, kassaw)
        wait_for_done(page, count)
    page.wait_for_selector("#done:not([hidden])")
    assert page.inner_text("#completion-code") == "THANKS-1"
    rows = [row for row in kassaw.answers() if row["input"] == "mouse"]
    assert len(rows) == 4
    for row in rows:
        assert row["answer"] == kassaw.store.study.items[row["item"]].label
        assert abs(row["x"] - 32) <= 1
        assert abs(row["y"] - 32) <= 1
        assert row["response_ms"] > 0
        assert row["scale"] == int(row["scale"]) >= 1
    page.context.close()


def test_a_participant_completes_a_study_with_keys_only(browser, kassaw):
    page = browser.new_context(viewport={"width": 768, "height": 900}).new_page()
    page.goto(f"{kassaw.url}/#{kassaw.links['p002']}")
    nodes = kassaw.store.study.question.nodes
    before = len(kassaw.answers())
    for button in ("agree", "begin"):
        page.wait_for_selector(f"#{button}:focus")
        page.keyboard.press("Enter")
    for count in range(1, 5):
        page.wait_for_selector("#choices button, #go-on:focus")
        if page.is_visible("#break"):
            page.keyboard.press("Enter")
        page.wait_for_selector("#trial:not([hidden]) #choices button")
        item, above = kassaw.item_at(trial_of(page)), ""
        page.keyboard.press("1")  # and back again
        page.keyboard.press("Backspace")
        steps = path_to(kassaw, item.label)
        for step in steps:
            page.keyboard.press(str(nodes[above].index(step) + 1))
            above = step
        page.wait_for_selector("#question:has-text('Click on the')")
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        wait_for_done(page, count)
    page.wait_for_selector("#done:not([hidden])")
    rows = kassaw.answers()[before:]
    assert [row["input"] for row in rows] == ["keys"] * 4
    assert [(row["x"], row["y"]) for row in rows] == [(22, 33)] * 4
    assert all(row["answer"] == kassaw.store.study.items[row["item"]].label for row in rows)
    page.context.close()


def test_a_reload_and_a_second_tab_go_on_where_they_were(browser, kassaw):
    page = come_in(browser, kassaw, "p003")
    take_by_mouse(page, kassaw)
    wait_for_done(page, 1)
    seen = trial_of(page)
    page.reload()  # the link's token is gone from the address bar; the cookie knows the person
    assert "#" not in page.url
    page.wait_for_selector("#choices button")
    assert trial_of(page) == seen
    other = page.context.new_page()
    other.goto(kassaw.url)
    other.wait_for_selector("#choices button")
    take_by_mouse(other, kassaw)
    wait_for_done(other, 2)
    before = len(kassaw.answers())
    item = kassaw.item_at(seen)
    for step in path_to(kassaw, item.label):  # the first tab still shows the picture that the other has answered
        page.click(f"#choices [data-name='{step}']")
    page.locator("canvas").click()
    page.wait_for_selector("#break:not([hidden])")
    assert len(kassaw.answers()) == before
    page.context.close()


def test_an_answer_without_a_network_is_sent_when_it_is_back(browser, kassaw):
    page = come_in(browser, kassaw, "p004")
    item, before = kassaw.item_at(trial_of(page)), len(kassaw.answers())
    page.context.set_offline(True)
    for step in path_to(kassaw, item.label):
        page.click(f"#choices [data-name='{step}']")
    page.locator("canvas").click()
    page.wait_for_selector("#notice:has-text('No connection')")
    assert len(kassaw.answers()) == before
    page.context.set_offline(False)
    wait_for_done(page, 1)
    page.wait_for_selector("#notice", state="hidden")
    assert len(kassaw.answers()) == before + 1
    page.context.close()


def test_an_answer_whose_reply_is_lost_is_one_row_also_after_a_reload(browser, kassaw):
    page = come_in(browser, kassaw, "p005")
    before = len(kassaw.answers())

    def lose(route: Any) -> None:
        route.fetch()  # the server stores it
        route.abort("connectionreset")

    page.route("**/api/answer", lose)
    take_by_mouse(page, kassaw)
    page.wait_for_selector("#notice:has-text('No connection')")
    page.unroute("**/api/answer")
    page.reload()  # what waits is sent again
    page.wait_for_selector("#choices button")
    assert page.evaluate("Object.keys(localStorage).length") == 0
    assert len(kassaw.answers()) == before + 1
    page.context.close()


@pytest.mark.parametrize(("name", "width"), [("p006", 360), ("p007", 768), ("p008", 1440)])
def test_the_cross_is_at_the_centre_of_the_picture_and_nothing_is_cut_off(browser, kassaw, name, width):
    page = come_in(browser, kassaw, name, width)
    canvas, cross = page.locator("canvas").bounding_box(), page.locator(".cross").bounding_box()
    for side, size in (("x", "width"), ("y", "height")):
        middle = canvas[side] + canvas[size] / 2
        assert abs(cross[side] + cross[size] / 2 - middle) <= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    box = page.locator("#choices button").first.bounding_box()
    assert box["height"] >= 44  # a finger's width
    page.context.close()


@pytest.mark.parametrize(("name", "ratio", "scale"), [("p009", 1, 1), ("p010", 1, 3), ("p011", 2, 3)])
def test_the_screen_shows_the_stored_pixels(browser, kassaw, name, ratio, scale):
    page = browser.new_context(viewport={"width": 769, "height": 900}, device_scale_factor=ratio).new_page()
    page.route("**/", lambda route: _with_scale(route, scale))
    page.goto(f"{kassaw.url}/#{kassaw.links[name]}")
    page.click("#agree")
    page.click("#begin")
    page.wait_for_selector("#choices button")
    address = trial_of(page)
    page.evaluate("document.querySelectorAll('.cross').forEach(node => node.remove())")
    box = page.locator("canvas").bounding_box()
    left, top, side = box["x"] * ratio, box["y"] * ratio, box["width"] * ratio
    assert (left, top, side) == (int(left), int(top), 64 * scale)  # whole device pixels
    screen = np.asarray(Image.open(io.BytesIO(page.screenshot(scale="device"))).convert("RGB"))
    shot = screen[int(top) : int(top + side), int(left) : int(left + side)]
    item = kassaw.item_at(address)
    stored = np.asarray(Image.open(io.BytesIO(kassaw.store.folder.picture(item.number))))
    assert shot.shape == (64 * scale, 64 * scale, 3)
    assert (shot == stored.repeat(scale, 0).repeat(scale, 1)).all()
    page.context.close()


def _with_scale(route: Any, scale: int) -> None:
    """The page as if the study fixed this scale."""
    response = route.fetch()
    route.fulfill(response=response, body=response.text().replace("&#34;scale&#34;: null", f"&#34;scale&#34;: {scale}"))


def test_the_forced_choice_shows_the_picture_for_its_frames_and_measures_them(browser, forced):
    page = come_in(browser, forced, "p001")
    for count in range(1, 5):
        page.wait_for_selector("#choices button")
        shown = page.evaluate("[...document.querySelector('canvas').getContext('2d').getImageData(0, 0, 9, 9).data]")
        assert set(shown) == {0}  # gone, and the mask too
        page.locator("#choices button").nth(count).click()
        wait_for_done(page, count)
    page.wait_for_selector("#done:not([hidden])")
    person = next(person for person in [forced.store.person(forced.links["p001"])] if person)
    assert '"refresh_hz"' in person.screen
    for row in forced.answers():
        assert row["exposure_ms"] > 0
        assert row["onset_ms"] >= 49
        on_time = 6 * 1000 / 60
        assert row["late_frames"] > 0 or row["exposure_ms"] < 2 * on_time
    page.context.close()


def test_on_a_telephone_the_answers_are_in_view_when_the_picture_is_gone(browser, forced):
    page = come_in(browser, forced, "p003", 360, 640)
    for button in page.locator("#choices button").all():
        box = button.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 640
    page.context.close()


def test_a_wrong_link_and_no_link_say_what_to_do(browser, kassaw):
    page = browser.new_page()
    page.goto(f"{kassaw.url}/#AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
    page.wait_for_selector("#reason:has-text('this link is not known')")
    page.goto("about:blank")
    page.goto(kassaw.url)
    page.wait_for_selector("#reason:has-text('open your personal link first')")
    page.close()


def test_a_participant_withdraws_by_their_code(browser, forced):
    page = come_in(browser, forced, "p002")
    page.locator("#choices button").first.click()
    wait_for_done(page, 1)
    person = forced.store.person(forced.links["p002"])
    page.goto("about:blank")
    page.context.clear_cookies()
    page.goto(forced.url)
    page.click("#refused [data-show]")
    page.fill("#code", forced.store.withdrawal_code(person).lower())
    page.click("#withdraw-form [type=submit]")
    page.wait_for_selector("#withdraw-result:has-text('Your answers are erased')")
    assert forced.store.person(forced.links["p002"]) is None
    page.context.close()


def test_no_page_breaks_its_own_security_policy(browser, kassaw):
    page = browser.new_context(viewport={"width": 768, "height": 900}).new_page()
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.goto(f"{kassaw.url}/#{kassaw.links['p012']}")
    page.click("#agree")
    page.click("#begin")
    page.wait_for_selector("#choices button")
    assert messages == []
    page.goto(f"{kassaw.url}/experimenter#{kassaw.token}")
    page.wait_for_selector("#people tr")
    assert messages == []
    page.context.close()
