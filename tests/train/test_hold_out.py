"""What is held out: whole groups where the data have some, always the same ones; old checkpoints are still recognised."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from snellen.data import load_data
from snellen.data.dataset import Dataset
from snellen.errors import UserError
from snellen.models.checkpoint import CARD, read_card
from snellen.train import Recipe, train
from snellen.train.hold_out import hold_out

SHORT = Recipe(epochs=1, batch_size=16)


def grouped(data: Dataset, names: list[str], column: str = "group") -> Dataset:
    """The data with a column of groups."""
    return replace(data, samples=replace(data.samples, columns={column: np.array(names)}))


@pytest.mark.parametrize("column", ["group", "video"])
def test_images_of_one_video_are_never_in_both_parts(bars: Callable[..., Dataset], column: str) -> None:
    data = grouped(bars(120), [f"video {row // 6}" for row in range(120)], column)
    learnt, held = hold_out(data, 0.2)
    of_learnt, of_held = (set(part.samples.columns[column].tolist()) for part in (learnt, held))
    assert not of_learnt & of_held
    assert set(Counter(held.samples.columns[column].tolist()).values()) == {6}  # each with all its images
    assert (len(learnt), len(held)) == (96, 24)


def test_the_same_groups_are_held_out_in_any_order_of_the_images(bars: Callable[..., Dataset]) -> None:
    data = grouped(bars(60), [str(row // 4) for row in range(60)])
    turned = data.at(np.arange(60)[::-1])
    assert set(hold_out(turned, 0.1)[1].samples.ids) == set(hold_out(data, 0.1)[1].samples.ids)


def test_clips_of_the_phantom_world_are_held_out_whole() -> None:
    learnt, held = hold_out(load_data("phantom:train?size=28&n=160&frames=4"), 0.25)
    assert not set(learnt.samples.columns["clip"].tolist()) & set(held.samples.columns["clip"].tolist())
    assert (len(learnt), len(held)) == (120, 40)


def test_a_group_stays_that_has_all_images_of_a_class(bars: Callable[..., Dataset]) -> None:
    """All standing bars are in one video: whatever the hash says, they stay to be learnt."""
    names = ["all standing" if row % 2 else f"lying {row // 10}" for row in range(100)]
    learnt, held = hold_out(grouped(bars(100), names), 0.2)
    assert set(held.samples.labels.tolist()) == {0}
    assert (learnt.samples.labels == 1).sum() == 50


def test_two_videos_cannot_be_parted(bars: Callable[..., Dataset]) -> None:
    """Each class fills a video of its own: without either nothing is left to tell apart."""
    with pytest.raises(UserError, match=r"none of its 2 groups can be held out without more than half"):
        hold_out(grouped(bars(40), ["lying", "standing"] * 20), 0.1)


def test_each_image_in_a_group_of_its_own_is_held_out_as_without_groups(bars: Callable[..., Dataset]) -> None:
    data = bars(50)
    alone = grouped(data, [f"{row}" for row in range(50)])
    assert hold_out(alone, 0.2)[1].samples.ids == hold_out(data, 0.2)[1].samples.ids


def forget_groups(path: Path) -> None:
    """Make a checkpoint as one was before trainings held groups out: its card says nothing of them."""
    with safe_open(path, "pt") as file:
        card = json.loads(file.metadata()[CARD])
    del card["holdout_by"]
    save_file(load_file(path), path, {CARD: json.dumps(card)})


def test_a_checkpoint_of_before_is_recognised_where_there_are_no_groups(
    tmp_path: Path, bars: Callable[..., Dataset]
) -> None:
    (path,) = train(SHORT, bars(48), tmp_path, holdout=0.25)
    forget_groups(path)
    before = path.read_bytes()
    assert train(SHORT, bars(48), tmp_path, holdout=0.25) == [path]
    assert path.read_bytes() == before


def test_one_judged_on_parts_of_videos_is_not_taken_for_one_judged_on_whole_ones(
    tmp_path: Path, bars: Callable[..., Dataset]
) -> None:
    data = grouped(bars(48), [str(row // 4) for row in range(48)])
    (path,) = train(SHORT, data, tmp_path, holdout=0.25)
    assert read_card(path)["holdout_by"] == "group"
    forget_groups(path)
    with pytest.raises(UserError, match=r"was trained otherwise \(holdout_by none ≠ group\)"):
        train(SHORT, data, tmp_path, holdout=0.25)
    (whole,) = train(SHORT, data, tmp_path / "all")
    forget_groups(whole)  # nothing held out: groups play no part
    assert train(SHORT, data, tmp_path / "all") == [whole]
