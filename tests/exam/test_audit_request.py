"""Every setting of an audit works from the command line, from a settings file and from Python, with the same errors."""

from __future__ import annotations

import dataclasses
import inspect
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import snellen
from snellen.cli import main
from snellen.errors import UserError
from snellen.exam.request import AuditRequest, NamedModel
from snellen.models import from_callable
from snellen.request import settings_of
from snellen.settings_file import resolve, write_settings

NETS = """
import numpy as np
from snellen.models import from_callable

def model():
    return from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=16, name="corner", version="1")
"""
DATA = "phantom:test?size=16&n=36"
QUICK = "occlusion(areas=[0.3], fills=[black])"
BASE: dict[str, Any] = {"models": ("python:nets.py:model",), "data": DATA, "audits": (QUICK,), "out": Path("run")}

# Each setting: its options, its value, options that are wrong, the same as a value, and what is said of it.
FIELDS: dict[str, tuple[list[str], Any, list[str], Any, str]] = {
    "models": (["python:nets.py:model"], ("python:nets.py:model",), ["tim:resnet18"], "tim:resnet18",
               "did you mean 'timm'?"),
    "data": (["--data", DATA], DATA, ["--data", "foldr:x"], "foldr:x", "unknown data scheme 'foldr'; did you mean 'folder'?"),
    "audits": (["--audits", "shape"], ("shape",), ["--audits", "oclusion"], "oclusion",
               "unknown audit 'oclusion'; did you mean 'occlusion'?"),
    "train": (["--train", "phantom:train?n=9"], "phantom:train?n=9", ["--train", "foldr:x"], "foldr:x",
              "unknown data scheme 'foldr'; did you mean 'folder'?"),
    "donors": (["--donors", "phantom:train?n=9"], "phantom:train?n=9", ["--donors", "foldr:x"], "foldr:x",
               "unknown data scheme 'foldr'; did you mean 'folder'?"),
    "occluders": (["--occluders", "things"], "things", ["--occluders", "nowhere"], "nowhere",
                  "no folder 'nowhere' of cut-outs; give occluders a folder of PNGs with transparency"),
    "labels": (["--labels", "map.json"], Path("map.json"), ["--labels", "nowhere.json"], "nowhere.json", "nowhere.json"),
    "out": (["--out", "there"], Path("there"), ["--out", "nets.py/below"], "nets.py/below",
            "'nets.py/below' lies below the file 'nets.py'; choose another out"),
    "engine": (["--engine", "ray"], "ray", ["--engine", "rai"], "rai", "unknown engine 'rai'; did you mean 'ray'?"),
    "address": (["--engine", "ray", "--address", "a:1"], "a:1", ["--address", "a:1"], "a:1", "address needs engine ray"),
    "actors": (["--engine", "ray", "--actors", "3"], 3, ["--actors", "many"], "many",
               "expected actors as a whole number of at least 1, got 'many'"),
    "cpus_per_actor": (["--engine", "ray", "--cpus-per-actor", "2"], 2, ["--cpus-per-actor", "x"], "x",
                       "expected cpus_per_actor as a whole number of at least 1, got 'x'"),
    "shard_timeout": (["--shard-timeout", "60"], 60.0, ["--shard-timeout", "soon"], "soon",
                      "expected shard_timeout as a number above 0, got 'soon'"),
    "require": (["--require", "accuracy >= 0"], ("accuracy >= 0",), ["--require", "accuracy"], "accuracy",
                "'accuracy' is not a condition"),
    "undecided": (["--undecided", "fail"], "fail", ["--undecided", "past"], "past",
                  "unknown undecided 'past'; did you mean 'pass'?"),
    "keep": (["--keep", "logits"], "logits", ["--keep", "top6"], "top6", "unknown keep 'top6'; did you mean 'top5'?"),
    "limit": (["--limit", "9"], 9, ["--limit", "few"], "few", "expected limit as a whole number of at least 1, got 'few'"),
    "batch_size": (["--batch-size", "8"], 8, ["--batch-size", "big"], "big",
                   "expected batch_size as auto or a whole number of at least 1, got 'big'"),
    "device": (["--device", "cpu"], "cpu", ["--device", "tpu9"], "tpu9", "device 'tpu9'"),
    "compile": (["--compile", "on"], "on", ["--compile", "of"], "of", "unknown compile 'of'; did you mean 'off'?"),
    "seed": (["--seed", "7"], 7, ["--seed", "x"], "x", "expected seed as a whole number, got 'x'"),
    "threads": (["--threads", "2"], 2, ["--threads", "0x"], "0x", "expected threads as a whole number of at least 1, got '0x'"),
    "shard": (["--shard", "9"], 9, ["--shard", "x"], "x", "expected shard as a whole number of at least 1, got 'x'"),
    "dry_run": (["--dry-run"], True, [], "maybe", "expected dry_run as true or false, got 'maybe'"),
    "fresh": (["--fresh"], True, [], "maybe", "expected fresh as true or false, got 'maybe'"),
    "strict": (["--strict"], True, [], "maybe", "expected strict as true or false, got 'maybe'"),
    "offline": (["--offline"], True, [], "maybe", "expected offline as true or false, got 'maybe'"),
    "report": (["--no-report"], False, [], "maybe", "expected report as true or false, got 'maybe'"),
    "quiet": (["-q"], True, [], "maybe", "expected quiet as true or false, got 'maybe'"),
    "plugins": (["--plugin", "plug.py"], ("plug.py",), [], 5, "expected plugins as"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "plug.py").write_text("DISTORTIONS = {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[AuditRequest]:
    """The requests that reach the function which carries them out."""
    seen: list[AuditRequest] = []

    def examine(request: AuditRequest, command: object = ()) -> None:
        seen.append(request)
        raise UserError("not carried out")

    monkeypatch.setattr("snellen.exam.auditing.examine", examine)
    return seen


def refused_by_command(*arguments: str, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["audit", *arguments])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()[-1:]
    return line.removeprefix("error: ")


def refused_in_python(**settings: Any) -> str:
    with pytest.raises(UserError) as refused:
        snellen.audit(**settings)
    return str(refused.value)


def options(values: dict[str, Any]) -> list[str]:
    """The command line of some settings."""
    return [text for name in values for text in FIELDS_OF_BASE[name]]


FIELDS_OF_BASE = {
    "models": ["python:nets.py:model"],
    "data": ["--data", DATA],
    "audits": ["--audits", QUICK],
    "out": ["--out", "run"],
}


def plain(value: Any) -> Any:
    return (
        [plain(one) for one in value] if isinstance(value, tuple) else str(value) if isinstance(value, Path) else value
    )


def test_every_setting_of_an_audit_is_tried_here() -> None:
    assert set(FIELDS) == {one.name for one in dataclasses.fields(AuditRequest)}


@pytest.mark.parametrize("name", FIELDS)
def test_a_setting_arrives_from_everywhere(
    name: str, requests: list[AuditRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, value, *_ = FIELDS[name]
    others = {one: held for one, held in BASE.items() if one != name}
    if "--engine" in arguments:
        others["engine"] = "ray"
    settings = {**others, name: value}
    refused_by_command(*options({one: held for one, held in others.items() if one in BASE}), *arguments, capsys=capsys)
    Path("settings.yaml").write_text(yaml.safe_dump({one: plain(held) for one, held in settings.items()}))
    refused_by_command("--config", "settings.yaml", capsys=capsys)
    refused_in_python(**settings)
    refused_in_python(config="settings.yaml")
    assert [getattr(request, name) for request in requests] == [value] * 4
    assert requests == [AuditRequest(**settings)] * 4


@pytest.mark.parametrize("name", FIELDS)
def test_a_bad_value_is_refused_in_each_callers_words(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    _, _, arguments, value, message = FIELDS[name]
    others = {one: held for one, held in BASE.items() if one != name}
    if name == "occluders":
        others["audits"] = ("occlusion(maskings=[cutouts])",)
    texts = [refused_in_python(**{**others, name: value})]
    Path("bad.yaml").write_text(yaml.safe_dump({one: plain(held) for one, held in {**others, name: value}.items()}))
    texts.append(refused_by_command("--config", "bad.yaml", capsys=capsys).removeprefix("bad.yaml: "))
    if arguments:
        texts.append(refused_by_command(*options(dict.fromkeys(others)), *arguments, capsys=capsys))
    assert message in texts[0]
    assert {re.sub("--([a-z-]+)", lambda match: match[1].replace("-", "_"), text) for text in texts} == {texts[0]}
    assert "--" not in texts[0].replace("example: --data", "").replace("k_in1k --data", "")
    assert not Path("run").exists()


def test_a_typo_in_python_names_the_nearest_setting() -> None:
    told = refused_in_python(models="python:nets.py:model", data=DATA, limt=3)
    assert told == "unknown setting 'limt'; did you mean 'limit'?"


def test_a_typo_on_the_command_line_names_the_nearest_option(capsys: pytest.CaptureFixture[str]) -> None:
    told = refused_by_command("python:nets.py:model", "--data", DATA, "--limt", "3", capsys=capsys)
    assert told == "unknown option '--limt'; did you mean '--limit'?"


def test_signature_and_docstring_follow_from_the_request() -> None:
    signature = inspect.signature(snellen.audit)
    names = [one.name for one in settings_of(AuditRequest)]
    assert list(signature.parameters)[:5] == ["models", "data", "audits", "out", "engine"]
    assert set(signature.parameters) == {*names, "config"}
    assert signature.parameters["engine"].default == "local"
    for one in settings_of(AuditRequest):
        assert f"    {one.name}: {one.help}\n" in (snellen.audit.__doc__ or "")


def test_models_by_name_become_one_entry_per_run() -> None:
    model = from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=16, name="m", version="1")
    request = AuditRequest(models={"a": ["zoo:x", "zoo:y"], "b": model}, data=DATA)
    assert request.models == ("a=zoo:x", "a=zoo:y", NamedModel("b", model))


def test_settings_of_a_request_are_written_whole_but_for_what_must_not_be_repeated(at: Path) -> None:
    values = {name: value for name, (_, value, *_) in FIELDS.items()}
    request = AuditRequest(**values)
    write_settings(at / "settings.yaml", request)
    assert resolve(AuditRequest, {}, at / "settings.yaml") == replace(request, fresh=False, dry_run=False)
    assert set(yaml.safe_load((at / "settings.yaml").read_text())) == set(values) - {"fresh", "dry_run"}
