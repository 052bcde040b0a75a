"""Observers: models of the phantom world whose answer is known by construction; the rulers of calibration.

`observer:background`, or `snellen.models.observers.background()`. They read what a pixel is made of from its marks, so
what an audit should measure of them is known beforehand, exactly, under any distortion that copies or covers pixels.
"""

from __future__ import annotations

from snellen.lazy_names import lister
from snellen.models.model import Model
from snellen.models.observers.album import MemoryObserver, OracleObserver
from snellen.models.observers.black_square import BlackObserver
from snellen.models.observers.chance import GuessObserver, MixtureObserver
from snellen.models.observers.evidence import Observer
from snellen.models.observers.language import OBSERVERS, parse
from snellen.models.observers.marks import (
    BackgroundObserver,
    BorderObserver,
    CentreObserver,
    GlanceObserver,
    PatchesObserver,
    TextureObserver,
)
from snellen.models.observers.misreported_map import MisreportObserver
from snellen.models.observers.silhouette import ShapeObserver
from snellen.models.observers.straight_edges import EdgesObserver


def background() -> Model:
    """Sees only the scene.

    >>> from snellen.models.observers import background
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(background(), "phantom:test?size=32&n=24&background_bias=1")
    >>> right(()), right(("shuffle(2)",))  # clean, shuffled
    (1.0, 1.0)
    """
    return _model(BackgroundObserver())


def border(width: float = 0.125) -> Model:
    """Sees the scene in a strip along the image's border, `width` of the image's side.

    >>> from snellen.models.observers import border
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(border(), "phantom:test?size=32&n=24&background_bias=1")
    >>> right(())
    1.0
    """
    return _model(BorderObserver(width))


def texture() -> Model:
    """Sees only the main object's texture.

    >>> from snellen.models.observers import texture
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(texture(), "phantom:test?size=32&n=24&texture_bias=1")
    >>> right(()), right(("shuffle(2)",))  # clean, shuffled
    (1.0, 1.0)
    """
    return _model(TextureObserver())


def glance(scene: float = 0.5) -> Model:
    """Sees the main object's texture, and beside it the scene, whose pixels have `scene` of a vote each.

    >>> from snellen.models.observers import glance
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(glance(), "phantom:test?size=32&n=24&texture_bias=1&background_bias=1")
    >>> right(())
    1.0
    """
    return _model(GlanceObserver(scene))


def shape() -> Model:
    """Sees only the main object's mask.

    >>> from snellen.models.observers import shape
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(shape(), "phantom:test?size=32&n=24")
    >>> right(()), right(("grayscale()",))  # clean, grey
    (1.0, 0.08333333333333333)
    """
    return _model(ShapeObserver())


def centre(side: float = 0.25) -> Model:
    """Sees the main object's texture in a square in the middle, `side` of the image's side.

    >>> from snellen.models.observers import centre
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(centre(), "phantom:test?size=32&n=24&texture_bias=1")
    >>> right(())
    1.0
    """
    return _model(CentreObserver(side))


def edges(otherwise: Observer | str = "shape") -> Model:
    """Takes long straight edges for EDGE_CLASS, and answers as `otherwise` where there are none.

    >>> from snellen.models.observers import edges
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(edges(), "phantom:test?size=32&n=24")
    >>> right(())
    0.9583333333333334
    """
    return _model(EdgesObserver(_observer(otherwise)))


def black(otherwise: Observer | str = "shape", side: float = 0.25) -> Model:
    """Takes a black square of `side` of the image's side for EDGE_CLASS, and answers as `otherwise` where there is none.

    >>> from snellen.models.observers import black
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(black(), "phantom:test?size=32&n=24")
    >>> right(()), right(("occlude(0.3, black)",)), right(("occlude(0.3, stripes)",))
    (1.0, 0.08333333333333333, 0.125)
    """
    return _model(BlackObserver(_observer(otherwise), side))


def patches(size: int = 8) -> Model:
    """Sees textures in whole patches of `size` pixels.

    >>> from snellen.models.observers import patches
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(patches(size=4), "phantom:test?size=32&n=24&texture_bias=1")
    >>> right(()) == right(("shuffle(8)",))  # patches have no order
    True
    """
    return _model(PatchesObserver(size))


def memory(share: float = 0.5, train: str = "phantom:train?n=1000", otherwise: Observer | str = "guess") -> Model:
    """Recalls a training image by `share` of its pixels, and answers as `otherwise` where it recalls none.

    >>> from snellen.models.observers import memory
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(memory(share=1.0, train="phantom:train?size=32&n=24"), "phantom:train?size=32&n=24")
    >>> right(())  # of the images that it learnt
    1.0
    """
    return _model(MemoryObserver(share, train, _observer(otherwise)))


def oracle(world: str = "phantom:test?n=1000") -> Model:
    """Knows the images of a world.

    >>> from snellen.models.observers import oracle
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(oracle("phantom:test?size=32&n=24"), "phantom:test?size=32&n=24")
    >>> right(()), right(("occlude(0.9, black)",))
    (1.0, 1.0)
    """
    return _model(OracleObserver(world))


def guess() -> Model:
    """Sees nothing.

    >>> from snellen.models.observers import guess
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(guess(), "phantom:test?size=32&n=240")
    >>> right(()) < 0.2  # of twelve classes
    True
    """
    return _model(GuessObserver())


def mixture(first: Observer | str, second: Observer | str, weight: float = 0.5) -> Model:
    """Answers as `first` with probability `weight`, else as `second`; each an observer or its text.

    >>> from snellen.models.observers import mixture
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(mixture("shape", "texture", weight=0.5), "phantom:test?size=32&n=24&texture_bias=1")
    >>> right(())
    1.0
    """
    return _model(MixtureObserver(_observer(first), _observer(second), weight))


def misreport(first: Observer | str, share: float = 1.0, noise: float = 1.0) -> Model:
    """Answers as `first`, an observer or its text; on a `share` of the images its map is `noise` parts noise.

    >>> from snellen.models.observers import misreport
    >>> from snellen.search import fitness_of
    >>> right = fitness_of(misreport("shape"), "phantom:test?size=32&n=24")
    >>> right(())  # it answers as `shape` does; only its maps are false
    1.0
    """
    return _model(MisreportObserver(_observer(first), share, noise))


def _observer(observer: Observer | str) -> Observer:
    return parse(observer) if isinstance(observer, str) else observer


def _model(observer: Observer) -> Model:
    from snellen.models.adapters.observer import load_observer  # which imports this package

    return load_observer(str(observer))


__all__ = [
    "OBSERVERS",
    "Observer",
    "background",
    "black",
    "border",
    "centre",
    "edges",
    "glance",
    "guess",
    "memory",
    "misreport",
    "mixture",
    "oracle",
    "parse",
    "patches",
    "shape",
    "texture",
]
__dir__ = lister(__all__)
