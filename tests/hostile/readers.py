"""Every reader, in one table: which files of the corpus it is given, which of them are damaged, and what reads them wholly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from . import (
    builder_calls,
    calls,
    region_calls,
    remote_calls,
    request_calls,
    service_calls,
    text_calls,
    user_calls,
    web_calls,
)
from .builder_calls import resumed
from .builders import choose_set, cover_set, cut_objects
from .corpus import DATA, train_net


@dataclass(frozen=True)
class Reader:
    """`call` reads the files in a folder, copied from `folder` of the corpus; those that match `targets` are damaged.

    `share` is how many inputs it gets for one of the others'; `names` says that files may be found under any name; `writes`
    that it may write beside what it reads.
    """

    folder: str
    targets: tuple[str, ...]
    call: Callable[[Path], object]
    share: float = 1.0
    names: bool = False
    writes: bool = False


_IMAGES = ("**/*.png", "**/*.jpg", "**/*.gif", "**/*.tiff", "**/*.webp", "**/*.bmp")
_STOPPED = (".part/.pool/*", ".part/*.json")  # of a stopped build
_RUN = (
    *("run.json", "findings.json", "cells.parquet", "*/*/*.json", "thumbs/**/*.png", "settings.yaml"),
    *(f"{table}/**/*.parquet" for table in ("samples", "shown", "answers", "maps", "trials", "things", "surveys")),
)
_MODEL = "{corpus}/weights/net.safetensors"

READERS: Mapping[str, Reader] = {
    "arrays": Reader("arrays", ("stored.npz",), calls.data("arrays:{}/stored.npz"), 2),
    "arrays, compressed": Reader("arrays", ("packed.npz",), calls.data("arrays:{}/packed.npz"), 2),
    "arrays, audited": Reader("arrays", ("stored.npz",), calls.audited("arrays:{}/stored.npz"), 0.5),
    "tar": Reader("packed", ("photos.tar",), calls.data("tar:{}/photos.tar"), 2),
    "zip": Reader("packed", ("photos.zip",), calls.data("zip:{}/photos.zip"), 2),
    "wds": Reader("shards", ("*.tar",), calls.data("wds:{}/shard-{{0..1}}.tar?mask=mask.png"), 2),
    "parquet": Reader("image_table", ("a.parquet",), calls.data("parquet:{}/a.parquet?mask=mask"), 2),
    "hf, saved": Reader("saved", ("*.arrow", "*.json"), calls.data("hf:{}?mask=mask"), 3),
    "hf, objects": Reader("saved_objects", ("*.arrow", "*.json"), calls.data("hf:{}")),
    "cifar": Reader("cifar", ("*.bin", "*.txt"), calls.data("cifar:{}")),
    "mnist": Reader("mnist", ("*ubyte*",), calls.data("mnist:{}"), 2),
    "mnist, not packed": Reader("mnist", ("train*",), calls.data("mnist:{}?split=train")),
    "panoptic": Reader(
        "panoptic", ("*.json", "**/*.png"), calls.data("panoptic:{0}/things.json?images={0}/images"), 2, names=True
    ),
    "openimages": Reader("openimages", ("*.csv",), calls.data("openimages:{}/boxes.csv"), 2),
    "tar, at an address": Reader("packed", ("photos.tar",), remote_calls.data("tar:{}/photos.tar")),
    "manifest, at an address": Reader("tables", ("list.csv", "images/*"), remote_calls.data("manifest:{}/list.csv")),
    "folder, at an address": Reader("photos", _IMAGES, remote_calls.data("folder:{}"), names=True),
    "arrays, at an address": Reader("arrays", ("stored.npz",), remote_calls.data("arrays:{}/stored.npz"), 0.5),
    "hf, at an address": Reader("saved", ("*.arrow", "*.json"), remote_calls.data("hf:{}?mask=mask")),
    "in9, at an address": Reader(
        "in9", ("*.csv", "*.json", "fg_mask/**/*.npy"), remote_calls.data("in9:{}/mixed_rand"), 0.5
    ),
    "in9, rebuilt from an address": Reader(
        "in9", ("*.csv", "*.json"), remote_calls.there(builder_calls.rebuilding), 0.3, names=True
    ),
    "occluders, at an address": Reader(
        "occluders", ("*.png", "*.webp"), remote_calls.there(calls.occluders), 0.5, names=True
    ),
    "concepts, at an address": Reader(
        "concepts", ("concepts.csv", "**/*.png"), remote_calls.there(calls.concept_labels), 0.5, names=True
    ),
    "onnx, at an address": Reader(
        "onnx", ("net.onnx",), remote_calls.there(calls.weights("onnx:{}/net.onnx#size=16&mean=0.5&std=0.25")), 0.5
    ),
    "file of a web server": Reader("service", ("answer.http",), remote_calls.fetched, 2),
    "manifest": Reader("tables", ("list.csv",), calls.data("manifest:{}/list.csv"), 2),
    "manifest, Parquet": Reader("tables", ("list.parquet",), calls.data("manifest:{}/list.parquet")),
    "manifest, audited": Reader("tables", ("list.*",), calls.audited("manifest:{}/list.csv"), 0.3),
    "manifest, its images": Reader("tables", ("images/*",), calls.data("manifest:{}/list.csv")),
    "boxes": Reader("tables", ("boxes.csv",), calls.data("boxes:{}/boxes.csv"), 2),
    "coco": Reader("coco", ("annotations/*.json",), calls.data("coco:{}/annotations/instances_test.json"), 3),
    "coco, audited": Reader(
        "coco", ("annotations/*.json",), calls.audited("coco:{}/annotations/instances_test.json"), 0.5
    ),
    "ovis": Reader("ovis", ("*.json",), calls.data("ovis:{0}/annotations_test.json?frames={0}/test"), 2),
    "ovis, whole frames": Reader(
        "ovis",
        ("annotations_test.json", "**/*.png"),
        calls.data("ovis:{0}/annotations_test.json?view=frame"),
        names=True,
    ),
    "ovis, cut out": Reader(
        "ovis", ("annotations_test.json", "**/*.png"), builder_calls.cutting, 2, names=True, writes=True
    ),
    "table of frames": Reader(
        "frames", ("frames.csv", "a/*.png"), calls.data("ovis:{0}/frames.csv?frames={0}"), names=True
    ),
    "table of levels": Reader("frames", ("levels.csv",), builder_calls.level_table),
    "voc": Reader("voc", ("Annotations/*.xml",), calls.data("voc:{}"), 2, names=True),
    "voc, masks and split": Reader(
        "voc",
        ("ImageSets/**/*.txt", "SegmentationObject/*.png"),
        calls.data("voc:{}?masks=true&split=some"),
        names=True,
    ),
    "in9": Reader("in9", ("*.csv", "*.json", "fg_mask/**/*.npy"), calls.data("in9:{}/mixed_rand"), 2),
    "in9, rebuilt": Reader("in9", ("*.csv", "*.json", "*.json"), builder_calls.rebuilding, 0.5, names=True),
    "in9, its images": Reader("in9", ("original/**/*.png",), calls.data("in9:{}/original"), names=True),
    "folder": Reader("photos", _IMAGES, calls.data("folder:{}"), 3, names=True),
    "folder, audited": Reader("photos", _IMAGES, calls.audited("folder:{}"), 0.3, names=True),
    "a path alone": Reader("photos", _IMAGES, calls.data("{}"), 0.5, names=True),
    "cue": Reader("cue", ("**/*.png",), calls.data("cue:{}"), names=True),
    "occluders": Reader("occluders", ("*.png", "*.webp"), calls.occluders, names=True),
    "svhn": Reader("digits", ("plain.mat",), calls.data("svhn:{}/plain.mat"), 2),
    "svhn, packed": Reader("digits", ("packed.mat",), calls.data("svhn:{}/packed.mat")),
    "stl": Reader("stl", ("*.bin", "*.txt"), calls.data("stl:{}"), names=True),
    "pairs": Reader("pairs", ("**/*.png",), calls.data("pairs:{0}/images,{0}/labels?ignore=3"), names=True),
    "pairs, classes": Reader(
        "pairs", ("**/*.txt",), calls.data("pairs:{0}/images,{0}/labels?ignore=3"), 0.5, names=True
    ),
    "concepts": Reader("concepts", ("concepts.csv", "**/*.png"), calls.concept_labels, names=True),
    "checkpoint of a survey": Reader("concepts", ("checkpoint.npz",), calls.survey_checkpoint),
    "members": Reader("lists", ("members.json",), calls.members("members.json")),
    "members, YAML": Reader("lists", ("members.yaml",), calls.members("members.yaml")),
    "members, text": Reader("lists", ("members.txt",), calls.members("members.txt")),
    "ids": Reader("lists", ("ids.txt",), calls.ids),
    "answers of people": Reader("lists", ("people.csv",), calls.people),
    "predictions": Reader("lists", ("predictions.csv",), calls.predictions, 0.7),
    "predictions, as exported": Reader("lists", ("exported.parquet",), calls.exported_predictions, 0.7),
    "answer of a service": Reader("lists", ("answer.json",), calls.answer("answer.json", "classification")),
    "answer of a service, boxes": Reader("lists", ("boxes.json",), calls.answer("boxes.json", "detection")),
    "answer of a service, maps": Reader("lists", ("maps.json",), calls.answer("maps.json", "segmentation")),
    "answer of a chat endpoint": Reader("lists", ("completion.json",), calls.completion),
    "tokens of a service": Reader("lists", ("tokens/requests/sent/*.tokens",), calls.tokens, 0.2),
    "service, its bytes": Reader("service", ("answer.http",), service_calls.asked, 2),
    "service, its chunks": Reader("service_chunked", ("answer.http",), service_calls.asked, 2),
    "label map": Reader("lists", ("map.json",), calls.label_map("map.json")),
    "label map, by number": Reader("lists", ("numbers.json",), calls.label_map("numbers.json")),
    "label map, a table": Reader("lists", ("map.csv",), calls.label_map("map.csv")),
    "table of confusions": Reader("lists", ("confusions.csv",), calls.confusions),
    "synonyms of classes": Reader("lists", ("synonyms.json",), calls.synonyms),
    "settings": Reader("lists", ("audit.yaml",), calls.audit_settings),
    "recipe": Reader("lists", ("recipe.yaml",), calls.recipe),
    "safetensors": Reader("weights", ("net.safetensors",), calls.weights("{}/net.safetensors"), 2),
    "safetensors, named": Reader("weights", ("net.safetensors",), calls.weights("a=zoo:smallnet@{}/net.safetensors")),
    "pt": Reader("weights", ("bare.pt",), calls.weights("zoo:smallnet@{}/bare.pt")),
    "pt, wrapped": Reader("weights", ("inside.pt",), calls.weights("zoo:smallnet@{}/inside.pt")),
    "transformers": Reader("pretrained", ("*.json", "*.safetensors"), calls.weights("hf:{}"), 0.5),
    "transformers, in parts": Reader(
        "sharded", ("*.index.json", "*.index.json", "config.json", "*.safetensors"), calls.weights("hf:{}"), 0.5
    ),
    "timm, a folder": Reader("timm", ("config.json", "*.safetensors"), calls.weights("timm:{}"), 0.5),
    "onnx": Reader("onnx", ("net.onnx",), calls.weights("onnx:{}/net.onnx#mean=0.5&std=0.5")),
    "exported": Reader("exported", ("net.pt2",), calls.weights("exported:{}/net.pt2#mean=0.5&std=0.5")),
    "torchscript": Reader("script", ("net.pt",), calls.weights("torchscript:{}/net.pt#size=16&mean=0&std=1"), 0.5),
    "zeroshot": Reader(
        "encoder",
        ("*.json", "*.safetensors", "*.txt", "*.txt"),
        calls.weights("zeroshot:hf:{0}#classes=cat,dog&prompts={0}/prompts.txt&synonyms={0}/names.json"),
        0.3,
    ),
    "ensemble": Reader(
        "exported",
        ("net.pt2",),
        calls.weights("ensemble:{0}/net.pt2#mean=0.5&std=0.5,(tta:{0}/net.pt2#mean=0&std=1)"),
        0.2,
    ),
    "statistics of features": Reader("usual", ("usual.safetensors",), calls.usual, 0.5),
    "training, its start": Reader("weights", ("net.safetensors",), calls.training_start),
    "training, again": Reader("training", ("state/*.pt",), train_net, writes=True),
    "building, again": Reader("building", _STOPPED, resumed(builder_calls.building_again), writes=True),
    "cutting, again": Reader("cutting", _STOPPED, resumed(builder_calls.cutting_again), writes=True),
    "covering, again": Reader("covering", _STOPPED, resumed(cover_set), 0.5, writes=True),
    "choosing, again": Reader("choosing", _STOPPED, resumed(choose_set), 0.5, writes=True),
    "objects, again": Reader("objects", _STOPPED, resumed(cut_objects), 0.5, writes=True),
    "card memory": Reader("memory", ("cards/*.json",), calls.card_memory),
    "set of tuples": Reader("lists", ("*.transformations.json",), calls.tuples),
    "grid": Reader("lists", ("grid.yaml",), calls.grid),
    "space": Reader("lists", ("space.yaml",), calls.space),
    "journal of a search": Reader("journal", ("journal.jsonl",), text_calls.journal, 2, writes=True),
    "texts of a chart": Reader("chart", ("texts.txt",), text_calls.chart_texts, 1),
    "run": Reader("run", _RUN, calls.stored_tables, 1.5, names=True),
    "run, maps": Reader("run", ("maps/**/*", "run.json"), calls.stored_maps, names=True),
    "run, report": Reader("run", _RUN, calls.stored_report, 0.5, names=True, writes=True),
    "run, audited again": Reader("run", _RUN, calls.audit_again, 0.5, names=True, writes=True),
    "run, checked": Reader("run", _RUN, calls.checked, 0.3, names=True),
    "baseline": Reader("baseline", ("base.json",), calls.baseline, 2),
    "sweep": Reader("sweep", ("sweep.json",), calls.sweep, writes=True),
    "sweep, again": Reader("sweep", ("**/*.json", "**/*.parquet", "sweep.json"), calls.sweep_again, 0.2, writes=True),
    "classes": Reader("lists", ("classes.csv",), calls.classes),
    "curation": Reader("lists", ("curation.csv",), calls.curation),
    "curation, mended": Reader("mended", ("mended.csv", "*.npy"), calls.mended),
    "groups": Reader("lists", ("groups.json",), calls.groups("groups.json")),
    "groups, CSV": Reader("lists", ("groups.csv",), calls.groups("groups.csv")),
    "masks": Reader("masks", ("*",), calls.masks, names=True),
    **{
        f"masks, measured: {name}": Reader("regions", (f"{name}.npy",), region_calls.measured(f"{name}.npy"))
        for name in ("bool", "bytes", "boxes")
    },
    "export, again": Reader("export", ("phantom.json",), builder_calls.export_again, 0.5, writes=True),
    "explain": Reader("photos", ("cat/*",), calls.explained, 0.3, names=True, writes=True),
    "plug-in": Reader("plugin", ("negate.py",), user_calls.plugin),
    "matrix, its rows": Reader("matrix", ("matrix.yaml",), user_calls.matrix_rows, 2),
    "matrix, its result": Reader("matrix", ("matrix.json",), user_calls.matrix_result),
    "categories of classes": Reader("lists", ("categories.csv",), user_calls.categories, 0.5),
    "compositional": Reader("parts", ("net.safetensors",), calls.weights("{}/net.safetensors")),
    "answers of a service, kept": Reader("requests", ("requests/test/*.jsonl",), request_calls.answers, 2, writes=True),
    "requests, counted": Reader("requests", ("requests/sent/*",), request_calls.tally, 0.5, writes=True),
    "study, made": Reader("questions", ("tree.yaml", "*.md"), web_calls.study_made, 0.7, writes=True),
    "study": Reader(
        "study", ("study.json", "study.json", "pictures/*.png", "masks/*.png"), web_calls.study, 0.7, writes=True
    ),
    "study, its store": Reader("study", ("study.sqlite",), web_calls.study, writes=True),
    "reviews": Reader("reviews", ("reviews.sqlite",), web_calls.reviews, writes=True),
    "reviews of a damaged set": Reader(
        "in9", ("*.csv", "*.json", "original/**/*.png", "fg_mask/**/*.npy"), web_calls.reviewed, 0.5, writes=True
    ),
    "command: check": Reader(
        "baseline",
        ("base.json",),
        calls.command("check", "{corpus}/run", "--baseline", "{}/base.json", "--require", "no_worse(accuracy)"),
        0.3,
    ),
    "command: match": Reader(
        "lists",
        ("stated.json",),
        calls.command("match", _MODEL, DATA, "--synonyms", "{}/stated.json"),
        0.3,
    ),
    "command: audit": Reader(
        "coco",
        ("**/*",),
        calls.command("audit", _MODEL, "--data", "coco:{}/annotations/instances_test.json", "--dry-run"),
        0.3,
    ),
    "command: audit, settings": Reader(
        "lists",
        ("audit.yaml",),
        calls.command("audit", _MODEL, "--data", DATA, "--config", "{}/audit.yaml", "--dry-run"),
        0.3,
    ),
    "command: report": Reader("run", _RUN, calls.command("report", "{}"), 0.1, names=True, writes=True),
    "command: sql": Reader(
        "run", ("**/*.parquet",), calls.command("sql", "{}", "select * from answers"), 0.3, names=True
    ),
}
