"""What `snellen dissect` should do: the settings of an audit and those of its dissection."""

from __future__ import annotations

from dataclasses import dataclass

from snellen.exam.request import AuditRequest
from snellen.request import setting


@dataclass(frozen=True, kw_only=True)
class DissectRequest(AuditRequest):
    """The settings of one dissection."""

    layer: str | None = setting(
        "layer to look into: a name, -2 (stages from the end) or stage3; default the last stage"
    )
    concepts: tuple[str, ...] = setting(
        "where concepts come from: data, colours, labels:DIR or model:TEXT; default colours, and data where they know some",
        (),
        metavar="SOURCE",
    )
    quantile: float = setting("quantile of a unit's values above which its mask is", 0.99, above=0, at_most=0.9999999)
    threshold: float = setting("IoU above which a unit detects a concept", 0.04, at_least=0, at_most=1)
    grid: int = setting("cells per side on which units and concepts are compared", 56, at_least=1, at_most=512)

    def as_audit(self) -> AuditRequest:
        """The audit that carries the dissection out, after any others that were named."""
        from snellen.audits.concepts import Concepts
        from snellen.explain.picture import as_layer

        concepts = Concepts(as_layer(self.layer), self.concepts, self.quantile, self.threshold, self.grid)
        return self.with_audit(str(concepts))
