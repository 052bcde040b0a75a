"""A small corpus of valid files, one folder per reader: what the mutations start from."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from PIL import Image

import snellen
from snellen.data import Canvas, load_data
from snellen.data.phantom import export
from snellen.engine.keep.request_tally import RequestTally, tally_file
from snellen.engine.keep.survey_checkpoint import Checkpoint
from snellen.exam.run import Run
from snellen.models import Card
from snellen.models.card_memory import remember_card
from snellen.models.checkpoint import save_checkpoint
from snellen.models.compositional import Compositional
from snellen.models.remote.token_use import TokenUse
from snellen.models.zoo import build as build_network
from snellen.sweep.matrix_table import Matrix, MatrixValue, TrainedRow, write_matrix
from snellen.train import train
from snellen.train.shift.tuple_set import WorstTuple, write_tuples

from . import request_calls, user_calls, web_calls
from .builders import build_set, choose_set, cover_set, cut_objects, cut_set
from .service_calls import CHUNKED, PLAIN
from .text_calls import search

SMALL = "size=16&object_size=0.5..0.7"
DATA = "phantom:test?size=16&n=12"
AUDITS = ("occlusion(areas=[0.3])", "interference([shuffle(2)])", "inside_mask", "adversarial_backgrounds", "concepts")
PUBLISHED = "timm:resnet18.a1_in1k"
IMAGES = 6
ENDINGS = ("png", "jpg", "gif", "tiff", "webp", "bmp")


def make_corpus(root: Path) -> Path:
    """Fill a folder; made once, it is only copied from."""
    root.mkdir(parents=True, exist_ok=True)
    for make in (
        exports,
        frames,
        arrays,
        packed,
        image_tables,
        digits,
        small_images,
        annotated,
        tables,
        pictures,
        label_maps,
        weights,
        pretrained,
        stored_networks,
        encoder,
        usual,
        lists,
        run,
        sweep,
        memory,
        unfinished,
        services,
        journal,
        chart_texts,
        users_files,
        requests,
        web_apps,
    ):
        make(root)
    return root


def exports(root: Path) -> None:
    """VOC, COCO, OVIS, cue conflicts, a folder of images and the variants of ImageNet-9, from the phantom world."""
    export(f"phantom:test?{SMALL}", "voc", root / "voc", limit=IMAGES)
    lists = root / "voc" / "ImageSets" / "Main"
    lists.mkdir(parents=True, exist_ok=True)
    names = [file.stem for file in sorted((root / "voc" / "JPEGImages").iterdir())]
    (lists / "some.txt").write_text("\n".join(names[:4]) + "\n")
    export(f"phantom:test?{SMALL}", "coco", root / "coco", limit=IMAGES)
    export(f"phantom:test?frames=3&n=12&occlusion=0.5&{SMALL}", "ovis", root / "ovis")
    export("phantom:test?size=16", "folder", root / "export", limit=IMAGES)
    export("phantom:test?n=60&size=16", "cue-conflict", root / "cue", limit=IMAGES)
    build_set(root, root / "in9")
    mended = root / "mended"
    mended.mkdir(exist_ok=True)
    np.save(mended / "a.npy", np.eye(16, dtype=np.uint8))
    rows = [
        "id,decision,reason,x0,y0,x1,y1,mask",
        "a,accept,,,,,,a.npy",
        "b,accept,,1,2,9,8,",
        "c,reject,other: x,,,,,",
    ]
    (mended / "mended.csv").write_text("\n".join(rows) + "\n")


def frames(root: Path) -> None:
    """Two frames with masks in files, listed in a table; and a table of levels for the clips."""
    folder = root / "frames"
    (folder / "a").mkdir(parents=True, exist_ok=True)
    lines = ["path,mask,label,level,instance"]
    for number, image in enumerate(some_images()[:2]):
        Image.fromarray(image).save(folder / "a" / f"{number}.png")
        Image.fromarray(image[..., 0] > 99).save(folder / "a" / f"{number}_mask.png")
        lines.append(f"a/{number}.png,a/{number}_mask.png,cat,{number},1")
    (folder / "frames.csv").write_text("\n".join(lines) + "\n")
    (folder / "levels.csv").write_text("video,frame,instance,level\n,,,slight\n1,0,,none\n1,1,1,2\n")


def some_images() -> np.ndarray:
    """uint8 [6, 12, 12, 3]"""
    return np.random.default_rng(3).integers(0, 256, (IMAGES, 12, 12, 3)).astype(np.uint8)


def arrays(root: Path) -> None:
    (root / "arrays").mkdir(exist_ok=True)
    content = {
        "images": some_images(),
        "labels": np.arange(IMAGES) % 3,
        "classes": np.array(["cat", "dog", "eel"]),
        "ids": np.array([f"{number:06d}" for number in range(IMAGES)]),
        "masks": some_images()[..., 0] > 99,
        "boxes": np.tile([1.0, 2, 7, 9], (IMAGES, 1, 1)),
        "group": np.arange(IMAGES) // 2,
        "level": np.linspace(0, 1, IMAGES),
        "word": np.array(list("abcdef")),
    }
    np.savez(root / "arrays" / "stored.npz", **content)
    np.savez_compressed(root / "arrays" / "packed.npz", **content)


def packed(root: Path) -> None:
    """The folder of images of `exports` in a tar and in a zip file, and some images with masks in shards of WebDataset."""
    (root / "packed").mkdir(exist_ok=True)
    with tarfile.open(root / "packed" / "photos.tar", "w") as tar:
        tar.add(root / "export", arcname="photos")
    with zipfile.ZipFile(root / "packed" / "photos.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((root / "export").rglob("*.png")):
            archive.write(file, file.relative_to(root / "export"))
    (root / "shards").mkdir(exist_ok=True)
    for shard in range(2):
        with tarfile.open(root / "shards" / f"shard-{shard}.tar", "w") as tar:
            for number, pixels in list(enumerate(some_images()))[shard::2]:
                record = json.dumps({"label": "cat" if number < 3 else "dog", "level": number}).encode()
                fields = {"png": encoded(pixels), "mask.png": encoded(pixels[..., 0] > 99), "json": record}
                for ending, content in fields.items():
                    info = tarfile.TarInfo(f"{number:03d}.{ending}")
                    info.size = len(content)
                    tar.addfile(info, io.BytesIO(content))


def image_tables(root: Path) -> None:
    """Images and masks in a Parquet file, and in what `save_to_disk` of Hugging Face's library writes; and boxes in one."""
    import datasets
    import pyarrow as pa
    import pyarrow.parquet as pq

    datasets.disable_progress_bars()
    images = [{"bytes": encoded(pixels), "path": f"{number}.png"} for number, pixels in enumerate(some_images())]
    masks = [{"bytes": encoded(pixels[..., 0] > 99), "path": None} for pixels in some_images()]
    rows = {"image": images, "mask": masks, "label": [0, 1] * 3, "level": [0.5] * IMAGES, "word": list("abcdef")}
    (root / "image_table").mkdir(exist_ok=True)
    pq.write_table(pa.table(rows), root / "image_table" / "a.parquet", row_group_size=4)
    names, image = datasets.ClassLabel(names=["cat", "dog"]), datasets.Image()
    features = {
        "image": image,
        "mask": image,
        "label": names,
        "level": datasets.Value("float32"),
        "word": datasets.Value("string"),
    }
    datasets.Dataset.from_dict(rows, features=datasets.Features(features)).save_to_disk(root / "saved")
    box = {"bbox": datasets.List(datasets.List(datasets.Value("float32"), length=4)), "category": datasets.List(names)}
    objects = [{"bbox": [[1, 2, 5, 6]] * number, "category": [1] * number} for number in range(IMAGES)]
    features = datasets.Features({"image": image, "objects": box})
    datasets.Dataset.from_dict({"image": images, "objects": objects}, features=features).save_to_disk(
        root / "saved_objects"
    )


def encoded(pixels: np.ndarray) -> bytes:
    """A PNG file."""
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def digits(root: Path) -> None:
    """The files of other domains: MATLAB's, as they are and packed, and the binary ones of STL-10."""
    import scipy.io

    for name in ("digits", "stl"):
        (root / name).mkdir(exist_ok=True)
    content = {"note": "some", "X": some_images().transpose(1, 2, 3, 0), "y": np.arange(IMAGES)[:, None] + 5}
    scipy.io.savemat(root / "digits" / "plain.mat", content)
    scipy.io.savemat(root / "digits" / "packed.mat", content, do_compression=True)
    np.resize(some_images(), (2, 3, 96, 96)).tofile(root / "stl" / "test_X.bin")
    np.array([1, 3], np.uint8).tofile(root / "stl" / "test_y.bin")
    (root / "stl" / "class_names.txt").write_text("cat\ndog\neel\n")


def small_images(root: Path) -> None:
    """Binary files of CIFAR-10, and idx files as of MNIST, packed and not."""
    for name in ("cifar", "mnist"):
        (root / name).mkdir(exist_ok=True)
    (np.arange(4 * 3073) % 10).astype(np.uint8).tofile(root / "cifar" / "test_batch.bin")
    (root / "cifar" / "batches.meta.txt").write_text("\n".join(f"class {number}" for number in range(10)))
    for split, pack in (("t10k", gzip.compress), ("train", bytes)):
        for name, values in (
            ("images-idx3", some_images()[..., 0]),
            ("labels-idx1", np.arange(IMAGES, dtype=np.uint8)),
        ):
            sides = b"".join(side.to_bytes(4, "big") for side in values.shape)
            content = pack(bytes([0, 0, 8, values.ndim]) + sides + values.tobytes())
            (root / "mnist" / f"{split}-{name}-ubyte{'.gz' if split == 't10k' else ''}").write_bytes(content)


def annotated(root: Path) -> None:
    """Images with segments as of COCO-panoptic, and with boxes as of Open Images."""
    for name in ("panoptic/images", "panoptic/things", "openimages"):
        (root / name).mkdir(parents=True, exist_ok=True)
    images, annotations, rows = [], [], ["ImageID,LabelName,XMin,XMax,YMin,YMax,IsGroupOf"]
    for number, pixels in enumerate(some_images()):
        segments = np.zeros((12, 12, 3), np.uint8)
        segments[2:6, 3:9] = (7, 1, 0)
        Image.fromarray(pixels).save(root / "panoptic" / "images" / f"{number}.png")
        Image.fromarray(segments).save(root / "panoptic" / "things" / f"{number}.png")
        Image.fromarray(pixels).save(root / "openimages" / f"{number}.jpg")
        images.append({"id": number, "file_name": f"{number}.png", "width": 12, "height": 12})
        info = [{"id": 263, "category_id": number % 2, "bbox": [3, 2, 6, 4]}]
        annotations.append({"image_id": number, "file_name": f"{number}.png", "segments_info": info})
        rows.append(f"{number},/m/{number % 2},0.1,0.5,0.25,1,0")
    categories = [{"id": 0, "name": "cat", "isthing": 1}, {"id": 1, "name": "dog", "isthing": 1}]
    listing = {"images": images, "annotations": annotations, "categories": categories}
    (root / "panoptic" / "things.json").write_text(json.dumps(listing))
    (root / "openimages" / "boxes.csv").write_text("\n".join(rows))
    (root / "openimages" / "class-descriptions-boxable.csv").write_text("/m/0,Cat\n/m/1,Dog\n")


def label_maps(root: Path) -> None:
    """Images with label maps and the names of their classes; label images of concepts, and a checkpoint of a survey."""
    import torch

    for name in ("images", "labels"):
        (root / "pairs" / name).mkdir(parents=True, exist_ok=True)
    for number, pixels in enumerate(some_images()):
        Image.fromarray(pixels).save(root / "pairs" / "images" / f"{number}.png")
        Image.fromarray(pixels[..., 0] // 64).save(root / "pairs" / "labels" / f"{number}.png")
    (root / "pairs" / "labels" / "classes.txt").write_text("road\nsky\ntree\n")
    for name in ("object", "part"):
        (root / "concepts" / name).mkdir(parents=True, exist_ok=True)
        for number, pixels in enumerate(some_images()):
            Image.fromarray(pixels[..., 0] // 64).save(root / "concepts" / name / f"{number}.png")
    rows = ["number,name,category", "1,road,object", "2,wheel,part", "3,door,part"]
    (root / "concepts" / "concepts.csv").write_text("\n".join(rows) + "\n")
    sums = {name: torch.arange(12).view(3, 4) for name in ("counts", "floor", "seen")}
    Checkpoint(root / "concepts" / "checkpoint.npz").keep(1, 4, sums, now=True)


def tables(root: Path) -> None:
    """Manifests and boxes beside their images and masks."""
    import pandas as pd

    folder = root / "tables"
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for number, pixels in enumerate(some_images()):
        Image.fromarray(pixels).save(folder / "images" / f"{number}.png")
        Image.fromarray((pixels[..., 0] > 99).astype(np.uint8) * 255).save(folder / "images" / f"mask{number}.png")
        place = {"path": f"images/{number}.png", "label": ["cat", "dog"][number % 2]}
        rows.append({**place, "x0": 1, "y0": 2, "x1": 7.5, "y1": 9, "mask": f"images/mask{number}.png"})
        rows[-1] |= {"id": f"{number:03d}", "group": f"g{number // 2}", "level": number / 4, "note": 'é, "quoted"'}
    frame = pd.DataFrame(rows)
    frame.to_csv(folder / "list.csv", index=False)
    frame.to_parquet(folder / "list.parquet", index=False)
    frame[["path", "label", "x0", "y0", "x1", "y1", "level"]].to_csv(folder / "boxes.csv", index=False)


def pictures(root: Path) -> None:
    """A folder per class with one image of every format, cut-outs with transparency, and masks as a folder."""
    for name in ("cat", "dog"):
        (root / "photos" / name).mkdir(parents=True, exist_ok=True)
        for ending, pixels in zip(ENDINGS, some_images()):
            Image.fromarray(pixels).save(root / "photos" / name / f"a.{ending}")
    (root / "occluders").mkdir(exist_ok=True)
    for number, pixels in enumerate(some_images()[:3]):
        clear = np.dstack([pixels, np.where(np.arange(144).reshape(12, 12) % 12 < 7, 255, 0).astype(np.uint8)])
        Image.fromarray(clear).save(root / "occluders" / f"{number}.{('png', 'png', 'webp')[number]}")
    (root / "masks").mkdir(exist_ok=True)
    for number, sample in enumerate(load_data(f"voc:{root}/voc").samples.ids):
        mask = np.zeros((16, 16), np.uint8)
        mask[3:12, 4:13] = 255
        if number % 2:
            np.save(root / "masks" / f"{Path(sample).stem}.npy", mask)
        else:
            Image.fromarray(mask).save(root / "masks" / f"{Path(sample).stem}.png")
    (root / "regions").mkdir(exist_ok=True)
    masks = np.arange(3 * 144).reshape(3, 12, 12) % 7 < 3
    np.save(root / "regions" / "bool.npy", masks)
    np.save(root / "regions" / "bytes.npy", masks.astype(np.uint8) * 255)
    np.save(
        root / "regions" / "boxes.npy",
        np.array([[[0, 1, 5, 6], [2, 2, 12, 9]], [[3, 3, 4, 4]] * 2, [[0, 0, 12, 12]] * 2]),
    )


def usual(root: Path) -> None:
    """What is usual at a layer, as the cache folder keeps it."""
    import torch

    from snellen.explain.statistics import statistics_of, write_statistics

    (root / "usual").mkdir()
    features = torch.arange(4 * 2 * 3 * 3).view(4, 2, 3, 3).float()
    write_statistics(root / "usual" / "usual.safetensors", statistics_of([features]))


def weights(root: Path) -> None:
    """A network as safetensors with a card, and as .pt bare and wrapped."""
    import torch

    folder = root / "weights"
    folder.mkdir(exist_ok=True)
    torch.manual_seed(0)
    classes = list(load_data(DATA).classes)
    network = build_network("smallnet", len(classes))
    card = {
        "arch": "smallnet", "classes": classes, "size": [16, 16], "mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25],
        "accuracy": 0.5, "history": [{"loss": 1.0, "diversity": 0.3}], "recipe": {"arch": "smallnet", "epochs": 1},
        "data": DATA, "fingerprint": "0" * 16,
    }  # fmt: skip
    save_checkpoint(folder / "net.safetensors", network, card)
    torch.save(network.state_dict(), folder / "bare.pt")
    torch.save({"state_dict": network.state_dict(), "epoch": 3}, folder / "inside.pt")


def pretrained(root: Path) -> None:
    """A network of transformers with its image processor, and one of timm, as they are saved."""
    import transformers
    from timm import create_model
    from timm.models import save_for_hf

    sizes = {"embedding_size": 4, "hidden_sizes": [4], "depths": [1], "layer_type": "basic", "num_labels": 3}
    network = transformers.ResNetForImageClassification(transformers.ResNetConfig(**sizes))
    network.save_pretrained(root / "pretrained")
    network.save_pretrained(root / "sharded", max_shard_size="1KB")
    for name in ("pretrained", "sharded"):
        transformers.ConvNextImageProcessor(size={"shortest_edge": 16}).save_pretrained(root / name)
    save_for_hf(create_model("test_resnet", num_classes=3), root / "timm", safe_serialization=True)


def stored_networks(root: Path) -> None:
    """One small network in ONNX, of torch.export and in TorchScript."""
    import torch

    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3),
        torch.nn.BatchNorm2d(4),
        torch.nn.AdaptiveAvgPool2d(2),
        torch.nn.Flatten(),
        torch.nn.Linear(16, 3),
    ).eval()
    images = torch.zeros(2, 3, 16, 16)
    shapes = ({0: torch.export.Dim("batch")},)
    for name in ("onnx", "exported", "script"):
        (root / name).mkdir()
    torch.onnx.export(
        network, (images,), root / "onnx" / "net.onnx", dynamic_shapes=shapes, external_data=False, verbose=False
    )
    torch.export.save(torch.export.export(network, (images,), dynamic_shapes=shapes), root / "exported" / "net.pt2")
    torch.jit.save(torch.jit.trace(network, images), root / "script" / "net.pt")


def encoder(root: Path) -> None:
    """A tiny CLIP, and sentences and names of classes for it."""
    import tokenizers
    import transformers

    folder = root / "encoder"
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"<unk>": 0, "<eos>": 1, "cat": 2, "dog": 3}, unk_token="<unk>")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<eos>", eos_token="<eos>", unk_token="<unk>"
    ).save_pretrained(folder)
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    marks = {"vocab_size": 4, "max_position_embeddings": 8, "eos_token_id": 1, "bos_token_id": 1, "pad_token_id": 1}
    config = transformers.CLIPConfig(
        text_config={**sizes, **marks}, vision_config={**sizes, "image_size": 16, "patch_size": 8}, projection_dim=4
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    square = {"height": 16, "width": 16}
    transformers.CLIPImageProcessor(size={"shortest_edge": 16}, crop_size=square).save_pretrained(folder)
    (folder / "prompts.txt").write_text("a {}.\nmy {}.\n")
    (folder / "names.json").write_text(json.dumps({"cat": ["cat", "tabby"], "dog": "dog"}))


COMPLETION = {
    "choices": [
        {
            "message": {"content": "a cat", "refusal": None},
            "finish_reason": "stop",
            "logprobs": {
                "content": [
                    {"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "a", "logprob": -0.5}]},
                    {"token": " cat", "logprob": -0.25, "top_logprobs": []},
                ]
            },
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 2},
}


def services(root: Path) -> None:
    """Answers of a web service as they go over the wire."""
    for name, content in (("service", PLAIN), ("service_chunked", CHUNKED)):
        (root / name).mkdir()
        (root / name / "answer.http").write_bytes(content)


def journal(root: Path) -> None:
    """The journal of a search that was stopped half-way."""
    (root / "journal").mkdir()
    path = root / "journal" / "journal.jsonl"
    search(path)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:12]))


def chart_texts(root: Path) -> None:
    """Names of models and classes."""
    (root / "chart").mkdir()
    (root / "chart" / "texts.txt").write_text("resnet18\ncat, tabby\n猫\n🦊 fox\n")


def users_files(root: Path) -> None:
    """What commands run: a plug-in, a matrix of networks, categories of classes; and the network of parts that one can train."""
    import torch

    from snellen.models.compositional.network import find_features

    for name in ("plugin", "matrix", "parts"):
        (root / name).mkdir()
    (root / "plugin" / "negate.py").write_text(user_calls.PLUGIN)
    (root / "matrix" / "matrix.yaml").write_text(user_calls.MATRIX)
    (root / "lists" / "stated.json").write_text(json.dumps({"disc": ["round", "2"], "ring": "hoop; tyre"}))
    (root / "lists" / "categories.csv").write_text("name,category\nDoor,part\nwheel,part\n")
    trained = TrainedRow(
        "plain", "smallnet", "none", "none", None, 1, {"lr": 0.1}, 0.5, ["models/plain/net.safetensors"]
    )
    value = MatrixValue("plain", "mean_rank", "synthetic, level 1", 1.5, 1.0, 2.0, 0.25)
    write_matrix(Matrix(root / "matrix", [trained], [value], Run(root / "matrix" / "runs" / "matrix-0")))
    torch.manual_seed(0)
    classes = list(load_data(DATA).classes)
    backbone = build_network("smallnet", len(classes)).eval()
    whole = find_features(Compositional("smallnet", kernels=8, mixtures=1), backbone, torch.zeros(2, 3, 16, 16))
    card = {"arch": str(whole), "classes": classes, "size": [16, 16], "mean": [0.5] * 3, "std": [0.25] * 3}
    save_checkpoint(root / "parts" / "net.safetensors", build_network(str(whole), len(classes)), card)


def requests(root: Path) -> None:
    """Answers of a web service that no table holds yet, and the count of requests."""
    request_calls.keep_answers(root / "requests")


def web_apps(root: Path) -> None:
    """A study in which one person took part, and the reviews of a set."""
    (root / "questions").mkdir()
    classes = list(load_data(DATA).classes)
    halves = [f"{name}: {'round' if number % 2 else 'sharp'}" for number, name in enumerate(classes)]
    (root / "questions" / web_calls.TREE).write_text("\n".join([*halves, "round: thing", "sharp: thing"]) + "\n")
    (root / "questions" / "consent.md").write_text("# Consent\n\nYou may *stop* at any time.\n")
    (root / "questions" / "instructions.md").write_text("Name the **object**.\n")
    web_calls.make_study(root / "study", root / "questions")
    web_calls.take_part(root / "study")
    web_calls.review_set(root / "reviews", root)


def lists(root: Path) -> None:
    """Small files that people write: ids, predictions, label maps, settings, classes and decisions."""
    folder = root / "lists"
    folder.mkdir(exist_ok=True)
    samples = load_data(DATA).samples
    classes = load_data(DATA).classes
    (folder / "ids.txt").write_text("\n".join(f"{number:06d}" for number in range(4)) + "\n")
    answers = [f"{sample},{classes[label]},0.9,none(),0" for sample, label in zip(samples.ids, samples.labels)]
    shuffled = [f"{sample},{label},0.4,shuffle(2),0" for sample, label in zip(samples.ids, samples.labels)]
    noisy = [f'{sample},{label},0.4,"noise(uniform(0, 0.025))",0' for sample, label in zip(samples.ids, samples.labels)]
    lines = ["sample,pred,confidence,distortion,seed", *answers, *shuffled, *noisy]
    (folder / "predictions.csv").write_text("\n".join(lines) + "\n")
    table = pd.read_csv(folder / "predictions.csv", dtype={"sample": str, "pred": str})
    named = [table.assign(model=model, run=model, on="test") for model in ("shape", "other")]
    pd.concat(named).to_parquet(folder / "exported.parquet", index=False, write_page_checksum=True)
    votes = [
        f"p{k},{sample},{classes[label]},none(),1"
        for k in range(2)
        for sample, label in zip(samples.ids, samples.labels)
    ]
    (folder / "people.csv").write_text("\n".join(["observer,sample,pred,distortion,hit", *votes]) + "\n")
    (folder / "map.csv").write_text("class,output,rule,outputs\ncat,0,mean,3\ndog,home,mean,3\n")
    (folder / "synonyms.json").write_text(json.dumps({"cat": ["tabby", "2"], "dog": "hound; house"}))
    (folder / "map.json").write_text(json.dumps({"rule": "mean", "classes": {"cat": [0], "dog": [2, "home"]}}))
    (folder / "numbers.json").write_text(json.dumps({"rule": "sum", "map": {"0": "cat", "1": "dog", "2": None}}))
    (folder / "answer.json").write_text(json.dumps({"probabilities": [[0.2, 0.8], [1, 0]], "classes": ["cat", "dog"]}))
    (folder / "boxes.json").write_text(json.dumps({"boxes": [[[0, 1, 2.5, 3]], []]}))
    (folder / "maps.json").write_text(
        json.dumps({"maps": ["AAECAwQFBgf/", "AAECAwQFBgf/"], "classes": ["sky", "road"]})
    )
    (folder / "confusions.csv").write_text("label,answer,count\ncat,dog,3\n1,0,2\ncow,car,1\ncar,-1,4\n")
    tally = RequestTally(tally_file(folder / "tokens", "http://h/v1"))
    tally.add_tokens(TokenUse(1, 100, 3))
    tally.close()
    (folder / "completion.json").write_text(json.dumps(COMPLETION))
    model = root / "weights" / "net.safetensors"
    settings = f"models: [{model}]\ndata: {DATA}\naudits: [occlusion]\nlimit: 8\nseed: 3\n"
    (folder / "audit.yaml").write_text(settings + "require: ['accuracy > 0.1']\nbatch-size: auto\nquiet: true\n")
    (folder / "recipe.yaml").write_text("arch: smallnet\nepochs: 2\nmix: cutmix(alpha=1)\nlr: 0.1\n")
    (folder / "grid.yaml").write_text("lr: [0.1, 0.2]\nepochs: [1]\nmix: [none, cutmix]\n")
    (folder / "space.yaml").write_text(
        "brightness: [0.8, 1.1]\nrotate: {from: -15, to: 15, count: 11}\n'occlude({}, black)': [0.1, 0.2]\ninvert:\n"
    )
    found = [
        WorstTuple(number, 10 * number, number / 2, ("red(4)", f"contrast({number})"), 0.5) for number in range(1, 4)
    ]
    write_tuples(folder / "esda.transformations.json", "cifar10", found)
    groups = [f"{name},{'round' if number % 2 else 'sharp'}" for number, name in enumerate(classes)]
    (folder / "classes.csv").write_text("\n".join(["class,group", *groups]) + "\n")
    decisions = [f"{sample},accept," for sample in samples.ids] + [f"{samples.ids[0]}x,reject,blurred"]
    (folder / "curation.csv").write_text("\n".join(["id,decision,reason", *decisions]) + "\n")
    (folder / "members.json").write_text(json.dumps({"pet": ["cat", "dog"], "fish": "eel", "frog": []}))
    (folder / "members.yaml").write_text("pet: [cat, dog]\nfish: eel\nfrog: []\n")
    (folder / "members.txt").write_text("eel\ncat\n")
    halves = {"round": list(classes[:6]), "sharp": list(classes[6:])}
    (folder / "groups.json").write_text(json.dumps(halves))
    pairs = [f"{fine},{coarse}" for coarse, members in halves.items() for fine in members]
    (folder / "groups.csv").write_text("\n".join(["fine,coarse", *pairs]) + "\n")


def run(root: Path) -> None:
    """A finished run with every kind of file that one can have, and its page beside others."""
    run = snellen.audit(
        str(root / "weights" / "net.safetensors"), DATA, list(AUDITS), out=root / "run", quiet=True, keep="top5"
    )
    run.report()
    (root / "baseline").mkdir()
    snellen.gate(run, write_baseline=root / "baseline" / "base.json", report=False)


def sweep(root: Path) -> None:
    from snellen.sweep import methods

    model = f"plain={root / 'weights' / 'net.safetensors'}"
    methods([model], {"mixed_same": DATA, "mixed_rand": f"{DATA}&background_bias=1"}, root / "sweep", html=False)


def memory(root: Path) -> None:
    """The card of a published network, as an earlier command remembers it."""
    with patch.dict("os.environ", SNELLEN_HOME=str(root / "memory")):
        canvas = Canvas(32, 32, "crop", 32)
        remember_card(Card("resnet18", PUBLISHED, "0" * 16, ("cat", "dog"), canvas, (0.5,) * 3, (0.2,) * 3))


def train_net(out: Path, **listen: Any) -> object:
    """A training of two epochs."""
    return train("fast", DATA, out, arch="smallnet", epochs=2, batch_size=8, device="cpu", **listen)


def unfinished(root: Path) -> None:
    """A training and builds that were stopped, which the same command continues."""

    def stop(*_: object, **__: object) -> None:
        raise Stopped

    with contextlib.suppress(Stopped):
        train_net(root / "training", progress=stop)
    with contextlib.suppress(Stopped), patch("snellen.build.in9.building.write_manifests", stop):
        build_set(root, root / "building")
    with contextlib.suppress(Stopped), patch("snellen.build.iruo.building.write_tables", stop):
        cut_set(root / "ovis", root / "cutting")
    with contextlib.suppress(Stopped), patch("snellen.build.covering.building.write_tables", stop):
        cover_set(root / "covering")
    with contextlib.suppress(Stopped), patch("snellen.build.hts.building.write_set", stop):
        choose_set(root / "choosing")
    with contextlib.suppress(Stopped), patch("snellen.build.occluders.building.table", stop):
        cut_objects(root / "objects")


class Stopped(Exception):
    """Ends what is to be left unfinished."""
