"""The commands that make a sweep's parts one by one, for its page."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from urllib.parse import quote

from snellen.sweep.points import SweepPlan, SweepPoint
from snellen.sweep.run_sweep import ids_file, label_file
from snellen.train.recipe import Recipe


def commands_of(plan: SweepPlan) -> list[str]:
    """A train command for each point that one can make, and an audit of it on each test."""
    lines = []
    for point in plan.points:
        model = point.model
        if point.data is not None:
            folder = plan.out / "models" / point.name
            model = f"{folder}/*.safetensors"
            if point.coarse is None:
                lines.append(_train(plan, point))
        labels = label_file(plan, point)
        for data in plan.tests.values():
            words = ["snellen", "audit", f"{point.name}={model}", "--data", data.text]
            words += ["--labels", str(labels)] if labels is not None else []
            words += ["--limit", str(plan.limit)] if plan.limit is not None else []
            lines.append(shlex.join(words))
    return lines


def _train(plan: SweepPlan, point: SweepPoint) -> str:
    assert point.data is not None
    data = point.data.text
    if point.ids is not None:
        data += f"{'&' if '?' in data else '?'}ids={quote(str(ids_file(plan, point)))}"
    words = ["snellen", "train", plan.recipe.arch, "--data", data, "--runs", str(plan.runs)]
    words += ["--out", str(plan.out / "models" / point.name)]
    plain = asdict(Recipe(arch=plan.recipe.arch))
    for name, value in asdict(plan.recipe).items():
        if value != plain[name]:
            words += ["--set", f"{name}={value}"]
    return shlex.join(words)
