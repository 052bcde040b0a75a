"""`snellen search`: the audit of worst-case edits, with the settings of its search as options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from snellen.cli.audit import carry_out_audit
from snellen.cli.options import AsJson, Config, takes
from snellen.exam.request import AuditRequest, EditSearchRequest
from snellen.settings_file import resolve


@takes(EditSearchRequest, arguments=("models",), after=AuditRequest)
def search(settings: Mapping[str, Any], config: Config = None, json: AsJson = False) -> None:
    """Find the combination of harmless-looking edits under which models do worst."""
    carry_out_audit(resolve(EditSearchRequest, settings, config).as_audit(), json)
