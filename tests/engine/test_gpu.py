"""On a GPU: the same predictions as on the CPU, up to what its lower precision changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

import snellen
from snellen.models import from_callable, from_torch
from snellen.models.zoo import NETWORKS

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@needs_gpu
def test_a_gpu_answers_like_the_cpu_but_for_near_ties() -> None:
    torch.manual_seed(0)
    answers = {}
    for device in ("cpu", "cuda"):
        model = from_torch(NETWORKS["smallnet"](12), size=32, mean=[0.5] * 3, std=[0.25] * 3, name="net", device=device)
        torch.manual_seed(0)
        module = NETWORKS["smallnet"](12)
        assert model.module is not None
        model.module.load_state_dict(module.state_dict())
        run = snellen.audit(
            model,
            "phantom:test?size=32&n=600",
            "occlusion,interference",
            quiet=True,
            report=False,
            device=device,
            shard=200,
        )
        answers[device] = run.findings().set_index(["name", "distortion"])["value"]
        assert run.facts["settings"]["precision"] == {"cpu": "fp32", "cuda": "bf16"}[device]
    share = answers["cpu"].filter(like="accuracy", axis=0)
    assert (share - answers["cuda"][share.index]).abs().max() < 0.05


def brightness(images: np.ndarray) -> np.ndarray:
    """One of twelve classes by the mean of all pixels."""
    return np.eye(12)[images.mean((1, 2, 3)).astype(int) % 12]


@needs_gpu
def test_a_callable_and_an_observer_answer_on_a_gpu_machine_as_elsewhere() -> None:
    """Their answers are on the CPU, the labels on the GPU."""
    answers = [
        snellen.audit(
            ["observer:shape", from_callable(brightness, version="1")],
            "phantom:test?size=32&n=36",
            "occlusion(areas=[0.3],fills=[black])",
            quiet=True,
            report=False,
            device=device,
        ).predictions()
        for device in ("cpu", "cuda")
    ]
    pd.testing.assert_frame_equal(*answers)
