"""`snellen audit`: make a request of the options and the settings file, carry it out, print."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from snellen.cli.options import AllFindings, AsJson, Config, ModelPairs, finish, takes
from snellen.exam.request import AuditRequest
from snellen.settings_file import resolve
from snellen.terminal import show_json, tell


@takes(AuditRequest, arguments=("models",))
def audit(
    settings: Mapping[str, Any],
    config: Config = None,
    json: AsJson = False,
    every: AllFindings = False,
    pairs: ModelPairs = False,
) -> None:
    """Show distorted images to models and write findings and a report."""
    carry_out_audit(resolve(AuditRequest, settings, config), json, every, pairs)


def carry_out_audit(request: AuditRequest, json: bool, every: bool = False, pairs: bool = False) -> None:
    """Carry a request out and print its outline or its findings; the exit code says whether what was required holds."""
    if request.out is None:
        request = replace(request, out=default_folder([str(model) for model in request.models], str(request.data)))

    from snellen.cli.printing import PrintChoice, print_run, show_outline
    from snellen.exam.auditing import examine
    from snellen.exam.conditions import RequirementFailed
    from snellen.exam.outline import Outline

    failures: Sequence[str] = ()
    try:
        result = examine(request, ["snellen", *sys.argv[1:]])
    except RequirementFailed as failed:
        result, failures = failed.run, failed.failures
    if isinstance(result, Outline):
        show_json(result.to_json()) if json else show_outline(result.to_json())
        return
    print_run(result, PrintChoice(request.quiet, json, every, pairs), reported=request.report)
    for text in failures:
        tell(f"failed: {text}")
    finish(1 if failures else 0)


HOW = (
    "parallel",
    "budget",
    "price",
    "token_price",
    "rate",
    "timeout",
    "retries",
    "token",
    "repeats",
)  # settings that change no question


def default_folder(models: Sequence[str], data: str) -> Path:
    """runs/MODELS-on-DATA, the same for the same command, however a service is asked: a larger budget goes on in it."""
    models = [re.sub(rf"(?<=[#&])(?:{'|'.join(HOW)})=[^&]*&?", "", text) for text in models]
    names = [
        re.split(r"=", text)[0] if re.match(r"[\w.+-]+=", text) else re.split(r"[:/@]", text)[-1] for text in models
    ]
    slug = "+".join(Path(name).stem if name.endswith((".safetensors", ".csv")) else name for name in names[:3])
    where = re.sub(r"[^\w.-]+", "-", data.partition(":")[2] or data).strip("-.")
    return Path("runs") / (re.sub(r"[^\w.+-]+", "-", slug).strip("-.")[:60] + "-on-" + where[-40:])
