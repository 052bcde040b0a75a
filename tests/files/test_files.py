"""Readers that cannot be held up, and that say in one line which file, where and what was expected."""

from __future__ import annotations

import math
import os
import re
import socket
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from PIL import Image

from snellen.errors import UserError
from snellen.files import Damaged, decode_json, fit, read_bytes, read_json, read_text, reading
from snellen.files.picture import open_image
from snellen.files.table import Column, read_table
from snellen.files.yaml_file import read_yaml


def test_a_pipe_a_socket_a_device_a_folder_and_a_circle_of_links_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        (tmp_path / "circle").symlink_to(tmp_path / "circle")
        (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
        for name, words in {
            "pipe": "is a pipe",
            "socket": "is a socket",
            "circle": "links go round",
            "dangling": "is a link to a file that is not there",
            "absent": "no card '",
            "x" * 300: "name is too long",
            ".": "is a folder",
        }.items():
            with pytest.raises(UserError, match=words):
                read_bytes(tmp_path / name, "card")
    with pytest.raises(UserError, match="is a device"):
        read_bytes("/dev/zero")
    with pytest.raises(UserError, match="is not the name of a file"):
        read_bytes("a\0b")


def test_no_more_than_the_bound_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 2048)
    assert len(read_bytes(tmp_path / "a", most=2048)) == 2048
    with pytest.raises(UserError, match="larger than 1.999 KiB"):
        read_bytes(tmp_path / "a", most=2047)
    with pytest.raises(UserError, match="larger than 100 bytes"):
        read_bytes("/proc/self/smaps", most=100)  # a file without a size


def test_a_large_bound_sets_no_memory_aside(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert read_bytes(tmp_path / "a", most=1 << 60) == b"abc"
    assert read_text("/proc/self/stat", most=1 << 60)  # its size is said to be 0


def test_a_byte_that_is_not_utf8_is_named_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\ntwo \xff\n")
    with pytest.raises(UserError, match="line 2: byte 0xff is not UTF-8"):
        read_text(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfone\n")
    assert read_text(tmp_path / "a") == "one\n"


def test_the_net_names_the_file_and_keeps_the_cause() -> None:
    with (
        pytest.raises(Damaged, match="a.bin cannot be read as frames: list index out of range") as caught,
        reading("a.bin", "frames"),
    ):
        [][0]
    assert isinstance(caught.value.__cause__, IndexError)
    with pytest.raises(UserError, match="mine$"), reading("a.bin", "frames"):
        raise UserError("mine")


class Point(msgspec.Struct):
    """A schema of the tests."""

    x: Annotated[int, msgspec.Meta(ge=0)]
    name: str = ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[{"x": "wide"}]', r"a.json: \[0\].x: expected int, got str"),
        ('[{"x": 1}, {"x": -1}]', r"a.json: \[1\].x: expected int >= 0"),
        ('[{"name": "a"}]', r"a.json: \[0\]: object missing required field 'x'"),
        ("null", "a.json: expected array, got null"),
        ('[{"x": 1},\n {"x": }]', "a.json cannot be read as JSON: line 2: "),
        ('[{"x": 1, "y": ' + "[" * 100_000, "a.json cannot be read as JSON: "),
        ('{"a": "\\ud800"}', "a.json"),
        ("", "a.json cannot be read as JSON: "),
    ],
)
def test_json_that_does_not_fit_is_told_by_its_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(UserError, match=words) as caught:
        read_json(tmp_path / "a.json", list[Point])
    assert len(str(caught.value)) < 400


def test_json_nested_a_hundred_thousand_deep_is_refused() -> None:
    with pytest.raises(UserError, match="a cannot be read as JSON: it is nested too deeply"):
        decode_json(b"[" * 100_000, Any, "a")


def test_json_and_plain_values_that_fit() -> None:
    assert decode_json(b'[{"x": 3, "more": {}}]', list[Point], "a") == [Point(3)]
    assert fit({"x": 3}, Point, "a") == Point(3)
    with pytest.raises(UserError, match="a: x: expected int, got str"):
        fit({"x": "3"}, Point, "a")


def test_aliases_that_blow_up_and_values_that_hold_themselves_are_refused(tmp_path: Path) -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9))
    (tmp_path / "a.yaml").write_text(f"l0: &l0 [x]\n{levels}\n")
    with pytest.raises(UserError, match="more than 100,000 values"):
        read_yaml(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("a: &a [*a]\n")
    with pytest.raises(UserError, match="more than 100,000 values"):
        read_yaml(tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("a: &a [1, 2]\nb: *a\n")
    assert read_yaml(tmp_path / "a.yaml") == {"a": [1, 2], "b": [1, 2]}
    for text, words in {
        "a: [": "line 1 is not YAML",
        "[" * 50_000: "nested too deeply",
        "!!python/name:os.system": "YAML",
    }.items():
        (tmp_path / "a.yaml").write_text(text)
        with pytest.raises(UserError, match=words):
            read_yaml(tmp_path / "a.yaml")


COLUMNS = {"id": Column(filled=True, required=True, also="name"), "x": Column("float"), "n": Column("int", least=0)}


def test_a_table_is_text_but_for_what_its_schema_names(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,label,x,n,level\n000000,01,1.5,7,010\n1e5,NA,,8,\n")
    table = read_table(tmp_path / "a.csv", COLUMNS)
    assert table["id"].tolist() == ["000000", "1e5"]
    assert table["label"].tolist() == ["01", "NA"]
    assert table["level"].tolist() == ["010", ""]
    assert table["n"].tolist() == [7, 8]
    assert table["x"].isna().tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a.csv is empty"),
        ("label\na\n", r"has no column 'id' \(or 'name'\); it has: label"),
        (",".join(f"{'x' * 50}{n}" for n in range(20)) + "\n", r"it has: x{50}0, x{50}1, x{50}2, …$"),
        ("id,id\na,b\n", "line 1: two columns are named 'id'"),
        ("id,x\na,1\nb,wide\n", "line 3: expected a number in 'x' from -1e\\+15 to 1e\\+15, got 'wide'"),
        ("id,x\na,1e30\n", "line 2: expected a number in 'x'"),
        ("id,x\na,inf\n", "line 2: expected a number in 'x'"),
        ("id,n\na,-1\n", "line 2: expected a whole number in 'n' from 0"),
        ("id,n\na,1.5\n", "line 2: expected a whole number in 'n'"),
        ("id,n\n,1\n", "line 2: 'id' is empty"),
        ("id,n\na,1\nb,2,3,4\n", "cannot be read as CSV: Expected 2 fields in line 3, saw 4"),
        ('id,n\n"a,1\n', "cannot be read as CSV: EOF inside string in line 2"),
        (f"id,n\n{'a' * 40_000},1\n", "line 2: 'id' has 40,000 characters"),
    ],
)
def test_a_table_that_does_not_fit_is_told_by_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(UserError, match=words):
        read_table(tmp_path / "a.csv", COLUMNS)


def test_a_parquet_table_keeps_its_types_and_leaves_out_nested_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"id": ["a", "b"], "x": [1, None], "seen": [True, False], "box": [[1], [2]], "raw": [b"\xff", b""]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    table = read_table(tmp_path / "a.parquet", COLUMNS)
    assert list(table.columns) == ["id", "x", "seen"]
    assert table["seen"].dtype == bool
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    with pytest.raises(UserError, match="a.parquet cannot be read as Parquet"):
        read_table(tmp_path / "a.parquet", COLUMNS)


def test_images_of_other_formats_and_of_enormous_sizes_are_refused_by_their_header(tmp_path: Path) -> None:
    def tell(content: bytes) -> str:
        with pytest.raises(UserError) as caught, open_image(content, "a.png") as image:
            image.load()
        return str(caught.value)

    Image.new("RGB", (4, 4)).save(tmp_path / "a.eps")
    assert "not an image of a known format" in tell((tmp_path / "a.eps").read_bytes())
    for size, words in {
        (1, 150_000): "no side may be longer than 100,000",
        (20_000, 20_000): "more than 200,000,000",
    }.items():
        Image.new("1", size).save(tmp_path / "a.png")
        assert words in tell((tmp_path / "a.png").read_bytes())
    Image.new("RGB", (40, 40)).save(tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    assert "cannot be decoded" in tell(content[:-30])
    assert "the file is empty" in tell(b"")


@pytest.mark.parametrize("entries", ["[" + "a, " * 200_000 + "a]", "\n" + "- a\n" * 200_000])
def test_a_list_of_very_many_entries_is_refused_before_it_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: str
) -> None:
    monkeypatch.setattr("yaml.compose", lambda *_: pytest.fail("it was parsed"))
    (tmp_path / "a.yaml").write_text(f"models: {entries}\n")
    with pytest.raises(UserError, match=r"a.yaml has more than 100,000 lines and entries of lists"):
        read_yaml(tmp_path / "a.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", "a.yaml line 3: 'a' stands there twice, first in line 1; leave one out"),
        ("a: 1\n'a': 3\n", "a.yaml line 2: 'a' stands there twice, first in line 1"),
        ("x:\n  - {b: 1, b: 2}\n", "a.yaml line 2: 'b' stands there twice, first in line 2"),
        ("1: a\n1: b\n", "a.yaml line 2: '1' stands there twice"),
    ],
)
def test_a_yaml_key_that_is_there_twice_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(UserError, match=re.escape(words)):
        read_yaml(tmp_path / "a.yaml")


def test_yaml_has_the_keys_of_others_where_it_is_told_to_merge(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: &a {b: 1, c: 2}\nd: {<<: *a, b: 3}\n")
    assert read_yaml(tmp_path / "a.yaml") == {"a": {"b": 1, "c": 2}, "d": {"b": 3, "c": 2}}


def test_yaml_reads_numbers_as_people_write_them(tmp_path: Path) -> None:
    """1:30 is no number of base 60 and 010 no octal one, as YAML 1.1 had them; 1.2 has neither."""
    (tmp_path / "a.yaml").write_text(
        "[1:30, -1:30:20, 190:20:30.15, 010, 1_000, 12, -3, 0, 0x1f, 1.5, .5, -1.5e-3, .inf]"
    )
    assert read_yaml(tmp_path / "a.yaml") == [
        *("1:30", "-1:30:20", "190:20:30.15", "010", 1000, 12, -3, 0, 31, 1.5, 0.5, -0.0015, math.inf),
    ]  # fmt: skip
