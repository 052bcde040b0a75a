"""The doctor on this machine, and on one that is broken on purpose."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from snellen import doctor as clinic
from snellen.cli import main
from snellen.errors import UserError


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


@pytest.fixture
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_working_machine_is_ready_and_nothing_is_left_behind(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor") == 0
    out = capsys.readouterr().out
    assert out.endswith("\nready\n")
    for word in ("versions", "torch ", "cpu", "free", "SNELLEN_HOME", "as expected"):
        assert word in out
    assert list(at.iterdir()) == []


def test_json_says_the_same(at: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(clinic.SECTIONS, "self_test", lambda: ({"audit": "as expected"}, []))
    assert run("doctor", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ready"] is True
    assert told["problems"] == []
    assert set(clinic.SECTIONS) <= set(told)


def test_a_home_that_cannot_be_written_is_named_with_what_to_do(
    at: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (at / "file").touch()
    monkeypatch.setenv("SNELLEN_HOME", str(at / "file" / "home"))
    monkeypatch.setitem(clinic.SECTIONS, "self_test", lambda: ({}, []))
    assert run("doctor") == 1
    out = capsys.readouterr().out
    assert f"wrong: SNELLEN_HOME, {at / 'file' / 'home'}, cannot be written (Not a directory)" in out
    assert "set SNELLEN_HOME to a folder that you may write" in out
    assert out.endswith("not ready\n")


@pytest.mark.parametrize(
    ("broken", "said"),
    [(UserError("no such device"), "no such device"), (RuntimeError("boom\nlong story"), "RuntimeError: boom")],
)
def test_an_audit_that_fails_is_told_in_one_line(broken: Exception, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def audit(*given: Any, **more: Any) -> None:
        raise broken

    monkeypatch.setattr("snellen.exam.auditing.audit", audit)
    told, (problem,) = clinic.self_test()
    assert told["audit"].startswith("failed")
    assert problem.text == f"the self-test failed: {said}"


def test_a_wrong_number_fails_the_self_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """An accuracy that is off by one image of ninety is not good enough."""
    monkeypatch.setattr(clinic, "RIGHT", 80)
    _, (problem,) = clinic.self_test()
    assert problem.text == f"the self-test failed: clean accuracy 0.9 where {80 / 90} is right"


def test_a_device_that_does_not_compute_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    monkeypatch.setattr(torch, "ones", lambda *given, **more: torch.zeros(64, 64))
    _, (problem,) = clinic.devices()
    assert problem.text == "the device cpu does not compute"


def test_a_full_disk_is_told(at: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(2**40, 2**40, 5 * 2**20))
    _, (problem,) = clinic.disk()
    assert problem.text.startswith("only 5.0 MiB are free")


def test_a_missing_extra_comes_with_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ['noraycluster>=2 ; extra == "ray"', "numpy>=2"])
    assert clinic.extras() == ({"ray": "missing noraycluster: pip install 'snellen[ray]'"}, [])


def test_extras_are_listed_and_test_tools_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = ['numpy>=2; extra == "ray"', "nohypothesis; extra == 'dev'", 'mlflow>=2.20; extra == "mlflow"']
    monkeypatch.setattr("importlib.metadata.requires", lambda name: listed)
    lines, problems = clinic.extras()
    assert (list(lines), lines["ray"], problems) == (["ray", "mlflow"], "installed", [])


def test_a_missing_package_is_a_problem_with_its_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "importlib.metadata.requires", lambda name: ["noarrays<3,>=2", "numpy>=2", 'noray; extra == "ray"']
    )
    lines, (problem,) = clinic.versions()
    assert lines["noarrays"] == "missing"
    assert lines["numpy"][0].isdigit()
    assert (problem.text, problem.advice) == ("the package noarrays is missing", "pip install 'noarrays<3,>=2'")


def test_another_opencv_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """cv2 also comes from opencv-python and other packages."""
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["opencv-contrib-python-headless>=4.10,<5"])
    monkeypatch.setattr("importlib.metadata.version", _no_package)
    monkeypatch.setattr(clinic, "find_spec", lambda module: object() if module == "cv2" else None)
    lines, problems = clinic.versions()
    assert lines["opencv-contrib-python-headless"] == "installed, from another package"
    assert problems == []


def test_a_source_folder_without_installation_still_has_its_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.requires", _no_package)
    assert {"torch", "numpy"} <= clinic.versions()[0].keys()
    assert clinic.extras()[0].keys() == {"unknown"}


def _no_package(name: str) -> str:
    raise metadata.PackageNotFoundError(name)
