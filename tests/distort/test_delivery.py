"""Delivery: rescaling is what Pillow makes of it, and what is sent again is the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from snellen.distort import View, apply, parse
from snellen.errors import UserError

PHOTOS = torch.from_numpy(np.random.default_rng(5).integers(0, 256, (40, 3, 18, 30), np.uint8))


def test_rescaling_is_what_pillow_makes_of_it() -> None:
    made = apply("rescale(0.4)", PHOTOS)
    for photo, own in zip(PHOTOS, made):
        small = Image.fromarray(photo.permute(1, 2, 0).numpy()).resize((12, 7), Image.Resampling.BICUBIC)
        assert (own.permute(1, 2, 0).numpy() == np.asarray(small.resize((30, 18), Image.Resampling.BICUBIC))).all()


def test_each_image_has_a_share_of_its_own_under_a_law() -> None:
    same = PHOTOS[:1].expand(40, -1, -1, -1).contiguous()
    assert len({bytes(image.numpy()) for image in apply("rescale(uniform(0.2, 1))", same)}) > 10


def test_what_is_sent_again_is_the_same_and_several_are_told_apart() -> None:
    assert (parse("again()")(PHOTOS, View.of([str(number) for number in range(40)])) == PHOTOS).all()
    assert str(parse("again(2)")) != str(parse("again()"))


def test_a_share_of_nothing_is_refused() -> None:
    for text in ("rescale(0)", "rescale(1.5)", "again(0)"):
        with pytest.raises((UserError, ValueError), match="expected (share|number)"):
            parse(text)
