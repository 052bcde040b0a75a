"""`python docs/build.py --phantom`: the pictures of docs/reference/phantom.md, drawn from the world itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from snellen.build.phantom.conflict import conflicting
from snellen.build.phantom.voc import voc_palette
from snellen.data.phantom import COLOURS, EDGE_CLASS, World
from snellen.data.phantom.scenes import SCENES
from snellen.data.phantom.shapes import SHAPES, parts
from snellen.data.phantom.textures import TEXTURES

Colour = tuple[int, int, int]
Caption = list[tuple[str, Colour]]  # lines of text

CLASSES, PATTERNS, PLACES = tuple(SHAPES), tuple(TEXTURES), tuple(SCENES)
INK: Colour = (36, 41, 47)
WRONG: Colour = (207, 34, 46)
LINE = 17  # pixels of a line of text
GAP, ROW_GAP, GROUP_GAP = 4, 8, 22


# Sheets


def sheet(rows: Sequence[Sequence[np.ndarray]], captions: Sequence[Sequence[Caption]], group: int = 0) -> Image.Image:
    """Images uint8 [S, S, 3] in rows with a text under each; a wider gap after every `group` images."""
    side, columns = rows[0][0].shape[0], range(len(rows[0]))
    lines = max(len(caption) for row in captions for caption in row)
    across = [GAP + column * (side + GAP) + (column // group * GROUP_GAP if group else 0) for column in columns]
    down = side + ROW_GAP + lines * LINE
    made = Image.new("RGB", (across[-1] + side + GAP, GAP + len(rows) * down - ROW_GAP + GAP), "white")
    draw, font = ImageDraw.Draw(made), ImageFont.load_default(13)
    for number, (row, texts) in enumerate(zip(rows, captions)):
        top = GAP + number * down
        for left, image, caption in zip(across, row, texts):
            made.paste(Image.fromarray(image), (left, top))
            for line, (text, colour) in enumerate(caption):
                draw.text((left + side // 2, top + side + 2 + line * LINE), text, colour, font, "ma")
    return made


def two_rows(images: Sequence[np.ndarray], captions: Sequence[Caption]) -> Image.Image:
    """A sheet of two rows."""
    half = len(images) // 2
    return sheet([images[:half], images[half:]], [captions[:half], captions[half:]])


def words(*texts: str) -> list[Caption]:
    """A caption of one line for each text."""
    return [[(text, INK)] for text in texts]


def headed(made: Image.Image, heads: Sequence[str]) -> Image.Image:
    """A sheet under as many heads as it has groups, each over the middle of its group."""
    whole = Image.new("RGB", (made.width, made.height + LINE + 3), "white")
    whole.paste(made, (0, LINE + 3))
    draw, font = ImageDraw.Draw(whole), ImageFont.load_default(14)
    wide = (made.width + GROUP_GAP) / len(heads)
    for number, head in enumerate(heads):
        draw.text((number * wide + (wide - GROUP_GAP) / 2, 3), head, INK, font, "ma")
    return whole


# What the world is made of

PART_COLOURS: tuple[Colour, ...] = ((62, 124, 196), (222, 140, 30), (84, 150, 70))


def classes() -> Image.Image:
    """Every silhouette, its parts and their names in colours."""
    palette = np.array([(255, 255, 255), *PART_COLOURS], np.uint8)
    images, captions = [], []
    for drawn, (name, shape) in zip(parts(), SHAPES.items()):
        local = np.where(drawn, drawn - drawn[drawn > 0].min() + 1, 0)
        images.append(np.asarray(Image.fromarray(palette[local]).resize((140, 140), Image.Resampling.LANCZOS)))
        captions.append([(name, INK), *zip(shape.parts, PART_COLOURS)])
    return two_rows(images, captions)


def textures() -> Image.Image:
    """Every texture on a large disc."""
    made = conflicting(World(n=24, size=140, object_size=1.0), np.zeros(12, int), np.arange(12))
    made.images[~made.full] = 255
    return two_rows(made.images, words(*PATTERNS))


def scenes() -> Image.Image:
    """A window of every scene."""
    return two_rows(World(n=12, size=150, background_bias=1, seed=3).truth(range(12)).scene, words(*PLACES))


# What each dial does

SIDE, EACH = 84, 4


class Row(NamedTuple):
    """How a dial is shown: with a seed that shows it well, on images of one class or of any, at some values."""

    seed: int
    of_class: str | None = None
    values: tuple[Any, ...] = (0.0, 0.5, 1.0)
    object_size: Any = (0.5, 0.8)


ROWS: dict[str, Row] = {
    "background_bias": Row(43, "star"),
    "texture_bias": Row(29, "heart"),
    "colour_bias": Row(21, "square"),
    "edge_class": Row(31, EDGE_CLASS),
    "object_size": Row(669, values=(0.25, 0.9, (0.2, 0.9))),
    "off_centre": Row(20, object_size=0.4),
    "clutter": Row(219),
    "occlusion": Row(993),
    "label_noise": Row(180),
}


def dial(name: str) -> Image.Image:
    """The same images under three values of a dial."""
    row = ROWS[name]
    first, step = (CLASSES.index(row.of_class), 12) if row.of_class else (1, 5)
    indices = first + step * np.arange(EACH)
    images: list[np.ndarray] = []
    captions: list[Caption] = []
    for value in row.values:
        world = World(n=200, size=SIDE, seed=row.seed, **{"object_size": row.object_size, name: value})
        images += list(world.render(indices).images)
        captions += given_labels(world, indices) if name == "label_noise" else [[]] * EACH
    texts = [f"{name} = {'{}..{}'.format(*value) if isinstance(value, tuple) else value}" for value in row.values]
    return headed(sheet([images], [captions], EACH), texts)


def given_labels(world: World, indices: np.ndarray) -> list[Caption]:
    """The label given to each image, in red where it is wrong."""
    made = world.recipe(indices)
    return [[(CLASSES[label], INK if label == real else WRONG)] for label, real in zip(made.label, made.true_class)]


# What is known of an image

TERMS: dict[str, Colour] = {
    "black": (20, 20, 20), "white": (250, 250, 250), "grey": (140, 140, 140), "red": (214, 39, 40),
    "orange": (255, 140, 20), "yellow": (245, 220, 50), "green": (50, 160, 60), "blue": (40, 100, 220),
    "purple": (130, 60, 190), "pink": (250, 150, 200), "brown": (130, 85, 50),
}  # fmt: skip


def maps() -> Image.Image:
    """All pictures and maps of the truth of one image."""
    world = World("test", n=400, size=150, clutter=0.5, occlusion=1, object_size=(0.5, 0.6))
    truth = world.truth([217])
    black_and_white = np.array([(0, 0, 0), (255, 255, 255)], np.uint8)
    terms = np.array([(0, 0, 0), *(TERMS[name] for name in COLOURS)], np.uint8)
    palettes = {"full": black_and_white, "visible": black_and_white, "colour": terms}
    pictures = ("images", "scene", "alone")
    names = (*pictures, "full", "visible", "instance", "object", "part", "material", "colour")
    held = {name: getattr(truth, name)[0] for name in names}
    shown = [
        held[name] if name in pictures else palettes.get(name, voc_palette())[held[name].astype(int)] for name in names
    ]
    return two_rows(shown, words(*names))


def clip() -> Image.Image:
    """A clip in which another object passes, with the hidden share of each frame."""
    world = World("test", n=1600, frames=8, size=112, occlusion=1, clutter=0.2, seed=2)
    indices = 8 * 152 + np.arange(8)
    levels = world.samples().columns["level"][indices]
    truth = world.truth(indices)
    told = [[(f"hidden {share:.2f}", INK), (str(level), INK)] for share, level in zip(truth.hidden, levels)]
    return sheet([truth.images], [told])


def conflicts() -> Image.Image:
    """Two objects, each with the textures of four other classes."""
    world = World("test", n=60, size=112, off_centre=0, object_size=0.85)
    pairs = [(shape, (shape + step) % 12) for shape in (0, 8) for step in (2, 3, 5, 11)]
    made = conflicting(world, np.array([shape for shape, _ in pairs]), np.array([texture for _, texture in pairs]))
    return sheet([made.images], [words(*(f"{CLASSES[shape]}1-{CLASSES[texture]}1" for shape, texture in pairs))])


PICTURES: dict[str, Callable[[], Image.Image]] = {
    "classes": classes,
    "textures": textures,
    "scenes": scenes,
    **{name: partial(dial, name) for name in ROWS},
    "maps": maps,
    "clip": clip,
    "conflicts": conflicts,
}


def draw(folder: Path) -> None:
    """Write every picture as `phantom-NAME.png` with a palette."""
    folder.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        small = picture().quantize(256, Image.Quantize.MEDIANCUT, kmeans=1, dither=Image.Dither.NONE)
        small.save(folder / f"phantom-{name.replace('_', '-')}.png", optimize=True)
