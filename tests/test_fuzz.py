"""Whatever is written, an answer or one line of what is wrong: never a traceback, a hang or a stray file."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from snellen.audits import parse_audits
from snellen.check.condition import parse_condition
from snellen.data import load_data
from snellen.distort import parse
from snellen.errors import UserError
from snellen.exam.request import AuditRequest
from snellen.models.label_file import read_label_map
from snellen.models.subject import subjects_of
from snellen.request import settings_of
from snellen.settings_file import resolve

bounded = settings(
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
PIECES = ["occlude", "shuffle", "none", "noise", "fourier", "tiles", "uniform", "beta", "interference", "occlusion",
          "area", "grid", "areas", "fills", "(", ")", "[", "]", ",", "=", "|", "'", " ", "0.3", "1e999", "-1", "4",
          "99999999999999999999", "true", "black", "none()", "nan", "²", "\n", "\x00"]  # fmt: skip
language = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=40)


def tried(call: Callable[[], Any]) -> Any:
    """What the call gives; a UserError must be one line."""
    try:
        return call()
    except UserError as error:
        assert str(error)
        assert len(str(error).splitlines()) == 1, str(error)
        return None


@bounded
@given(language)
def test_the_text_language(text: str) -> None:
    made = tried(lambda: parse(text))
    if made is not None:
        assert parse(str(made)) == made
    tried(lambda: parse_audits(text))


@bounded
@given(st.from_regex(r"[a-z_]{0,9}(\[[^\]]{0,9}\])? ?(<=|>|=|==) ?[-0-9.enaif]{0,6}") | st.text(max_size=30))
def test_conditions(text: str) -> None:
    tried(lambda: parse_condition(text))


@bounded
@given(
    st.sampled_from(["", "phantom:", "phantom:test?", "folder:", "manifest:", "arrays:", "phantom:train"]),
    st.lists(st.sampled_from(["n=", "size=", "seed=", "&", "=", "9", "-1", "1e9", "²", "?", "%", "%00", "\x00", ".", "/"]),
             max_size=6).map("".join)
    | st.text(max_size=12),
)  # fmt: skip
def test_data_texts(scheme: str, rest: str) -> None:
    tried(lambda: load_data(scheme + rest))


@bounded
@given(
    st.sampled_from(["", "zoo:", "a=zoo:resnet20@", "timm/", "predictions:", "python:", "python:os:", "x=", "zoo:@"]),
    st.lists(
        st.sampled_from(["*", "[", "]", "@", ":", "=", "\x00", "..", "/", "a", ".py", ".safetensors"]), max_size=5
    ).map("".join)
    | st.text(max_size=10),
)
def test_model_texts(kind: str, rest: str) -> None:
    if "os:" not in kind:  # a factory of the user's is the user's own code
        tried(lambda: subjects_of(kind + rest))


cells = st.text(max_size=6) | st.sampled_from(
    ["a.png", "0", "1", "-3", "1e400", "²", "nan", '"', "../x", "/etc", "é\x00"]
)
rows = st.lists(st.lists(cells, max_size=6).map(",".join), max_size=5).map("\n".join)
heads = st.sampled_from(
    ["path,label", "path,label,x0,y0,x1,y1", "path,label,mask", "id,path,label", "path,path,label", ""]
)


@bounded
@given(st.tuples(heads, rows).map(lambda t: f"{t[0]}\n{t[1]}".encode(errors="replace")) | st.binary(max_size=200))
def test_manifest_bytes(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "list.csv").write_bytes(content)
    data = tried(lambda: load_data(f"manifest:{tmp_path}/list.csv"))
    if data is not None:
        data.read(range(min(3, len(data))))
    (tmp_path / "list.parquet").write_bytes(b"PAR1" + content + b"PAR1")
    tried(lambda: load_data(f"manifest:{tmp_path}/list.parquet"))
    assert {p.name for p in tmp_path.iterdir()} == {"list.csv", "list.parquet"}


def packed(compressed: bool) -> bytes:
    held = io.BytesIO()
    save = np.savez_compressed if compressed else np.savez
    save(held, images=np.zeros((4, 3, 3), np.uint8), labels=np.arange(4), boxes=np.zeros((4, 1, 4)))
    return held.getvalue()


STORED, PACKED = packed(False), packed(True)


@bounded
@given(
    st.booleans(),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4),
    st.floats(0, 1),
)
def test_npz_bytes(tmp_path: Path, compressed: bool, edits: list[tuple[float, int]], kept: float) -> None:
    content = bytearray(PACKED if compressed else STORED)
    for place, byte in edits:
        content[int(place * len(content))] = byte
    (tmp_path / "a.npz").write_bytes(content if edits else content[: int(kept * len(content))])
    data = tried(lambda: load_data(f"arrays:{tmp_path}/a.npz"))
    if data is not None:
        tried(lambda: data.read(range(len(data))))


scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["0", "cat", "²"])
)
plain = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
named = st.dictionaries(st.sampled_from(["cat", "dog"]), plain)
numbered = st.dictionaries(scalars.map(str), plain)
label_maps = st.fixed_dictionaries({}, optional={"rule": plain, "classes": plain | named, "map": plain | numbered})


@bounded
@given(label_maps.map(json.dumps) | plain.map(json.dumps) | st.text(max_size=30) | st.just("[" * 100_000))
def test_label_maps(tmp_path: Path, text: str) -> None:
    (tmp_path / "map.json").write_bytes(text.encode(errors="replace"))
    tried(lambda: read_label_map(tmp_path / "map.json", None, ("cat", "dog")))
    tried(lambda: read_label_map(tmp_path / "map.json", ("tabby, cat", "dog"), ("cat", "dog")))


NAMES = tuple(one.name for one in settings_of(AuditRequest))
settings_files = st.dictionaries(st.sampled_from(NAMES), plain, max_size=4).map(
    lambda held: yaml.safe_dump({"models": "a:b", "data": "c:d"} | held).encode()
)


@bounded
@given(settings_files | st.binary(max_size=60) | st.text(max_size=40).map(lambda t: t.encode(errors="replace"))
       | st.sampled_from([b"a: 2001-99-99", b"a: !!python/object:os.x", b"[" * 5000, b"limit: 1e5", b"? [a]\n: b"]))  # fmt: skip
def test_yaml_settings(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "settings.yaml").write_bytes(content)
    request = tried(lambda: resolve(AuditRequest, {}, tmp_path / "settings.yaml"))
    if request is not None:
        assert AuditRequest.read(request.chosen()) == request
    assert [p.name for p in tmp_path.iterdir()] == ["settings.yaml"]


@pytest.mark.parametrize("text", ["(" * 5000, "[" * 5000, "a|" * 5000 + "a", "occlude(" * 200, "x" * 100_000])
def test_long_and_deep_texts_end_quickly(text: str) -> None:
    tried(lambda: parse(text))
