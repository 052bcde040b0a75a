"""`snellen doctor`: does an audit work on this machine?"""

from __future__ import annotations

import json as json_text
from typing import TYPE_CHECKING

from snellen.cli.options import AsJson, finish

if TYPE_CHECKING:
    from snellen.doctor import Health


def doctor(json: AsJson = False) -> None:
    """Report what this machine has and whether an audit works on it: `ready` (exit 0), or what is wrong (exit 1)."""
    from snellen.doctor import doctor

    health = doctor()
    if json:
        print(json_text.dumps(health.to_json(), indent=1, ensure_ascii=False))
    else:
        _print_health(health)
    finish(0 if health.ready else 1)


def _print_health(health: Health) -> None:
    """What the doctor found, section by section, and the verdict."""
    for name, facts in health.sections.items():
        print(name.replace("_", "-"))
        wide = max((len(key) for key in facts), default=0)
        for key, value in facts.items():
            print(f"  {key.ljust(wide)}  {value}")
    for problem in health.problems:
        print(f"wrong: {problem.text} — {problem.advice}")
    print("ready" if health.ready else "not ready")
