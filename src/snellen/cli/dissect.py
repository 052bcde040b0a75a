"""`snellen dissect`: the audit of concepts, with its settings as options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.cli.audit import carry_out_audit
from snellen.cli.options import AsJson, Config, takes
from snellen.exam.request import AuditRequest, DissectRequest
from snellen.settings_file import resolve


@takes(DissectRequest, arguments=("models",), after=AuditRequest)
def dissect(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Count the units of a layer that detect a concept, such as a colour or an object (network dissection)."""
    carry_out_audit(resolve(DissectRequest, settings, config).as_audit(), json)
