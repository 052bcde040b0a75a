"""GPU kernels where there is no GPU: Triton's interpreter carries them out, in a process of its own, since what interprets is
decided when Triton is imported."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = torch.device("cuda" if torch.cuda.is_available() and not INTERPRETED else "cpu")
runs_kernels = pytest.mark.skipif(
    DEVICE.type == "cpu" and not INTERPRETED,
    reason="needs a CUDA device or TRITON_INTERPRET=1; the last test here sets it",
)
starts_interpreter = pytest.mark.skipif(INTERPRETED or DEVICE.type == "cuda", reason="the kernels run in this process")


def run_interpreted(file: str) -> str:
    """What pytest says of the tests of a file under the interpreter, where all that ran passed."""
    pytest.importorskip("triton")
    command = [sys.executable, "-m", "pytest", file, "-p", "no:cacheprovider", "-p", "no:xdist", "-x"]
    done = subprocess.run(command, env={**os.environ, "TRITON_INTERPRET": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
