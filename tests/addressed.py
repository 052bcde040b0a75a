"""What reads the files that options name, of a place (a folder of this machine, or its address)."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import snellen
from snellen.build.in9 import build as build_in9
from snellen.build.in9 import rebuild
from snellen.build.iruo import build as build_iruo
from snellen.build.synthetic import build as build_synthetic
from snellen.data import load_data
from snellen.exam.match_request import MatchRequest
from snellen.exam.request import AuditRequest
from snellen.exam.study_plan_request import StudyPlanRequest
from snellen.exam.study_planning import planned_study
from snellen.explain import explain_images
from snellen.files import expand_home, read_text
from snellen.models.adapters.zeroshot import OPTIONS as ZERO_SHOT
from snellen.models.chat.settings import ASKING
from snellen.models.zero_shot.prompts import read_prompts
from snellen.sweep.by_variant import in9_variants
from snellen.sweep.matrix_rows import read_rows
from snellen.sweep.request import VariantsRequest
from snellen.sweep.subclasses import subclasses
from snellen.train.feature_augmentation import parse_dfa
from snellen.train.request import TrainRequest, resolve_training
from snellen.web.curate.outcome import KEPT, LIST
from snellen.web.study.questions import question_of
from snellen.web.study.request import StudyRequest

from .hostile import calls, corpus, web_calls


@contextmanager
def new_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "new"


def files_of(folder: Path) -> dict[str, str]:
    """Digests of what was built, but for what names its sources."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix not in (".json", ".yaml", ".md")]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def cut(annotations: Any, frames: Any, **settings: Any) -> object:
    with new_folder() as out:
        build_iruo(str(annotations), str(frames), out, min_clear=0, **{"workers": 1, **settings})
        return files_of(out)


def cut_with_levels(place: Any) -> object:
    """`build iruo`: annotations, frames and a table of levels."""
    ovis = f"{place}/ovis"
    return cut(f"{ovis}/annotations_test.json", f"{ovis}/test", level_table=f"{place}/frames/levels.csv")


def set_of_masks(place: Any) -> object:
    """`build in9`: images with boxes, masks in a folder, classes in a table, and what people decided."""
    with new_folder() as out:
        more = {"masks": f"{place}/masks", "curation": f"{place}/curation.csv", "size": 16, "balance": False}
        build_in9(f"voc:{place}/voc", out, f"{place}/lists/classes.csv", workers=1, **more)
        return files_of(out)


def rebuilt(place: Any) -> object:
    with new_folder() as out:
        rebuild(f"{place}/in9", f"{place}/curation.csv", out, workers=1, balance=False)
        return files_of(out)


def curated(place: Any) -> object:
    """A set that people look through, and what is left of it by their list."""
    with new_folder() as out:
        web_calls.review_set(out, place)
        web_calls.settled(place / "in9", out)
        return [(out / name).read_text() for name in (LIST, KEPT)], rebuilt(place)


def covered(place: Any) -> object:
    with new_folder() as out:
        few = {"types": ("object",), "size": 16, "workers": 1, "limit": 3}
        build_synthetic(f"voc:{place}/voc?masks=true", out, occluders=f"{place}/occluders", **few)
        return files_of(out)


def explained(place: Any) -> object:
    with new_folder() as out:
        explain_images(f"{place}/weights/net.safetensors", [f"{place}/photos/cat/a.png"], out=out)
        return [hashlib.sha256(file.read_bytes()).hexdigest() for file in out.iterdir()]


def gated(place: Any) -> object:
    """A run of this machine beside a baseline file."""
    with new_folder() as out:
        run = snellen.audit("observer:shape", corpus.DATA, [], out=out, quiet=True, report=False)
        return snellen.gate(run, f"{place}/base.json", report=False).outcomes


def question(place: Any) -> object:
    data = load_data(corpus.DATA)
    return question_of(StudyRequest(source="x", out="x", protocol="kassaw2024", tree=f"{place}/tree.yaml"), data)


def text_of(name: str) -> Callable[[Any], object]:
    """Markdown that a study shows."""
    return lambda place: read_text(getattr(StudyRequest(source="x", out="x", **{name: f"{place}/text.md"}), name))


def plan(place: Any) -> object:
    people, own = f"{place}/pilot.csv", f"{place}/model.csv"
    return planned_study(StudyPlanRequest(gap=0.1, pilot=people, model=own, images=(20,)))


def variants(place: Any) -> object:
    asked = VariantsRequest(in9=f"{place}/in9", in9_test=f"{place}/in9", out="x")
    learnt, shown = in9_variants(asked.in9, asked.in9_test)
    texts = [text.partition("=")[2] for text in (learnt[0], shown[-1])]
    return learnt, [calls.look_at(load_data(text)) for text in texts]


def occluders(place: Any) -> object:
    return calls.occluders(AuditRequest(models=("a:b",), data="c:d", occluders=f"{place}/occluders").occluders)


def grouped(place: Any) -> object:
    data = load_data(corpus.DATA)
    divided = subclasses(data, groups=f"{place}/lists/groups.json")
    return divided.groups, divided.fine(data)


def recipe(place: Any) -> object:
    asked = {"recipe": f"{place}/lists/recipe.yaml", "data": corpus.DATA, "out": "x"}
    return resolve_training(TrainRequest, asked, None).how


def label_map(place: Any) -> object:
    return calls.label_map("map.json")(AuditRequest.read({"labels": f"{place}/lists/map.json"} | ASKED).labels.parent)


ASKED = {"models": ("a:b",), "data": "c:d"}
SEEN_AS_DATA = calls.data("folder:{}/photos")  # what takes data takes what `DATA` lists

# By option and what stands for its value (or the argument's name): what reads it.
READ: dict[str, Callable[[Any], object]] = {
    "--annotations FILE": cut_with_levels,
    "--baseline RUN|FILE": gated,
    "--calibrate MODEL": calls.weights("{}/weights/net.safetensors"),
    "--classes nine|all|FILE": set_of_masks,
    "--concepts SOURCE": lambda place: calls.concept_labels(place / "concepts")[0::2],
    "--config FILE": lambda place: calls.audit_settings(place / "lists"),
    "--consent PATH": text_of("consent"),
    "--curation FILE": set_of_masks,
    "--data DATA": SEEN_AS_DATA,
    "--donors DATA": SEEN_AS_DATA,
    "--donors TEXT": SEEN_AS_DATA,
    "--frames DIR": cut_with_levels,
    "--grid FILE": lambda place: calls.grid(place / "lists"),
    "--groups FILE": grouped,
    "--in9 DIR": variants,
    "--in9-test DIR": variants,
    "--init FILE|MODEL": lambda place: calls.training_start(place / "weights"),
    "--instructions PATH": text_of("instructions"),
    "--labels FILE": label_map,
    "--level-table FILE": cut_with_levels,
    "--masks data|DIR|python:…": set_of_masks,
    "--model FILE": plan,
    "--occluders DIR": occluders,
    "--occluders PATH": covered,
    "--partner DATA": SEEN_AS_DATA,
    "--pilot FILE": plan,
    "--recipe NAME|FILE": recipe,
    "--robust TEXT": lambda place: parse_dfa(f"dfa('{place}/occluders')").pool.fingerprint,
    "--set NAME|FILE": lambda place: calls.space(place / "lists"),
    "--synonyms FILE": lambda place: calls.synonyms(
        MatchRequest(model="a:b", data="c:d", synonyms=f"{place}/lists/synonyms.json").synonyms.parent
    ),
    "--target DATA": SEEN_AS_DATA,
    "--test DATA": SEEN_AS_DATA,
    "--test NAME=DATA": SEEN_AS_DATA,
    "--train DATA": SEEN_AS_DATA,
    "--train NAME=DATA": SEEN_AS_DATA,
    "--tree iruo|data|FILE": question,
    "DATA": SEEN_AS_DATA,
    "DATASET": curated,
    "IMAGE": explained,
    "MATRIX": lambda place: read_rows(expand_home(f"{place}/matrix/matrix.yaml")),
    "MODEL": calls.weights("{}/weights/net.safetensors"),
    "SOURCE": SEEN_AS_DATA,
    "#prompts=": lambda place: read_prompts(ZERO_SHOT["prompts"](f"{place}/prompts.txt")),
    "#distractors=": lambda place: calls.confusions(ASKING["distractors"](f"{place}/lists/confusions.csv").parent),
}
