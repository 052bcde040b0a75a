"""`python:package.module:factory` or `python:file.py:factory`: whatever your own code builds.

`@argument` after the factory is passed to it, so that one factory serves many checkpoints: `python:nets.py:load@a.pt`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from snellen.errors import UserError
from snellen.files import expand_home, open_file
from snellen.models.device import Device
from snellen.models.model import Model, as_model
from snellen.models.user_code import user_code


def load_python(name: str, argument: str | None, device: Device) -> Model:
    """The model that a factory returns: one of ours, a torch module, or a callable from uint8 arrays to probabilities."""
    place, colon, factory_name = name.rpartition(":")
    if not colon:
        raise UserError(f"expected 'python:package.module:factory', got 'python:{name}'")
    module = user_module(place)
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        offered = [n for n, v in vars(module).items() if callable(v) and not n.startswith("_")]
        raise UserError(
            f"'{place}' has no factory '{factory_name}'; it has: {', '.join(offered[:8]) or 'no callables'}"
        )
    with user_code(f"the factory '{name}'"):
        thing = factory() if argument is None else factory(argument)
    label = factory_name if argument is None else Path(argument).stem
    return as_model(thing, None if isinstance(thing, Model) else label, device)


def user_module(place: str) -> Any:
    """A module by its dotted name (the working folder counts) or by the path of its file."""
    if place.endswith(".py"):
        path = expand_home(place)
        open_file(path).close()  # Python itself would wait for a pipe
        spec = importlib.util.spec_from_file_location(f"snellen_user_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        loader: Any = lambda: spec.loader.exec_module(module)  # noqa: E731
    else:
        if str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        loader = lambda: importlib.import_module(place)  # noqa: E731
    with user_code(f"importing '{place}'"):
        try:
            return loader() or module
        except ModuleNotFoundError as error:
            raise UserError(
                f"cannot import '{place}': {error}; run from the folder that holds it, or give the path of its file"
            ) from None
