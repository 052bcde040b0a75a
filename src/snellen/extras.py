"""Packages that only some commands need: imported when they are used, and named with their install command when missing."""

from __future__ import annotations

import functools
import importlib.util
import shutil
from dataclasses import dataclass
from types import ModuleType

from snellen.errors import UserError
from snellen.lazy_torch import torch

_OLDEST_GPU = (7, 0)  # that Triton compiles for


@dataclass(frozen=True)
class Package:
    """The name a user knows, the package on PyPI, and what `pip install` is given to get it."""

    title: str
    distribution: str
    requirement: str


# By the name they are imported by. All but OpenCV, which is installed with snellen, belong to an extra.
PACKAGES = {
    "cv2": Package("OpenCV", "opencv-contrib-python-headless", "opencv-contrib-python-headless>=4.10,<5"),
    "ray": Package("Ray", "ray", "snellen[ray]"),
    "accelerate": Package("accelerate", "accelerate", "snellen[train]"),
    "tensorboard": Package("TensorBoard", "tensorboard", "snellen[tensorboard]"),
    "captum": Package("Captum", "captum", "snellen[captum]"),
    "transformers": Package("transformers", "transformers", "snellen[hf]"),
    "datasets": Package("Hugging Face's library", "datasets", "snellen[datasets]"),
    "onnxruntime": Package("onnxruntime", "onnxruntime", "snellen[onnx]"),
    "simplejpeg": Package("simplejpeg", "simplejpeg", "snellen[fast]"),
    "aiohttp": Package("aiohttp", "aiohttp", "snellen[remote]"),
    "mlflow": Package("MLflow", "mlflow", "snellen[mlflow]"),
    "starlette": Package("Starlette", "starlette", "snellen[web]"),
    "uvicorn": Package("uvicorn", "uvicorn", "snellen[web]"),
    "sqlalchemy": Package("SQLAlchemy", "sqlalchemy", "snellen[web]"),
    "pg8000": Package("pg8000", "pg8000", "snellen[web]"),
}


# What is installed with snellen: the name it is imported by → its package.
REQUIRED = {
    **{name: name for name in ("torch", "torchvision", "timm", "numpy", "scipy", "pyarrow", "duckdb", "pandas")},
    **{name: name for name in ("safetensors", "typer", "rich", "msgspec", "jinja2", "markupsafe", "fsspec")},
    "PIL": "pillow",
    "cv2": "opencv-contrib-python-headless",
    "yaml": "pyyaml",
    "vl_convert": "vl-convert-python",
}


def missing(error: ModuleNotFoundError) -> UserError | None:
    """The error for a package that should have been installed with snellen; None where it is another that is missing."""
    package = REQUIRED.get(str(error.name).partition(".")[0])
    if package is None:
        return None
    return UserError(f"snellen needs the package '{package}', which is not installed; pip install {package}")


def import_package(name: str, use: str) -> ModuleType:
    """The module `name` of PACKAGES; where it is missing, an error that says what `use` needs and how to install it.

    Only a package that is not there is reported so: an error inside an installed one is raised as it is.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        package = PACKAGES[name]
        raise UserError(f"{use} needs {package.title}; pip install '{package.requirement}'") from None


@functools.cache
def has_triton() -> bool:
    """Whether Triton, which torch brings for GPUs, is installed, and the compiler it needs."""
    return importlib.util.find_spec("triton") is not None and any(map(shutil.which, ("cc", "gcc", "clang")))


def runs_triton(device: torch.device) -> bool:
    """Whether a device is a GPU that Triton compiles for, and Triton is there."""
    return device.type == "cuda" and has_triton() and torch.cuda.get_device_capability(device) >= _OLDEST_GPU
