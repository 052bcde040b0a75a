"""A run as a dataset of Hugging Face, read by their own package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.errors import UserError

AUDITS = "occlusion(areas=[0.3], fills=[black])"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> snellen.Run:
    return snellen.audit(
        ["observer:shape", "observer:texture"], "phantom:test?size=16&n=40", AUDITS, tmp_path_factory.mktemp("hf") / "run",
        train="phantom:train?size=16&n=30", quiet=True,
    )  # fmt: skip


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DATASETS_OFFLINE", "1")
    module = pytest.importorskip("datasets", reason="datasets is not installed")
    monkeypatch.setattr(module.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    return module


def test_their_package_reads_answers_and_findings(run: snellen.Run, tmp_path: Path, datasets: Any) -> None:
    folder = run.export(tmp_path / "set", "hf")
    answers = datasets.load_dataset(str(folder), "answers", cache_dir=str(tmp_path / "cache"))
    assert set(answers) == {"test", "train"}
    stored = run.predictions()
    assert {split: len(rows) for split, rows in answers.items()} == stored["on"].value_counts().to_dict()
    assert sum(answers["test"]["score"]) == stored[stored["on"] == "test"]["score"].sum()
    assert answers["test"].features["excluded"].dtype == "bool"
    findings = datasets.load_dataset(str(folder), "findings", cache_dir=str(tmp_path / "cache"))["findings"]
    own = run.findings()
    assert findings["label"] == own["label"].tolist()
    assert findings["value"] == pytest.approx(own["value"].tolist(), nan_ok=True)
    assert {kind.dtype for name, kind in findings.features.items() if name in ("value", "n", "di_flagged")} == {
        "float64",
        "int64",
        "bool",
    }


def test_the_card_names_every_column_and_is_what_a_reader_sees(run: snellen.Run, tmp_path: Path) -> None:
    card = (run.export(tmp_path / "set", "hf") / "README.md").read_text()
    assert card.startswith("---\nconfigs:\n")
    assert "| label_prob | float | probability of the true class |" in card
    assert "## Robustness" in card


def test_a_folder_with_files_of_others_is_left_alone_and_its_own_is_written_again(
    run: snellen.Run, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(UserError, match="'.*mine' has files in it; choose another"):
        run.export(tmp_path / "mine", "hf")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    folder = run.export(tmp_path / "set", "hf")
    before = {file: file.read_bytes() for file in folder.rglob("*.*") if file.is_file()}
    (folder / "answers" / "old.parquet").write_bytes(b"")
    run.export(tmp_path / "set", "hf")
    assert {file: file.read_bytes() for file in folder.rglob("*.*") if file.is_file()} == before
