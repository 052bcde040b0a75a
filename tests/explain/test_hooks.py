"""Hooks: told of the wanted modules, of no other, and gone afterwards."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from snellen.explain.hooks import hook_modules


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        (lambda name, module: name == "1", ["1"]),
        (lambda name, module: True, ["0", "1", "2"]),  # never the network itself, which has no name
        (lambda name, module: isinstance(module, nn.Sequential), []),
    ],
)
def test_each_wanted_module_is_told_of_once(only: Callable[[str, nn.Module], bool], expected: list[str]) -> None:
    network, names = nn.Sequential(nn.Conv2d(3, 2, 3), nn.ReLU(), nn.Flatten()), []
    with hook_modules(network, lambda name, output: names.append(name), only):
        network(torch.zeros(1, 3, 8, 8))
    network(torch.zeros(1, 3, 8, 8))
    assert names == expected
