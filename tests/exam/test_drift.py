"""A service that answers otherwise than when its folder was first asked: measured and reported, refused only with --strict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen.engine.ask import local
from snellen.errors import UserError
from snellen.models.model import from_callable

from ..models.service import Behaviour, Server, images_in, reply, serve

DATA = "phantom:test?size=16&n=150"
MORE = "occlusion(areas=[0.3], fills=[black])"


def answering(changed: Callable[[int], bool], confidence: float = 1.0) -> Behaviour:
    """A service of twelve classes by the pixels; images of which `changed` holds are taken for the next class."""

    def behave(body: bytes) -> Any:
        rows = []
        for image in images_in(body):
            number = int(image.astype(int).sum())
            row = np.full(12, (1 - confidence) / 11)
            row[(number + changed(number)) % 12] = confidence
            rows.append(row.tolist())
        return reply({"probabilities": rows})

    return behave


AS_EVER = answering(lambda number: False)
DRIFTED = answering(lambda number: number % 5 == 0)  # about a fifth of all images


def audit(server: Server, folder: Path, audits: str = "", **how: Any) -> snellen.Run:
    return snellen.audit(
        f"one={server.url}#size=16&batch=50", DATA, audits or [], out=folder, quiet=True, report=False, **how
    )


def drift_of(run: snellen.Run) -> dict[str, str]:
    return {
        entry["name"]: entry["text"]
        for entry in run.results()["warnings"]
        if entry["name"] in ("drift", "drift_of_answers")
    }


def test_a_service_that_answers_as_ever_has_no_drift(tmp_path: Path) -> None:
    with serve(AS_EVER) as server:
        audit(server, tmp_path / "run")
        run = audit(server, tmp_path / "run", MORE)
    assert drift_of(run) == {}
    assert "drift" not in run.facts


def test_planted_drift_is_measured_on_probes_and_on_images_that_were_answered(tmp_path: Path) -> None:
    with serve(AS_EVER) as server:
        first = audit(server, tmp_path / "run")
        probes = np.array(
            first.facts["models"]["one"][server.url.partition("//")[2].replace("/", "-").replace(":", "-")]["probes"]
        )
        server.behaviours, server.requests[:] = [DRIFTED], []
        run = audit(server, tmp_path / "run", MORE)
        now = np.array(snellen.load_model(f"{server.url}#size=16").card.probes)
    seen = drift_of(run)
    changed = int((probes.argmax(1) != now.argmax(1)).sum())
    assert 0 < changed < 16
    assert f"takes {changed} of 16 ({changed / 16:.0%}, " in seen["drift"]
    assert f"the first answer has moved by {changed / 16:.2f} (" in seen["drift"]
    assert "of 100 (" in seen["drift_of_answers"]
    share = int(seen["drift_of_answers"].partition("takes ")[2].partition(" of")[0]) / 100
    assert abs(share - 0.2) < 0.12  # 100 images of which about a fifth changed
    assert (
        len(server.requests) == 1 + 2 + 4 + 1
    )  # probes, a hundred clean images again, one new condition in batches of 128, probes


def test_the_first_answers_stay_what_later_ones_are_compared_with_and_what_was_seen_stays(tmp_path: Path) -> None:
    with serve(AS_EVER) as server:
        first = audit(server, tmp_path / "run").facts["models"]
        server.behaviours = [DRIFTED]
        second = audit(server, tmp_path / "run", MORE)
        seen = drift_of(second)
        assert second.facts["models"] == first
        assert drift_of(audit(server, tmp_path / "run", MORE))["drift"] == seen["drift"]
        server.behaviours, server.requests[:] = [AS_EVER], []
        run = audit(server, tmp_path / "run", MORE)  # nothing is left to ask, and its answers are of both
        assert len(server.requests) == 1
    assert "drift" in drift_of(run)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["drift"]


def test_a_confidence_that_moved_is_drift_too(tmp_path: Path) -> None:
    with serve(AS_EVER) as server:
        audit(server, tmp_path / "run")
        server.behaviours = [answering(lambda number: False, 0.9)]
        seen = drift_of(audit(server, tmp_path / "run", MORE))
    assert list(seen) == ["drift"]
    assert "takes 0 of 16 (0%, 0% to 19%) probe images for another class" in seen["drift"]
    assert "has moved by 0.10 (0.10 to 0.10)" in seen["drift"]


def test_strict_asks_nothing_of_a_service_that_drifts(tmp_path: Path) -> None:
    with serve(AS_EVER) as server:
        audit(server, tmp_path / "run")
        server.behaviours, server.requests[:] = [DRIFTED], []
        with pytest.raises(UserError, match=r"nothing was asked: the service behind 'one' takes \d+ of 16"):
            audit(server, tmp_path / "run", MORE, strict=True)
        assert len(server.requests) == 1 + 2
        audit(server, tmp_path / "run", MORE)
        with pytest.raises(UserError, match="nothing was asked"):
            audit(server, tmp_path / "run", MORE, strict=True)


def test_the_report_warns_of_drift(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve(AS_EVER) as server:
        audit(server, tmp_path / "run")
        server.behaviours = [DRIFTED]
        text = f"one={server.url}#size=16&batch=50"
        snellen.audit(text, DATA, MORE, out=tmp_path / "run")
    assert "warning: the service behind 'one'" in capsys.readouterr().err
    assert "probe images for another class than at first" in (tmp_path / "run" / "report.html").read_text()


def test_a_folder_that_was_stopped_in_the_middle_is_compared_by_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = local.answer_with_journal

    def stop_at_the_second(slide: Any, work: Any, store: Any, number: int) -> Any:
        if number == 1:
            raise UserError("stopped")
        return answer(slide, work, store, number)

    with serve(AS_EVER) as server:
        monkeypatch.setattr(local, "answer_with_journal", stop_at_the_second)
        with pytest.raises(UserError, match="stopped"):
            audit(server, tmp_path / "run", shard=60)
        monkeypatch.undo()
        server.behaviours = [DRIFTED]
        seen = drift_of(audit(server, tmp_path / "run", shard=60))
    assert "of 60 (" in seen["drift_of_answers"]


def test_a_callable_that_answers_otherwise_is_refused_still(tmp_path: Path) -> None:
    def model(shift: int) -> Any:
        def guess(images: np.ndarray) -> np.ndarray:
            return np.eye(12)[(images[:, 3, 5, 0] + shift) % 12]

        return from_callable(guess, size=16, name="mine")

    snellen.audit(model(0), DATA, [], out=tmp_path / "run", quiet=True)
    with pytest.raises(UserError, match="when it answered differently"):
        snellen.audit(model(1), DATA, [], out=tmp_path / "run", quiet=True)
