"""The text language: round trips, defaults by position and name, and messages one can act on."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snellen.distort import Chain, Fourier, Noise, Nothing, Occlude, Shuffle, Tiles, Uniform, parse
from snellen.distort.fills import PAINTS
from snellen.distort.law import Beta
from snellen.errors import UserError

shares = st.floats(0, 1, allow_nan=False)
laws = st.tuples(shares, shares).map(lambda p: Uniform(min(p), max(p))) | st.builds(
    Beta, st.floats(0.1, 9), st.floats(0.1, 9)
)
fills = st.sampled_from(sorted(PAINTS))
single = (
    st.just(Nothing())
    | st.builds(Occlude, shares | laws, fills, st.booleans(), st.sampled_from(["exact", "published"]))
    | st.builds(Tiles, st.integers(1, 64), shares | laws, fills)
    | st.builds(Fourier, shares | laws, fills, st.sampled_from(["official", "isotropic"]))
    | st.builds(Shuffle, st.integers(1, 64))
    | st.builds(Noise, st.floats(0, 10) | laws)
)
chains = st.lists(single, min_size=2, max_size=4).map(lambda stages: Chain(tuple(stages)))


@given(single | chains)
@settings(max_examples=300)
def test_any_distortion_survives_its_text(distortion: object) -> None:
    assert parse(str(distortion)) == distortion


@given(st.text(alphabet="occlude(0.3,)| []='=uniform shuf-1e9none\n\x00é", max_size=40))
@settings(max_examples=500)
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        parse(text)
    except UserError as error:
        assert "\n" not in str(error)


def test_positions_names_and_spaces_mean_the_same() -> None:
    assert parse("occlude(0.3,noise)") == parse(" occlude( fill = noise , area = 0.30 ) ") == Occlude(0.3, "noise")
    assert str(parse("occlude(1)")) == str(Occlude(1.0)) == "occlude(area=1, fill=black, inside=true, law=exact)"


def test_chains_flatten_and_the_operator_writes_them() -> None:
    assert Occlude(0.2) | Shuffle(4) | Noise(0.1) == parse("occlude(0.2) | shuffle(4) | noise(0.1)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("oclude(0.3)", "unknown distortion 'oclude'; did you mean 'occlude'?"),
        ("occlude(1.3)", "occlude: expected area in [0, 1], got 1.3"),
        ("occlude(fil=black)", "unknown argument of occlude 'fil'; did you mean 'fill'?"),
        ("occlude(0.3, blakc)", "unknown fill of occlude 'blakc'; did you mean 'black'?"),
        ("occlude(0.3, area=0.2)", "occlude got 'area' twice"),
        ("shuffle(4.5)", "shuffle: expected grid to be a whole number, got '4.5'"),
        ("shuffle(0)", "shuffle: expected grid of at least 1, got 0"),
        ("shuffle(4, 5)", "shuffle takes at most 1 arguments (grid), got 2"),
        ("occlude(normal(0, 1))", "unknown law 'normal'; did you mean 'uniform'?"),
        ("occlude(uniform(0.7))", "uniform needs 'high'; for example uniform(high=…)"),
        ("occlude(0.3", "cannot read 'occlude(0.3': expected ',' at the end, got nothing"),
        (
            "occlude(area=0.3, black)",
            "cannot read 'occlude(area=0.3, black)': an argument without a name follows 'area='",
        ),
        ("", "cannot read '': expected 'word' at the end, got nothing"),
        ("3", "expected a distortion such as 'none(…)', got 3"),
    ],
)
def test_messages_name_the_input_and_the_next_step(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_what_is_neither_a_text_nor_a_distortion_is_refused_with_what_to_write() -> None:
    with pytest.raises(
        UserError, match=r"expected a distortion or its text, got 3; .* subclass of snellen.distort.Dist"
    ):
        parse(3)  # type: ignore[arg-type]
