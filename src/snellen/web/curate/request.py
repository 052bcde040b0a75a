"""The settings of the curation desk, for `snellen curate`, its settings files and Python."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from snellen.build.request import MOST_WORKERS
from snellen.errors import UserError, option
from snellen.request import plugin_setting, setting
from snellen.web.serve_request import ServeRequest

LONGEST_NAME = 40  # characters of a reviewer's name


@dataclass(frozen=True, kw_only=True)
class CurateRequest(ServeRequest):
    """What is reviewed, by whom, and where the reviews are kept."""

    dataset: str | None = setting("a set of build in9 (in9:FOLDER), or any data with masks", required=True)
    reviewers: tuple[str, ...] = setting(
        "names of the reviewers, each of whom gets a link",
        ("reviewer",),
        flag="--reviewer",
        metavar="NAME,…",
        commas=True,
    )
    split: str | None = setting("split to review; default test where there is one, else val", metavar="NAME")
    out: Path | None = setting(
        "folder of the reviews; default that of the set, with -reviews behind its name", metavar="DIR", written=True
    )
    settle: bool = setting("write the list of what was decided so far, and end", False, once=True)
    apply: Path | None = setting(
        "write the list and the set that is left into this new folder, and end", metavar="DIR", once=True, written=True
    )
    balance: bool = setting("in the set that is left, cut all classes to the smallest, if it was built so", True)

    plugins: tuple[str, ...] = plugin_setting()
    workers: int | None = setting(
        "processes that rebuild; default one per core; changes no byte", at_least=1, at_most=MOST_WORKERS, once=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.reviewers:
            raise UserError(f"expected at least one name of a reviewer in {option('reviewers', '--reviewer')}")
        for name in self.reviewers:
            if len(name) > LONGEST_NAME or not re.fullmatch(r"[^\W_][\w .'-]*", name):
                raise UserError(
                    f"expected the name of a reviewer as up to {LONGEST_NAME} letters, digits, spaces and .'-_, got '{name[:60]}'"
                )
        if len({name.lower() for name in self.reviewers}) < len(self.reviewers):
            raise UserError(f"two reviewers have one name in {option('reviewers', '--reviewer')}; each needs their own")
