"""How reports name distortions: each in its own words, a text that is none as it is."""

from __future__ import annotations

import pytest

from snellen.distort.language import VARIANTS, covering, in_words, masked_by


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("none()", "clean"),
        ("occlude(area=0.3, fill=black, inside=true, law=exact)", "black square of 30%"),
        ("tiles(grid=4, share=0.3, fill=black)", "black tiles over 30% of 4×4"),
        ("fourier(area=0.3, fill=black, spectrum=official)", "black Fourier mask of 30%"),
        (
            "salient(share=0.3, which=coin, fill=mean, layer=none, method=gradcam)",
            "most or least salient 30% under mean",
        ),
        ("cutouts(share=0.3)", "cut-outs over 30%"),
        ("shuffle(grid=4)", "4×4 patches shuffled"),
        ("soft_shuffle(grid=4, width=0.75)", "4×4 patches shuffled softly"),
        ("noise(sigma=0.1)", "Gaussian noise of σ 0.1"),
        ("mix(kind=mixup, alpha=1)", "MixUp with another image"),
        ("background(kind=mixed_rand, sigma=8, inpaint=tile, own=true, foreground=mask)", "background of any class"),
        ("occlude(area=0.4, fill=black, inside=true, law=exact)", "black square of 40%"),
        ("occlude(area=0.4, fill=white, inside=true, law=exact)", "white square of 40%"),
        ("occlude(area=0.4, fill=grey, inside=true, law=exact)", "grey square of 40%"),
        ("occlude(area=0.4, fill=mean, inside=true, law=exact)", "mean square of 40%"),
        ("occlude(area=0.4, fill=image_mean, inside=true, law=exact)", "image_mean square of 40%"),
        ("occlude(area=0.4, fill=noise, inside=true, law=exact)", "noise square of 40%"),
        ("occlude(area=0.4, fill=stripes, inside=true, law=exact)", "stripes square of 40%"),
        ("occlude(area=0.4, fill=donor, inside=true, law=exact)", "donor square of 40%"),
        (
            "occlude(area=uniform(low=0.7, high=1), fill=black, inside=false, law=exact)",
            "black square of 70–100% (partly outside)",
        ),
        ("occlude(area=0.5, fill=black, inside=true, law=published)", "black square of 50%"),
        ("tiles(grid=3, share=beta(a=2, b=1), fill=noise)", "noise tiles over a drawn share of 3×3"),
        ("fourier(area=0.3, fill=black, spectrum=isotropic)", "black Fourier mask of 30%"),
        ("fourier(area=uniform(low=0.2, high=0.6), fill=white, spectrum=official)", "white Fourier mask of 20–60%"),
        (
            "salient(share=uniform(low=0.2, high=0.6), which=coin, fill=black, layer=-2, method=gradcam)",
            "most or least salient 20–60% under black",
        ),
        ("salient(share=0.5, which=most, fill=noise, layer=none, method=gradcam)", "most salient 50% under noise"),
        (
            "shuffle(grid=4) | salient(share=0.5, which=coin, fill=mean, layer=stage3, method=gradcam)",
            "4×4 patches shuffled, then most or least salient 50% under mean",
        ),
        ("shuffle(grid=5)", "5×5 patches shuffled"),
        ("soft_shuffle(grid=5, width=1)", "5×5 patches shuffled softly"),
        (
            "soft_shuffle(grid=4, width=0.75) | salient(share=0.5, which=coin, fill=mean, layer=stage3, method=gradcam)",
            "4×4 patches shuffled softly, then most or least salient 50% under mean",
        ),
        ("noise(sigma=uniform(low=0, high=0.1))", "Gaussian noise of σ 0–0.1"),
        ("mix(kind=cutmix, alpha=0.5)", "CutMix with another image"),
        ("background(kind=original, sigma=8, inpaint=tile, own=true, foreground=mask)", "clean"),
        ("background(kind=only_bg_b, sigma=8, inpaint=tile, own=true, foreground=mask)", "background alone, box black"),
        ("background(kind=only_bg_t, sigma=8, inpaint=tile, own=true, foreground=mask)", "background alone, box tiled"),
        ("background(kind=no_fg, sigma=8, inpaint=tile, own=true, foreground=mask)", "object blackened"),
        ("background(kind=only_fg, sigma=8, inpaint=tile, own=true, foreground=mask)", "object on black"),
        (
            "background(kind=mixed_same, sigma=8, inpaint=tile, own=true, foreground=mask)",
            "background of the same class",
        ),
        (
            "background(kind=mixed_next, sigma=8, inpaint=tile, own=true, foreground=mask)",
            "background of the next class",
        ),
        ("background(kind=bg_blurred, sigma=8, inpaint=tile, own=true, foreground=mask)", "background blurred"),
        ("background(kind=mixed_rand, sigma=8, inpaint=tile, own=false, foreground=box)", "background of any class"),
        (
            "background(kind=mixed_rand, sigma=8, inpaint=tile, own=true, foreground=mask) | shuffle(grid=4) | noise(sigma=0.05)",
            "background of any class, then 4×4 patches shuffled, then Gaussian noise of σ 0.05",
        ),
        ("cutouts(share=uniform(low=0.1, high=0.5))", "cut-outs over 10–50%"),
        (
            "shuffle(grid=4) | cutouts(share=0.2) | noise(sigma=0.05)",
            "4×4 patches shuffled, then cut-outs over 20%, then Gaussian noise of σ 0.05",
        ),
        (
            "occlude(area=0.2, fill=black, inside=true, law=exact) | shuffle(grid=4) | noise(sigma=0.05)",
            "black square of 20%, then 4×4 patches shuffled, then Gaussian noise of σ 0.05",
        ),
        ("salient(share=0.3, which=least, fill=donor, layer=none, method=gradcam)", "least salient 30% under donor"),
        ("tiles(grid=8, share=uniform(low=0.2, high=0.4), fill=grey)", "grey tiles over 20–40% of 8×8"),
        ("noise(sigma=beta(a=1, b=2))", "Gaussian noise of σ drawn"),
        ("mix(kind=fmix, alpha=1)", "FMix with another image"),
        ("occlude(area=1, fill=black, inside=true, law=exact)", "black square of 100%"),
        ("occlude(area=0.125, fill=white, inside=false, law=exact)", "white square of 12.5% (partly outside)"),
        ("cutouts(share=beta(a=1, b=1))", "cut-outs over a drawn share"),
        ("rotate(degrees=-15)", "turned by −15°"),
        ("rotate(degrees=uniform(low=-15, high=15))", "turned by −15 to 15°"),
        ("red(shift=uniform(low=-30, high=30))", "red −30 to 30"),
        ("shift(x=0.1, y=0)", "moved by 10% across and 0% down"),
        ("shear(x=15, y=beta(a=1, b=2))", "slanted by 15° across and a drawn angle down"),
        ("zoom(factor=1.2)", "size × 1.2"),
        ("blur(sigma=1)", "blurred by σ 1 px"),
        ("jpeg(quality=50)", "JPEG of quality 50"),
        ("box(law=synthetic, fill=black, least=0, most=1)", "black box (synthetic law)"),
        (
            "box(law=diffuse_code, fill=grey, least=0.05, most=0.95)",
            "grey box (diffuse code law), hiding 5–95% of the object",
        ),
        ("cutout_object()", "cut-out object of 25%"),
        ("cutout_object(0.5, false, 0.1, 0.3)", "cut-out object of 50% in its own aspect, hiding 10–30% of the object"),
        ("gates()", "grey vertical lines"),
        ("gates(cross_hatch, 2, 8, black, same)", "black cross-hatch lines of 2 px every 8 px over the whole image"),
        (
            "gates(oblique, law=code, least=0.05, most=0.95)",
            "grey oblique lines (code law), hiding 5–95% of the object",
        ),
        ("gates(horizontal, background=bare)", "grey horizontal lines on the object alone"),
        ("lattice(0.25, 16)", "grey lattice of 16 px over 25%"),
        ("swirl(turns=2)", "swirl(turns=2)"),
        ("not a <distortion>", "not a <distortion>"),
        ("", ""),
        ("only_fg", "object on black"),
        ("mixed_next", "background of the next class"),
    ],
)
def test_a_distortion_is_named_in_words_and_an_unknown_one_as_it_is(text: str, words: str) -> None:
    assert in_words(text) == words


def test_stored_variants_are_named_as_the_distortion_that_makes_them() -> None:
    assert VARIANTS == {
        "original": "clean",
        "only_fg": "object on black",
        "mixed_same": "background of the same class",
        "mixed_rand": "background of any class",
        "mixed_next": "background of the next class",
        "bg_blurred": "background blurred",
        "no_fg": "object blackened",
        "only_bg_b": "background alone, box black",
        "only_bg_t": "background alone, box tiled",
    }


@pytest.mark.parametrize(
    ("masking", "fill", "words"),
    [
        ("occlude", "black", "black squares"),
        ("tiles", "noise", "noise tiles"),
        ("fourier", "mean", "mean Fourier masks"),
        ("salient", "grey", "grey salient pixels"),
        ("cutouts", "cutout", "your cut-outs"),
        ("lattice", "grey", "grey lattices"),
        ("gates", "grey", "grey gates"),
        ("box", "noise", "noise boxes"),
        ("cutout_object", "cutout", "your cut-out objects"),
        ("veil", "black", "black veil"),
        ("veil", "cutout", "veil"),
    ],
)
def test_a_masking_is_named_by_what_it_covers_with(masking: str, fill: str, words: str) -> None:
    assert masked_by(masking, fill) == words


def test_a_curve_of_occlusion_is_named_by_its_fill() -> None:
    assert covering("black") == "black squares"
    assert covering("cutout") == "your cut-outs"
