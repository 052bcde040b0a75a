"""The app of a study: participants' routes, experimenters' routes and what both share."""

from __future__ import annotations

from pathlib import Path

from starlette.applications import Starlette

from snellen.web.bodies import HANDLERS
from snellen.web.pages import Pages
from snellen.web.study.experimenter import Experimenter
from snellen.web.study.participant import Participant
from snellen.web.study.store import StudyStore
from snellen.web.tokens import Door, FailedTokens, fingerprint


def study_app(store: StudyStore, token: str, https: bool = False) -> Starlette:
    """The app that serves a study; `token` lets experimenters in, and `https` makes cookies for https alone."""
    pages, failed = Pages(Path(__file__).parent), FailedTokens()
    participant = Participant(store, Door("snellen_study", https, failed), pages)
    experimenter = Experimenter(store, Door("snellen_experimenter", https, failed), pages, fingerprint(token))
    routes = [*participant.routes, *experimenter.routes, pages.route]
    return Starlette(routes=routes, exception_handlers=HANDLERS)
