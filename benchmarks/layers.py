"""Which networks of timm can be explained: one small member of each family, with random weights.

Layers that are offered are proved forwards, by moving a patch. Here they are checked backwards: where in the image places of a
layer look, by the gradient in the pixels. The table goes to docs/results/layers.md; exit code 1 if a layer is offered that lies
otherwise than the image.

    python benchmarks/layers.py
    python benchmarks/layers.py --families hiera tnt --out -
    python benchmarks/layers.py --choose       (which members are smallest: benchmarks/layers.csv)
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import timm
import torch
from torch import nn

from snellen.errors import UserError
from snellen.explain import gradcam
from snellen.explain.feature_grid import tensor_in
from snellen.explain.hooks import hook_layer
from snellen.explain.layer_trail import Layer
from snellen.explain.network import OpenNetwork, open_network

HERE = Path(__file__).resolve()
MEMBERS, PAGE = HERE.with_suffix(".csv"), HERE.parents[1] / "docs" / "results" / "layers.md"
LARGEST = 150_000_000  # parameters of networks that are tried whole; of larger ones their first blocks are
BLOCKS = 4  # of those
SIZES = (128, 160, 192, 224, 256)  # pixels per side, the first that a network takes
FOLLOWS = 0.5  # the least correlation of places with where they look; by chance below 0.001 of 4 × 4 places reach it both ways
CELLS = 4  # places per side that are looked at
MOST = 3  # layers of a network that are mapped: the first, the last and some between
HEAD = """# Layers of timm's networks

Made by `python benchmarks/layers.py` with timm {timm} on {day}. Do not edit: run it again.

Of each of the {count} families of timm the smallest member, with random weights. Layers that `snellen explain` and audits offer
are proved by moving a patch of the image ([explain](../reference/maps.md)), which shows them forwards. The check here goes
backwards: of 4 × 4 places of a layer, the gradient in the pixels says where in the image each place looks. `follows` is the
correlation of both, down and across, the lowest of up to three layers that are offered; 1 where they lie alike, about 0 where
they do not. Attention of random weights looks everywhere, so that later blocks can have less than 1.

- {maps} families have maps of layers that lie as the image does; {wrong} have one that does not.
- {refused} are refused with the reason.
- Of {cut} the first {blocks} blocks are tried: their smallest member has over {largest} million parameters.

Layers "not proved" are not offered and are refused by name. Some lie otherwise, such as inner tokens of Hiera; others respond
alike wherever the patch is, as deep layers of random weights do on small images.

| family | member | parameters | pixels | layers offered, the last | places | follows | verdict |
|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Result:
    """What came of one family: `verdict` is maps, wrong or refused, `why` what is to be said of it."""

    family: str
    member: str
    parameters: int
    verdict: str
    why: str = ""
    pixels: int = 0
    layers: str = ""
    places: str = ""
    follows: float = float("nan")

    def row(self) -> str:
        follows = f"{self.follows:.2f}" if self.follows == self.follows else ""
        size = f"{self.parameters / 1e6:.1f} M"
        verdict = f"**{self.verdict}**" if self.verdict == "wrong" else self.verdict
        cells = [self.family, f"`{self.member}`", size, str(self.pixels or ""), self.layers, self.places, follows]
        return f"| {' | '.join(cells)} | {f'{verdict}: {self.why}' if self.why else verdict} |"


def choose() -> Iterator[tuple[str, str, int]]:
    """The smallest member of each family, by the parameters of networks without memory."""
    for family in timm.list_modules():
        counts = {}
        for name in timm.list_models(module=family):
            with torch.device("meta"):
                network = timm.create_model(name, pretrained=False)
            counts[name] = sum(parameter.numel() for parameter in network.parameters())
        if counts:
            name = min(counts, key=lambda name: (counts[name], name))
            yield family, name, counts[name]


def build(name: str, **cut: int) -> tuple[nn.Module, int]:
    """A network of random weights, `cut` to some of its blocks, and the size of images that it takes; a head of zeros is made
    to say something."""
    reason: Exception = ValueError("it takes none of the sizes that were tried")
    attempts = [(size, settings | cut) for size in SIZES for settings in ({"img_size": size}, {})]
    for size, settings in attempts:
        try:
            torch.manual_seed(0)
            network = timm.create_model(name, pretrained=False, num_classes=10, **settings).eval()
            with torch.no_grad():
                answers = network(torch.zeros(1, 3, size, size))
        except Exception as error:  # whatever networks do with settings and sizes that they do not take
            reason = error
            continue
        if getattr(answers, "shape", None) == (1, 10):
            for part in network.modules():
                if isinstance(part, nn.Linear) and not part.weight.any():
                    nn.init.normal_(part.weight, std=0.1)
            return network, size
    raise UserError(f"cannot be built: {str(reason).splitlines()[0][:80]}")


def follows(opened: OpenNetwork, pixels: torch.Tensor, layer: str) -> float:
    """How well places of a layer lie where in the image they look: the correlation of both, the lower of down and across."""
    spot = opened.pick(pixels, layer)
    height, width = spot.places.height, spot.places.width
    rows, columns = ([round((place + 0.5) * side / CELLS - 0.5) for place in range(CELLS)] for side in (height, width))
    cells = list(dict.fromkeys((row, column) for row in rows for column in columns))
    leaf = pixels.expand(len(cells), -1, -1, -1).clone().requires_grad_()
    features = features_of(opened, leaf, spot)
    energy = sum(features[number, :, row, column].square().sum() for number, (row, column) in enumerate(cells))
    (gradient,) = torch.autograd.grad(energy, leaf)
    mass = gradient.abs().sum(1).double()
    mass = mass / mass.sum((1, 2), keepdim=True).clamp(min=1e-300)
    looks = [(mass.sum(2 - axis) * torch.arange(mass.shape[1 + axis])).sum(1) for axis in (0, 1)]
    places = torch.tensor(cells, dtype=torch.float64).T
    return min(_correlation(place, look) for place, look in zip(places, looks) if place.std() > 0)


def features_of(opened: OpenNetwork, pixels: torch.Tensor, spot: Layer) -> torch.Tensor:
    """The features of a layer, with gradients."""
    outputs = []

    def note(name: str, output: object) -> None:
        if name == spot.name and (tensor := tensor_in(output)) is not None:
            outputs[:] = [tensor]

    with torch.enable_grad(), hook_layer(opened.network, note, spot.name, opened.layers(pixels).calls):
        opened.network(pixels)
    return spot.places.features(outputs[0]).float()


def _correlation(first: torch.Tensor, second: torch.Tensor) -> float:
    return float(torch.corrcoef(torch.stack([first.double(), second.double()]))[0, 1].nan_to_num())


def try_family(family: str, member: str, parameters: int) -> Result:
    cut = {"depth": BLOCKS} if parameters > LARGEST else {}
    try:
        network, size = build(member, **cut)
        pixels = torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(1))
        opened = open_network(network, pixels)
        known = opened.layers(pixels)
        default = known.pick(None, "the model")
    except UserError as error:
        return Result(family, member, parameters, "refused", str(error))
    stages = list(dict.fromkeys(stage.name for stage in known.stages))
    chosen = dict.fromkeys(stages[round(place * (len(stages) - 1) / (MOST - 1))] for place in range(MOST))
    lowest = min(follows(opened, pixels, name) for name in chosen)
    reasons = [f"its first {BLOCKS} blocks"] if cut else []
    reasons += [f"not proved: {', '.join(f'`{name}`' for name in known.refused[:3])}"] if known.refused else []
    try:
        gradcam(network, pixels)
    except UserError as error:
        reasons.append(str(error))
    shape, offered = f"{default.places.height} × {default.places.width}", f"{len(stages)}, `{default.name}`"
    verdict = "maps" if lowest >= FOLLOWS else "wrong"
    return Result(family, member, parameters, verdict, "; ".join(reasons), size, offered, shape, lowest)


def page(results: Sequence[Result]) -> str:
    counts = {verdict: sum(result.verdict == verdict for result in results) for verdict in ("maps", "wrong", "refused")}
    facts = {
        "timm": timm.__version__,
        "day": date.today().isoformat(),
        "cut": sum(result.parameters > LARGEST for result in results),
        "blocks": BLOCKS,
        "largest": LARGEST // 10**6,
        "count": len(results),
    }
    return HEAD.format(**counts, **facts) + "\n".join(result.row() for result in results) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true", help="count the parameters of all members again")
    parser.add_argument("--families", nargs="+", help="only these")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", default=str(PAGE), help="the page to write; - for stdout")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(chosen.threads)
    if chosen.choose:
        rows = [f"{family},{name},{count}" for family, name, count in choose()]
        MEMBERS.write_text("\n".join(["family,member,parameters", *rows]) + "\n")
        return 0
    members = [(row["family"], row["member"], int(row["parameters"])) for row in csv.DictReader(MEMBERS.open())]
    results = []
    for member in members:
        if not chosen.families or member[0] in chosen.families:
            began = time.perf_counter()
            results.append(try_family(*member))
            print(f"{time.perf_counter() - began:5.1f} s {results[-1].row()}", file=sys.stderr, flush=True)
    if chosen.out == "-":
        print(page(results))
    else:
        Path(chosen.out).write_text(page(results))
    return int(any(result.verdict == "wrong" for result in results))


if __name__ == "__main__":
    sys.exit(main())
