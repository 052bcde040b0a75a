"""Parameters of the text language and options that cannot be meant: refused where they are read, or against the data."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from snellen.audits import AUDITS, parse_audits
from snellen.cli import main
from snellen.distort import parse
from snellen.distort.language import DISTORTIONS
from snellen.errors import UserError
from snellen.models.device import choose_device
from snellen.notation import build, field_types, read
from snellen.train.mixing import parse_mix
from snellen.train.pgd import parse_pgd
from snellen.train.schedule import parse_schedule

MODEL = """
import numpy as np
from snellen.models import from_callable

def model():
    return from_callable(lambda images: np.full((len(images), 2), 0.5), classes=["a", "b"], size=8, version="1")
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.py").write_text(MODEL)
    images = np.random.default_rng(0).integers(0, 255, (40, 8, 8, 3), dtype=np.uint8)
    boxes = np.tile(np.array([[[2, 2, 6, 6]]], float), (40, 1, 1))
    arrays = {"images": images, "labels": np.arange(40) % 2, "classes": np.array(["a", "b"]), "boxes": boxes}
    np.savez(tmp_path / "data.npz", **arrays)
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("nowhere/at/all")
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """The one line of an audit that is refused."""
    with pytest.raises(SystemExit) as stopped:
        main(["audit", "python:nets.py:model", "--data", "arrays:data.npz", "--quiet", *more])
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (2, ""), told.err
    (line,) = told.err.strip().splitlines()
    return line


@pytest.mark.parametrize(
    ("audits", "reason"),
    [
        ("occlusion(areas=[2])", "occlusion: expected areas in [0, 1], got 2"),
        ("occlusion(areas=[-0.1])", "expected areas in [0, 1]"),
        ("occlusion(areas=[1e999])", "expected areas in [0, 1], got inf"),
        ("occlusion(areas=[])", "expected at least one area"),
        ("occlusion(areas=[a])", "expected areas to be a number"),
        ("occlusion(areas=0.3)", "expected areas to be a list"),
        ("occlusion(areas=[0.3, 0.3])", "areas names a value twice: [0.3, 0.3]"),
        ("occlusion(areas=[true])", "expected areas to be a number"),
        ("occlusion(fills=[red])", "unknown fills of occlusion 'red'"),
        ("occlusion(fills=[black, black])", "fills names a value twice"),
        ("occlusion(maskings=[5])", "expected a distortion or its text, got 5"),
        ("occlusion(maskings=[noise])", "expected maskings that cover a share"),
        ("occlusion(maskings=[lattice])", "expected share of 0, 0.25, 0.5 or 0.75, got 0.1"),
        ("occlusion(maskings=[gates])", "expected maskings that cover a share"),
        ("interference([lattice(0.5, 8)])", "expected px of at most 4 for this image, got 8"),
        ("interference([gates(background=same)])", "expected spacing of at most 8 for this image, got drawn up to 19"),
        ("interference([box(synthetic_code)])", "expected more than 60 pixels along the longer side"),
        ("interference([box(least=0.5)])", "needs the objects' masks, which arrays:data.npz does not have"),
        ("interference([cutout_object()])", "needs cut-outs; pass --occluders DIR"),
        ("occlusion(judges=[1], validate=true)", "expected judges to be a word"),
        ("interference([5])", "expected a distortion or its text, got 5"),
        ("interference(['a'])", "unknown distortion 'a'"),
        ("interference([[shuffle(2)]])", "expected a distortion or its text, got ("),
        ("interference([true])", "expected a distortion or its text, got True"),
        ("interference(sweep=[2])", "expected a distortion or its text, got 2"),
        ("interference(grid=-1)", "interference: expected grid of at least 1, got -1"),
        ("interference(grid=0)", "interference: expected grid of at least 1, got 0"),
        ("interference(grid=2.5)", "expected grid to be a whole number"),
        ("interference(grid=99999999999999999999)", "expected grid to be a whole number"),
        ("interference(grid=64)", "expected a grid of at most 8 for this image, got 64"),
        ("interference([shuffle(1000000)])", "shuffle: expected grid of at most 10,000, got 1000000"),
        ("interference([shuffle(9)])", "shuffle(grid=9) does not suit arrays:data.npz, shown at 8x8 pixels"),
        ("interference([noise(0.1) | soft_shuffle(9)])", "expected a grid of at most 8 for this image, got 9"),
        ("interference([tiles(100)])", "expected a grid of at most 8 for this image, got 100"),
        ("interference([occlude(uniform(0.5, 2))])", "expected area in [0, 1], got uniform(low=0.5, high=2)"),
        ("interference([occlude(uniform(1, 0))])", "uniform: expected finite numbers low ≤ high, got 1 and 0"),
        ("interference([noise(uniform(0, 1e999))])", "uniform: expected finite numbers"),
        ("interference([noise(beta(0, 1))])", "beta: expected a and b from 1e-06 to 1e+06, got 0 and 1"),
        ("interference([noise(beta(1, 1e999))])", "beta: expected a and b from"),
        ("interference([mix(mixup, 1e-300)])", "mix: expected alpha of 0 or at least 1e-06"),
        ("shape(grid=-2)", "shape: expected grid of at least 1, got -2"),
        ("augmentation(kinds=[3])", "expected a distortion or its text, got 3"),
        ("background(bins=0)", "background: expected bins in [1, 1000], got 0"),
        ("background(bins=1000000000)", "background: expected bins in [1, 1000]"),
        ("background(sigma=1e999)", "background: expected sigma in [0, 1000], got inf"),
        ("background(examples=-1)", "background: expected examples in [0, 1000], got -1"),
        ("adversarial_backgrounds(backgrounds=-1)", "expected backgrounds in [0, 1e+09], got -1"),
        ("adversarial_backgrounds(worst=1000000)", "expected worst in [0, 1000]"),
        ("inside_mask(layer=1.5)", "expected layer to be a whole number or a word or none"),
        ("interference([salient(method=guess)])", "unknown method of maps 'guess'"),
    ],
)
def test_a_parameter_out_of_range_or_of_another_type_is_refused_in_the_plan(
    here: Path, capsys: pytest.CaptureFixture[str], audits: str, reason: str
) -> None:
    assert reason in refused(capsys, "--audits", audits, "--out", "run")
    assert not (here / "run").exists()


def test_none_in_a_list_is_the_distortion_of_that_name() -> None:
    (audit,) = parse_audits("interference([none, shuffle])")
    assert "distortions=[none(), shuffle(grid=4)]" in str(audit)


@pytest.mark.parametrize(("table", "kind"), [(AUDITS, "audit"), (DISTORTIONS, "distortion")])
def test_every_field_refuses_what_it_is_not(table: dict[str, type], kind: str) -> None:
    """A field of any type: neither a law, a huge number nor a list of odd things gets in unless it is meant to."""
    for name, cls in table.items():
        for field in field_types(cls):
            for value in ("1e999", "-1e999", "[1e999]", "[[[0]]]", "1e300"):
                with pytest.raises(UserError):
                    build(read(f"{name}({field}={value})"), table, kind)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--seed", "99999999999999999999"], "expected --seed of at most 9,223,372,036,854,775,807"),
        (["--seed", "-99999999999999999999"], "expected --seed of at most 9,223,372,036,854,775,807"),
        (["--shard-timeout", "inf"], "expected --shard-timeout as a number above 0, got 'inf'"),
        (["--shard-timeout", "nan"], "expected --shard-timeout as a number above 0, got 'nan'"),
        (["--shard-timeout", "1e300"], "expected --shard-timeout above 0, up to 10,000,000"),
        (["--limit", "1e30"], "expected --limit from 1 to 1,000,000,000"),
        (["--limit", "inf"], "expected --limit as a whole number"),
        (["--batch-size", "1e12"], "expected --batch-size from 1 to 1,000,000"),
        (["--threads", "1e9"], "expected --threads from 1 to 1,024"),
        (["--shard", "1e9"], "expected --shard from 1 to 1,000,000"),
        (["--engine", "ray", "--actors", "1e9"], "expected --actors from 1 to 10,000"),
        (["--device", "vulkan"], "device 'vulkan' cannot be used here"),
        (["--device", "meta"], "device 'meta' cannot be used here"),
        (["--device", "toaster"], "unknown device 'toaster'"),
        (["--device", "cpu:-3"], "unknown device 'cpu:-3'"),
        (["--out", "file"], "'file' is a file; choose another --out"),
        (["--out", "file/below"], "'file/below' lies below the file 'file'; choose another --out"),
        (["--out", "/dev/null"], "'/dev/null' is a device or pipe; choose another --out"),
        (["--out", "/dev/null/below"], "'/dev/null/below' lies below the device or pipe '/dev/null'"),
        (["--out", "link"], "'link' is a link to nothing; choose another --out"),
        (["--out", "a" * 300], "file name too long; choose another --out"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], options: list[str], reason: str
) -> None:
    before = sorted(here.iterdir())
    assert reason in refused(capsys, *options)
    assert sorted(path for path in here.iterdir() if path.name != "__pycache__") == before


@pytest.mark.parametrize(
    ("read_text", "text"),
    [
        (parse_mix, "mixup(alpha=1e999)"),
        (parse_mix, "mixup(alpha=1e300)"),
        (parse_mix, "random_masks(k=1000000000)"),
        (parse_mix, "fmix(decay=1e999)"),
        (parse_pgd, "pgd(steps=1000000000)"),
        (parse_schedule, "inverse(decay=1e999)"),
        (parse_schedule, "steps(at=[1e999])"),
        (parse, "background(bg_blurred, sigma=1e999)"),
    ],
)
def test_parameters_of_trainings_have_bounds_too(read_text, text: str) -> None:
    with pytest.raises(UserError, match="expected"):
        read_text(text)


@pytest.mark.parametrize("kind", ["only_bg_t", "mixed_rand"])
def test_inpainting_without_opencv_is_refused_in_the_plan(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    audits = f"interference([background({kind}, inpaint=telea, foreground=box)])"
    line = refused(capsys, "--audits", audits, "--out", "run", "--donors", "arrays:data.npz")
    assert "inpaint=telea needs OpenCV; pip install" in line
    assert not (here / "run").exists()


def test_a_tilde_is_the_home_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(here / "home"))
    (here / "home").mkdir()
    with pytest.raises(SystemExit) as stopped:
        main(["audit", "python:nets.py:model", "--data", "arrays:data.npz", "--audits", "interference([noise(0.1)])",
              "--out", "~/run", "-q"])  # fmt: skip
    assert stopped.value.code == 0
    assert (here / "home" / "run" / "findings.json").exists()
    for command in (["report", "~/run"], ["sql", "~/run", "select 1 as one"], ["report", "~/run", "--out", "~/a.md"]):
        with pytest.raises(SystemExit) as stopped:
            main(command)
        assert stopped.value.code == 0
    assert (here / "home" / "a.md").exists()
    assert not (here / "~").exists()


def test_devices_by_name() -> None:
    assert str(choose_device("cpu")) == "cpu"
    with pytest.raises(UserError, match="unknown device"):
        choose_device("")
