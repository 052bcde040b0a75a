"""Builders take their settings as audits do: from Python, the command line and settings files, with the same errors."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import snellen
from snellen.build import diffuse, hts, in9, iruo, occluders, synthetic
from snellen.build.iruo.building import IruoBuilt
from snellen.data.phantom import export
from snellen.errors import UserError

from ..commands import exit_code

WORLD = "phantom:test?frames=4&n=48&size=32&object_size=0.4..0.6&clutter=0.3&occlusion=0.6"
SMALL = "phantom:test?size=24&n=12"
BUILDS: dict[str, dict[str, Any]] = {  # each builder with settings that it accepts; `clips` is where the clips are
    "phantom": {"world": SMALL, "format": "folder", "limit": 5},
    "in9": {"data": "phantom:test?size=24&n=24", "classes": "all", "size": 16, "masks": "data", "fine": None},
    "iruo": {"annotations": "clips/annotations_test.json", "share": 0.6, "without": ("disc", "star"), "min_clear": 0},
    "hts": {"data": SMALL, "per": 1, "min_pixels": 1.0, "min_sharpness": 1.0, "levels": False},
    "synthetic": {"data": SMALL, "size": 24, "types": ("white",), "outside": "redraw"},
    "diffuse": {"data": SMALL, "size": 24, "types": ("lattice_50_2",), "pixels": (2,)},
    "occluders": {"data": SMALL, "without": ("disc",), "min_pixels": 9, "whole": False},
}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # settings that leave no image, and what to change
    "in9": ({"kept": 1.0, "largest": 0.01}, {"largest": 0.9, "kept": 0.5}),
    "iruo": ({"min_clear": 1000}, {"min_clear": 0}),
    "hts": ({"min_pixels": 10**6}, {"min_pixels": 0}),
    "synthetic": ({"least": 0.999, "most": 1.0, "outside": "drop"}, {"least": 0.0}),
    "diffuse": ({"min_pixels": 10**6}, {"min_pixels": 0}),
    "occluders": ({"min_pixels": 10**6}, {"min_pixels": 9}),
}

COVERED = (
    "schema data data_fingerprints limit size fit interpolation types seed least most outside min_pixels min_sharpness resized "
    "occluded {} distortions classes"
)
FACTS = {  # the file by which a set is known, and what it states: a set of an earlier version must be known by it
    "phantom": ("phantom.json", "schema format world world_version limit images classes textures scenes tree truth"),
    "in9": (
        "build.json",
        "schema data data_fingerprint limit classes coarse_classes grouping curation size scale interpolation segment_size "
        "iterations tries largest kept smallest inpaint sigma own balance all_images fine masks format quality split seed",
    ),
    "iruo": (
        "iruo.json",
        "schema annotations annotations_sha256 frames classes without split share levels tolerance margin pad size min_clear "
        "naming format quality class_names frames_fingerprint",
    ),
    "hts": (
        "hts.json",
        "schema data data_fingerprint limit per min_pixels min_sharpness resized size levels calibrate target labels seed "
        "models labels_sha256",
    ),
    "synthetic": ("synthetic.json", COVERED.format("law occluders object_size stretch")),
    "diffuse": ("diffuse.json", COVERED.format("box_law gate_law background shares pixels")),
    "occluders": (
        "occluders.json",
        "schema data data_fingerprint target classes without per_class min_pixels whole seed",
    ),
}


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(WORLD, "ovis", tmp_path_factory.mktemp("requests") / "clips").out


@pytest.fixture(autouse=True)
def at(tmp_path: Path, clips: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clips").symlink_to(clips)
    monkeypatch.chdir(tmp_path)


def function_of(name: str) -> Callable[..., Any]:
    module = getattr(snellen.build, name)
    return module.export if name == "phantom" else module.build


def settings_of(name: str, **more: Any) -> dict[str, Any]:
    return {**BUILDS[name], **({} if name == "phantom" else {"workers": 1}), **more}


def options_of(settings: dict[str, Any]) -> list[str]:
    """The command line of some settings."""
    words = []
    for name, value in settings.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is not None:
            words += [f"--{flag}", ",".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    return words


def cut(**settings: Any) -> IruoBuilt:
    built: IruoBuilt = iruo.build(
        "clips/annotations_test.json", "clips/test", "set", workers=1, min_clear=0, **settings
    )
    return built


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shar": 0.5}, "unknown setting 'shar'; did you mean 'share'?"),
        ({"size": 64.5}, "expected size as a whole number of at least 0, got 64.5"),
        ({"share": 2}, "expected share from 0.05 to 0.95, got 2"),
        ({"pad": "perhaps"}, "expected pad as true or false, got 'perhaps'"),
        ({"split": "clas"}, "unknown split 'clas'; did you mean 'class'?"),
        ({"classes": ("sta",)}, "unknown class in classes 'sta'; did you mean 'star'?"),
        ({"without": ("disc", "dis")}, "unknown class in without 'dis'; did you mean 'disc'?"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as refused:
        cut(**settings)
    assert str(refused.value).removeprefix("clips/annotations_test.json: ") == message
    assert not Path("set").exists()


def test_texts_and_none_are_read_as_of_audits() -> None:
    """A truth value in words is that value, a number as a text that number, and None the default."""
    request = iruo.IruoRequest(annotations="a", out="set", pad="no", share="0.6", margin=None)  # type: ignore[arg-type]
    assert (request.pad, request.share, request.margin) == (False, 0.6, 20)
    assert cut(pad="no", share="0.6", margin=None, size="24").images == cut(share=0.6, size=24).images


@pytest.mark.parametrize("name", BUILDS)
def test_a_settings_file_builds_the_same_set_again(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Python writes settings.yaml beside the set; the command takes it, knows the set, and an option wins over the file."""
    first = function_of(name)(**settings_of(name, out="set"))
    written = yaml.safe_load(Path("set/settings.yaml").read_text())
    given = {key: value for key, value in BUILDS[name].items() if value is not None}
    assert written.items() >= {key: list(v) if isinstance(v, tuple) else v for key, v in given.items()}.items()
    assert not {"workers", "quiet"} & written.keys()
    file, names = FACTS[name]
    assert " ".join(json.loads(Path("set", file).read_text())) == names
    before = {path: path.stat().st_mtime_ns for path in Path("set").rglob("*")}
    assert exit_code(["build", name, "--config", "set/settings.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == first.lines[0]
    assert {path: path.stat().st_mtime_ns for path in Path("set").rglob("*")} == before
    change = ["--limit", "4"] if name == "phantom" else ["--quality", "9"] if name == "iruo" else ["--seed", "9"]
    assert exit_code(["build", name, "--config", "set/settings.yaml", *change]) == 2
    assert f"({change[0][2:]}: " in capsys.readouterr().err
    if name != "phantom":
        change += ["--workers", "1"]
    assert exit_code(["build", name, "--config", "set/settings.yaml", *change, "--out", "other"]) == 0
    capsys.readouterr()
    assert exit_code(["build", name, *options_of(settings_of(name)), "--out", "typed"]) == 0
    shutil.rmtree("other")
    for path in filter(Path.is_file, Path("set").rglob("*")):
        if path.name != "settings.yaml":
            assert (Path("typed") / path.relative_to("set")).read_bytes() == path.read_bytes(), path


@pytest.mark.parametrize("name", REFUSED)
def test_after_a_refusal_other_settings_can_be_tried(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    wrong, right = REFUSED[name]
    settings = settings_of(name, **wrong)
    for _ in range(2):  # the same settings are refused for the same reason again
        with pytest.raises(UserError, match="is left|are left|could be cut out|with fewer than 1000 images"):
            function_of(name)(**settings, out="set")
    assert exit_code(["build", name, *options_of({**settings, **right}), "--out", "set"]) == 0
    function_of(name)(**{**settings, **right}, out="other")
    for path in filter(Path.is_file, Path("other").rglob("*")):
        if path.name != "settings.yaml":
            assert (Path("set") / path.relative_to("other")).read_bytes() == path.read_bytes(), path
    assert not Path("set/.part").exists()


def test_a_build_that_was_stopped_is_not_taken_over_by_other_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("snellen.build.iruo.building.write_tables", stop)
        with pytest.raises(KeyboardInterrupt):
            cut()
    with pytest.raises(UserError, match=r"\(quality: 95, not 90\); remove set/.part or choose another out"):
        cut(quality=90)
    assert cut().out == Path("set")


def test_a_refusal_names_settings_in_the_words_of_its_caller(capsys: pytest.CaptureFixture[str]) -> None:
    settings = settings_of("iruo", min_clear=1000)
    with pytest.raises(UserError, match=r"leave out with without='ring,.*', or allow with min_clear=\d+$"):
        iruo.build(**settings, out="set")
    for workers in ("1", "2"):
        words = options_of({**settings, "workers": workers})
        assert exit_code(["build", "iruo", *words, "--out", "set"]) == 2
        line = capsys.readouterr().err.strip()
        assert "leave out with --without ring," in line
        assert line.rpartition(" or allow with ")[2].startswith("--min-clear ")
    allowed = line.rpartition("--min-clear ")[2]
    assert exit_code(["build", "iruo", *options_of({**settings, "min_clear": allowed}), "--out", "set"]) == 0


@pytest.mark.parametrize(("module", "name"), [(in9, "data"), (hts, "data"), (occluders, "data"), (iruo, "annotations")])
def test_what_must_be_given_is_named(module: Any, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UserError, match=f"^{name} is required: "):
        module.build(out="set")
    with pytest.raises(UserError, match="^out is required: folder to write"):
        module.build(**{name: "x"})
    assert exit_code(["build", module.__name__.rpartition(".")[2], "--out", "set"]) == 2
    assert f"error: --{name} is required: " in capsys.readouterr().err


@pytest.mark.parametrize("module", [synthetic, diffuse])
def test_data_made_in_python_are_built_by_several_processes(module: Any) -> None:
    """What the data hold need not travel: only the portions do."""
    data = snellen.load_data(SMALL)
    assert module.build(data, "set", size=24, types=("white",) if module is synthetic else ("solid",), workers=2)


SCRIPT = """
from snellen.build.iruo import build

built = build("clips/annotations_test.json", "clips/test", "set", size=24, format="png", workers=2)
print(built.images, built.shares, built.rejected)
"""


@pytest.mark.parametrize("how", ["script", "module", "command", "stdin"])
def test_a_build_without_a_main_guard_works(how: str) -> None:
    """Processes that build do not import the caller's script, or it would begin to build again in each of them."""
    Path("script.py").write_text(SCRIPT)
    words = {"script": ["script.py"], "module": ["-m", "script"], "command": ["-c", SCRIPT], "stdin": ["-"]}[how]
    done = subprocess.run(
        [sys.executable, *words], input=SCRIPT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("'train'") == 1
