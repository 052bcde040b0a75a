"""Making a study folder: items and pictures from data or a run, texts, a store, and personal links."""

from __future__ import annotations

import datetime
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from snellen.atomic import check_place, remove
from snellen.errors import UserError, option
from snellen.files import read_text
from snellen.lock import own_folder
from snellen.version import __version__
from snellen.web.study.consent import INSTRUCTIONS, default_consent
from snellen.web.study.designs import check_design
from snellen.web.study.explanation import explanation_items, explanation_question
from snellen.web.study.folder import (
    FILE,
    VERSION,
    Item,
    Question,
    Study,
    StudyFolder,
    settings_json,
    write_study,
)
from snellen.web.study.items import recognition_items
from snellen.web.study.questions import question_of
from snellen.web.study.request import EXPLANATIONS, StudyRequest
from snellen.web.study.stimuli import stimuli_of
from snellen.web.study.store import StudyStore

DEFAULT_PER_PERSON = 200


@dataclass(frozen=True)
class CreatedStudy:
    """A study that was made: its folder, how many items of each kind it has, and the tokens of personal links by name."""

    folder: Path
    items: dict[str, int]
    per_person: int
    links: dict[str, str]


def create_study(request: StudyRequest) -> CreatedStudy:
    """Make a study folder; nothing is left of one that cannot be made.

    >>> from snellen.web.study import StudyRequest, create_study
    >>> request = StudyRequest(source="phantom:test?size=32&n=24", out="study", protocol="forced",
    ...     participants=2, per_person=6)
    >>> made = create_study(request)
    >>> made.per_person, len(made.links)
    (6, 2)
    """
    check_place(request.out)
    if (request.out / FILE).exists():
        raise UserError(f"'{request.out}' has a study already; choose another {option('out')}")
    stimuli = stimuli_of(request)
    is_explanation = request.protocol in EXPLANATIONS
    question = explanation_question(request) if is_explanation else question_of(request, stimuli.data)
    with own_folder(request.out, leave=False):
        try:
            items = explanation_items(request, stimuli) if is_explanation else recognition_items(request, stimuli)
            study = _study(request, question, items)
            write_study(request.out, study)
            store = StudyStore(StudyFolder(request.out), request.database)
            links = store.add_links(request.participants)
            store.close()
        except BaseException:
            for name in (FILE, "pictures", "masks"):
                remove(request.out / name)
            raise
    counts = {kind: len(study.of_kind(kind)) for kind in ("main", "practice", "catch")}
    return CreatedStudy(request.out, counts, study.per_person, links)


def _study(request: StudyRequest, question: Question, items: Sequence[Item]) -> Study:
    main = [item.source for item in items if item.kind == "main"]
    distinct = len(set(main))
    if not distinct:
        raise UserError(f"no image is left for the study; give fewer {option('practice')} and {option('catch')} images")
    count = request.per_person or _default_count(request.design, main)
    check_design(request.design, count, main)
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    consent = read_text(request.consent, "consent") if request.consent else default_consent(request.recruit)
    instructions = INSTRUCTIONS[request.protocol]
    if request.instructions:
        instructions = read_text(request.instructions, "instructions")
    return Study(
        schema="snellen study",
        version=VERSION,
        snellen=__version__,
        created=created,
        id=secrets.token_hex(6),
        secret=secrets.token_hex(32),
        settings=settings_json(request),
        per_person=count,
        consent=consent,
        instructions=instructions,
        question=question,
        items=tuple(items),
        external=request.database is not None,
    )


def _default_count(design: str, main: Sequence[str]) -> int:
    """200 images, or as many as the sources and the design allow."""
    most = min(DEFAULT_PER_PERSON, len(set(main)))
    largest = max(Counter(main).values())
    return max(1, min(most, len(main) // largest)) if design == "balanced" else most
