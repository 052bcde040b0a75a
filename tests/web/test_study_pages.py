"""What a participant's page owes: the end only when all is confirmed, nothing lost, nothing cut off, the size of the screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from tests.gates import wait_until
from tests.web.browsing import NEEDS_CHROMIUM, name_by_mouse, take_by_mouse, trial_of, wait_for_done
from tests.web.participants import Running, running

pytestmark = NEEDS_CHROMIUM
COMPLETION = "https://app.prolific.com/submissions/complete?cc=ABC"


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A short study that a recruiting site sends people to, with the card."""
    out = tmp_path_factory.mktemp("pages") / "study"
    settings = {"per_person": 2, "participants": 10, "recruit": True, "completion": COMPLETION, "card": True}
    with running(out, "phantom:test?size=64&n=30", protocol="kassaw2024", tree="data", **settings) as study:
        yield study


def screen_of(study: Running, token: str) -> dict[str, Any]:
    person = study.store.person(token)
    assert person is not None
    return msgspec.json.decode(person.screen, type=dict[str, Any])


def test_the_way_back_to_the_recruiting_site_appears_when_the_last_answer_is_confirmed(browser, study):
    page = browser.new_context(viewport={"width": 768, "height": 900}).new_page()
    went: list[str] = []
    page.on("framenavigated", lambda frame: went.append(frame.url))
    page.goto(f"{study.url}/?PROLIFIC_PID=rosa1871&STUDY_ID=s&SESSION_ID=t")
    page.click("#agree")
    page.click("#without")
    page.click("#begin")
    page.wait_for_selector("#choices button")
    assert "rosa1871" not in page.url
    take_by_mouse(page, study)
    wait_for_done(page, 1)
    page.wait_for_selector("#choices button")
    item = study.item_at(trial_of(page))
    before = len(study.answers())
    page.context.set_offline(True)
    name_by_mouse(page, study, item.label)
    page.wait_for_selector("#notice:has-text('No connection')")
    assert len(study.answers()) == before
    assert not page.is_visible("#done")
    assert COMPLETION not in page.content()
    page.context.set_offline(False)
    page.wait_for_selector("#done:not([hidden])")
    assert len(study.answers()) == before + 1
    assert page.get_attribute("#return-link", "href") == COMPLETION
    assert all(url.startswith(study.url) for url in went)  # people go when they click, not before
    page.context.close()


@pytest.mark.parametrize(("name", "width", "millimetres"), [("p001", 360, 53.98), ("p002", 1440, 85.6)])
def test_a_card_on_the_screen_gives_pixels_per_mm_which_a_reload_keeps(browser, study, name, width, millimetres):
    page = browser.new_context(viewport={"width": width, "height": 740}).new_page()
    page.goto(f"{study.url}/#{study.links[name]}")
    page.click("#agree")
    page.wait_for_selector("#card:not([hidden])")
    for key in ("ArrowRight",) * 5:
        page.keyboard.press(key)
    frame = page.locator("#frame").bounding_box()
    assert frame["width"] / frame["height"] == pytest.approx(millimetres / (85.6 + 53.98 - millimetres), rel=0.01)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.is_visible("#upright") == (width == 360)  # a card does not fit across a telephone
    page.click("#fits")
    page.wait_for_selector("#instructions:not([hidden])")
    expected = pytest.approx(frame["width"] / millimetres)
    assert screen_of(study, study.links[name])["pixels_per_mm"] == expected
    page.reload()
    page.wait_for_selector("#instructions:not([hidden])")  # not asked again
    known = screen_of(study, study.links[name])
    assert known["pixels_per_mm"] == expected
    assert known["refresh_hz"] > 0
    page.context.close()


def begin(page: Any, study: Running, name: str) -> None:
    """Up to the first question, by a personal link, whoever was here before."""
    page.goto("about:blank")
    page.goto(f"{study.url}/#{study.links[name]}")
    page.click("#agree")
    page.click("#without")
    page.click("#begin")
    page.wait_for_selector("#choices button")


def test_an_answer_waits_for_its_own_person_where_others_use_the_same_computer(browser, study):
    page = browser.new_context(viewport={"width": 768, "height": 900}).new_page()
    begin(page, study, "p003")
    item, before = study.item_at(trial_of(page)), len(study.answers())
    page.route("**/api/answer", lambda route: route.abort("connectionreset"))
    name_by_mouse(page, study, item.label)
    page.wait_for_selector("#notice:has-text('No connection')")
    page.goto("about:blank")
    page.unroute("**/api/answer")
    begin(page, study, "p004")  # the next person comes by their link
    take_by_mouse(page, study)
    wait_for_done(page, 1)
    assert len(study.answers()) == before + 1
    page.goto("about:blank")
    page.goto(f"{study.url}/#{study.links['p003']}")
    wait_until(lambda: len(study.answers()) == before + 2, "the answer that waited")
    assert item.label in {row["answer"] for row in study.answers() if row["item"] == item.number}
    page.context.close()


def test_an_answer_of_somebody_whose_cookie_is_gone_is_sent_when_they_come_by_their_link_again(browser, study):
    page = browser.new_context(viewport={"width": 768, "height": 900}).new_page()
    begin(page, study, "p005")
    label, before = study.item_at(trial_of(page)).label, len(study.answers())
    page.context.clear_cookies()
    name_by_mouse(page, study, label)
    page.wait_for_selector("#reason:has-text('Open your personal link first.')")
    page.goto("about:blank")
    page.goto(f"{study.url}/#{study.links['p005']}")
    wait_for_done(page, 1)
    assert len(study.answers()) == before + 1
    page.context.close()


@pytest.mark.parametrize("width", [360, 768, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_of_participants_and_experimenters_are_not_cut_off_and_readable(browser, study, width, scheme):
    page = browser.new_context(viewport={"width": width, "height": 740}, color_scheme=scheme).new_page()
    for address in (f"/#{study.links['p010']}", f"/experimenter#{study.token}"):
        page.goto("about:blank")
        page.goto(study.url + address)
        page.wait_for_selector("#consent:not([hidden]), #progress:not([hidden])")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        ground, ink = page.evaluate(
            "(style => [style.backgroundColor, style.color])(getComputedStyle(document.body))",
        )
        assert contrast(ground, ink) >= 7  # WCAG 2, level AAA
        assert (ground == "rgb(255, 255, 255)") == (scheme == "light")
    page.context.close()


def contrast(first: str, second: str) -> float:
    """The contrast of two colours `rgb(r, g, b)` by WCAG 2.2."""
    light, dark = sorted((luminance(colour) for colour in (first, second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_gap_of_several_periods_counts_as_late_frames_and_the_others_do_not(browser, study):
    page = browser.new_page()
    page.goto(study.url)
    measured = page.evaluate(
        """async () => {
            const times = [100, 116, 133, 183, 200, 221];  // at 60 Hz: two frames are missing in the third gap
            window.requestAnimationFrame = (call) => setTimeout(() => call(times.shift()));
            const { expose } = await import("/static/timing.js");
            const done = [];
            const times_of = await expose(() => done.push(`drawn ${times.length}`), () => done.push(`hidden ${times.length}`),
                5, 1000 / 60);
            return { ...times_of, done };
        }"""
    )
    assert measured == {"onset": 100, "offset": 221, "late": 2, "done": ["drawn 5", "hidden 0"]}
    page.close()


def test_time_away_is_kept_apart_from_the_response_time(browser, study):
    page = browser.new_context(viewport={"width": 768, "height": 900}).new_page()
    begin(page, study, "p006")
    address = trial_of(page)
    page.evaluate("window.dispatchEvent(new Event('blur'))")
    page.wait_for_timeout(400)
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    take_by_mouse(page, study)
    wait_for_done(page, 1)
    item = study.item_at(address)
    (row,) = [row for row in study.answers() if row["item"] == item.number and row["away_ms"] > 0]
    assert row["away_ms"] >= 400
    passed = page.evaluate("performance.timeOrigin + performance.now()") - row["shown_at"]
    assert row["response_ms"] + row["away_ms"] <= passed
    page.context.close()


def test_who_does_not_want_to_withdraw_after_all_comes_back_to_the_page_before(browser, study):
    page = browser.new_page()
    page.goto(study.url)
    page.click("#refused [data-show]")
    page.fill("#code", "AAAA-BBBB-CCCC")
    page.click("#withdraw-form [type=submit]")
    page.wait_for_selector("#withdraw-result:has-text('This code is not known.')")
    page.click("#keep")
    assert page.is_visible("#refused")
    page.close()
