"""An actor of a cluster run: it loads models and data once, then answers shard after shard and writes them itself."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any

from snellen.data import Dataset, limited, load_data
from snellen.data.occluders import Occluders, read_occluders
from snellen.engine.ask.local import answer_with_journal, load_models, prepare_pass, reduced_batch_size, store_shard
from snellen.engine.ask.pass_state import PassState
from snellen.engine.ask.slides import Slides, slides
from snellen.engine.inputs import Pools
from snellen.engine.keep.request_tally import counting_requests
from snellen.engine.keep.store import Store
from snellen.engine.plan import Plan
from snellen.engine.progress import RunProgress
from snellen.errors import UserError
from snellen.lazy_torch import torch
from snellen.plugins import load_plugin, plugin_files
from snellen.version import __version__

TRAVELLING = ("SNELLEN_", "HF_HOME", "HF_HUB_", "TORCH_HOME", "XDG_CACHE_HOME")  # what actors share; no secrets

ShardTask = tuple[int, int]  # (pass, shard)


@dataclass(frozen=True)
class Parcel:
    """What an actor needs: the plan without data and models, and how to get at these.

    `texts` are data by role, loaded by the actor, and `prints` the fingerprints they must have; `objects` are references to
    what was made in Python, data by role and models by fingerprint.
    """

    plan: Plan
    names: Sequence[str]  # of the passes, in the store
    folder: Path
    texts: Mapping[str, str]
    prints: Mapping[str, str]
    objects: Mapping[str, Any]
    cpus: int
    place: str = field(default_factory=os.getcwd)
    version: str = __version__
    environment: Mapping[str, str] = field(
        default_factory=lambda: {name: value for name, value in os.environ.items() if name.startswith(TRAVELLING)}
    )


class Actor:
    """An actor: loads models and data once and answers one shard after the other.

    It is asked several shards at once, each in a thread: while the model answers one, others are read and written.
    """

    def prepare(self, plugins: Mapping[str, str], parcels: Sequence[Any]) -> None:
        """Load everything; done here and not at creation, so that what goes wrong arrives as the error it is. The parcel comes as
        a reference, since its plan may hold things of the plug-ins, files by digest, which are loaded first."""
        load_same_plugins(plugins)
        parcel = _fetch(parcels[0])
        _check_machine(parcel)
        os.environ.update(parcel.environment)
        torch.set_num_threads(parcel.cpus)
        data = {role: self._data(role, parcel) for role in parcel.prints if role != "occluders"}
        self.pools = Pools(data.pop("donors", None), self._occluders(parcel))
        self.plan = replace(parcel.plan, data=data)
        for pass_ in self.plan.passes:
            for request in pass_.requests:
                if not request.subject.by_text:
                    request.subject.loaded = _unpack(parcel.objects[request.subject.card.fingerprint])
        self.models = load_models(self.plan, RunProgress(quiet=True))
        self.store, self.names = Store(parcel.folder), parcel.names
        self.counting = ExitStack()
        self.counting.enter_context(counting_requests(self.models.values(), parcel.folder))  # while the actor lives
        self.works: dict[int, PassState] = {}
        self.beginning, self.answering = Lock(), Lock()

    def ask(self, task: ShardTask) -> int | None:
        """Answer and keep one shard; the batch size, where memory made it shrink."""
        number, shard = task
        slide, work = self._slides(task), self._work(number)
        with self.answering:  # a model is asked about one shard at a time
            answers = answer_with_journal(slide, work, self.store, shard)
        store_shard(self.store, self.names[number], shard, answers, work)
        return reduced_batch_size(work, self.plan)

    def _slides(self, task: ShardTask) -> Slides:
        work, settings = self._work(task[0]), self.plan.settings
        samples = self.plan.samples_of(work.on, task[1])
        pinned = work.device.type == "cuda"
        (slide,) = slides(work.data, [samples], list(work.batch), settings.decoders, pinned=pinned)
        return slide

    def _work(self, number: int) -> PassState:
        with self.beginning:
            if number not in self.works:
                pass_ = self.plan.passes[number]
                self.works[number] = prepare_pass(pass_, self.plan, self.models, self.pools, self.store)
            return self.works[number]

    def _data(self, role: str, parcel: Parcel) -> Dataset:
        if role in parcel.objects:
            return _unpack(parcel.objects[role])
        limit = None if role == "donors" else parcel.plan.settings.limit
        data = limited(load_data(parcel.texts[role]), limit)
        if data.fingerprint != parcel.prints[role]:
            here = socket.gethostname()
            raise UserError(f"{here} sees other files in {data.text}; put the data on storage that all machines share")
        return data

    def _occluders(self, parcel: Parcel) -> Occluders | None:
        if "occluders" not in parcel.prints:
            return None
        if "occluders" in parcel.objects:
            return _unpack(parcel.objects["occluders"])
        occluders = read_occluders(parcel.texts["occluders"])
        if occluders.fingerprint != parcel.prints["occluders"]:
            here = socket.gethostname()
            raise UserError(
                f"{here} sees other cut-outs in {occluders.text}; put them on storage that all machines share"
            )
        return occluders


def load_same_plugins(plugins: Mapping[str, str]) -> None:
    """Load the files of plug-ins that the driver has loaded; a machine that sees other ones is refused."""
    for file, digest in plugins.items():
        load_plugin(file)
        if plugin_files()[file] != digest:
            raise UserError(
                f"{socket.gethostname()} sees another {file}; put plug-ins on storage that all machines share"
            )


def _fetch(reference: Any) -> Any:
    import ray

    return ray.get(reference)


def _unpack(reference: Any) -> Any:
    try:
        return _fetch(reference)
    except Exception as error:
        raise UserError(
            f"a model or dataset made in Python could not be rebuilt in a worker on {socket.gethostname()} "
            f"({describe_ray_error(error)}); give it as text, or install its code there"
        ) from None


def _check_machine(parcel: Parcel) -> None:
    """Refuse a machine with another snellen, or one that does not see the run folder."""
    from snellen.models.device import choose_device, precision_on

    here = socket.gethostname()
    if parcel.version != __version__:
        raise UserError(f"snellen {__version__} on {here}, {parcel.version} where the audit started; install the same")
    if not all((parcel.folder / "answers" / name / "pass.json").exists() for name in parcel.names):
        raise UserError(f"{here} does not see {parcel.folder}; put --out on storage that all machines share")
    if os.getcwd() != parcel.place:
        try:
            os.chdir(parcel.place)
        except OSError:
            raise UserError(
                f"{here} does not see {parcel.place}; start from a folder that all machines share"
            ) from None
    if parcel.place not in sys.path:
        sys.path.insert(0, parcel.place)
    settings = parcel.plan.settings
    here_in, run_in = precision_on(choose_device(settings.device)), settings.precision_of(compiled=False)
    if here_in != run_in:
        raise UserError(f"{here} computes in {here_in}, the run in {run_in}; leave that machine out")


def describe_ray_error(error: BaseException) -> str:
    """An error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if type(error).__name__ in ("ActorDiedError", "ActorUnavailableError", "RayActorError"):
        return "its worker died" + (f": {lines[-1]}" if lines else "")
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
