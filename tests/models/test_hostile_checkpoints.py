"""Checkpoints that are damaged, that lie, or that are something else: each is refused in one line that names the file."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save

from snellen.errors import UserError
from snellen.models.card import Card
from snellen.models.card_memory import recall_card, remember_card
from snellen.models.checkpoint import load_state, read_card, save_checkpoint
from snellen.models.subject import load_text, subjects_of
from snellen.models.text import parse_text
from snellen.models.zoo import NETWORKS
from snellen.train.init_from import Start

CARD = {"arch": "smallnet", "classes": ["a", "b", "c"], "size": [32, 32], "mean": [0.5] * 3, "std": [0.2] * 3}
WEIGHTS = {name: tensor.contiguous() for name, tensor in NETWORKS["smallnet"](3).state_dict().items()}


def refused(path: Path, text: str | None = None) -> str:
    """The line that refuses a checkpoint, which names its file."""
    with pytest.raises(UserError) as error:
        subjects_of(text or f"zoo:smallnet@{path}")[0].model("cpu")
    line = str(error.value)
    assert path.name in line
    assert len(line.splitlines()) == 1
    return line


def with_card(path: Path, card: Any) -> Path:
    path.write_bytes(save(WEIGHTS, metadata={"snellen": card if isinstance(card, str) else json.dumps(card)}))
    return path


def with_header(path: Path, header: bytes, length: int | None = None) -> Path:
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header + b"\0" * 64)
    return path


def saved(content: Any) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("classes", "abc", "classes: expected"),
        ("classes", [1, 2, 3], "classes[0]: expected str"),
        ("classes", {"a": 1}, "classes: expected"),
        ("classes", [], "classes: expected"),
        ("size", 32, "size: expected"),
        ("size", [32], "size: expected"),
        ("size", ["a", "b"], "size[0]: expected int"),
        ("size", [0, 32], "size[0]: expected int >= 1"),
        ("size", [32, -1], "size[1]: expected int >= 1"),
        ("size", [32, 10**9], "size[1]: expected int <= 10000"),
        ("size", [32.5, 32], "size[0]: expected int"),
        ("size", [True, True], "size[0]: expected int"),
        ("mean", "grey", "mean: expected"),
        ("mean", [0.5], "mean: expected"),
        ("mean", [0.5, "a", 0.5], "mean[1]: expected float"),
        ("mean", None, "expected mean and std together"),
        ("std", [0, 0.2, 0.2], "std[0]: expected float > 0"),
        ("std", [0.2, 1e300, 0.2], "std[1]: expected float <= 1000"),
        ("std", [[0.2], 0.2, 0.2], "std[0]: expected float"),
        ("accuracy", "high", "accuracy: expected float"),
        ("accuracy", 95, "accuracy: expected float <= 1"),
        ("accuracy", [0.9], "accuracy: expected"),
        ("arch", 5, "arch: expected str"),
        ("arch", ["smallnet"], "arch: expected str"),
        ("history", 3, "history: expected"),
        ("history", ["a"], "history[0]: expected object"),
        ("recipe", "fast", "recipe: expected object"),
        ("best", [1], "best: expected object"),
        ("seconds", -1, "seconds: expected float"),
    ],
)
def test_a_card_of_another_type_or_range_names_its_field(tmp_path: Path, field: str, value: Any, place: str) -> None:
    path = with_card(tmp_path / "net.safetensors", {**CARD, field: value})
    assert place in refused(path, str(path))
    with pytest.raises(UserError, match="the card of"):
        Start.of(path)


@pytest.mark.parametrize("card", ["", "null", "[]", "3", "{", "[" * 100_000, '{"size": 1e999}', "\x00"])
def test_a_card_that_is_no_object_is_refused(tmp_path: Path, card: str) -> None:
    assert "the card of" in refused(with_card(tmp_path / "net.safetensors", card))


@pytest.mark.parametrize(
    ("header", "length"),
    [
        (b"", 0),
        (b"{}", 2**63),
        (b"{}", 10**6),
        (b"[]", None),
        (b"null", None),
        (b'{"__metadata__": 3}', None),
        (b'{"__metadata__": {"snellen": {}}}', None),
        (b'{"linear.weight": {"dtype": "F32", "shape": [3, 96], "data_offsets": [0, 9999999]}}', None),
        (b'{"linear.weight": {"dtype": "F32", "shape": [1000000000000], "data_offsets": [0, 64]}}', None),
        (b'{"linear.weight": {"dtype": "F32", "shape": [16], "data_offsets": [64, 0]}}', None),
        (b'{"linear.weight": {"dtype": "F99", "shape": [16], "data_offsets": [0, 64]}}', None),
        (b'{"linear.weight": {"dtype": "F32", "shape": [16], "data_offsets": [-8, 56]}}', None),
        (b'{"linear.weight": 3}', None),
        (b"[" * 5000, None),
        (b"\xff\xfe\xfd", None),
    ],
)
def test_a_header_that_lies_is_refused(tmp_path: Path, header: bytes, length: int | None) -> None:
    refused(with_header(tmp_path / "net.safetensors", header, length))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a file of weights"),
        (b"hello, this is text\n" * 50, "not a file of weights"),
        (b"\x80\x02}q\x00.", "cannot be read as weights"),
        (b"\x80\x02cos\nsystem\nX\x04\x00\x00\x00trueR.", "holds more than weights or is damaged"),
        (b"\x80\x05garbage", "or is damaged"),
        (b"PK\x03\x04 broken", "cannot be read as weights"),
        (saved({0: torch.zeros(3)}), "names a tensor 0"),
        (saved({"a": [1, 2]}), "no state dict"),
        (saved([torch.zeros(3)]), "no state dict"),
        (saved(None), "no state dict"),
        (saved(torch.zeros(3)), "no state dict"),
        (saved({"a": torch.zeros(3, dtype=torch.complex64)}), "sparse, quantised or complex"),
        (saved({"a": torch.eye(3).to_sparse()}), "sparse, quantised or complex"),
        (saved({**WEIGHTS, "linear.weight": torch.tensor(1.0)}), "rows"),
        (saved({**WEIGHTS, "linear.weight": torch.zeros(1).expand(10**9, 96)}), "rows"),
    ],
    ids=lambda value: value if isinstance(value, str) else "content",  # what torch saves differs from time to time
)
def test_what_is_no_file_of_weights_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "net.pt").write_bytes(content)
    assert reason in refused(tmp_path / "net.pt")


def test_packed_archives_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("net/data/0", b"\0" * 10_000_000)
    assert "is compressed" in refused(path)


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_pipes_folders_devices_and_dangling_links_are_refused_at_once(tmp_path: Path, suffix: str) -> None:
    os.mkfifo(tmp_path / f"pipe{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"device{suffix}").symlink_to("/dev/zero")
    (tmp_path / f"link{suffix}").symlink_to("nowhere")
    for name, reason in {"pipe": "a pipe", "folder": "a folder", "device": "a device", "link": "a link"}.items():
        assert reason in refused(tmp_path / f"{name}{suffix}")
    assert "no checkpoint" in refused(tmp_path / f"absent{suffix}")


def test_other_peoples_files_and_homes_are_no_checkpoints() -> None:
    assert "not a file of weights" in refused(Path("/etc/passwd"))
    refused(Path("~nobody_of_this_name/net.pt"))


PT = saved(WEIGHTS)
SAFE = save(WEIGHTS, metadata={"snellen": json.dumps(CARD)})


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from([".pt", ".safetensors"]),
    st.lists(st.tuples(st.floats(0, 0.999999), st.integers(0, 255)), max_size=3),
    st.floats(0, 1),
)
def test_flipped_and_cut_bytes_end_in_weights_or_one_line(
    tmp_path: Path, suffix: str, edits: list[tuple[float, int]], kept: float
) -> None:
    content = bytearray(PT if suffix == ".pt" else SAFE)
    for place, byte in edits:
        content[int(place * len(content))] = byte
    path = tmp_path / f"net{suffix}"
    path.write_bytes(content if edits else content[: int(kept * len(content))])
    try:
        read_card(path)
        load_state(path)
    except UserError as error:
        assert len(str(error).splitlines()) == 1


def test_a_flipped_bit_of_a_weight_in_a_pt_file_is_noticed(tmp_path: Path) -> None:
    place = PT.index(WEIGHTS["linear.weight"].numpy().tobytes())
    content = bytearray(PT)
    content[place + 3] ^= 0x40
    (tmp_path / "net.pt").write_bytes(content)
    assert "checksum" in refused(tmp_path / "net.pt")


def test_cards_of_before_still_load(tmp_path: Path) -> None:
    """Without fields that came later, with numbers that JSON does not have, with histories by name, and with more."""
    card = json.dumps(
        {**CARD, "history": {"loss": [1, 0.5], "diversity": [float("nan")]}, "note": 'a "NaN"', "x": [{}]}
    )
    path = with_card(tmp_path / "net.safetensors", card)
    (subject,) = subjects_of(str(path))
    assert subject.card.losses == {"loss": 0.5}
    assert read_card(path)["note"] == 'a "NaN"'
    assert load_text(str(path), "cpu").card.classes == ("a", "b", "c")
    bare = with_card(tmp_path / "bare.safetensors", {"arch": "smallnet"})
    assert load_text(str(bare), "cpu").card.mean is None


def test_a_card_is_written_without_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "net.safetensors", NETWORKS["smallnet"](3), {**CARD, "history": [{"loss": np.inf}]})
    assert read_card(tmp_path / "net.safetensors")["history"] == [{"loss": None}]


@pytest.mark.parametrize(
    "content", [b"", b"null", b"{}", b"[]", b'{"name": 3}', b"\xff", b'{"name": "a", "classes": 5}']
)
def test_a_damaged_card_in_the_cache_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.setenv("SNELLEN_HOME", str(tmp_path))
    parts = parse_text("timm:resnet18.a1_in1k")
    remember_card(Card("resnet18", str(parts), "abc", classes=("a", "b"), mean=(0.1, 0.2, 0.3)))
    card = recall_card(parts)
    assert card is not None
    assert (card.classes, card.mean) == (("a", "b"), (0.1, 0.2, 0.3))
    (file,) = (tmp_path / "cards").iterdir()
    file.write_bytes(content)
    assert recall_card(parts) is None


def test_weights_that_are_no_numbers_begin_no_training(tmp_path: Path) -> None:
    (tmp_path / "net.pt").write_bytes(saved({"linear.weight": torch.full((3, 96), torch.nan)}))
    with pytest.raises(UserError, match="net.pt': 'linear.weight' holds nan"):
        Start.of(tmp_path / "net.pt")
