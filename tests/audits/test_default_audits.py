"""What is asked where no audit is named: what suits any data, and what these data are made for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import snellen
from snellen.audits import default_audits, parse_audits
from snellen.cli import main
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.models import from_callable

PHANTOM = "phantom:test?size=16&n=36"
MASKS = "chosen because the data have masks"


def first_pixel():
    return from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=16, name="pixel", version="1")


def chosen(data: str, before: tuple[str, ...] = ()) -> dict[str, str]:
    return {str(one).partition("(")[0]: why for one, why in default_audits(snellen.load_data(data), before)}


def plain(folder: Path, **more: np.ndarray) -> str:
    """Grey images of which nothing but the label is known."""
    images = np.full((12, 16, 16, 3), 90, np.uint8)
    np.savez(folder / "plain.npz", images=images, labels=np.arange(12) % 3, **more)
    return f"arrays:{folder}/plain.npz"


def test_plain_data_are_asked_what_suits_any_data(tmp_path: Path) -> None:
    assert chosen(plain(tmp_path)) == {"occlusion": "default", "interference": "default"}
    assert [str(one).partition("(")[0] for one in parse_audits(None)] == ["occlusion", "interference"]


def test_masks_boxes_and_cue_conflicts_add_their_audits(tmp_path: Path) -> None:
    assert chosen(PHANTOM)["background"] == MASKS
    boxed = plain(tmp_path, boxes=np.tile([2, 2, 8, 8], (12, 1)))
    assert chosen(boxed)["background"] == "chosen because the data have boxes"
    for shape, texture in (("cat", "dog"), ("dog", "cat")):
        (tmp_path / "cues" / shape).mkdir(parents=True)
        Image.new("RGB", (16, 16)).save(tmp_path / "cues" / shape / f"{shape}1-{texture}2.png")
    assert chosen(f"cue:{tmp_path}/cues") == {
        "occlusion": "default", "interference": "default", "shape": "chosen because the data have cue conflicts",
    }  # fmt: skip


def test_the_plan_says_why_and_named_audits_have_no_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["audit", "observer:texture", "--data", PHANTOM, "--out", str(tmp_path / "run"), "--dry-run", "--json"]
    with pytest.raises(SystemExit):
        main(command)
    audits = json.loads(capsys.readouterr().out)["audits"]
    assert [text.partition("(")[0] for text in audits] == ["baseline", "occlusion", "interference", "background"]
    assert audits[1].endswith(") (default)")
    assert audits[3].endswith(f") ({MASKS})")
    with pytest.raises(SystemExit):
        main([*command, "--audits", "background"])
    assert json.loads(capsys.readouterr().out)["audits"][1].endswith("examples=4)")


def test_a_condition_on_a_finding_of_a_chosen_audit_is_known_before_anything_is_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["audit", "observer:texture", "--out", str(tmp_path / "run"), "--dry-run", "--require", "bg_gap < 1"]
    for data, code in ((PHANTOM, 0), (plain(tmp_path), 2)):
        with pytest.raises(SystemExit) as stopped:
            main([*command, "--data", data])
        assert int(stopped.value.code or 0) == code
    assert "unknown finding in --require 'bg_gap'" in capsys.readouterr().err


def test_a_run_that_was_made_without_them_stays_as_it_is(tmp_path: Path) -> None:
    """A folder of a version that always asked for two audits resumes by the same command and asks nothing more."""
    folder = tmp_path / "run"
    snellen.audit(first_pixel(), PHANTOM, "occlusion,interference", folder, quiet=True, report=False)
    facts = json.loads((folder / "run.json").read_text())
    del facts["audit_reasons"], facts["checksum"]
    (folder / "run.json").write_text(json.dumps(facts))
    prepared = prepare(AuditRequest(models=(first_pixel(),), data=PHANTOM, out=folder))
    assert prepared.plan().forward_passes == 0
    assert set(prepared.reasons.values()) == {"as before in this run folder"}
    assert prepare(AuditRequest(models=(first_pixel(),), data=PHANTOM, out=tmp_path / "new")).plan().forward_passes > 0


def test_a_run_says_why_its_audits_were_asked(tmp_path: Path) -> None:
    run = snellen.audit(first_pixel(), PHANTOM, None, tmp_path / "run", quiet=True, report=False)
    assert list(run.facts["audit_reasons"].values()) == ["default", "default", MASKS]
    assert prepare(AuditRequest(models=(first_pixel(),), data=PHANTOM, out=run.path)).plan().forward_passes == 0
    assert {"bg_gap", "cut_occlusion", "interference"} <= set(run.findings()["name"])
