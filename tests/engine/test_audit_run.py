"""A whole audit: every finding follows from the stored answers, and each cell is asked once."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import torch

import snellen
from snellen.audits import InterferenceAudit
from snellen.distort import Distortion, View
from snellen.errors import UserError
from snellen.models import Model, from_callable, from_torch

SMALL = "occlusion(areas=[0.3, 0.9])"
ask = functools.partial(snellen.audit, quiet=True, report=False)


def table(run: snellen.Run) -> pd.DataFrame:
    return run.predictions()


def test_clean_answers_are_right_and_occluded_ones_are_wrong_as_often_as_geometry_says(
    levels: str, corner: Model
) -> None:
    """A square of side 14 has 3 × 3 places in a 16-pixel image, and one of them covers the corner."""
    run = ask(corner, levels, "occlusion(areas=[0.77], fills=[black, white])")
    found = run.findings().set_index(["name", "fill"])["value"]
    assert run.findings().query("name == 'accuracy'")["value"].item() == 1
    answers = table(run).query("distortion.str.startswith('occlude(area=0.77, fill=black')")
    shown = run.sql("select s.covered from shown s join cells c using (shown) where c.distortion like 'occlude%black%'")
    assert shown["covered"].unique().tolist() == [196 / 256]
    # Class 0 is answered to black, so its images stay right.
    wrong = answers.query("label > 0")["score"].eq(0).mean()
    assert wrong == pytest.approx(1 / 9, abs=0.13)
    assert found["occluded_accuracy", "black"] == pytest.approx(answers["score"].mean())


def test_every_accuracy_recomputed_from_the_stored_answers_equals_the_finding(
    levels: str, corner: Model, brightest: Model
) -> None:
    run = ask([corner, brightest], levels)
    stored = table(run).groupby(["model", "distortion"])["score"].mean()
    single = run.findings().query("unit == 'share' and not distortion.str.contains(';')")
    assert len(single) > 20
    for row in single.itertuples():
        assert row.value == pytest.approx(stored[row.model, row.distortion])


def test_rows_are_complete_and_unique(levels: str, corner: Model, brightest: Model) -> None:
    run = ask([corner, brightest], levels, SMALL, shard=7, batch_size=3)
    rows = table(run)
    cells = run.sql("select count(*) as n from cells")["n"].item()
    assert cells == 2 * (2 + 4)
    assert len(rows) == cells * 60
    assert not rows.duplicated(["model", "run", "distortion", "seed", "sample"]).any()
    assert not run.sql("select shown, sample from shown").duplicated().any()
    assert run.sql("select count(*) as n from samples")["n"].item() == 60


@pytest.mark.parametrize(
    "how", [{"shard": 7}, {"shard": 60}, {"batch_size": 1}, {"batch_size": 13}, {"threads": 1}, {"threads": 8}]
)
def test_shards_batches_and_threads_change_no_row(levels: str, corner: Model, how: dict) -> None:
    whole = table(ask(corner, levels))
    pd.testing.assert_frame_equal(whole, table(ask(corner, levels, **how)))


def test_the_order_of_the_samples_changes_no_row(levels: str, corner: Model, tmp_path: Path) -> None:
    held = dict(np.load(levels.removeprefix("arrays:")))
    order = np.random.default_rng(0).permutation(60)
    np.savez(tmp_path / "mixed.npz", images=held["images"][order], labels=held["labels"][order], ids=held["ids"][order])
    straight = table(ask(corner, levels))
    pd.testing.assert_frame_equal(straight, table(ask(corner, f"arrays:{tmp_path}/mixed.npz")))


def counting(name: str = "corner") -> tuple[Model, list[int]]:
    """A model that counts the images it is shown."""
    seen: list[int] = []

    def answer(images: np.ndarray) -> np.ndarray:
        seen.append(len(images))
        return np.full((len(images), 4), 0.25)

    return from_callable(answer, size=16, name=name, version="1"), seen


LOOK = 60  # images of the first look: all there are


def test_the_same_command_again_asks_nothing(levels: str, tmp_path: Path) -> None:
    model, seen = counting()
    first = ask(model, levels, SMALL, out=tmp_path / "run")
    assert sum(seen) == LOOK + 60 * 6
    before = first.findings()
    again = ask(model, levels, SMALL, out=tmp_path / "run")
    assert sum(seen) == LOOK + 60 * 6
    pd.testing.assert_frame_equal(before, again.findings())


def test_another_audit_asks_only_what_is_new_and_another_model_only_itself(levels: str, tmp_path: Path) -> None:
    model, seen = counting()
    other, other_seen = counting("other")
    out = tmp_path / "run"
    ask(model, levels, "occlusion(areas=[0.3], fills=[black])", out=out)
    assert sum(seen) == LOOK + 60 * 3
    ask(model, levels, "occlusion(areas=[0.3, 0.9], fills=[black])", out=out)
    assert sum(seen) == LOOK + 60 * 4
    run = ask([model, other], levels, "occlusion(areas=[0.3, 0.9], fills=[black])", out=out)
    assert (sum(seen), sum(other_seen)) == (LOOK + 60 * 4, LOOK + 60 * 4)
    assert not run.sql("select shown, sample from shown").duplicated().any()
    assert len(table(run)) == 8 * 60


def test_audits_share_cells(levels: str) -> None:
    model, seen = counting()
    ask(model, levels, "occlusion(areas=[0.3], fills=[black]), interference([occlude(0.3), shuffle(2)])")
    assert sum(seen) == LOOK + 60 * 4  # clean, noise, occlude, shuffle


class Threshold(torch.nn.Module):
    """Logits of four classes from the mean brightness; `shift` stands for weights."""

    def __init__(self, shift: float = 0.0) -> None:
        super().__init__()
        self.shift = torch.nn.Parameter(torch.tensor(shift))

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        grey = pixels.mean((1, 2, 3))[:, None] * 255 + self.shift
        return -(grey - torch.tensor([40.0, 80.0, 120.0, 160.0])).abs() / 10


def test_changed_weights_data_and_limits_are_refused_by_name(levels: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    ask({"net": Threshold()}, levels, SMALL, out=out)
    with pytest.raises(
        UserError, match=r"was made with model 'net' of other weights \(....… ≠ ....…\); choose another out or"
    ):
        ask({"net": Threshold(1.0)}, levels, SMALL, out=out)
    with pytest.raises(UserError, match="was made with --limit none, not 10"):
        ask({"net": Threshold()}, levels, SMALL, out=out, limit=10)
    with pytest.raises(UserError, match="was made with batch_size auto; leave batch_size out"):
        ask({"net": Threshold()}, levels, SMALL, out=out, batch_size=3)
    with pytest.raises(UserError, match="was made with --keep none, not top5"):
        ask({"net": Threshold()}, levels, SMALL, out=out, keep="top5")
    (tmp_path / "map.json").write_text('{"classes": {"0": [1], "1": [0], "2": [2], "3": [3]}}')
    with pytest.raises(UserError, match="was made with another label map for model 'net'"):
        ask({"net": Threshold()}, levels, SMALL, out=out, labels=tmp_path / "map.json")
    held = dict(np.load(levels.removeprefix("arrays:")))
    held["images"] = held["images"].copy()
    held["images"][0] += 1
    np.savez(levels.removeprefix("arrays:"), **held)
    with pytest.raises(UserError, match="was made with other files in arrays:"):
        ask({"net": Threshold()}, levels, SMALL, out=out)
    with pytest.raises(UserError, match=r"was made with test data arrays:.*, not phantom"):
        ask({"net": Threshold()}, "phantom:test?size=16&n=9", SMALL, out=out)
    with pytest.raises(UserError, match="was made with device cpu"):
        ask({"net": Threshold()}, levels, SMALL, out=out, device="mps")
    ask({"net": Threshold(1.0)}, levels, SMALL, out=out, fresh=True)


FACTORY = """
import torch

class Grey(torch.nn.Module):
    def __init__(self, shift):
        super().__init__()
        self.shift = torch.nn.Parameter(torch.tensor(shift))

    def forward(self, pixels):
        grey = pixels.mean((1, 2, 3))[:, None] * 255 + self.shift
        return -(grey - torch.tensor([40.0, 80.0, 120.0, 160.0])).abs() / 10

def load(file):
    from snellen.models import from_torch
    return from_torch(Grey(float(open(file).read())), size=16, classes=["0", "1", "2", "3"])
"""


def checkpoints(folder: Path, **shifts: float) -> str:
    """A file of each name with the one weight of a network, and the text of a model before the name of its file."""
    (folder / "nets.py").write_text(FACTORY)
    for name, shift in shifts.items():
        (folder / f"{name}.txt").write_text(str(shift))
    return f"mine=python:{folder}/nets.py:load@{folder}/"


REPLACED = r"was made with model 'mine' of other weights \(....… ≠ ....…\); choose another out or pass fresh"


def test_other_weights_under_the_same_name_are_refused_whatever_their_file_is_called(
    levels: str, tmp_path: Path
) -> None:
    mine, out = checkpoints(tmp_path, a=0.0, b=1.0, c=2.0), tmp_path / "run"
    first = ask(f"{mine}a.txt", levels, SMALL, out=out).findings()
    with pytest.raises(UserError, match=REPLACED):
        ask(f"{mine}b.txt", levels, SMALL, out=out)
    with pytest.raises(UserError, match=REPLACED):
        ask({"mine": from_callable(lambda images: np.eye(4)[[1] * len(images)], size=16)}, levels, SMALL, out=out)
    with pytest.raises(UserError, match=REPLACED):  # one of several runs is another
        ask([f"{mine}b.txt", f"{mine}c.txt"], levels, SMALL, out=out)
    pd.testing.assert_frame_equal(first, snellen.Run(out).findings())


def test_more_runs_fewer_runs_other_names_and_moved_files_are_no_other_weights(levels: str, tmp_path: Path) -> None:
    mine, out = checkpoints(tmp_path, a=0.0, b=1.0, c=2.0), tmp_path / "run"
    a, b, c = (f"{mine}{name}.txt" for name in "abc")
    ask(a, levels, SMALL, out=out)
    ask([a, b], levels, SMALL, out=out)
    ask(f"{mine}[abc].txt", levels, SMALL, out=out)
    ask([c, b], levels, SMALL, out=out)  # a part of them, in another order
    ask(a.replace("mine=", "other="), levels, SMALL, out=out)
    (tmp_path / "a.txt").rename(tmp_path / "moved.txt")
    run = ask(f"{mine}moved.txt", levels, SMALL, out=out)
    assert run.facts["asked"] == {"mine": ["moved"]}


def test_a_callable_that_answers_differently_under_the_same_source_is_refused(levels: str, tmp_path: Path) -> None:
    def always(favourite: int) -> Model:
        return from_callable(lambda images: np.eye(4)[[favourite] * len(images)], size=16, name="one")

    ask(always(1), levels, SMALL, out=tmp_path / "run")
    ask(always(1), levels, SMALL, out=tmp_path / "run")
    with pytest.raises(UserError, match="model 'one' when it answered differently"):
        ask(always(2), levels, SMALL, out=tmp_path / "run")


def test_out_of_memory_halves_the_batch_and_goes_on(levels: str, tmp_path: Path) -> None:
    seen: list[int] = []

    class Hungry(Threshold):
        def forward(self, pixels: torch.Tensor) -> torch.Tensor:
            seen.append(len(pixels))
            if len(pixels) > 8:
                raise torch.OutOfMemoryError("too much")
            return super().forward(pixels)

    run = ask({"net": Hungry()}, levels, SMALL, batch_size=32, out=tmp_path / "run")
    plain = ask({"net": Threshold()}, levels, SMALL, batch_size=32)
    pd.testing.assert_frame_equal(table(run)[["sample", "pred"]], table(plain)[["sample", "pred"]])
    assert seen[0] == 32  # the first look gives up
    assert seen[1:6] == [32, 16, 8, 8, 16]
    assert max(seen[6:]) <= 8
    assert run.facts["settings"]["batch_size"] == 8
    seen.clear()
    again = ask({"net": Hungry()}, config=tmp_path / "run" / "settings.yaml")  # which says 32
    assert (seen, again.facts["settings"]["batch_size"]) == ([], 8)
    with pytest.raises(UserError, match="was made with batch_size 8; leave batch_size out"):
        ask({"net": Hungry()}, levels, SMALL, batch_size=16, out=tmp_path / "run")


def test_models_of_several_canvases_see_their_own_size(levels: str) -> None:
    sizes: set[tuple[str, int]] = set()

    def of(size: int) -> Model:
        def answer(images: np.ndarray) -> np.ndarray:
            sizes.add((f"m{size}", images.shape[1]))
            return np.full((len(images), 4), 0.25)

        return from_callable(answer, size=size, name=f"m{size}", version="1")

    ask([of(8), of(24)], levels, SMALL)
    assert sizes == {("m8", 8), ("m24", 24)}


def test_runs_of_one_model_give_one_finding_over_all_of_them(levels: str) -> None:
    run = ask({"net": [Threshold(), Threshold(15.0), Threshold(-25.0)]}, levels, SMALL)
    clean = run.results()["findings"][0]
    assert clean["per_run"] == [1.0, 1.0, pytest.approx(0.25)]
    assert clean["value"] == pytest.approx(0.75)
    assert table(run)["run"].nunique() == 3


def test_donors_are_pasted_and_recorded(levels: str, corner: Model) -> None:
    run = ask(corner, levels, "interference([occlude(1, donor)])", donors="phantom:test?size=24&n=20")
    pasted = run.sql("select s.donor from shown s join cells c using (shown) where c.distortion like '%donor%'")
    assert pasted["donor"].str.startswith("test").all()
    assert 5 < pasted["donor"].nunique() <= 20
    with pytest.raises(UserError, match="needs a donor pool; pass --donors DATA"):
        ask(corner, levels, "interference([occlude(1, donor)])")


def test_nan_answers_and_wrong_shapes_are_named(levels: str) -> None:
    nan = from_callable(lambda images: np.full((len(images), 4), np.nan), size=16, name="broken", version="1")
    with pytest.raises(UserError, match="model 'broken' answered nan for sample 'level-56' under none"):
        ask(nan, levels, SMALL)
    inf = from_callable(lambda images: np.full((len(images), 4), np.inf), size=16, name="endless", version="1")
    with pytest.raises(UserError, match="model 'endless' answered inf for sample 'level-56' under none"):
        ask(inf, levels, SMALL)
    below = from_callable(lambda images: np.full((len(images), 4), -1), size=16, name="below", version="1")
    with pytest.raises(
        UserError,
        match=r"model 'below' answered negative probabilities for 32 of 32 images, the lowest -1; .*apply a softmax",
    ):
        ask(below, levels, SMALL)
    flat = from_callable(lambda images: np.zeros(len(images)), size=16, name="flat", version="1")
    with pytest.raises(
        UserError, match=r"model 'flat' answered \[32\] for 32 images; expected probabilities \[32, classes\]"
    ):
        ask(flat, levels, SMALL)
    seven = from_callable(lambda images: np.full((len(images), 7), 1 / 7), size=16, name="seven", version="1")
    with pytest.raises(UserError, match="answers 7 classes where 4 were expected"):
        ask(seven, levels, SMALL)


def test_a_bare_module_is_asked_with_a_notice(levels: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = snellen.audit(Threshold(), levels, SMALL, report=False)
    assert "bare torch module: it gets float RGB in 0…1" in capsys.readouterr().err
    assert run.findings()["value"][0] == 1


def test_normalisation_is_applied(levels: str) -> None:
    class Raw(torch.nn.Module):
        def forward(self, pixels: torch.Tensor) -> torch.Tensor:
            grey = (pixels.mean((1, 2, 3))[:, None] * 0.25 + 0.5) * 255
            return -(grey - torch.tensor([40.0, 80.0, 120.0, 160.0])).abs()

    model = from_torch(Raw(), size=16, mean=[0.5] * 3, std=[0.25] * 3, name="raw")
    assert ask(model, levels, "interference([shuffle(2)])").findings()["value"][0] == 1


def test_a_folder_that_holds_something_else_is_left_alone(levels: str, corner: Model, tmp_path: Path) -> None:
    (tmp_path / "mine" / "samples").mkdir(parents=True)
    (tmp_path / "mine" / "samples" / "thesis.txt").write_text("precious")
    for fresh in (False, True):
        with pytest.raises(UserError, match="is not empty and not a run folder"):
            ask(corner, levels, SMALL, out=tmp_path / "mine", fresh=fresh)
    assert (tmp_path / "mine" / "samples" / "thesis.txt").read_text() == "precious"


def test_top5_and_logits_are_kept_on_request(levels: str, corner: Model, tmp_path: Path) -> None:
    plain = ask(corner, levels, SMALL, out=tmp_path / "run")
    assert "top5" not in plain.sql("select * from answers limit 1").columns
    best = ask(corner, levels, SMALL, out=tmp_path / "top5", keep="top5").sql("select pred, top5 from answers")
    assert all(len(five) == 4 and five[0] == pred for pred, five in zip(best["pred"], best["top5"]))
    logits = ask(corner, levels, SMALL, out=tmp_path / "logits", keep="logits").sql("select pred, logits from answers")
    rows = np.stack(logits["logits"].to_numpy()).astype(float)
    assert (rows.argmax(1) == logits["pred"]).all()
    assert np.exp(rows).sum(1) == pytest.approx(np.ones(len(rows)), abs=0.01)
    with pytest.raises(UserError, match="unknown keep 'top3'; did you mean 'top5'"):
        ask(corner, levels, SMALL, keep="top3")


def test_the_same_weights_under_two_names_are_told(levels: str) -> None:
    with pytest.raises(UserError, match=r"'a \(Threshold-0\)' and 'b \(Threshold-0\)' are the same model"):
        ask({"a": Threshold(), "b": Threshold()}, levels, SMALL)


@dataclass(frozen=True)
class Picky(Distortion):
    """Changes nothing, and excludes the samples of some batches only: those whose first pixel is 80."""

    version: ClassVar[int] = 1

    def __call__(self, images: torch.Tensor, view: View) -> torch.Tensor:
        bad = (images[:, 0, 0, 0] == 80).numpy()
        if bad.any():
            view.exclude(bad)
        return images


def test_a_distortion_of_another_version_is_shown_again(levels: str, tmp_path: Path, monkeypatch) -> None:
    """Its text form is the same and its pixels are not: answers of before must not stand for them."""
    (model, seen), audits = counting(), [InterferenceAudit((Picky(),))]
    ask(model, levels, audits, out=tmp_path / "run")
    seen.clear()
    monkeypatch.setattr(Picky, "version", 2)
    ask(model, levels, audits, out=tmp_path / "run")
    assert sum(seen) == 60


def test_excluded_samples_are_shown_but_count_nowhere(levels: str, corner: Model) -> None:
    held = dict(np.load(levels.removeprefix("arrays:")))
    order = np.argsort(held["labels"], kind="stable")
    np.savez(levels.removeprefix("arrays:"), **{key: value[order] for key, value in held.items()})
    run = ask(corner, levels, [InterferenceAudit((Picky(),))], batch_size=10, shard=20)
    found = run.results()["findings"]
    assert [one["n"] for one in found if one["name"] == "distorted_accuracy"] == [45]
    assert [one["n"] for one in found if one["name"] == "accuracy"] == [60]
    assert run.sql("select count(*) as n from shown where excluded")["n"].item() == 15
    assert len(table(run)) == 3 * 60
