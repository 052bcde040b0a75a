"""`snellen match`: which classes of a model are which of a dataset's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from snellen.cli.options import AsJson, Config, takes
from snellen.exam.match_request import MatchRequest
from snellen.settings_file import resolve
from snellen.terminal import show, show_json

if TYPE_CHECKING:
    from snellen.models.class_match import ClassMatch
    from snellen.models.class_proposal import ClassProposal

EveryClass = Annotated[bool, typer.Option("--all", help="print every class, also where there are many sure ones")]
FEW = 20  # classes that are printed whole
WIDEST = 40  # characters of a name


@takes(MatchRequest, arguments=("model", "data"))
def match(settings: Mapping[str, Any], config: Config = None, every: EveryClass = False, json: AsJson = False) -> None:
    """Match a model's classes with a dataset's, to look at and to save as a label map for audits."""
    from snellen.exam.matching import match_requested

    request = resolve(MatchRequest, settings, config)
    proposal = match_requested(request)
    if json:
        show_json(proposal.to_json())
        return
    print_proposal(proposal, every)
    if request.out is not None:
        show(f"label map: {request.out}; audits take it by --labels {request.out}")


def print_proposal(proposal: ClassProposal, every: bool) -> None:
    """The matches, those that want a look where there are many, and what is left on both sides."""
    from snellen.cli.printing import print_table

    every = every or len(proposal.classes) <= FEW
    listed = [match for match in proposal.classes if every or _wants_a_look(match)]
    if listed:
        print_table(
            [("class", "images", "output", "matched by", "", "note"), *(_row(match, proposal) for match in listed)]
        )
        show()
    if len(listed) < len(proposal.classes):
        show(f"{len(proposal.classes) - len(listed):,} further classes; --all prints them")
    for line in (*proposal.summary(), *proposal.notes):
        show(f"– {line}")


def _wants_a_look(match: ClassMatch) -> bool:
    """Whether a class is ambiguous, has images and no output, was matched by a loose way, or has a remark."""
    return bool(match.note) or match.how in ("synonym", "spelling") or (not match.outputs and match.images > 0)


def _row(match: ClassMatch, proposal: ClassProposal) -> tuple[str, ...]:
    from snellen.models.class_proposal import WORDS

    outputs = _named(match.outputs, proposal) if match.outputs else "–"
    perhaps = f"perhaps {_named(match.candidates, proposal)}" if match.candidates else ""
    note = "; ".join(filter(None, (perhaps, match.note)))
    return match.name[:WIDEST], f"{match.images:,}", outputs, WORDS[match.how], match.sure, note


def _named(outputs: tuple[int, ...], proposal: ClassProposal) -> str:
    """Some outputs by number and name; of many the first."""
    names = [proposal.called(output)[:WIDEST] for output in outputs[:3]]
    return ", ".join([*names, f"… ({len(outputs)})"] if len(outputs) > 3 else names)
