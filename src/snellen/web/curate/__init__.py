"""The curation desk: people look at every image of a built set, keep it, mend it or reject it; what they leave is rebuilt.

- `request` has the settings, `session` what the command does with them.
- `collection` is what there is to review: images with masks, boxes and variants (`in9_collection`, `plain_collection`).
- `reviews` are decisions, and what several reviewers' decisions come to; `store` keeps them.
- `mending` turns boxes and strokes into masks; `outcome` writes the list that builders read.
- `desk` answers what the page asks, `app` has its routes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen.lazy_names import lister
from snellen.settings_file import door
from snellen.web.curate.request import CurateRequest

if TYPE_CHECKING:
    from snellen.web.curate.session import Curated

__all__ = ["CurateRequest", "curate", "settle_reviews"]
__dir__ = lister(__all__)


def settle_reviews(request: CurateRequest) -> Curated:
    """Write the list of what reviewers have decided so far into the folder of the reviews; with `apply` the rebuilt set too."""
    from snellen.web import require

    require("the curation desk")
    from snellen.web.curate.session import Session

    return Session(request).settle()


curate = door(settle_reviews, CurateRequest, "dataset", name="curate")
