"""What `snellen curate` does: open the set and its reviews, serve the page, write what came of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from snellen.atomic import check_place, make_folder
from snellen.build.in9 import rebuild
from snellen.errors import UserError, option
from snellen.files import expand_home
from snellen.files.remote.remote_path import RemotePath
from snellen.web.curate.app import CurateApp
from snellen.web.curate.collection import Collection
from snellen.web.curate.desk import Desk
from snellen.web.curate.in9_collection import SCHEME, In9Collection, in9_collection
from snellen.web.curate.outcome import LIST, Curated, write_outcome
from snellen.web.curate.plain_collection import plain_collection
from snellen.web.curate.request import CurateRequest
from snellen.web.curate.reviews import settle
from snellen.web.curate.store import ReviewStore
from snellen.web.server import serve


class Session:
    """A set that is reviewed, and the folder of its reviews."""

    def __init__(self, request: CurateRequest) -> None:
        assert request.dataset is not None
        self.request = request
        open_collection = in9_collection if request.dataset.startswith(SCHEME) else plain_collection
        self.collection: Collection = open_collection(request.dataset, request.split)
        if request.apply is not None and self._folder is None:
            raise UserError(
                f"{request.dataset} cannot be rebuilt: only sets of `snellen build in9` can; leave {option('apply')} out and "
                "give other commands the list: ?ids=kept.txt"
            )
        self.out = self._place()

    @property
    def _folder(self) -> Path | None:
        """The folder of a set that can be rebuilt."""
        stored = self.collection.stored if isinstance(self.collection, In9Collection) else None
        return None if stored is None else stored.folder

    def _place(self) -> Path:
        """The folder of the reviews."""
        if self.request.out is not None:
            return expand_home(self.request.out)
        if isinstance(self.collection, In9Collection):
            if isinstance(expand_home(self.collection.text.removeprefix(SCHEME)), RemotePath):
                raise UserError(
                    f"{self.request.dataset} is an address, beside which nothing is written; give {option('out')}"
                )
            whole = Path(self.collection.text.removeprefix(SCHEME))
            return whole.with_name(f"{whole.resolve().name}-reviews")
        raise UserError(f"no folder for the reviews of {self.request.dataset}; give {option('out')}")

    @cached_property
    def store(self) -> ReviewStore:
        """The reviews so far."""
        check_place(self.out)
        make_folder(self.out)
        store = ReviewStore(self.out, self.collection.text, self.collection.fingerprint)
        store.check(self.collection.rows)
        return store

    @property
    def desk(self) -> Desk:
        return Desk(self.collection, self.store)

    def serve(self, announce: Callable[[str], None]) -> Curated:
        """Serve the desk until Ctrl-C; `announce` receives lines with each reviewer's link. The list is written at the end."""
        links = {name: self.store.link(name) for name in self.request.reviewers}

        def tell_links(address: str) -> None:
            announce(f"{len(self.collection.names):,} images of {self.request.dataset}; reviews are kept in {self.out}")
            for name, token in links.items():
                announce(f"{name}: {address}/#{token}")
            announce("Ctrl-C writes the list and ends")

        with contextlib.suppress(KeyboardInterrupt):  # how people end it
            serve(CurateApp(self.desk, self.request.https).starlette, self.request, tell_links)
        return self._write()

    def settle(self) -> Curated:
        """Write the list; with `apply` the set that is left too."""
        curated = self._write()
        if self.request.apply is None:
            return curated
        if curated.differing:
            raise UserError(
                f"{curated.differing:,} images are judged differently by several reviewers; settle them on the page "
                f"'Agreement' first, then give {option('apply')} again"
            )
        settings = {"balance": self.request.balance, "workers": self.request.workers}
        built = rebuild(str(self._folder), str(self.out / LIST), self.request.apply, **settings)
        return replace(curated, built=built.out)

    def _write(self) -> Curated:
        return write_outcome(self.out, self.collection, self.store, settle(*self.store.standing()))
