"""What the web apps keep, from damaged files: a study and the reviews of a set, each with its store of SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORLD = "phantom:test?size=16&n=12"
TREE = "tree.yaml"


def make_study(folder: Path, files: Path) -> object:
    """A study of the phantom world by a tree of questions, with texts of its own."""
    from snellen.web.study import StudyRequest, create_study

    texts = {"tree": str(files / TREE), "consent": files / "consent.md", "instructions": files / "instructions.md"}
    few: dict[str, Any] = {"practice": 1, "catch": 1, "per_person": 3, "participants": 1}
    return create_study(StudyRequest(source=WORLD, out=folder, protocol="kassaw2024", **texts, **few))


def take_part(folder: Path) -> object:
    """One person more, who sees and answers everything."""
    from snellen.web.study.request import SimulateRequest
    from snellen.web.study.simulate import simulate_study

    return simulate_study(SimulateRequest(study=folder, people=1))


def study_made(folder: Path) -> object:
    """A study whose tree of questions and texts are files; it is served to one person."""
    make_study(folder / "study", folder)
    return take_part(folder / "study").answers  # type: ignore[attr-defined]


def study(folder: Path) -> object:
    """A study that was made before: how far it is, all of its pictures, its tables; and one person takes part."""
    from snellen.web.study import StudyFolder, StudyStore
    from snellen.web.study.export import export_study
    from snellen.web.study.masks import on_object
    from snellen.web.study.progress import progress_of
    from snellen.web.study.request import ExportRequest

    opened = StudyFolder(folder)
    store = StudyStore(opened)
    try:
        seen = [on_object(opened, item, item.width / 2, item.height / 2) for item in opened.study.items]
        pictures = [len(opened.picture(number)) for item in opened.study.items for number in item.pictures]
        progress = progress_of(store)
    finally:
        store.close()
    exported = export_study(ExportRequest(study=folder, out=folder / "tables", recruiting_ids=True))
    return seen, pictures, progress, exported, take_part(folder)


def review_set(folder: Path, corpus: Path) -> object:
    """Two reviewers of a set, who differ about an image."""
    import numpy as np

    from snellen.web.curate.request import CurateRequest
    from snellen.web.curate.session import Session
    from snellen.web.curate.store import Draft

    session = Session(CurateRequest(dataset=f"in9:{corpus}/in9", out=folder, reviewers=("ann", "ben")))
    names = session.collection.names
    session.store.link("ann")
    session.store.add("ann", Draft(names[0], "a", "accept"))
    session.store.add("ben", Draft(names[0], "b", "reject", "mask misses object"))
    session.store.add("ann", Draft(names[1], "c", "mend", box=(1, 2, 9, 8), strokes="[]", mask=np.eye(16) > 0))
    session.store.close()
    return names


def reviews(folder: Path) -> object:
    """What reviews of the undamaged set come to: the page's answers, and the list."""
    from .calls import corpus

    return settled(corpus() / "in9", folder)


def reviewed(folder: Path) -> object:
    """A damaged set at the desk: every variant of its images."""
    return settled(folder, folder / "reviews")


def settled(images: Path, folder: Path) -> object:
    from snellen.web.curate.request import CurateRequest
    from snellen.web.curate.session import Session

    session = Session(CurateRequest(dataset=f"in9:{images}", out=folder, settle=True))
    try:
        desk = session.desk
        state = desk.state("ann")
        items = [desk.item("ann", item[0]) for item in state["items"]]
        return state, items, desk.agreement("ben"), session.settle()
    finally:
        session.store.close()
