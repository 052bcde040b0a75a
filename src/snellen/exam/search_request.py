"""What `snellen search` should do: the settings of an audit and those of its search."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from snellen.exam.request import AuditRequest
from snellen.request import setting


@dataclass(frozen=True, kw_only=True)
class EditSearchRequest(AuditRequest):
    """The settings of one search for worst-case edits. Those that are not given are the protocol's, else the audit's own."""

    protocol: Literal["mnist", "cifar10", "camvid", "faces"] | None = setting(
        "settings as published by Volpi & Murino (2019), of which others win"
    )
    scale: float = setting("shorten a protocol to this share, as the results will say", 1.0, above=0, at_most=1)
    set: str | None = setting("edits to combine: mnist, cifar10, camvid, faces … or a YAML file", metavar="NAME|FILE")
    length: int | None = setting("number of edits in a tuple", at_least=1, at_most=1000)
    algorithm: Literal["es", "es_climb"] | None = setting("search algorithm; default es, as published")
    evaluations: int | None = setting("tuples that each search tries", at_least=1, at_most=10_000_000)
    random: int | None = setting("random tuples before the search", at_least=0, at_most=10_000_000)
    restarts: int | None = setting("searches, of which the worst tuple counts", at_least=1, at_most=1000)
    images: int | None = setting("test images that a search looks at; 0 for all", at_least=0, at_most=10**9)
    subsets: int | None = setting("sets of so many images, searched one by one; means count", at_least=1, at_most=100)
    population: int | None = setting("tuples of one generation", at_least=2, at_most=100_000)
    mutation: float | None = setting("probability that an edit mutates", at_least=0, at_most=1)
    selection: Literal["difference", "inverse"] | None = setting(
        "how parents are drawn: by 1 − accuracy, or 1 / accuracy"
    )
    genes: Literal["type", "object"] | None = setting("how edits are drawn: by their type first, or all alike")
    constraint: str | None = setting("allow only edits that keep the content: 'ssim(0.8)' or 'edges(0.7)'")
    references: bool | None = setting("attack with negatives and shifted hues as well")

    def as_audit(self) -> AuditRequest:
        """The audit that carries the search out, after any others that were named."""
        from snellen.audits.shift_protocols import published_shift

        own = {one.name for one in fields(AuditRequest)}
        names = [one.name for one in fields(self) if one.name not in own | {"protocol", "scale"}]
        chosen = {name: value for name in names if (value := getattr(self, name)) is not None}
        return self.with_audit(str(published_shift(self.protocol, self.scale, **chosen)))
