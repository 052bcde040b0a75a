"""Hooks: seeing what each layer of a network answers, and answering in its place.

A layer is a module of the network; in a network without modules of its own, such as one read from a graph, it is a call
of a torch function, named by the function and the number of the call: `conv2d.12`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from snellen.lazy_torch import torch

if TYPE_CHECKING:
    from torch import nn

Each = Callable[[str, Any], Any]  # a layer's name and output → what goes on instead, None for the same


@contextmanager
def hook_modules(network: nn.Module, each: Each, only: Callable[[str, nn.Module], bool]) -> Iterator[None]:
    """Tell `each` what the modules for which `only` holds answer."""
    handles = [
        module.register_forward_hook(lambda _, __, output, name=name: each(name, output))
        for name, module in network.named_modules()
        if name and only(name, module)
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def hook_layer(network: nn.Module, each: Each, layer: str, calls: bool) -> AbstractContextManager[None]:
    """Tell `each` what one layer answers; where layers are `calls`, it is told of all and has to look at the name."""
    return hook_calls(each) if calls else hook_modules(network, each, lambda name, _: name == layer)


@contextmanager
def hook_calls(each: Each) -> Iterator[None]:
    """Tell `each` what every torch function answers."""
    from torch.overrides import TorchFunctionMode

    counts: Counter[str] = Counter()

    class Calls(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            output = function(*args, **(kwargs or {}))
            if not isinstance(output, torch.Tensor) or output.ndim not in (3, 4):
                return output
            name = function.__name__.strip("_")
            counts[name] += 1
            instead = each(f"{name}.{counts[name]}", output)
            return output if instead is None else instead

    with Calls():
        yield
