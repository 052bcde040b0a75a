"""Getting ready: who is asked about what, before the first image is shown. Needs no torch on a warm run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from snellen.audits import Audit, Baseline, Exam, default_audits, parse_audits
from snellen.data import Dataset, limited, load_data
from snellen.data.occluders import Occluders, read_occluders
from snellen.data.subset import listed_ids
from snellen.data.variants import stored_variants
from snellen.distort.chain import stages_of
from snellen.engine import Plan, Settings, Store, make_plan
from snellen.engine.keep.run_json import check_same, resumed
from snellen.engine.requests.cell import Cell, canvas_for
from snellen.engine.requests.map import MapRequest
from snellen.errors import UserError
from snellen.models.labels import LabelMap, match_classes, read_label_map
from snellen.models.subject import Subject, subjects_of


@dataclass(frozen=True)
class Prepared:
    """All that is known before the first image is shown; `before` is the run.json that the folder already has, `texts` are
    the data (test, train, donors, occluders) that were given as text, `reasons` say why an audit that was not named is asked
    (by its text)."""

    folder: Path
    subjects: Sequence[Subject]
    data: Mapping[str, Dataset]
    donors: Dataset | None
    occluders: Occluders | None
    audits: Sequence[Audit]
    exam: Exam
    labels: Mapping[tuple[str, str, str], LabelMap]
    settings: Settings
    notices: Sequence[str]
    before: Mapping[str, Any]
    fresh: bool
    texts: Mapping[str, str]
    reasons: Mapping[str, str] = field(default_factory=dict)

    def plan(self) -> Plan:
        """What is left to ask, as the store stands now."""
        cells = [cell for one in self.audits for cell in one.cells(self.exam)]
        given = {"donors": self.donors, "occluders": self.occluders}
        pools = {name: pool.fingerprint for name, pool in given.items() if pool is not None}
        store = Store(self.folder, ignored=self.fresh)
        maps = [request for one in self.audits for request in one.maps(self.exam)]
        trials = [trial for one in self.audits for trial in one.trials(self.exam)]
        return make_plan(self.subjects, self.data, cells, self.labels, self.settings, store, pools, maps, trials)


def prepare(
    models: Any,
    data: Any,
    audits: Any,
    folder: Path,
    *,
    train: Any = None,
    donors: Any = None,
    occluders: Any = None,
    labels: Path | str | None = None,
    seed: int = 0,
    limit: int | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    shard: int | None = None,
    threads: int | None = None,
    keep: Literal["top5", "logits"] | None = None,
    fresh: bool = False,
) -> Prepared:
    """Everything up to the plan; nothing is written, and torch is not needed where nothing is left to ask."""
    _check_folder(folder, fresh)
    before = {} if fresh else Store(folder).facts()
    held = {"test": _dataset(data, limit)} | ({"train": _dataset(train, limit)} if train is not None else {})
    _check_train(held)
    wanted = {"device": device, "batch_size": batch_size}
    how = resumed(folder, before, wanted) if before else _fresh_settings(device, batch_size, shard)
    settings = Settings(seed=seed, limit=limit, threads=threads, keep=keep, **how)
    defaults = default_audits(held["test"], before.get("audits", ())) if audits is None else []
    listed = [Baseline(), *(one for one, _ in defaults), *(parse_audits(audits) if audits is not None else ())]
    asked = tuple(held)
    variants = stored_variants(held["test"], [kind for one in listed for kind in one.variants])
    held |= variants
    subjects = _subjects(models, settings.device)
    maps, warnings = _label_maps(subjects, held, labels)
    canvases = [canvas_for(subject, one) for subject in subjects for one in held.values()]
    side = min(min(canvas.height, canvas.width) for canvas in canvases)
    cutouts = _cutouts(occluders)
    exam = Exam(
        classes={on: held[on].classes for on in asked},
        side=side,
        seed=seed,
        donors=donors is not None,
        samples={on: one.samples for on, one in held.items()},
        texts={on: one.text for on, one in held.items()},
        facts={on: one.facts for on, one in held.items()},
        variants=frozenset(variants),
        cutouts=0.0
        if cutouts is None
        else min(cutouts.reach(one.height, one.width) for one in dict.fromkeys(canvases)),
        losses=_losses(subjects),
        lost={one.name: maps[one.name, one.run, "test"].lost(held["test"].classes) for one in subjects},
        lists=_lists(listed, held, limit is not None),
    )
    if donors is None and _mixes_own_data(listed, exam):
        donors = data
    pool = None if donors is None else _dataset(donors, None)
    _check_lenders(pool, listed, exam)
    notices = list(dict.fromkeys([*(n for s in subjects for n in s.card.notices), *warnings]))
    if cutouts is not None and cutouts.found > len(cutouts.ids):
        notices.append(f"{cutouts.found:,} cut-outs in '{cutouts.text}', of which {len(cutouts.ids)} are used")
    roles = {"test": data, "train": train, "donors": donors, "occluders": occluders}
    texts = {role: str(given) for role, given in roles.items() if isinstance(given, str | Path)}
    texts |= {role: one.text for role, one in variants.items()}
    reasons = {str(one): why for one, why in defaults}
    prepared = Prepared(
        folder, subjects, held, pool, cutouts, listed, exam, maps, settings, notices, before, fresh, texts, reasons
    )
    check_same(prepared)
    return prepared


def _losses(subjects: Sequence[Subject]) -> dict[str, list[Mapping[str, float]]]:
    """The last epoch's training losses of each model's runs."""
    held: dict[str, list[Mapping[str, float]]] = {}
    for subject in subjects:
        held.setdefault(subject.name, []).append(subject.card.losses or {})
    return held


def _lists(
    audits: Sequence[Audit], data: Mapping[str, Dataset], limited: bool
) -> dict[tuple[str, str], frozenset[str]]:
    """The sample ids that audits name by file; those of data that were not given are not needed."""
    wanted = dict.fromkeys(pair for one in audits for pair in one.lists())
    return {(on, file): listed_ids(data[on], file, limited) for on, file in wanted if on in data}


def _stages(audits: Sequence[Audit], exam: Exam) -> list[Any]:
    """Every distortion and trial that is asked for, chains taken apart."""
    requests: list[Cell | MapRequest] = []
    for one in audits:
        requests += [*one.cells(exam), *one.maps(exam), *one.trials(exam)]
    return list(dict.fromkeys(stage for request in requests for stage in stages_of(request.distortion)))


def _mixes_own_data(audits: Sequence[Audit], exam: Exam) -> bool:
    """Whether donors are needed, and only by distortions whose partners may come from the test data."""
    needing = [stage for stage in _stages(audits, exam) if "donors" in stage.needs]
    return bool(needing) and all(getattr(stage, "own_data", False) for stage in needing)


def _check_lenders(pool: Dataset | None, audits: Sequence[Audit], exam: Exam) -> None:
    """Refuse donors of whose objects nothing is known, where they are to lend backgrounds."""
    if pool is None or pool.facts & {"masks", "boxes"}:
        return
    for stage in _stages(audits, exam):
        if "donors" in stage.needs and getattr(stage, "whole_pool", False) and not getattr(stage, "bare", False):
            raise UserError(
                f"{stage} needs donors whose objects' boxes or masks are known, which {pool.text} does not have; "
                "give other --donors, for example voc:DIR"
            )


def _check_train(held: Mapping[str, Dataset]) -> None:
    """Refuse training data that are the test data: equal questions merge, and there is nothing to compare."""
    if "train" in held and held["train"].fingerprint == held["test"].fingerprint:
        raise UserError(
            f"the training data {held['train'].text} are the test data, image for image, so there is no gap to look at; "
            "pass --train the images that the model was trained on"
        )


def _dataset(data: Any, limit: int | None) -> Dataset:
    held = load_data(data) if isinstance(data, str) else data
    if not isinstance(held, Dataset):
        raise UserError(f"expected data as text or a Dataset, got {type(data).__name__}")
    return limited(held, limit)


def _cutouts(given: Any) -> Occluders | None:
    """The pool of cut-outs: a folder's, one that was read already, or none."""
    return given if given is None or isinstance(given, Occluders) else read_occluders(given)


def _subjects(models: Any, device: str) -> list[Subject]:
    """The runs to ask, of anything `audit` takes for models."""
    named: list[tuple[str | None, Any]] = []
    if isinstance(models, Mapping):
        for name, given in models.items():
            named += [(str(name), one) for one in (given if isinstance(given, list | tuple) else [given])]
    else:
        named = [(None, one) for one in (models if isinstance(models, list | tuple) else [models])]
    subjects: list[Subject] = []
    for name, thing in named:
        if isinstance(thing, str):
            subjects += subjects_of(f"{name}={thing}" if name else thing, device)
            continue
        from snellen.models.model import as_model

        model = as_model(thing, device=device)
        label = name or model.name
        run = f"{model.name}-{sum(s.name == label for s in subjects)}" if name else model.name
        subjects.append(Subject(label, run, replace(model.card, name=label), model, by_text=False))
    names: set[tuple[str, str]] = set()
    prints: dict[str, str] = {}
    for subject in subjects:
        if (subject.name, subject.run) in names:
            raise UserError(f"two models are called '{subject.name}'; name them, as in mine=timm:resnet18.a1_in1k")
        names.add((subject.name, subject.run))
        called = f"{subject.name} ({subject.run})"
        other = prints.setdefault(subject.card.fingerprint, called)
        if other != called:
            raise UserError(
                f"'{other}' and '{called}' are the same model (same weights and preprocessing); ask it once"
            )
    if not subjects:
        raise UserError("no model given; for example timm:resnet18.a1_in1k")
    return subjects


def _label_maps(
    subjects: Sequence[Subject], data: Mapping[str, Dataset], labels: Path | str | None
) -> tuple[dict[tuple[str, str, str], LabelMap], list[str]]:
    """How each model's classes become the data's, and what to warn of."""
    maps: dict[tuple[str, str, str], LabelMap] = {}
    notices: list[str] = []
    for subject in subjects:
        for on, held in data.items():
            where = subject.name, subject.run, on
            if labels is not None:
                maps[where] = read_label_map(Path(labels), subject.card.classes, held.classes)
            else:
                maps[where], warnings = match_classes(subject.card.classes, held.classes, subject.name)
                notices += warnings
    return maps, notices


def _fresh_settings(device: str | None, batch_size: int | None, shard: int | None) -> dict[str, Any]:
    from snellen.models.device import choose_device, precision_on

    where = choose_device(device)
    return {"device": str(where), "precision": precision_on(where), "batch_size": batch_size, "shard": shard}


def _check_folder(folder: Path, fresh: bool) -> None:
    """Refuse a folder that holds something else, before anything is written to it or removed from it."""
    if folder.is_file():
        raise UserError(f"'{folder}' is a file; choose another --out")
    if folder.exists() and not (folder / "run.json").exists() and any(not _leftover(p) for p in folder.iterdir()):
        raise UserError(f"'{folder}' is not empty and not a run folder (it has no run.json); choose another --out")


def _leftover(path: Path) -> bool:
    """What a run that was killed, or ran out of space, before its run.json may have left."""
    return path.name == "run.lock" or (path.name.startswith("run.json.") and path.suffix == ".part")
