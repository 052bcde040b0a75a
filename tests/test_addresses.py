"""What takes an address (`memory://`): every kind of data and of model and every option is read there as on this machine, or is
refused in a line. Each has its place in a table here and in docs/start/remote.md, so that a new one cannot be forgotten."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest
import torch
import typer
from timm import create_model
from timm.models import save_for_hf

import snellen
from snellen.cli import app, main
from snellen.data import OPTIONS as SAMPLE_OPTIONS
from snellen.data import SCHEMES, load_data
from snellen.errors import UserError
from snellen.files import expand_home
from snellen.models import load_model, subjects_of
from snellen.models.checkpoint import read_card, save_checkpoint
from snellen.models.kinds import KINDS as MODELS
from snellen.models.text_settings import split_settings
from snellen.models.zoo import build

from .addressed import READ, cut
from .data.test_remote_data import KINDS as DATA
from .hostile import calls, corpus, user_calls
from .served import served

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "start" / "remote.md").read_text()
BUCKET = "memory://corpus"

# Data: what has no path, and what is refused with a line. All others are in `DATA`, whose tests compare them with files.
DATA_WITHOUT = {"phantom"}
DATA_REFUSED = {
    "python:memory://corpus/nets.py:data": "code must lie on this machine",
    "torchvision:CIFAR10?root=memory://corpus": "torchvision reads files of this machine alone",
}
# Options of data: those of files and folders stand in texts of `DATA`; `annotations` is a folder below the data's own.
SAMPLE_WORDS = {"without", "rename", "random_labels", "labels_seed"}
DATA_PATHS = {"annotations", "classes", "frames", "ids", "images", "labels", "names", "root", "segments"}
DATA_WORDS = {
    *("boxes", "config", "first", "folder", "groups", "id", "ignore", "image", "label", "mask", "masks", "max", "object"),
    *("objects", "part", "split", "stream", "stuff", "suffix", "transposed", "view"),
}  # fmt: skip

MODELS_WITHOUT = {"torchvision", "observer", "opencv", "http", "https"}
MODELS_READ = {
    "zoo": "{}/weights/net.safetensors",
    "zoo, weights": "zoo:smallnet@{0}/weights/bare.pt#size=16&mean=0.5&std=0.25&classes={0}/lists/names.txt",
    "zoo, several": "zoo:smallnet@{}/weights/net*.safetensors",
    "timm": "timm:{}/timm",
    "onnx": "onnx:{}/onnx/net.onnx#size=16&mean=0.5&std=0.25",
    "exported": "exported:{}/exported/net.pt2#size=16&mean=0.5&std=0.25",
    "predictions": "predictions:{}/lists/predictions.csv",
    "ensemble": "ensemble:zoo:@{0}/weights/net.safetensors,zoo:smallnet@{0}/weights/other.safetensors",
    "tta": "tta(flip):{}/weights/net.safetensors",
}
MODELS_REFUSED = {
    "python:memory://corpus/nets.py:net": "code must lie on this machine",
    "torchscript:memory://corpus/script/net.pt#size=16&mean=0.5&std=0.25": "a program must lie on this machine",
    "hf:memory://corpus/pretrained": "a model of transformers must lie on this machine",
    "zeroshot:hf:memory://corpus/encoder#classes=cat,dog": "a model of transformers must lie on this machine",
}

WRITTEN = {"--apply", "--figures", "--junit", "--markdown", "--out", "--page", "--write-baseline"}
HERE = {"--plugin", "RUN", "OTHER", "STUDY"}
# What stands for values that are no paths, and the options of TEXT that are none either.
PLAIN = {
    *("N", "NUMBER", "CLASS", "TYPE", "SECONDS"),
    *("DEVICE", "LAYER", "METHOD", "NAME", "ROLE", "DISTORTION", "AUDITS", "COLUMN", "COLUMNS"),
    *("HOST:PORT", "URL", "K:N", "FORMAT", "SCENE", "WORLD", "FIRST,SECOND", "NAME=VALUE", "YYYY-MM-DD", "ARCH", "QUERY", "KIND"),
}  # fmt: skip
NAMED = {"--format", "--timeout"}  # words and numbers of which nothing else is shown
WORDS = {
    *("--against", "--apart", "--completion", "--constraint", "--distortion", "--host", "--layer", "--method", "--mix"),
    *("--model", "--proxy", "--require", "--schedule", "--split", "--title", "--url"),
}  # fmt: skip


def parameters() -> Iterator[tuple[list[str], str, str]]:
    """Every command, each of its options or arguments, and what stands for the value."""

    def walk(command: Any, path: list[str]) -> Iterator[tuple[list[str], str, str]]:
        for name, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, [*path, name])
        for parameter in [] if hasattr(command, "commands") else command.params:
            if not getattr(parameter, "is_flag", False):
                shown = (parameter.metavar or "").removesuffix("...")
                is_option = parameter.param_type_name == "option"
                yield path, parameter.opts[0] if is_option else shown or parameter.name.upper(), shown

    return walk(typer.main.get_command(app), [])


def is_plain(name: str, shown: str) -> bool:
    """Whether no path can be meant: numbers, choices among words, and texts that are listed."""
    shown = shown.split(",")[0] if shown.endswith(",…") else shown
    words = all(part == "N" or re.fullmatch("[a-z0-9_-]+", part) for part in shown.split("|"))
    listed = name in NAMED or shown in PLAIN or (shown == "TEXT" and name in WORDS)
    return listed or words or (not name.startswith("--") and name in PLAIN)


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Files of every kind that options name."""
    root = tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(calls.CORPUS, str(root))
        for make in (corpus.exports, corpus.frames, corpus.pictures, corpus.label_maps, corpus.weights, corpus.lists):
            make(root)
        write_options(root)
        yield root


def write_options(root: Path) -> None:
    """What the corpus has not, or not for these calls."""
    classes = load_data(corpus.DATA).classes
    name = (root / "in9" / "curation.csv").read_text().splitlines()[1].partition(",")[0]
    (root / "curation.csv").write_text(f"id,decision,reason,x0,y0,x1,y1\n{name},accept,,1,2,9,8\n")
    (root / "tree.yaml").write_text("".join(f"{one}: thing\n" for one in classes))
    (root / "text.md").write_text("# Consent\n\nYou may stop.\n")
    (root / "prompts.txt").write_text("a {}.\nmy {}.\n")
    (root / "lists" / "names.txt").write_text("\n".join(classes))
    people = pd.read_csv(root / "lists" / "people.csv", dtype=str).assign(label=lambda table: table["pred"])
    people.loc[people.index % 5 == 0, "pred"] = classes[0]
    people.to_csv(root / "pilot.csv", index=False)
    people.loc[people.index % 3 == 0, "pred"] = classes[1]
    people.loc[people["observer"] == "p0", ["sample", "pred"]].to_csv(root / "model.csv", index=False)
    (root / "matrix").mkdir()
    (root / "matrix" / "matrix.yaml").write_text(user_calls.MATRIX)
    run = snellen.audit("observer:shape", corpus.DATA, [], out=root / "run", quiet=True, report=False)
    snellen.gate(run, write_baseline=root / "base.json", report=False)
    save_for_hf(create_model("test_resnet", num_classes=3), root / "timm", safe_serialization=True)
    corpus.stored_networks(root)
    net = root / "weights" / "net.safetensors"
    save_checkpoint(net.with_name("other.safetensors"), build("smallnet", len(classes)), read_card(net))


@pytest.fixture
def there(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same files at an address."""
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    store = fsspec.filesystem("memory")
    files = [file for file in here.rglob("*") if file.is_file()]
    store.pipe({f"/corpus/{file.relative_to(here).as_posix()}": file.read_bytes() for file in files})
    yield expand_home(BUCKET)
    store.rm("/corpus", recursive=True)


def plain(value: Any, place: Any) -> Any:
    """A value to compare: arrays by their bytes, places without the folder or address that they lie in."""
    if isinstance(value, np.ndarray | torch.Tensor):
        array = np.asarray(value)
        return (
            plain(array.tolist(), place) if array.dtype == object else (str(array.dtype), array.shape, array.tobytes())
        )
    if isinstance(value, pd.DataFrame):
        return value.to_csv()
    if isinstance(value, str | Path):
        return str(value).replace(str(place), "")
    if isinstance(value, dict):
        return {plain(name, place): plain(one, place) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one, place) for one in (value if isinstance(value, list | tuple) else sorted(map(str, value)))]
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name), place) for one in fields(value)}
    return repr(value) if isinstance(value, float) else value


@pytest.mark.parametrize("option", READ)
def test_an_option_reads_at_an_address_what_it_reads_here(option: str, here: Path, there: Path) -> None:
    assert plain(READ[option](there), there) == plain(READ[option](here), here)


@pytest.mark.parametrize("model", MODELS_READ)
def test_a_model_at_an_address_is_the_same(model: str, here: Path, there: Path) -> None:
    def read(place: Path) -> object:
        text = MODELS_READ[model].format(place)
        if model == "predictions":
            return [(subject.card, load_model(text).recorded) for subject in subjects_of(text)]
        return calls.weights(text)(place)

    assert plain(read(there), there) == plain(read(here), here)


def test_a_folder_of_timm_is_read_behind_https_too(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files have known names; what may change there is not remembered under its name."""
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    read = calls.weights("timm:{}/timm")
    with served(here) as server:
        assert plain(read(server.address), server.address) == plain(read(here), here)
    assert not (tmp_path / "home" / "cards").exists()


@pytest.mark.parametrize("text", [*DATA_REFUSED, *MODELS_REFUSED])
def test_what_cannot_be_read_there_is_told_in_a_line(text: str, there: Path) -> None:
    load, why = (load_data, DATA_REFUSED) if text in DATA_REFUSED else (load_model, MODELS_REFUSED)
    with pytest.raises(UserError, match=why[text]) as caught:
        load(text)
    assert "\n" not in str(caught.value)


def test_every_kind_of_data_has_its_place() -> None:
    read = {text.partition(":")[0] for text in DATA.values() if not text.startswith("{")}
    refused = {text.partition(":")[0] for text in DATA_REFUSED}
    assert sorted([*read, *refused, *DATA_WITHOUT]) == sorted(SCHEMES)
    assert [name for name in SCHEMES if f"`{name}:" not in PAGE] == []


def test_every_option_of_data_has_its_place() -> None:
    pattern = re.compile(
        r'(?:conditions|options)\.pop\("(\w+)"|(?:named|switch)\((?:table\.)?(?:conditions|options), "(\w+)"'
    )
    source = "".join(file.read_text() for file in (ROOT / "src/snellen/data").rglob("*.py"))
    used = {first or second for first, second in pattern.findall(source)}
    assert used | set(SAMPLE_OPTIONS) == DATA_PATHS | DATA_WORDS | SAMPLE_WORDS
    given = {name for text in DATA.values() for name in re.findall(r"[?&](\w+)=\{", text)}
    assert given == DATA_PATHS - {"annotations"}
    assert [name for name in given if f"?{name}=" not in PAGE] == []


def test_every_kind_of_model_has_its_place() -> None:
    read = {name.partition(",")[0] for name in MODELS_READ} | {"chat"}  # its file of #distractors= is among the options
    refused = {text.partition(":")[0] for text in MODELS_REFUSED}
    assert sorted([*read, *refused, *MODELS_WITHOUT]) == sorted(MODELS)
    assert [name for name in (*read, *refused) if f"`{name}:" not in PAGE] == []


def test_every_option_has_its_place() -> None:
    """Whether it reads, writes, must be of this machine, or is no path."""
    for command, name, shown in parameters():
        key = f"{name} {shown}" if name.startswith("--") else name
        places = [key in READ, name in WRITTEN, name in HERE, is_plain(name, shown)]
        assert sum(places) == 1, f"{' '.join(command)} {key}: {places}"
    listed = {name.partition(" ")[0] for name in READ if name.startswith("--")} | WRITTEN | {"--plugin"}
    assert [name for name in sorted(listed) if f"`{name}`" not in PAGE] == []


NEEDED = {
    "report": ["run"],
    "export": ["run"],
    "study backup": ["study"],
    "study export": ["study"],
    "curate": ["a:b"],
    "check": ["run"],
    "compare": ["run"],
}


def refusal(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as stopped:
        main(words)
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (2, ""), told
    (line,) = told.err.strip().splitlines()
    return line


def test_nothing_is_written_to_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [(command, name) for command, name, _ in parameters() if name in WRITTEN]
    assert len(asked) > 25
    for command, name in asked:
        before = NEEDED.get(" ".join(command), [])
        line = refusal([*command, *before, name, f"{BUCKET}/new"], capsys)
        assert f"'{BUCKET}/new' is an address, and what is written stays on this machine" in line, (command, line)


@pytest.mark.parametrize(
    "words",
    ["report RUN", "export RUN", "sql RUN x", "compare RUN", "check RUN --require accuracy>0", "study status RUN"],
)
def test_runs_and_studies_are_folders_of_this_machine(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal([word.replace("RUN", f"{BUCKET}/run") for word in words.split()], capsys)
    assert re.search(
        f"'{BUCKET}/run' is an address; (a run folder|the folder of a study) must lie on this machine", line
    )


def test_beside_an_address_nothing_is_written(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a place to write follows from what is read, it is asked for."""
    for words in ([f"{BUCKET}/weights/net.safetensors", f"{BUCKET}/photos/cat/a.png"], [f"in9:{BUCKET}/in9"]):
        line = refusal(["explain" if len(words) == 2 else "curate", *words], capsys)
        assert "an address, beside which nothing is written; give --out" in line


def test_code_is_not_run_from_an_address(capsys: pytest.CaptureFixture[str]) -> None:
    line = refusal(["audit", "a:b", "--data", "c:d", "--plugin", f"{BUCKET}/mine.py"], capsys)
    assert f"'{BUCKET}/mine.py' is an address; code must lie on this machine" in line


def test_settings_behind_an_address_ask_nobody(tmp_path: Path) -> None:
    """A `#` in a file's name is looked for on this machine alone."""
    with served(tmp_path) as server:
        assert split_settings(f"{server.address}/net.onnx#size=8") == (f"{server.address}/net.onnx", "size=8")
        assert server.requests == []


@pytest.mark.slow
def test_processes_that_build_read_the_web(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the first process learnt of a frame, its size and mark, goes along: none is asked about twice."""
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    frames = len(list((here / "ovis" / "test").rglob("*.png")))
    with served(here / "ovis") as server:
        assert cut(f"{server.address}/annotations_test.json", f"{server.address}/test", workers=2) == cut(
            here / "ovis" / "annotations_test.json", here / "ovis" / "test"
        )
        assert server.count("LOOK") == server.count("GET") == frames + 1


def test_an_address_after_config_stays_one(there: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        refusal(["audit", "--config", f"{BUCKET}/none.yaml"], capsys) == f"error: no settings file '{BUCKET}/none.yaml'"
    )
