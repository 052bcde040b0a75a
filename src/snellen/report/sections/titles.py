"""What chapters and groups of rows are called: the titles of the audits."""

from __future__ import annotations

from snellen.audits import AUDITS, BaselineAudit, CleanAudit

TITLES = {"baseline": BaselineAudit.title, **{name: str(vars(audit)["title"]) for name, audit in AUDITS.items()}}


def title_of(audit: str, task: str = "classification") -> str:
    """The title of an audit; the name of one that is not ours. The baseline of other tasks has no yardstick."""
    if audit == "baseline" and task != "classification":
        return CleanAudit.title
    return TITLES.get(audit, audit)
