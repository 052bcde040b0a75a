"""What a web service costs: planned before anything is sent, counted over all commands of a folder, and bounded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import snellen
from snellen.cli import main
from snellen.cli.audit import default_folder
from snellen.engine.keep.request_tally import RequestTally, counting_requests, requests_made
from snellen.errors import UserError
from snellen.models.remote.address import Address
from snellen.models.remote.client import Client
from snellen.models.remote.turns import BudgetSpent

from ..engine.test_answer_journal import by_pixel
from ..models.service import Server, serve, status

DATA = "phantom:test?size=16&n=60"
AUDIT = "occlusion(areas=[0.3], fills=[black])"
CELLS = 3  # clean images, the yardstick and one occlusion


def audit(server: Server, folder: Path, settings: str, **how: Any) -> Any:
    text = f"one={server.url}#size=16&batch=10{settings}"
    return snellen.audit(text, DATA, AUDIT, out=folder, quiet=True, report=False, **how)


def test_a_dry_run_states_requests_cost_and_time_and_sends_the_probe_images_alone(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        outline = audit(server, tmp_path / "run", "&price=2.5&rate=100&budget=500", dry_run=True)
        assert len(server.requests) == 2  # 16 probe images, ten at once
    (service,) = outline.services
    assert service == {
        "url": server.url,
        "requests": CELLS * 6,
        "sent": 0,
        "cost": CELLS * 6 * 2.5 / 1000,
        "budget": 500,
        "seconds_at_rate": round(CELLS * 6 / 100, 1),
    }
    assert outline.estimated_seconds >= CELLS * 6 / 100
    assert not (tmp_path / "run").exists()


def test_the_command_prints_the_plan_of_a_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(by_pixel) as server:
        words = ["audit", f"{server.url}#size=16&batch=1&price=20", "--data", "phantom:test?size=16&n=2000"]
        with pytest.raises(SystemExit) as ending:
            main([*words, "--audits", AUDIT, "--out", str(tmp_path / "run"), "--dry-run"])
        assert ending.value.code in (None, 0)
        assert f"services:\n  {server.url}, requests 6,000, sent 0, cost 120.0\n" in capsys.readouterr().out


def test_the_plan_is_what_is_sent(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        planned = audit(server, tmp_path / "run", "&parallel=2", dry_run=True).services[0]["requests"]
        server.requests.clear()
        made = audit(server, tmp_path / "run", "&parallel=2&price=3")
        looks = 7  # of the first look, which an outline does not count
        assert len(server.requests) == planned + 2 + looks
        assert made.facts["services"] == {
            server.url: {"requests": len(server.requests), "cost": round(len(server.requests) * 0.003, 6)}
        }
        server.requests.clear()
        assert audit(server, tmp_path / "run", "", dry_run=True).services[0]["requests"] == 0


def test_searches_and_trials_are_planned_too(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        text = f"one={server.url}#size=16&batch=10"
        searches = "shift(random=20, evaluations=40, restarts=1, images=10)"
        outline = snellen.audit(text, DATA, searches, out=tmp_path / "a", dry_run=True)
        least = 2 * 6 + outline.search_passes_at_most // 10
        assert least <= outline.services[0]["requests"] <= 1.1 * least  # the last request of a batch may not be full
        trials = "adversarial_backgrounds"
        outline = snellen.audit(
            text, DATA, trials, donors="phantom:train?size=16&n=20", out=tmp_path / "b", dry_run=True
        )
        assert outline.trial_passes_at_most > 0
        assert outline.services[0]["trial_requests_at_most"] == -(-outline.trial_passes_at_most // 10)


def test_a_spent_budget_is_a_clean_stop_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        with pytest.raises(UserError) as caught:
            audit(server, tmp_path / "run", "&budget=15&parallel=3")
        assert len(server.requests) == 15
        assert str(caught.value) == (
            f"{server.url}: 15 requests were sent, and #budget=15 allows no more; {CELLS * 6 - 6} are left to ask: run the same "
            "command with a larger #budget=; it resumes"
        )
        with pytest.raises(UserError, match="17 requests were sent, and #budget=15 allows no more"):
            audit(server, tmp_path / "run", "&budget=15")
        assert len(server.requests) == 17  # the probe images of that command
        run = audit(server, tmp_path / "run", "&budget=100&price=1000")
        assert len(server.requests) == 2 + 7 + 2 * 2 + CELLS * 6  # nothing but probe images was sent twice
        assert run.facts["services"][server.url] == {"requests": len(server.requests), "cost": len(server.requests)}
        pd.testing.assert_frame_equal(run.predictions(), audit(server, tmp_path / "whole", "").predictions())


def test_tries_count(tmp_path: Path) -> None:
    with serve(status(500)) as server:
        client = Client(Address(server.url, budget=3, retries=9), sleep=lambda seconds: None)
        with pytest.raises(BudgetSpent, match="3 requests were sent"):
            client.post(b"{}")
        assert len(server.requests) == 3


def test_a_tally_is_one_for_all_who_write_to_it(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        one, two = (snellen.load_model(f"{server.url}#size=16&batch=8&budget=9") for _ in range(2))
        assert len(server.requests) == 4  # two for the probe images of each
        with counting_requests([one], tmp_path), counting_requests([two], tmp_path):
            assert requests_made(tmp_path, server.url) == 4
            one.fleets[0].post_all([b'{"images": []}'] * 3)
            with pytest.raises(BudgetSpent):
                two.fleets[0].post_all([b'{"images": []}'] * 3)
        assert (requests_made(tmp_path, server.url), len(server.requests)) == (9, 9)
        assert requests_made(tmp_path, "http://elsewhere/") == 0


def test_a_link_in_the_place_of_a_tally_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("keep")
    (tmp_path / "sent").symlink_to(tmp_path / "mine")
    with pytest.raises(UserError, match="cannot write"):
        RequestTally(tmp_path / "sent")


def test_settings_of_how_to_ask_change_neither_identity_nor_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    how = "parallel=2&budget=50&price=1&rate=900&timeout=9&retries=1&token=KEY"
    monkeypatch.setenv("KEY", "s3cret")
    with serve(by_pixel) as server:
        plain = snellen.load_model(f"{server.url}#size=16").card
        asked = snellen.load_model(f"{server.url}#size=16&{how}").card
        larger = snellen.load_model(f"{server.url}#size=20").card
        other = snellen.load_model(f"{server.url}2#size=16").card
    assert plain.fingerprint == asked.fingerprint
    assert len({plain.fingerprint, larger.fingerprint, other.fingerprint}) == 3
    folders = {default_folder([f"http://h/m#{text}"], "phantom:test") for text in ("size=16", f"{how}&size=16")}
    assert folders == {Path("runs/m-size-16-on-test")}
    assert default_folder([f"http://h/m#size=16&{how}"], "phantom:test") in folders


def test_the_report_states_what_was_asked_and_what_it_cost(tmp_path: Path) -> None:
    with serve(by_pixel) as server:
        text = f"one={server.url}#size=16&batch=10&price=1000"
        snellen.audit(text, DATA, AUDIT, out=tmp_path / "run", quiet=True)
        sent = len(server.requests)
    page = (tmp_path / "run" / "report.html").read_text()
    assert f"requests to {server.url}" in page
    assert f"{sent}, which cost {sent:,.2f}" in page
    assert json.loads((tmp_path / "run" / "run.json").read_text())["services"][server.url]["requests"] == sent
