"""What chapters and groups of rows are called: the titles of the audits."""

from __future__ import annotations

from snellen.audits import AUDITS, BaselineAudit, CleanAudit


def title_of(audit: str, task: str = "classification") -> str:
    """The title of an audit; the name of one that has none or is not known. The baseline of other tasks has no yardstick."""
    if audit == "baseline":
        return BaselineAudit.title if task == "classification" else CleanAudit.title
    return (AUDITS[audit].title if audit in AUDITS else "") or audit
