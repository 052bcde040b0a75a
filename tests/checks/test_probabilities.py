"""A model that answers logits where probabilities are expected gets a notice, once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import snellen
from snellen.checks.answers import not_probabilities
from snellen.models import from_callable

RIGHT = np.array([[0.2, 0.8], [1.0, 0.0], [0.5, 0.501]])


def test_probabilities_are_no_matter() -> None:
    assert not_probabilities("mine", RIGHT) is None
    assert not_probabilities("mine", RIGHT.astype(np.float16)) is None


@pytest.mark.parametrize("answers", [RIGHT * 10 - 5, RIGHT * 2, np.zeros((3, 2)), np.array([[1.5, -0.5]])])
def test_anything_else_is_told(answers: np.ndarray) -> None:
    notice = not_probabilities("mine", answers)
    assert notice is not None
    assert "the answers of 'mine' are no probabilities" in str(notice)
    assert "apply a softmax" in str(notice)


def test_logits_get_one_notice_on_stderr_and_in_the_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where the same command is given again, which asks nothing; `--strict` does not mind."""
    images = np.random.default_rng(0).integers(0, 255, (40, 8, 8, 3), dtype=np.uint8)
    labels = np.arange(40) % 2
    images[:, 0, 0, 0] = labels * 200
    np.savez(tmp_path / "data.npz", images=images, labels=labels)
    model = from_callable(lambda x: 9.0 * np.eye(2)[x[:, 0, 0, 0] // 200], size=8, version="1", name="mine")
    for notes in (1, 0):
        snellen.audit(model, f"arrays:{tmp_path}/data.npz", [], tmp_path / "run", report=False, strict=True)
        assert capsys.readouterr().err.count("no probabilities") == notes
        notices = json.loads((tmp_path / "run" / "findings.json").read_text())["notices"]
        assert sum("no probabilities" in text for text in notices) == 1
