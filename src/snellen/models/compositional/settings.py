"""`compositional(resnet20, kernels=512)`: the text of a compositional network, read without torch."""

from __future__ import annotations

from dataclasses import dataclass, replace

from snellen.notation import build, expect_at_most, read, text_form

NAME = "compositional"


@dataclass(frozen=True)
class Compositional:
    """A compositional network on the features of `backbone`, a network of the zoo, `'timm:NAME'` or `'torchvision:NAME'`.

    `layer` is the module whose features are explained (none: the last with at least 2×2 places); `kernels` of von Mises–Fisher
    with one `concentration`; `mixtures` of part maps per class; `occlusion` is the prior chance that a place is hidden, 0 for a
    model without occlusion. `cluster` and `mixture` weigh the two losses beside the cross-entropy when all is fine-tuned.
    `backgrounds` is a dataset of images without objects for the clutter model, beside white and noise (none: all training
    images). `channels`, `rows` and `columns` are the shape of the features, which a training fills in.
    """

    backbone: str
    layer: str | None = None
    kernels: int = 512
    mixtures: int = 4
    concentration: float = 30.0
    occlusion: float = 0.5
    cluster: float = 3.0
    mixture: float = 3.0
    backgrounds: str | None = None
    channels: int = 0
    rows: int = 0
    columns: int = 0

    def __post_init__(self) -> None:
        for name, most in (("kernels", 10_000), ("mixtures", 100)):
            if getattr(self, name) < 1:
                raise ValueError(f"expected at least 1 of {name}, got {getattr(self, name)}")
            expect_at_most(most, **{name: getattr(self, name)})
        if not 0 < self.concentration <= 40:  # beyond it float32 cannot hold the activation of an opposite direction
            raise ValueError(f"expected concentration above 0, up to 40, got {self.concentration}")
        if not 0 <= self.occlusion < 1:
            raise ValueError(f"expected occlusion from 0 to below 1, got {self.occlusion}")
        for name in ("cluster", "mixture"):
            if not 0 <= getattr(self, name) <= 1e6:
                raise ValueError(f"expected {name} from 0 to 1,000,000, got {getattr(self, name)}")
        for name in ("channels", "rows", "columns"):
            if not 0 <= getattr(self, name) <= 10**6:
                raise ValueError(f"expected {name} from 0 to 1,000,000, got {getattr(self, name)}")

    def __str__(self) -> str:
        return text_form(self)

    def of_shape(self, layer: str, channels: int, rows: int, columns: int) -> Compositional:
        """The same for features of a layer."""
        return replace(self, layer=layer, channels=channels, rows=rows, columns=columns)


def is_compositional(name: str) -> bool:
    """Whether the text of a network is one of these."""
    return name.startswith(f"{NAME}(")


def parse_compositional(text: str) -> Compositional:
    """The settings of a text such as `compositional(resnet20, kernels=64)`; its backbone is one that can be built.

    >>> from snellen.models.compositional import parse_compositional
    >>> settings = parse_compositional("compositional(resnet20, kernels=64)")
    >>> settings.backbone, settings.kernels
    ('resnet20', 64)
    """
    from snellen.models.zoo import check_name

    settings: Compositional = build(read(text), {NAME: Compositional}, "network")
    check_name(settings.backbone)
    return settings
