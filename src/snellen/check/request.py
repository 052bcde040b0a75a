"""What a gate should require: every setting once, for `snellen check`, its settings files and `snellen.gate(...)`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from snellen.check.condition import Condition, parse_condition
from snellen.errors import UserError, option
from snellen.request import Request, setting

if TYPE_CHECKING:
    from snellen.engine.keep.run_folder import RunFolder

    RunLike = str | Path | RunFolder
else:  # what Python may pass beyond texts is not imported for --help
    RunLike = object

USUAL = "no_worse(accuracy)"


@dataclass(frozen=True, kw_only=True)
class CheckRequest(Request):
    """The settings of one check of a run."""

    run: RunLike | None = setting("run folder", metavar="RUN", required=True)
    baseline: RunLike | None = setting("run folder or baseline file to compare with", metavar="RUN|FILE")
    require: tuple[str, ...] = setting(
        "what must hold, such as 'accuracy > 0.9', 'change(accuracy) >= -0.02' or 'no_worse(occluded_accuracy)'; may be given "
        "several times; default with a baseline no_worse(accuracy)",
        (),
    )
    margin: float = setting("by how much no_worse(…) may be worse", 0.02, at_least=0)
    undecided: Literal["fail", "pass", "warn"] = setting("what becomes of a condition that is not decided", "warn")
    unpaired: bool = setting("compare with a baseline of other images, by intervals alone", False)
    junit: Path | None = setting("write the outcomes as JUnit XML", metavar="FILE", written=True)
    markdown: Path | None = setting("write them as Markdown, for a pull request", metavar="FILE", written=True)
    write_baseline: Path | None = setting("write the run as a baseline file", metavar="FILE", written=True)
    report: bool = setting("write the outcomes into the run's findings.json and report", True)
    quiet: bool = setting("print nothing but errors", False, short="-q")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.conditions and self.write_baseline is None:
            raise UserError(
                f"nothing to check; add {option('require')} 'accuracy > 0.9', {option('baseline')} RUN or "
                f"{option('write_baseline')} FILE"
            )
        for condition in self.conditions:
            if condition.compares and self.baseline is None:
                raise UserError(f"'{condition.text}' compares with a baseline; add {option('baseline')} RUN or FILE")

    @property
    def conditions(self) -> list[Condition]:
        """What is required; with a baseline and nothing else, that the accuracy is no worse."""
        texts = self.require or (() if self.baseline is None else (USUAL,))
        return [parse_condition(text) for text in texts]
