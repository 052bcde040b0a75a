"""`snellen build synthetic` and `build diffuse`: the pixels of the distortions on the fly, with the true share in the index."""

from __future__ import annotations

import pickle
import zlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import snellen
from snellen.build import diffuse, synthetic
from snellen.build.covering import building as building_module
from snellen.build.covering.building import CoveredBuilt
from snellen.build.covering.portion import CoverTask, cover_portion
from snellen.build.diffuse import DiffuseRequest
from snellen.build.occluders import build as build_occluders
from snellen.build.runner import Portion
from snellen.build.synthetic import SyntheticRequest
from snellen.cli import main
from snellen.data.dataset import Dataset, Photo, Samples
from snellen.errors import UserError

DATA = "phantom:test?size=56&n=12"
SIZE = 48
GATES = ("solid", "vertical", "oblique", "lattice_25_4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("covered")


@pytest.fixture(scope="module")
def boxes(folder: Path) -> CoveredBuilt:
    """Boxes and cut-outs, as the paper draws them."""
    objects = build_occluders(
        "phantom:train?size=48&n=24", folder / "objects", without=("disc",), per_class=1, min_pixels=50, workers=1
    )
    return synthetic.build(
        DATA, folder / "synthetic", types=("black", "noise", "object"), occluders=str(objects.out), size=SIZE, workers=1
    )


@pytest.fixture(scope="module")
def gates(folder: Path) -> CoveredBuilt:
    return diffuse.build(
        DATA, folder / "diffuse", train="phantom:train?size=48&n=5", types=GATES, size=SIZE, workers=1, seed=3
    )


def index_of(built: CoveredBuilt, split: str = "val") -> pd.DataFrame:
    return pd.read_csv(built.out / f"{split}.csv", keep_default_na=False)


TO: dict[str, Any] = {"data": "phantom:test", "out": "set"}  # what a request must name


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "settings.yaml"
    }


class Hash(torch.nn.Module):
    """Answers that any other pixel would change."""

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        seeds = [zlib.crc32(image.contiguous().numpy().tobytes()) for image in images]
        return torch.stack([torch.from_numpy(np.random.default_rng(seed).random(12)) for seed in seeds])


def answers(data: str, texts: list[str], **settings: Any) -> pd.DataFrame:
    """The answers of a model whose canvas is that of the set, under these distortions."""
    classes = snellen.load_data(DATA).classes
    model = snellen.models.from_torch(Hash(), classes, canvas=SyntheticRequest(**TO, size=SIZE).canvas, name="hash")
    audits = [f"interference([{', '.join(texts)}])"]
    return snellen.audit(model, data, audits, quiet=True, report=False, **settings).predictions()


@pytest.mark.parametrize("name", ["boxes", "gates"])
def test_an_audit_of_the_files_has_the_answers_of_the_audit_on_the_fly(
    name: str, request: pytest.FixtureRequest, folder: Path
) -> None:
    built: CoveredBuilt = request.getfixturevalue(name)
    index = index_of(built)
    texts = [text for text in index["distortion"].unique() if text != "none()"]
    assert len(texts) == len(built.types) - 1
    occluders = {"occluders": str(folder / "objects")} if name == "boxes" else {}
    seed = {} if name == "boxes" else {"seed": 3}
    on_the_fly = answers(DATA, texts, **occluders, **seed).set_index(["distortion", "sample"])
    from_files = answers(f"manifest:{built.out}/val.csv", ["shuffle(2)"])
    from_files = from_files[from_files["distortion"] == "none()"].set_index("sample")
    for row in index.itertuples():
        expected = on_the_fly.loc[(row.distortion, row.source)]
        expected = expected.iloc[0] if isinstance(expected, pd.DataFrame) else expected
        got = from_files.loc[row.id]
        assert (got["confidence"], got["raw"]) == (expected["confidence"], expected["raw"]), row.id


@pytest.mark.parametrize("name", ["boxes", "gates"])
def test_the_index_states_the_share_that_the_masks_show(name: str, request: pytest.FixtureRequest) -> None:
    built: CoveredBuilt = request.getfixturevalue(name)
    index = index_of(built)
    clean = index[index["type"] == "none"].set_index("source")
    data = snellen.load_data(DATA)
    checksums = {name: photo.checksum for name, photo in zip(data.samples.ids, data.read(range(len(data))))}
    for row in index.itertuples():
        assert row.source_checksum == checksums[row.source]
        image, mask, full, cover = (
            np.asarray(Image.open(built.out / file)) for file in (row.path, row.mask, row.full_mask, row.cover)
        )
        np.testing.assert_array_equal(mask, full & ~cover)
        assert (row.object_pixels, row.hidden_pixels) == (full.sum(), (full & cover).sum())
        assert row.hidden == pytest.approx(row.hidden_pixels / row.object_pixels, abs=1e-6)
        assert row.covered == pytest.approx(cover.mean(), abs=1e-6)
        ys, xs = np.nonzero(full)
        assert (row.x0, row.y0, row.x1, row.y1) == (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)
        original = np.asarray(Image.open(built.out / clean.loc[row.source, "path"]))
        np.testing.assert_array_equal(image[~cover], original[~cover])
        assert row.level == (0 if row.hidden <= 1e-4 else 1 if row.hidden <= 0.5 else 2)
        if row.type != "none" and "lattice" not in row.type:
            assert 0.05 <= row.hidden <= 0.95
    bands = index.set_index("id")["band"]
    assert set(bands[index["type"].eq("none").to_numpy()]) == {"0%"}
    if name == "gates":
        assert set(bands[index["type"].eq("lattice_25_4").to_numpy()]) == {"25%"}
        some = index[index["type"] == "oblique"].iloc[0]
        low = next((low for low in (0.1, 0.3, 0.5, 0.7) if low <= some["hidden"] < low + 0.2), None)
        assert some["band"] == ("" if low is None else f"{100 * low:.0f}–{100 * low + 20:.0f}%")
    else:
        assert set(index[index["type"] == "object"]["occluder"]) - {""}


def test_counts_and_rejects_add_up(boxes: CoveredBuilt, gates: CoveredBuilt) -> None:
    for built, images in ((boxes, 12), (gates, 17)):
        counts = pd.read_csv(built.out / "counts.csv")
        rejects = pd.read_csv(built.out / "rejected.csv")
        assert counts["images"].sum() == sum(built.images.values()) == sum(built.types.values())
        assert counts["images"].sum() + len(rejects) == images * len(built.types)
        assert Counter(rejects["reason"]) == Counter(built.rejected)
        assert counts.groupby("type")["images"].sum().to_dict() == {k: n for k, n in built.types.items() if n}
    assert list(counts.columns) == ["split", "class", "level", "type", "band", "images"]
    assert len(index_of(gates, "train")) == gates.images["train"]
    assert set(index_of(gates, "train")["path"].str.split("/").str[2]) == {"train"}


def test_the_paper_drops_what_a_redraw_would_replace(boxes: CoveredBuilt, tmp_path: Path) -> None:
    redrawn = index_of(
        synthetic.build(DATA, tmp_path / "set", types=("black",), size=SIZE, workers=1, outside="redraw")
    )
    assert (redrawn["type"] == "black").sum() == 12
    dropped = index_of(boxes).query("type == 'black'").set_index("source")
    again = redrawn.query("type == 'black'").set_index("source")
    assert 0 < len(dropped) < 12
    for source, row in dropped.iterrows():  # a place that is allowed at the first draw is the same
        assert (boxes.out / row["path"]).read_bytes() == (tmp_path / "set" / again.loc[source, "path"]).read_bytes()
    reasons = pd.read_csv(boxes.out / "rejected.csv").query("type == 'black'")
    assert set(reasons["id"]) == set(again.index) - set(dropped.index)
    assert set(reasons["reason"]) <= {"hidden too little", "hidden too much"}


def test_the_laws_of_paper_and_code() -> None:
    paper, code = (
        SyntheticRequest(**TO),
        SyntheticRequest(**TO, law="code", outside="redraw", most=0.9, occluders="x", object_size=0.3),
    )
    assert paper.texts()["white"] == "box(synthetic, white)"
    assert code.texts()["stripes"] == "box(synthetic_code, stripes, least=0.05, most=0.9)"
    assert code.texts()["object"] == "cutout_object(0.3, stretch=true, least=0.05, most=0.9)"
    texts = DiffuseRequest(**TO).texts()
    assert texts["solid"] == "box(diffuse_code, grey, least=0.05, most=0.95)"
    assert texts["oblique"] == "gates(oblique, background=thin, law=paper, least=0.05, most=0.95)"
    lattices = {name: text for name, text in texts.items() if name.startswith("lattice")}
    assert len(lattices) == 15
    assert lattices["lattice_75_16"] == "lattice(0.75, 16)"
    other = DiffuseRequest(**TO, box_law="paper", gate_law="code", shares=(50,), pixels=(2,)).texts()
    assert other["solid"].startswith("box(diffuse, grey")
    assert "law=code" in other["vertical"]
    assert [name for name in other if name.startswith("lattice")] == ["lattice_50_2"]
    assert len(SyntheticRequest(**TO, occluders="x").distortions()) == 6
    assert "without --occluders DIR there are no images of the type 'object'" in paper.notes()[0]
    assert code.notes() == SyntheticRequest(**TO, types=("black",)).notes() == []
    assert len(DiffuseRequest(**TO).distortions()) == 21


def test_a_stopped_build_resumes_and_ends_with_the_same_files(
    gates: CoveredBuilt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[int] = Counter()

    def stopping(*words: Any) -> Any:
        calls[words[-1].number] += 1
        if sum(calls.values()) == 2:
            raise KeyboardInterrupt
        return cover_portion(*words)

    monkeypatch.setattr(building_module, "cover_portion", stopping)
    arguments = (DATA, tmp_path / "set")
    settings: dict[str, Any] = dict(train="phantom:train?size=48&n=5", types=GATES, size=SIZE, workers=1, seed=3)
    with pytest.raises(KeyboardInterrupt):
        diffuse.build(*arguments, **settings)
    first = tmp_path / "set" / ".part" / ".pool" / "000000.json"
    assert first.exists()
    diffuse.build(*arguments, **settings)
    assert calls == {0: 1, 1: 2, 2: 1}  # only the one that was stopped came twice
    assert tree_of(tmp_path / "set") == tree_of(gates.out)
    assert diffuse.build(*arguments, **settings).types == gates.types  # a finished one is left as it is
    with pytest.raises(UserError, match="holds another export"):
        diffuse.build(*arguments, **{**settings, "seed": 4})


def test_work_can_be_sent_to_other_processes(boxes: CoveredBuilt) -> None:
    settings = SyntheticRequest(**TO, size=SIZE)
    work = partial(cover_portion, settings, settings.distortions(), boxes.out)
    photo = Photo(np.zeros((8, 8, 3), np.uint8), "", maps={"mask": np.ones((8, 8), bool)})
    portion = Portion(0, [CoverTask(0, "a", "val", "00_disc", "a", photo)])
    again, tasks = pickle.loads(pickle.dumps((work, portion)))
    assert (again.args[0], tasks.tasks[0].id) == (settings, "a")


def small_data(level: str = "0") -> Dataset:
    """Four images: one without an object, one without a label, one that is unreadable, one that is sound."""
    generator = np.random.default_rng(0)
    masks = [np.zeros((20, 20), bool), *(np.pad(np.ones((8, 8), bool), 6) for _ in range(3))]

    def read(rows: Any) -> list[Any]:
        photos = [
            Photo(generator.integers(0, 255, (20, 20, 3)).astype(np.uint8), "", maps={"mask": masks[row]})
            for row in rows
        ]
        return [snellen.data.dataset.Unreadable("it is damaged") if row == 2 else one for row, one in zip(rows, photos)]

    samples = Samples(tuple("abcd"), np.array([0, -1, 0, 0]), {"level": np.array(["0", "0", "0", level])})
    return Dataset("own:data", ("cat",), samples, "print", read, (20, 20), facts=frozenset({"masks"}))


def test_what_is_not_taken_is_named_with_its_reason(tmp_path: Path) -> None:
    built = diffuse.build(small_data(), tmp_path / "set", types=("lattice_50_2",), size=0, workers=1)
    rejects = pd.read_csv(tmp_path / "set" / "rejected.csv").set_index("id")["reason"].to_dict()
    assert rejects == {"a": "no object", "b": "unknown class", "c": "unreadable"}
    assert (built.images, built.types) == ({"val": 2}, {"none": 1, "lattice_50_2": 1})
    with pytest.raises(
        UserError, match="no covered image is left: 1 no object, 1 unknown class, 1 unreadable, 1 occluded al"
    ):
        diffuse.build(small_data("slight"), tmp_path / "other", types=("lattice_50_2",), size=0, workers=1)
    allowed = diffuse.build(small_data("2"), tmp_path / "third", types=("solid",), size=0, workers=1, occluded=True)
    assert allowed.types["solid"] == 1
    with pytest.raises(UserError, match="2 too few pixels"):
        diffuse.build(small_data(), tmp_path / "fourth", types=("solid",), size=0, workers=1, min_pixels=400)
    unfit = diffuse.build(small_data(), tmp_path / "fifth", types=("solid", "lattice_50_16"), size=0, workers=1)
    assert unfit.rejected["too small"] == 1
    assert "fewer than half of 1 images are left of lattice_50_16 (0); see rejected.csv" in unfit.warnings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"types": ("blak",)}, "unknown type 'blak'; did you mean 'black'"),
        ({"types": ("object",)}, "type 'object' needs occluders, a folder of cut-outs"),
        ({"law": "code", "size": 48}, "type 'black' .*more than 60 pixels .*law=synthetic suits any size"),
        ({"law": "codes"}, "unknown law 'codes'; did you mean 'code'"),
        ({"size": 4}, "expected size from 8 to 4,096, or 0"),
        ({"least": 0.6, "most": 0.5}, "expected least no greater than most, got 0.6 and 0.5"),
        ({"object_size": 0.0}, "expected object_size above 0, up to 1, got 0.0"),
        ({"min_pixels": -1}, "expected min_pixels from 0"),
        ({"seed": -1}, "expected seed from 0"),
        ({"fit": "native"}, "unknown fit 'native'"),
        ({"occluders": "/nowhere"}, "no folder '/nowhere' of cut-outs"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_an_image_is_read(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=message):
        synthetic.build(DATA, tmp_path / "set", **settings)
    assert not (tmp_path / "set").exists()


def test_data_must_have_masks_and_be_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected images to cover: data, train or both"):
        synthetic.build(None, tmp_path / "set")
    np.savez(tmp_path / "a.npz", images=np.zeros((2, 8, 8, 3), np.uint8), labels=[0, 1])
    with pytest.raises(UserError, match="has no masks, so how much of an object is hidden cannot be known"):
        synthetic.build(f"arrays:{tmp_path}/a.npz", tmp_path / "set")
    with pytest.raises(UserError, match="expected shares of 25, 50, 75, got 30"):
        diffuse.build(DATA, tmp_path / "set", shares=(30,))


def test_the_commands_say_what_they_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    common = [
        "--data",
        "phantom:test?size=48&n=4",
        "--train",
        "phantom:test?size=48&n=4",
        "--size",
        "48",
        "--workers",
        "1",
    ]
    for words in (
        ["diffuse", "--pixels", "2,4", "--types", "lattice_50_4,vertical"],
        ["synthetic", "--types", "white"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(["build", *words, *common, "--out", str(tmp_path / words[0])])
        printed = capsys.readouterr()
        assert not ended.value.code
        assert f" types: {tmp_path / words[0]}" in printed.out
        assert "note: 4 images or videos are in both train and val" in printed.err
    with pytest.raises(SystemExit) as ended:
        main(["build", "diffuse", "--pixels", "2,x", *common, "--out", str(tmp_path / "bad")])
    assert ended.value.code == 2
    assert (
        "expected --pixels as a whole number of at least 1, or several separated by commas, got '2,x'"
        in capsys.readouterr().err
    )
