"""Every mix: pixels of known origin, weights that follow their law, labels that move along, a text form."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from snellen.errors import UserError
from snellen.train.mixing import MIXES, BatchMix, CutMix, Cutout, FMix, MixUp, RandomMasks, SaliencyMix, parse_mix

TEXTS = [
    *MIXES,
    "cutmix(rule=corrected)",
    "fmix(per=sample)",
    "fmix(spectrum=isotropic, decay=2.5)",
    "fmix(soft=0.2)",
    "saliencymix(per=sample)",
    "alternate(fmix, cutout(side=0.25))",
]
COPYING = [CutMix(), CutMix(rule="corrected"), FMix(), FMix(per="sample"), RandomMasks(), SaliencyMix(),
           SaliencyMix(per="sample")]  # fmt: skip


def draws(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def numbered(count: int, height: int, width: int) -> torch.Tensor:
    """Images whose every pixel says whose it is and where: channel 0 the image, 1 the row, 2 the column."""
    images = torch.empty(count, 3, height, width, dtype=torch.uint8)
    images[:, 0] = torch.arange(count)[:, None, None]
    images[:, 1] = torch.arange(height)[:, None]
    images[:, 2] = torch.arange(width)
    return images


@pytest.mark.parametrize("mix", COPYING, ids=str)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**40), count=st.integers(1, 9), height=st.integers(1, 40), width=st.integers(1, 40))
def test_every_pixel_is_the_images_own_or_its_partners_from_the_same_place(mix, seed, count, height, width):
    images = numbered(count, height, width)
    before = images.clone()
    mixed, (own, partner, weight) = mix(images, torch.arange(count), draws(seed))
    assert torch.equal(images, before)
    assert mixed.dtype == torch.uint8
    assert torch.equal(mixed[:, 1:], images[:, 1:])
    origin = mixed[:, 0].long()
    assert ((origin == own[:, None, None]) | (origin == partner[:, None, None])).all()
    assert torch.equal(own, torch.arange(count))
    assert torch.equal(partner.sort().values, own)
    assert weight.dtype == torch.float32
    assert weight.shape == (count,)
    assert 0 <= weight.min() <= weight.max() <= 1


def taken(mix: BatchMix, count: int, side: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Where images of a batch show a partner that is not themselves, bool [n, side, side], and their weights."""
    images = numbered(count, side, side)
    mixed, (own, partner, weight) = mix(images, torch.arange(count), draws(seed))
    moved = partner != own
    return (mixed != images).any(1)[moved], weight[moved]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("mix", COPYING[1:], ids=str)
def test_the_weight_is_the_share_of_own_pixels(mix, seed):
    """Exactly where it is recomputed from the box; to within a pixel where the mask is cut at λ."""
    cover, weight = taken(mix, 32, 50, seed)
    off = (1 - cover.float().mean((1, 2)) - weight).abs().max()
    assert off <= (1e-6 if isinstance(mix, CutMix | SaliencyMix) else 1 / 2500 + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_a_nominal_box_that_is_not_cut_off_covers_one_minus_the_weight(seed):
    cover, weights = taken(CutMix(), 64, 100, seed)
    weight = float(weights[0])
    assert (weights == weight).all()
    inner = cover[~(cover[:, [0, -1]].any((1, 2)) | cover[:, :, [0, -1]].any((1, 2)))]
    side = math.sqrt(1 - weight) * 100
    for box in inner:
        down, across = int(box.any(1).sum()), int(box.any(0).sum())
        assert int(box.sum()) == down * across
        assert down == across
        assert down % 2 == 0
        assert side - 1.5 <= down <= side + 0.5


def test_nominal_boxes_differ_between_images_and_are_cut_off_without_changing_the_weight():
    cover, weights = taken(CutMix(), 64, 40, seed=0)
    weight = float(weights[0])
    assert 0.1 < weight < 0.9
    shares = cover.float().mean((1, 2))
    assert len({tuple(box.flatten().tolist()) for box in cover}) > 50
    assert shares.max() == pytest.approx(1 - weight, abs=0.08)
    assert shares.min() < 0.7 * (1 - weight)


def test_a_corrected_box_is_one_for_the_whole_batch():
    cover, _ = taken(CutMix(rule="corrected"), 32, 40, seed=1)
    assert 0 < cover[0].sum() < 1600
    assert (cover == cover[0]).all()


@settings(max_examples=30)
@given(seed=st.integers(0, 2**30), height=st.integers(1, 40), width=st.integers(1, 40))
def test_boxes_as_masks_choose_what_boxes_pasted_one_by_one_do(seed, height, width):
    """Heights and widths on both sides of the size below which bytes are blended."""
    from snellen.train.mixing.select import box_masks, selected, with_boxes

    random = np.random.default_rng(seed)
    edges = [np.sort(random.integers(0, length + 1, (5, 2)), 1) for length in (height, width)]
    boxes, rows = np.concatenate(edges, 1), random.integers(0, 7, 5)
    own, source = numbered(5, height, width), numbered(7, height, width) + 100
    masks = box_masks(boxes, height, width, own.device)
    areas = np.prod([np.diff(edge, axis=1)[:, 0] for edge in edges], axis=0)
    assert masks.sum((1, 2)).tolist() == areas.tolist()
    pasted = own.clone()
    for number, (row, (top, bottom, left, right)) in enumerate(zip(rows.tolist(), boxes.tolist())):
        pasted[number, :, top:bottom, left:right] = source[row, :, top:bottom, left:right]
    for kind in (torch.uint8, torch.float32, torch.bfloat16, torch.float64):
        mine, other = own.to(kind), source[rows].to(kind)
        assert torch.equal(with_boxes(mine, source.to(kind), rows, boxes), pasted.to(kind))
        assert torch.equal(selected(~masks[:, None], mine, other), pasted.to(kind))
    assert torch.equal(own, numbered(5, height, width))


@pytest.mark.parametrize(("weight", "nominal", "corrected"), [(0.75, 8, 8), (0.5, 11, 11), (0.9, 5, 5), (0.51, 11, 11)])
def test_half_a_box_rounds_or_cuts(weight, nominal, corrected):
    """Sides of √(1 − λ) · 32: 16, 22.63, 10.12, 22.4; rounded to 16, 23, 10, 22, cut to 16, 22, 10, 22."""
    from snellen.train.mixing.boxes import half_side

    assert half_side(weight, 32, "nominal") == nominal
    assert half_side(weight, 32, "corrected") == corrected
    assert half_side(1 - (21.6 / 32) ** 2, 32, "nominal") == 11
    assert half_side(1 - (21.6 / 32) ** 2, 32, "corrected") == 10


def test_mixup_is_the_weighted_sum():
    images = torch.randint(0, 256, (8, 3, 6, 5), dtype=torch.uint8, generator=draws(0))
    mixed, (own, partner, weight) = MixUp()(images, torch.arange(8), draws(3))
    share = weight.view(-1, 1, 1, 1)
    assert mixed.dtype == torch.float32
    assert (weight == weight[0]).all()
    assert 0.05 < weight[0] < 0.95
    torch.testing.assert_close(mixed, share * images[own].float() + (1 - share) * images[partner].float())


def test_cutout_removes_squares_of_half_the_side_that_may_leave_the_image():
    images = torch.full((400, 3, 20, 30), 200, dtype=torch.uint8)
    mixed, (own, partner, weight) = Cutout()(images, torch.arange(400), draws(0), mean=[10.4, 20.6, 255.0])
    gone = (mixed != images).any(1)
    assert torch.equal(own, partner)
    assert (weight == 1).all()
    assert mixed[gone[:, None].expand_as(mixed)].unique().tolist() == [10, 21, 255]
    down, across = gone.any(2).sum(1), gone.any(1).sum(1)
    assert torch.equal(down * across, gone.sum((1, 2)))
    assert down.max() == 10
    assert across.max() == 14
    assert down.min() == 5  # a centre in the first row leaves half of it outside
    assert gone.float().mean(0).min() > 0.05  # every pixel is removed at times


def test_alternate_takes_turns():
    images, labels = numbered(8, 16, 16), torch.arange(8)
    mix = parse_mix("alternate(cutmix(rule=corrected), mixup())")
    for step in range(4):
        wanted = (CutMix(rule="corrected"), MixUp())[step % 2]
        assert torch.equal(mix(images, labels, draws(step), step=step)[0], wanted(images, labels, draws(step))[0])


@pytest.mark.parametrize(("alpha", "variance"), [(1.0, 1 / 12), (0.2, 1 / (4 * 1.4)), (4.0, 1 / 36)])
def test_weights_follow_beta_with_mean_one_half(alpha, variance):
    """Var Beta(α, α) = 1 / (4 (2α + 1)); 2,000 draws leave a standard error below 0.01."""
    weights = FMix(alpha=alpha, per="sample")(numbered(2000, 2, 2), torch.arange(2000), draws(7))[1].weight
    assert weights.mean() == pytest.approx(0.5, abs=0.03)
    assert weights.var() == pytest.approx(variance, rel=0.1)


def shares(mix: BatchMix, batches: int, reformulated: bool) -> np.ndarray:
    """The own share of white images mixed with black partners."""
    generator, white = draws(11), torch.full((1, 3, 1, 1), 255.0)
    mixed = [
        mix(white, torch.zeros(1, dtype=torch.long), generator, torch.zeros_like(white), reformulated=reformulated)[0]
        for _ in range(batches)
    ]
    return torch.stack(mixed)[:, 0, 0, 0, 0].numpy() / 255


@pytest.mark.parametrize(("alpha", "reformulated"), [(1.0, False), (1.0, True), (0.4, True), (2.0, False)])
def test_weights_pass_a_kolmogorov_smirnov_test_against_their_beta(alpha, reformulated):
    """A right law fails at one seed in 10,000 (p-values are uniform over seeds); the wrong one never passes."""
    found = shares(MixUp(alpha=alpha), 1500, reformulated)
    assert kstest(found, "beta", (alpha + reformulated, alpha)).pvalue > 1e-4
    assert kstest(found, "beta", (alpha + (not reformulated), alpha)).pvalue < 1e-6


def test_the_reformulated_share_of_fmix_follows_beta_2_1_too():
    white = torch.full((1500, 3, 40, 40), 255, dtype=torch.uint8)
    mix = FMix(per="sample")
    mixed, _ = mix(white, torch.zeros(1500, dtype=torch.long), draws(5), torch.zeros_like(white), reformulated=True)
    assert kstest(mixed[:, 0].float().mean((1, 2)).numpy() / 255, "beta", (2, 1)).pvalue > 1e-4


@pytest.mark.parametrize("text", TEXTS)
def test_the_reformulated_target_is_the_first_image_alone(text):
    _, targets = parse_mix(text)(numbered(6, 12, 12), torch.arange(6), draws(0), reformulated=True)
    assert targets.partner is targets.own
    assert torch.equal(targets.own, torch.arange(6))
    assert targets.weight.tolist() == [1.0] * 6


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_generator_state_gives_the_same_mix(text):
    mix, images, labels = parse_mix(text), numbered(16, 20, 20), torch.arange(16)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist()
    first, again, other = (mix(images, labels, draws(seed)) for seed in (3, 3, 4))
    assert before == (before[0], np.random.get_state()[1].tolist())
    assert torch.equal(before[0], torch.get_rng_state())
    assert torch.equal(first[0], again[0])
    assert all(torch.equal(one, two) for one, two in zip(first[1], again[1]))
    assert text == "none" or not torch.equal(first[0], other[0])


@pytest.mark.parametrize("text", TEXTS)
def test_draws_are_the_same_for_every_type(text):
    mix, images, labels = parse_mix(text), numbered(16, 20, 20), torch.arange(16)
    whole, targets = mix(images, labels, draws(3))
    for kind in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        shown, found = mix(images.to(kind), labels, draws(3))
        assert shown.dtype == kind
        torch.testing.assert_close(shown.double(), whole.double(), rtol=0.02, atol=0.2)
        assert all(torch.equal(one, two) for one, two in zip(targets, found))


@pytest.mark.parametrize("mix", COPYING, ids=str)
def test_label_maps_move_with_the_pixels(mix):
    images = numbered(6, 24, 24)
    maps = images[:, 0].long() * 1000 + images[:, 1].long() * 30 + images[:, 2].long()
    mixed, targets = mix(images, maps, draws(2))
    shown = mixed[:, 0].long() * 1000 + mixed[:, 1].long() * 30 + mixed[:, 2].long()
    assert torch.equal(targets.own, shown)
    assert targets.partner is targets.own
    assert not torch.equal(targets.own, maps)
    assert (targets.weight == 1).all()
    for how in ({"reformulated": True}, {"partners": images + 100}):
        mixed, targets = mix(images, maps, draws(2), **how)
        assert torch.equal(targets.own == -100, (mixed[:, 0] != images[:, 0])) or "reformulated" in how
        assert ((targets.own == maps) | (targets.own == -100)).all()
        assert (targets.own == -100).any()


def test_label_maps_under_mixup_are_both_targets_and_under_cutout_stay():
    images, maps = numbered(6, 8, 8), torch.randint(0, 9, (6, 8, 8), generator=draws(0))
    targets = MixUp()(images, maps, draws(2))[1]
    assert torch.equal(targets.own, maps)
    assert torch.equal(targets.partner.sum((1, 2)).sort().values, maps.sum((1, 2)).sort().values)
    assert torch.equal(Cutout()(images, maps, draws(2))[1].own, maps)
    with pytest.raises(ValueError, match="label maps cannot follow"):
        FMix(soft=0.1)(images, maps, draws(2))


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_form_prints_all_fields_and_parses_back(text):
    mix = parse_mix(text)
    assert isinstance(mix, BatchMix)
    assert parse_mix(str(mix)) == mix
    assert str(mix).startswith(text.split("(")[0] + "(")
    assert parse_mix(mix) is mix


def test_text_forms_are_these():
    assert str(parse_mix("none")) == "none()"
    assert str(parse_mix("fmix(0.5)")) == "fmix(alpha=0.5, decay=3, spectrum=official, soft=0, per=batch)"
    nested = parse_mix("alternate(cutmix, none)")
    assert str(nested) == "alternate(first=cutmix(alpha=1, rule=nominal), second=none())"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cutmx", "unknown mix 'cutmx'; did you mean 'cutmix'"),
        ("cutmix(rule=correct)", "unknown rule of cutmix 'correct'; did you mean 'corrected'"),
        ("cutmix(alpha=0)", "cutmix: expected alpha above 0, got 0"),
        ("mixup(beta=1)", "unknown argument of mixup 'beta'"),
        ("fmix(soft=0.7)", "fmix: expected soft in [0, 0.5], got 0.7"),
        ("cutout(2)", "cutout: expected side in (0, 1], got 2"),
        ("random_masks(k=0)", "random_masks: expected k of at least 1, got 0"),
        ("alternate(3)", "alternate: expected first to be a batch mix, got '3'"),
        ("5", "expected a mix such as"),
    ],
)
def test_a_wrong_text_is_told_apart(text, message):
    with pytest.raises(UserError) as raised:
        parse_mix(text)
    assert message in str(raised.value)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("text", TEXTS)
def test_a_gpu_mixes_as_the_cpu_does_and_nobody_waits_for_it(text):
    mix, images, labels = parse_mix(text), numbered(16, 32, 32), torch.arange(16)
    whole, targets = mix(images, labels, draws(3))
    far, tags = images.cuda(), labels.cuda()
    mix(far, tags, draws(3))  # tables and masks of this size are made once
    torch.cuda.set_sync_debug_mode("error")
    try:
        shown, found = mix(far, tags, draws(3))
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert (shown.cpu() != whole).float().mean() < 0.01
    assert all(torch.allclose(one, two.cpu()) for one, two in zip(targets, found))
