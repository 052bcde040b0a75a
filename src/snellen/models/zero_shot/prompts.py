"""What a text encoder is told of a class: its name in the sentences of Radford et al. 2021, or in those of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from snellen.errors import UserError
from snellen.files import read_json, read_text

# The 80 sentences of Radford et al. 2021 for ImageNet, whose features are averaged.
PUBLISHED = tuple(
    f"{before}{{}}{after}."
    for before, after in (
        *((words, "") for words in (
            "a bad photo of a ", "a photo of many ", "a sculpture of a ", "a photo of the hard to see ",
            "a low resolution photo of the ", "a rendering of a ", "graffiti of a ", "a bad photo of the ",
            "a cropped photo of the ", "a tattoo of a ", "the embroidered ", "a photo of a hard to see ",
            "a bright photo of a ", "a photo of a clean ", "a photo of a dirty ", "a dark photo of the ", "a drawing of a ",
            "a photo of my ", "the plastic ", "a photo of the cool ", "a close-up photo of a ",
            "a black and white photo of the ", "a painting of the ", "a painting of a ", "a pixelated photo of the ",
            "a sculpture of the ", "a bright photo of the ", "a cropped photo of a ", "a plastic ", "a photo of the dirty ",
            "a jpeg corrupted photo of a ", "a blurry photo of the ", "a photo of the ", "a good photo of the ",
            "a rendering of the ",
        )),
        ("a ", " in a video game"),
        *((words, "") for words in (
            "a photo of one ", "a doodle of a ", "a close-up photo of the ", "a photo of a ", "the origami ",
        )),
        ("the ", " in a video game"),
        *((words, "") for words in (
            "a sketch of a ", "a doodle of the ", "a origami ", "a low resolution photo of a ", "the toy ",
            "a rendition of the ", "a photo of the clean ", "a photo of a large ", "a rendition of a ", "a photo of a nice ",
            "a photo of a weird ", "a blurry photo of a ", "a cartoon ", "art of a ", "a sketch of the ", "a embroidered ",
            "a pixelated photo of a ", "itap of the ", "a jpeg corrupted photo of the ", "a good photo of a ", "a plushie ",
            "a photo of the nice ", "a photo of the small ", "a photo of the weird ", "the cartoon ", "art of the ",
            "a drawing of the ", "a photo of the large ", "a black and white photo of a ", "the plushie ",
            "a dark photo of a ", "itap of a ", "graffiti of the ", "a toy ", "itap of my ", "a photo of a cool ",
            "a photo of a small ", "a tattoo of the ",
        )),
    )
)  # fmt: skip
MOST_PROMPTS = 1000
WORDNET = re.compile(r"n\d{8}")
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Names = Annotated[list[Name], msgspec.Meta(min_length=1, max_length=100)]


def read_prompts(file: Path) -> tuple[str, ...]:
    """The sentences of a text file, one per line, each with {} for the name of the class."""
    lines = [line.strip() for line in read_text(file, "file of prompts").split("\n")]
    prompts = tuple(line for line in lines if line)
    if not 1 <= len(prompts) <= MOST_PROMPTS:
        raise UserError(f"'{file}' has {len(prompts):,} prompts; expected 1 to {MOST_PROMPTS:,}, one per line")
    for number, line in enumerate(lines, 1):
        if line and line.count("{}") != 1:
            raise UserError(
                f"'{file}' line {number}: expected {{}} once, where the name of the class goes, got '{line[:100]}'"
            )
    return prompts


def read_synonyms(file: Path, classes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """What classes are called, of a JSON file {class: name or [names]}; every class that it names must be one."""
    content: dict[str, Name | Names] = read_json(file, dict[str, Name | Names], "file of synonyms", unique=True)
    if strangers := [name for name in content if name not in classes]:
        raise UserError(
            f"'{file}' names the class '{strangers[0]}', which is none of the {len(classes)}: {', '.join(classes)[:200]}"
        )
    return {name: (words,) if isinstance(words, str) else tuple(words) for name, words in content.items()}


def spoken(name: str) -> str:
    """What a class is called in a sentence: of several names the first, spaces for underscores, words for a WordNet id."""
    if WORDNET.fullmatch(name):
        name = _described(name)
    return re.sub(r"[_\s]+", " ", name.partition(",")[0]).strip() or name


def _described(synset: str) -> str:
    """The words for a WordNet id of ImageNet, as timm has them."""
    from timm.data import ImageNetInfo

    for subset in ("imagenet-1k", "imagenet-22k"):
        info = ImageNetInfo(subset)
        if synset in info.label_names():
            return info.label_name_to_description(synset)
    raise UserError(
        f'no words are known for the class \'{synset}\'; give them by #synonyms=FILE, {{"{synset}": "name"}}'
    )


def sentences(names: Sequence[str], prompts: Sequence[str]) -> list[str]:
    """Every prompt about every name of one class."""
    return [prompt.replace("{}", name) for name in names for prompt in prompts]
