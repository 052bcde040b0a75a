"""Keys: everything an answer depends on changes its key, and nothing else does.

The fields are those that the dataclasses have, so a new one is tested by being there: it changes the key, or it is named in
`ELSEWHERE` with the reason why it need not.
"""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen.audits  # every kind of request is imported by an audit
from snellen.attention.survey import AttentionMass
from snellen.concepts.dissection import Dissection
from snellen.data import Dataset, from_arrays, limited
from snellen.data.canvas import Canvas
from snellen.data.occluders import Occluders
from snellen.distort import DISTORTIONS, Distortion, parse
from snellen.distort.distortion import Stimulus
from snellen.engine.inputs import Inputs, Pools
from snellen.engine.keep.store import Store
from snellen.engine.plan import Requests, make_plan
from snellen.engine.requests.cell import Cell
from snellen.engine.requests.map import MapRequest
from snellen.engine.requests.search import SearchRequest
from snellen.engine.requests.survey import SurveyRequest
from snellen.engine.requests.trial import Trial
from snellen.engine.settings import Settings
from snellen.explain.methods import METHODS, Method, Reference
from snellen.models.card import Card
from snellen.models.labels import LabelMap
from snellen.models.subject import Subject
from snellen.search.backgrounds import EveryBackground
from snellen.search.deletion import OrderedDeletion
from snellen.search.edit_search import EditSearch, SubsetSearch

Request = Cell | MapRequest
BEHIND_FINGERPRINT = "what it says is in the fingerprint, of which the adapters' tests tell"
HOW = "how answers are computed, not what they are"
WORDS = "words about it"
ELSEWHERE: dict[type, dict[str, str]] = {
    Inputs: {"texts": WORDS},
    Subject: {
        "name": "the user's name for it: the same weights under another name are the same model",
        "run": "the same",
        "loaded": "made from the card's text; weights that differ from its fingerprint are refused",
        "by_text": HOW,
    },
    Card: {
        "name": WORDS,
        "text": "where it was found; its weights are in the fingerprint",
        "classes": "they make the label map, which is in the key",
        "std": BEHIND_FINGERPRINT,
        "notices": WORDS,
        "probes": "compared with tolerance when a run starts, since they differ between machines",
        "stated": WORDS,
        "losses": WORDS,
        "live": "whether it can be asked at all",
        "support": "whether its maps can be had at all",
        "unsure": BEHIND_FINGERPRINT,
        "at_once": HOW,
        "varies": BEHIND_FINGERPRINT,
        "service": "what all repeats of a service share; that of each repeat is its fingerprint",
        "chance": BEHIND_FINGERPRINT,
    },
    Dataset: {
        "text": "where it was found",
        "classes": "they make the label map, which is in the key",
        "samples": BEHIND_FINGERPRINT,
        "size": "the model's canvas counts where it names one; the other case has a test of its own",
        "read": BEHIND_FINGERPRINT,
        "tree": "read by measures, not by models",
        "chunk": HOW,
        "facts": BEHIND_FINGERPRINT,
        "read_together": HOW,
        "origin": HOW,
        "concepts": BEHIND_FINGERPRINT,
        "notices": WORDS,
    },
    Settings: {
        "seed": "the audit puts it into the cells that it asks for",
        "limit": "it shortens the data, whose fingerprint then differs",
        "device": HOW,
        "batch_size": HOW,
        "shard": HOW,
        "threads": HOW,
    },
    Occluders: {
        "text": "where they were found",
        "ids": BEHIND_FINGERPRINT,
        "cutouts": BEHIND_FINGERPRINT,
        "total": BEHIND_FINGERPRINT,
    },
    Method: {
        "maps": "its `version` is bumped by hand",
        "text": WORDS,
        "gradients": "whether maps can be had at all",
        "support": "whether maps can be had at all",
        "masks": "its `version` is bumped by hand",
        "passes": WORDS,
        "by_class": WORDS,
        "own_bytes": "it says which of two keys the maps of a distortion have",
    },
    Reference: {"estimate": "the method's `version` is bumped by hand"},
    Cell: {"on": "the name of a role; the data that has it is in the key by its fingerprint"},
    MapRequest: {"on": "the same"},
}
NOT_OF_MAPS = {  # maps are of the model's own answer, whatever the data calls it
    (Inputs, "labels"),
    (LabelMap, "classes"),
    (LabelMap, "rule"),
    (LabelMap, "targets"),
    (Settings, "keep"),
    (Card, "task"),
}
NEEDED = {(Card, "mean"): "mean", (Pools, "donors"): "donors", (Pools, "occluders"): "occluders"}
RICH = (
    "occlude(0.3, mean) | mix(cutmix, 0.5) | cutouts(uniform(0.1, 0.3)) | salient(0.5)"  # needs whatever can be needed
)


def flat_data(fingerprint: str, name: str = "memory:flat") -> Dataset:
    arrays = {"images": np.zeros((6, 32, 32, 3), np.uint8), "labels": np.arange(6) % 3}
    return replace(from_arrays(arrays, name, fingerprint), facts=frozenset({"masks", "boxes"}))


def cutouts(fingerprint: str) -> Occluders:
    return Occluders("cut-outs", ("a",), (np.full((2, 2, 4), 255, np.uint8),), fingerprint, 1)


CANVAS = Canvas(32, 32, "crop", 40, "bicubic")
CARD = Card(
    "net",
    "weights.pt",
    "weights",
    classes=("a", "b", "c"),
    canvas=CANVAS,
    mean=(0.5,) * 3,
    gradients=True,
    support=True,
)
LABELS = LabelMap(3, "mean", (0, 1, 2))
INPUTS = Inputs(
    subjects=[Subject("net", "first", CARD)],
    data={"test": flat_data("1"), "train": flat_data("2")},
    labels={(name, run, on): LABELS for name in ("net", "x") for run in ("first", "x") for on in ("test", "train")},
    settings=Settings(precision="fp32+compile"),
    pools=Pools(flat_data("donors"), cutouts("cut-outs")),
)
REQUESTS: dict[str, Request] = {
    "cell": Cell(parse(RICH), seed=3),
    "cell that needs nothing": Cell(parse("invert()"), seed=3),
    "trial": Cell(OrderedDeletion(fill="zero"), seed=3),
    "trial with donors": Cell(EveryBackground(), seed=3),
    "search": Cell(EditSearch(), seed=3),
    "survey": Cell(AttentionMass(parse("occlude(0.3, mean)")), seed=3),
    "map": MapRequest("iba"),
    "map of distorted images": MapRequest("iba", distortion=parse(RICH), seed=3),
}


@dataclass(frozen=True)
class Part:
    """A dataclass that answers may depend on, as it stands in the inputs, and the inputs with another in its place."""

    value: Any
    put: Callable[[Any], Inputs]


def with_subject(subject: Subject) -> Inputs:
    return replace(INPUTS, subjects=[subject])


def with_card(card: Card) -> Inputs:
    return with_subject(replace(INPUTS.subjects[0], card=card))


def with_pools(**pools: Any) -> Inputs:
    return replace(INPUTS, pools=replace(INPUTS.pools, **pools))


PARTS = {
    Inputs: Part(INPUTS, lambda inputs: inputs),
    Subject: Part(INPUTS.subjects[0], with_subject),
    Card: Part(CARD, with_card),
    Canvas: Part(CANVAS, lambda canvas: with_card(replace(CARD, canvas=canvas))),
    LabelMap: Part(LABELS, lambda labels: replace(INPUTS, labels=dict.fromkeys(INPUTS.labels, labels))),
    Dataset: Part(INPUTS.data["test"], lambda data: replace(INPUTS, data={**INPUTS.data, "test": data})),
    Settings: Part(INPUTS.settings, lambda settings: replace(INPUTS, settings=settings)),
    Pools: Part(INPUTS.pools, lambda pools: replace(INPUTS, pools=pools)),
    Occluders: Part(INPUTS.pools.occluders, lambda pool: with_pools(occluders=pool)),
}
OTHERS: dict[tuple[type, str], Any] = {  # where a value of the same type does not do
    (Inputs, "subjects"): [Subject("net", "first", replace(CARD, fingerprint="others"))],
    (Inputs, "data"): {"test": flat_data("others"), "train": flat_data("2")},
    (Inputs, "labels"): dict.fromkeys(INPUTS.labels, LabelMap(3, "mean", (2, 1, 0))),
    (Inputs, "settings"): Settings(precision="bf16+compile"),
    (Inputs, "pools"): Pools(flat_data("others"), cutouts("others")),
    (Inputs, "texts"): {"test": "others"},
    (Subject, "name"): "x",
    (Subject, "run"): "x",
    (Subject, "card"): replace(CARD, fingerprint="others"),
    (Subject, "loaded"): object(),
    (Card, "classes"): ("a", "b", "others"),
    (Card, "canvas"): None,
    (Card, "std"): (0.25,) * 3,
    (Card, "notices"): ("others",),
    (Card, "probes"): ((0.5, 0.5),),
    (Card, "stated"): 0.5,
    (Card, "losses"): {"loss": 0.5},
    (Card, "at_once"): 64,
    (Card, "chance"): 0.5,
    (Card, "live"): True,  # recorded answers are refused here
    (Dataset, "classes"): ("x", "y", "z"),
    (Dataset, "samples"): limited(flat_data("1"), 4).samples,
    (Dataset, "read"): len,
    (Dataset, "tree"): {"0": "all"},
    (Dataset, "facts"): frozenset({"masks"}),
    (Dataset, "read_together"): len,
    (Dataset, "origin"): object(),
    (Dataset, "concepts"): object(),
    (Dataset, "size"): (24, 24),
    (Settings, "limit"): 5,
    (Settings, "device"): "cuda",
    (Settings, "precision"): "bf16+compile",
    (Settings, "batch_size"): 5,
    (Settings, "shard"): 5,
    (Settings, "threads"): 5,
    (Pools, "donors"): flat_data("others"),
    (Pools, "occluders"): cutouts("others"),
    (Occluders, "cutouts"): (np.full((3, 3, 4), 255, np.uint8),),
    (LabelMap, "targets"): (2, 1, 0),
    (Method, "maps"): len,
    (Method, "text"): "other words",
    (Method, "version"): 2,
    (Method, "passes"): 2,
    (Method, "masks"): True,
    (Method, "gradients"): False,
    (Method, "reference"): None,
    (Method, "support"): True,
    (Method, "by_class"): False,
    (Method, "own_bytes"): True,
    (Reference, "estimate"): len,
    (Cell, "distortion"): parse("grayscale()"),
    (Cell, "on"): "role",
    (MapRequest, "method"): "gradcam",
    (MapRequest, "layer"): -2,
    (MapRequest, "on"): "role",
    (MapRequest, "distortion"): parse("invert()"),
    (DISTORTIONS["salient"], "layer"): -2,
    (DISTORTIONS["box"], "least"): 0.1,
    (DISTORTIONS["cutout_object"], "least"): 0.1,
    (DISTORTIONS["gates"], "width"): 2,
    (DISTORTIONS["gates"], "spacing"): 9,
    (DISTORTIONS["gates"], "least"): 0.1,
    (DISTORTIONS["shift"], "y"): 0.1,
    (DISTORTIONS["shear"], "y"): 5.0,
    (EditSearch, "space"): "cifar10",
    (EditSearch, "population"): 20,
    (EditSearch, "constraint"): "ssim(0.8)",
    (Dissection, "layer"): -2,
    (Dissection, "sources"): ("colours",),
    (AttentionMass, "occluder"): parse("occlude(0.2)"),
    (AttentionMass, "layers"): (-1,),
    (OrderedDeletion, "method"): "iba",
    (OrderedDeletion, "layer"): -2,
}


def another(owner: type, field: dataclasses.Field[Any], value: Any) -> Any:
    """A value of the field that is not the one it has."""
    for kind in owner.__mro__:
        if (kind, field.name) in OTHERS:
            return OTHERS[kind, field.name]
    choices = typing.get_args(typing.get_type_hints(owner)[field.name])
    choices = tuple(choice for nested in choices for choice in typing.get_args(nested) or (nested,))
    words = [choice for choice in choices if isinstance(choice, str) and choice != value]
    if words:
        return words[0]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1 if isinstance(value, int) else value / 2
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, tuple):
        return tuple(item / 2 if isinstance(item, float) else f"{item}x" for item in value)
    raise AssertionError(f"give a value for {owner.__name__}.{field.name} in OTHERS")


def keys(request: Request, inputs: Inputs = INPUTS) -> str:
    """The key under which the answers to a request are kept, by the plan of a run."""
    if isinstance(request, MapRequest):
        (bound_map,) = make_plan(inputs, Requests(maps=[request]), STORE).maps
        return bound_map.key
    kind = next((kind for kind in KINDS if isinstance(request.distortion, kind)), Distortion)
    asked = Requests(**{KINDS.get(kind, "cells"): [request]})  # type: ignore[arg-type]
    plan = make_plan(inputs, asked, STORE)
    (bound,) = (*plan.cells, *plan.trials, *plan.searches, *plan.surveys)
    return bound.key


KINDS: dict[type, str] = {Trial: "trials", SearchRequest: "searches", SurveyRequest: "surveys"}
STORE = Store(Path("/nowhere"))
OF_INPUTS = [
    (wanted, kind, field.name)
    for wanted in REQUESTS
    for kind in PARTS
    for field in dataclasses.fields(kind)
    # of a model without gradients all but the plainest request is refused
    if (kind, field.name) != (Card, "gradients") or wanted == "cell that needs nothing"
]


def field_of(kind: type, name: str) -> dataclasses.Field[Any]:
    return next(field for field in dataclasses.fields(kind) if field.name == name)


def matters(request: Request, kind: type, name: str) -> bool:
    """Whether the answers to a request depend on a field."""
    if name in ELSEWHERE.get(kind, {}):
        return False
    clean_map = isinstance(request, MapRequest) and request.clean
    needs = request.distortion.needs
    if (kind, name) in NEEDED:
        return not clean_map and NEEDED[kind, name] in needs
    if (kind, name) == (Settings, "map_bits"):  # distortions order pixels by the method's own bytes
        return isinstance(request, MapRequest) or (
            request.saliency is not None and isinstance(request.distortion, Trial)
        )
    if kind is Occluders:
        return not clean_map and "occluders" in needs
    if (kind, name) == (Inputs, "pools"):
        return not clean_map and bool(needs & {"donors", "occluders"})
    if isinstance(request, MapRequest):
        return (kind, name) not in NOT_OF_MAPS
    return True


@pytest.mark.parametrize(("wanted", "kind", "name"), OF_INPUTS)
def test_a_field_of_the_inputs_changes_the_key_if_answers_depend_on_it(wanted: str, kind: type, name: str) -> None:
    request, part = REQUESTS[wanted], PARTS[kind]
    other = another(kind, field_of(kind, name), getattr(part.value, name))
    changed = part.put(replace(part.value, **{name: other}))
    assert (keys(request, changed) != keys(request)) == matters(request, kind, name)


def test_the_size_of_the_data_counts_where_the_model_names_none() -> None:
    inputs = with_card(replace(CARD, canvas=None))
    smaller = replace(inputs.data["test"], size=(24, 24))
    assert keys(REQUESTS["cell"], inputs) != keys(REQUESTS["cell"], replace(inputs, data={"test": smaller}))


def test_other_images_of_the_same_data_are_other_answers() -> None:
    data = flat_data("1")
    parts = [data, limited(data, 4), limited(data, 5), data.at(np.arange(6)[::-1])]
    found = {keys(REQUESTS["cell"], replace(INPUTS, data={"test": part})) for part in parts}
    assert len(found) == len(parts)


def with_roles(inputs: Inputs = INPUTS) -> Inputs:
    """The test images under another role too."""
    labels = {**inputs.labels, ("net", "first", "role"): LABELS}
    return replace(inputs, data={**inputs.data, "role": inputs.data["test"]}, labels=labels)


REQUEST_FIELDS = [(wanted, field.name) for wanted, request in REQUESTS.items() for field in dataclasses.fields(request)]


@pytest.mark.parametrize(("wanted", "name"), REQUEST_FIELDS)
def test_a_field_of_a_request_changes_the_key(wanted: str, name: str) -> None:
    request = REQUESTS[wanted]
    if (wanted, name) == ("map", "seed"):
        assert keys(replace(request, seed=4)) == keys(request)  # nothing is drawn
        return
    other = another(type(request), field_of(type(request), name), getattr(request, name))
    same = keys(replace(request, **{name: other}), with_roles()) == keys(request, with_roles())  # type: ignore[arg-type]
    assert same == (name in ELSEWHERE[type(request)])


def of_the_package(kind: type) -> Iterator[type]:
    """The classes below one that can be asked for, without those of tests."""
    for below in kind.__subclasses__():
        if below.__module__.startswith("snellen.") and not getattr(below, "__abstractmethods__", ()):
            yield below
        yield from of_the_package(below)


STIMULI = {kind.__name__: kind for base in KINDS for kind in of_the_package(base)} | dict(DISTORTIONS)
STIMULUS_FIELDS = [(name, field.name) for name, kind in STIMULI.items() for field in dataclasses.fields(kind)]


def test_every_kind_of_request_is_here() -> None:
    assert {"HueShift", "OrderedDeletion", "EveryBackground", "EditSearch", "SubsetSearch", "Dissection"} <= set(
        STIMULI
    )
    assert snellen.audits.FACTS


@pytest.mark.parametrize(("stimulus", "name"), STIMULUS_FIELDS)
def test_a_parameter_of_what_is_shown_changes_its_identity(stimulus: str, name: str) -> None:
    kind = STIMULI[stimulus]
    before: Any = kind()
    try:
        after = replace(before, **{name: another(kind, field_of(kind, name), getattr(before, name))})
    except ValueError:
        pytest.fail(f"give a value for {kind.__name__}.{name} in OTHERS")
    identity: list[Callable[[Stimulus], str]] = [str, lambda shown: keys(Cell(shown))]  # type: ignore[arg-type]
    for of in identity if isinstance(before, Trial | SearchRequest | SurveyRequest) else identity[:1]:
        assert of(after) != of(before)


@pytest.mark.parametrize("wanted", [wanted for wanted, request in REQUESTS.items() if isinstance(request, Cell)])
def test_a_version_changes_the_key(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    request = REQUESTS[wanted]
    before = keys(request)
    monkeypatch.setattr(type(request.distortion), "version", "another")
    assert keys(request) != before


@pytest.mark.parametrize("kind", [Method, Reference])
def test_a_field_of_a_method_changes_the_keys_of_its_maps(kind: type, monkeypatch: pytest.MonkeyPatch) -> None:
    method = METHODS["iba"]
    for field in dataclasses.fields(kind):
        before = keys(REQUESTS["map"])
        changed = replace(
            method if kind is Method else method.reference,  # type: ignore[arg-type, type-var]
            **{field.name: another(kind, field, getattr(method if kind is Method else method.reference, field.name))},
        )
        new = changed if isinstance(changed, Method) else replace(method, reference=changed)
        with monkeypatch.context() as patched:
            patched.setitem(METHODS, "iba", new)
            assert (keys(REQUESTS["map"]) != before) == (field.name not in ELSEWHERE[kind]), field.name


def test_fields_that_are_not_in_keys_exist_and_have_a_reason() -> None:
    for kind, reasons in ELSEWHERE.items():
        assert set(reasons) <= {field.name for field in dataclasses.fields(kind)}
        assert all(reasons.values())


def test_a_space_of_other_levels_is_another_search(tmp_path: Path) -> None:
    """The file keeps its name, and so does every transformation in it."""
    found = []
    for levels in ([0.5, 0.75], [0.5, 0.8], [0.5]):
        file = tmp_path / "space.yaml"
        file.write_text(f"brightness: {levels}\n")
        found.append((keys(Cell(EditSearch(str(file), length=1))), keys(Cell(SubsetSearch(str(file), length=1)))))
    assert len({key for pair in found for key in pair}) == 6


def test_restarts_subsets_and_seeds_draw_other_tuples() -> None:
    searches = [EditSearch(restart=0), EditSearch(restart=1), EditSearch(restart=999)]
    searches += [SubsetSearch(restart=restart, subset=subset) for restart in (0, 1) for subset in (1, 2, 999)]
    seeds = {search.seed_of(seed) for search in searches for seed in (0, 1, 2)}
    assert len(seeds) == 3 * len(searches)
