"""`snellen doctor`: does an audit work on this machine?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.cli.options import AsJson, finish
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.doctor import Health


def doctor(json: AsJson = False) -> None:
    """Report what this machine has and whether an audit works on it: `ready` (exit 0), or what is wrong (exit 1)."""
    from snellen.doctor import doctor

    health = doctor()
    if json:
        show_json(health.to_json())
    else:
        _print_health(health)
    finish(0 if health.ready else 1)


def _print_health(health: Health) -> None:
    """What the doctor found, section by section, and the verdict."""
    for name, facts in health.sections.items():
        show(name.replace("_", "-"))
        wide = max((len(key) for key in facts), default=0)
        for key, value in facts.items():
            show(f"  {key.ljust(wide)}  {value}")
    for problem in health.problems:
        show(f"wrong: {problem.text} — {problem.advice}")
    show("ready" if health.ready else "not ready")
