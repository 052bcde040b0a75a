"""Local execution: the passes of a plan, one shard after the other, decoding overlapped with inference."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing

from snellen.atomic import remove
from snellen.engine.ask.canvas_pools import pools_on_canvases
from snellen.engine.ask.maps import ShardMaps, shard_maps_in
from snellen.engine.ask.pass_state import PassState
from snellen.engine.ask.shard import THUMBNAILS, AnsweredShard, answer
from snellen.engine.ask.slides import Slides, slides
from snellen.engine.ask.watchdog import Watchdog
from snellen.engine.inputs import NO_POOLS, Pools
from snellen.engine.keep.answer_journal import journal_of, shard_requests
from snellen.engine.keep.store import Store
from snellen.engine.keep.tables import tables_of
from snellen.engine.plan import Pass, Plan
from snellen.engine.progress import RunProgress
from snellen.lazy_torch import torch
from snellen.models.compiling import compile_model
from snellen.models.model import Model

WRITERS = 2  # a fast GPU makes the maps of large images in less time than one thread writes them


def run_local(
    plan: Plan,
    store: Store,
    progress: RunProgress,
    pools: Pools = NO_POOLS,
    shard_timeout: float | None = None,
) -> int | None:
    """Answer everything the plan found missing; the batch size that a resumed run should use.

    A shard, or the loading of the models, that takes longer than `shard_timeout` seconds counts as hung and ends the run.
    """
    if shard_timeout is None:
        return _run(plan, store, progress, pools, lambda: None)
    watchdog = Watchdog(shard_timeout)
    with watchdog.watching():
        return _run(plan, store, progress, pools, watchdog.feed)


def _run(plan: Plan, store: Store, progress: RunProgress, pools: Pools, shard_done: Callable[[], None]) -> int | None:
    models = load_models(plan, progress)
    shard_done()
    batch_size = plan.settings.batch_size
    progress.start(plan.forward_passes)
    for pass_ in plan.passes:
        work = prepare_pass(pass_, plan, models, pools, store)
        work.on_answers = progress.advance
        progress.describe(asked_in(pass_))
        name = store.begin_pass(pass_.on, {bound.key: bound.shown for bound in pass_.cells}, pass_.new)
        shards = [plan.samples_of(pass_.on, shard) for shard in pass_.shards]
        pinned = work.device.type == "cuda"
        decoded = slides(work.data, shards, list(work.batch), plan.settings.decoders, pinned=pinned)
        # Others write while the next shards are answered; at most so many shards wait, so memory stays bounded.
        with closing(decoded), ThreadPoolExecutor(max_workers=WRITERS, thread_name_prefix="write") as writer:
            pending: deque[Future[None]] = deque()
            for number, slide in zip(pass_.shards, decoded):
                answers = answer_with_journal(slide, work, store, number)
                if len(pending) == WRITERS:
                    pending.popleft().result()
                pending.append(writer.submit(store_shard, store, name, number, answers, work))
                shard_done()
            for waiting in pending:
                waiting.result()
        batch_size = reduced_batch_size(work, plan) or batch_size
    progress.stop()
    return batch_size


def asked_in(pass_: Pass) -> str:
    """Which models are asked about what in a pass, in short."""
    models = list(dict.fromkeys(bound.subject.name for bound in pass_.cells))
    who = models[0] if len(models) == 1 else f"{len(models)} models"
    conditions = len({bound.shown for bound in pass_.cells})
    return f"{conditions} {'condition' if conditions == 1 else 'conditions'}, {who}"


def answer_with_journal(slide: Slides, work: PassState, store: Store, number: int) -> AnsweredShard:
    """Answer one shard; what web services answer is kept at once, until the shard is written."""
    with journal_of(work.models.values(), shard_requests(store.folder, work.on, number)):
        return answer(slide, work)


def store_shard(store: Store, name: str, number: int, answers: AnsweredShard, work: PassState) -> None:
    """Write one shard, whole or not at all."""
    store.write_shard(name, work.on, number, tables_of(answers, work))
    remove(shard_requests(store.folder, work.on, number))


def reduced_batch_size(work: PassState, plan: Plan) -> int | None:
    """The batch size that the device's memory forced, if it did."""
    if any(work.batch[canvas] < plan.batch_for(canvas) for canvas in work.batch):
        return min(work.batch.values())
    return None


def load_models(plan: Plan, progress: RunProgress) -> dict[str, Model]:
    """The models the plan still has to ask, by fingerprint."""
    models: dict[str, Model] = {}
    for pass_ in plan.passes:
        for request in pass_.requests:
            if request.subject.card.fingerprint not in models:
                progress.say(f"loading {request.subject.name} ({request.subject.run})")
                model = request.subject.model(plan.settings.device)
                models[request.subject.card.fingerprint] = compile_model(model) if plan.settings.compiled else model
    return models


def prepare_pass(pass_: Pass, plan: Plan, models: Mapping[str, Model], pools: Pools, store: Store) -> PassState:
    """What one pass has to answer; maps that an earlier one made are looked up in the store."""

    def read_maps(key: str, positions: range) -> ShardMaps | None:
        table = store.maps(key, positions.start // plan.shard)
        return None if table is None else shard_maps_in(table, device)

    data = plan.data[pass_.on]
    canvases = list(dict.fromkeys(request.canvas for request in pass_.requests))
    device = torch.device(plan.settings.device)
    return PassState(
        on=pass_.on,
        data=data,
        cells=pass_.cells,
        models=models,
        batch={canvas: plan.batch_for(canvas) for canvas in canvases},
        device=device,
        new=pass_.new,
        pools=pools_on_canvases(pools, pass_.requests, device, data.classes),
        pictured=frozenset(data.samples.hash_order[:THUMBNAILS].tolist()),
        keep=plan.settings.keep,
        maps=pass_.maps,
        read_maps=read_maps,
        shard=plan.shard,
    )
