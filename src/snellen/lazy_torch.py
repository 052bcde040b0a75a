"""torch, imported on first use.

`from snellen.lazy_torch import torch` reads like an import but costs nothing until something is computed, so that plans,
`--help` and warm re-runs answer without waiting seconds for torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
else:

    class _Torch:
        def __getattr__(self, name: str) -> Any:
            value = getattr(importlib.import_module("torch"), name)
            setattr(self, name, value)
            return value

        def __reduce__(self) -> str:
            return "torch"  # functions that use it travel to other processes by this name

    torch = _Torch()

__all__ = ["torch"]
