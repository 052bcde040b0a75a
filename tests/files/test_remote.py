"""Files at addresses: paths, servers that fail, what is kept on disk, and what is refused."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import fsspec
import pytest

from snellen.errors import UserError
from snellen.files import expand_home, local_name, open_file, open_whole, read_bytes, read_text
from snellen.files.places import exists, is_file, is_folder
from snellen.files.plain import NotRead, check_local, place_to_write
from snellen.files.remote import block_cache, object_store, remote_file, web_store
from snellen.files.remote.facts import facts_at, facts_of_many
from snellen.files.remote.opened import opened_files
from snellen.files.remote.patience import Changed
from snellen.files.remote.remote_path import RemotePath, check_address, remote_path, without_secrets
from snellen.files.tar_file import list_tar, read_members
from snellen.files.tree import files_below, folders_in, size_and_time
from snellen.hashing import file_sha256

from ..hostile.raw_service import serve_bytes
from ..served import Handler, Served, ask_quickly, served

pytest.importorskip("aiohttp")
BLOCK = 1000  # bytes, in these tests


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, no pauses, a cache of its own."""
    ask_quickly(tmp_path / "cache", monkeypatch)
    monkeypatch.setattr(remote_file, "BLOCK", BLOCK)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "some.bin").write_bytes(bytes(range(256)) * 40)
    with served(tmp_path / "host") as one:
        yield one


@pytest.fixture
def bucket() -> Iterator[fsspec.AbstractFileSystem]:
    store = fsspec.filesystem("memory")
    store.pipe(
        {"/bucket/a/1.png": b"one", "/bucket/a/b/2.PNG": b"two", "/bucket/a/.hidden/3.png": b"-", "/bucket/n.txt": b"x"}
    )
    yield store
    store.rm("/bucket", recursive=True)


def place(server: Served, name: str = "some.bin") -> RemotePath:
    path = remote_path(f"{server.address}/{name}")
    assert path is not None
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_bytes(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_an_address_is_joined_and_taken_apart_as_a_path_is():
    path = expand_home("memory://bucket/a/photos.csv")
    assert str(path) == "memory://bucket/a/photos.csv"
    assert str(path.parent / "x.png") == "memory://bucket/a/x.png"
    assert (path.name, path.suffix, path.scheme) == ("photos.csv", ".csv", "memory")
    assert path.relative_to(path.parent).as_posix() == "photos.csv"
    assert (path.parent / "x.png").look is path.look
    assert expand_home("memory://bucket/a/photos.csv").look is not path.look


def test_file_addresses_are_paths_of_this_machine():
    assert expand_home("file:///tmp/a") == Path("/tmp/a")
    assert not isinstance(expand_home("file:///tmp/a"), RemotePath)


@pytest.mark.parametrize("use", [open, os.stat, os.listdir, Path.exists, Path.read_bytes])
def test_what_knows_no_addresses_ends_in_a_line(use):
    with pytest.raises(UserError, match=r"'memory://bucket/a' is an address, from which this is not read; copy it"):
        use(expand_home("memory://bucket/a"))


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hunter2@host/a.csv",
        "https://hunter2@host/a.csv",
        "s3://key:hunter2@bucket/a",
        "gs://hunter2@bucket/a",
        "az://me:hunter2@account/a",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(text):
    with pytest.raises(UserError, match="holds a user or a password") as caught:
        expand_home(text)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["X-Amz-Signature", "AWSAccessKeyId", "X-Goog-Signature", "sig", "token", "access_token"]
)
def test_a_signature_among_the_options_is_refused_and_not_repeated(name):
    with pytest.raises(UserError, match=f"signature or password \\('{name}'\\)"):
        check_address("https://host/a.csv", ["label", name])
    check_address("photos.csv", [name])  # a column of a file of this machine may be called so


def test_words_of_libraries_lose_their_secrets():
    text = without_secrets("404, url='https://me:pw@cdn/x?Signature=abc&Key=d' (see s3://k@b/a?b)")
    assert text == "404, url='https://cdn/x' (see s3://b/a)"


@pytest.mark.parametrize("text", ["https://", "s3:///", "memory://"])
def test_an_address_needs_a_host_or_bucket(text):
    with pytest.raises(UserError, match="expected an address as"):
        expand_home(text)


def test_an_unknown_kind_of_address_names_the_known_ones():
    with pytest.raises(UserError, match=r"unknown kind of address 'ssh://'.*https://"):
        check_address("ssh://host/a", [])


def test_a_file_of_a_server_is_read_in_parts(server):
    content = (server.folder / "some.bin").read_bytes()
    with open_file(place(server)) as file:
        file.seek(5005)
        assert file.read(3) == content[5005:5008]
        file.seek(-1, os.SEEK_END)
        assert file.read() == content[-1:]
    assert server.requests == ["LOOK /some.bin", "GET /some.bin 5000-5999", "GET /some.bin 10000-10239"]
    assert read_bytes(place(server)) == content
    assert server.count("GET") == 11  # each part once


def test_what_needs_a_file_of_this_machine_gets_a_copy(server):
    with open_whole(place(server)) as file:
        assert os.pread(file.fileno(), 10_240, 0) == (server.folder / "some.bin").read_bytes()


def test_a_missing_file_and_one_that_may_not_be_read(server):
    assert refusal(place(server, "none.bin")) == f"no file '{server.address}/none.bin'"
    server.odd = lambda handler: handler.reply(403, b"") or True
    assert refusal(place(server)).startswith(f"'{server.address}/some.bin' may not be read (403 forbidden); check")
    assert len(server.requests) == 2  # nothing is asked again


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_that_fails_is_asked_again(server, status):
    def fails(handler: Handler) -> bool:
        if server.count("GET") + server.count("LOOK") in (1, 2, 4, 5, 6):
            handler.reply(status, b"")
            return True
        return False

    server.odd = fails
    assert len(read_bytes(place(server))) == 10_240


def test_a_server_that_stops_answering_ends_in_one_line(server):
    def hangs_up(handler: Handler) -> bool:
        if handler.headers.get("Range") != "bytes=3000-3999":
            return False
        handler.reply(206, b"short", **{"Content-Range": "bytes 3000-3999/10240", "Content-Length": "1000"})
        handler.close_connection = True
        return True

    server.odd = hangs_up
    server.etags = False
    text = refusal(place(server))
    assert re.fullmatch(
        rf"'{server.address}/some.bin' does not answer \(.*; asked 4 times in 0 s\); check the address and the network, then run "
        "the same command again",
        text,
    )
    assert server.count("GET /some.bin 3000-3999") == 4


@pytest.mark.parametrize(
    ("first", "again"),
    [
        (b"HTTP/1.1 200 ", b"O"),
        (b"HTTP/1.1 200 OK\r\nX: ", b"y"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (b"HTTP/1.1 100 Continue\r\nX: ", b"y"),
    ],
)
def test_a_server_whose_head_drips_is_left(monkeypatch, first, again):
    """Each byte comes soon after the one before, the last one never."""

    def drip() -> Iterator[bytes]:
        yield first
        while True:
            time.sleep(0.01)
            yield again

    monkeypatch.setattr(web_store, "SILENCE", 0.2)
    with serve_bytes(drip, path="/a.bin") as address:
        assert "does not answer (its answer takes too long; asked 4 times" in refusal(expand_home(address))


def test_a_host_that_is_not_there_ends_in_one_line():
    assert "does not answer (" in refusal(expand_home("http://127.0.0.1:1/a.bin"))


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/passwd", "gopher://x/"])
def test_redirections_to_other_schemes_are_refused(server, target):
    server.odd = lambda handler: handler.reply(302, b"", Location=f"{target}?token=hunter2") or True
    text = refusal(place(server))
    assert "redirects to" in text
    assert "hunter2" not in text


def test_a_redirection_from_https_to_http_is_refused():
    path = RemotePath("https://host/a")
    with pytest.raises(UserError, match="redirects to 'http://host', which is not followed"):
        web_store._check_target(path, "https://host/a", "http://host/a")
    web_store._check_target(path, "https://host/a", "https://other/a")


def test_a_redirection_is_followed_and_a_circle_is_not(server):
    (server.folder / "there.bin").write_bytes(b"there")
    server.odd = lambda h: h.path == "/here.bin" and (h.reply(302, b"", Location="/there.bin?Signature=s") or True)
    (server.folder / "there.bin?Signature=s").write_bytes(b"there")
    assert read_bytes(place(server, "here.bin")) == b"there"
    server.odd = lambda handler: handler.reply(302, b"", Location="/again") or True
    assert "redirects more than 5 times" in refusal(place(server, "again"))


def test_a_file_that_changes_while_it_is_read_is_refused(server):
    with open_file(place(server)) as file:
        file.read(10)
        (server.folder / "some.bin").write_bytes(b"other" * 2048)
        with pytest.raises(Changed, match="has changed since it was listed"):
            file.read()


def test_a_file_that_changes_between_two_looks_has_another_mark(server):
    before = size_and_time(place(server))
    (server.folder / "some.bin").write_bytes(b"other" * 2048)
    after = size_and_time(place(server))
    assert before[0] == after[0]
    assert before[1] != after[1]
    assert read_bytes(place(server)) == b"other" * 2048


def test_no_more_is_read_than_was_asked_for(server):
    """An answer without an end."""

    def endless(handler: Handler) -> bool:
        if handler.looks:
            return False
        handler.send_response(206)
        handler.send_header("Content-Range", handler.headers["Range"].replace("=", " ") + "/10240")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        while True:  # until the other side hangs up
            handler.wfile.write(b"400\r\n" + b"x" * 1024 + b"\r\n")

    server.odd, server.etags = endless, False
    assert read_bytes(place(server)) == b"x" * 10_240


def test_a_file_larger_than_its_reader_reads_is_refused_without_being_fetched(server):
    with pytest.raises(NotRead, match="is larger than 500 bytes"):
        read_bytes(place(server), most=500)
    assert server.requests == ["LOOK /some.bin", "GET /some.bin 0-999"]


def test_servers_that_send_no_parts(server, monkeypatch):
    def whole(handler: Handler) -> bool:
        content = (server.folder / "some.bin").read_bytes()
        handler.reply(200, content)
        return True

    server.odd = whole
    assert read_bytes(place(server)) == (server.folder / "some.bin").read_bytes()
    monkeypatch.setattr(web_store, "MOST_WITHOUT_RANGES", 5000)
    assert "sends no parts of files" in refusal(place(server))


def test_servers_that_send_another_part_or_pack_their_answers(server):
    server.odd = lambda h: (
        not h.looks and (h.reply(206, b"x" * 1000, **{"Content-Range": "bytes 7-1006/10240"}) or True)
    )
    server.etags = False
    assert "another part of it than was asked for" in refusal(place(server))
    server.odd = lambda h: not h.looks and (h.reply(206, b"x", **{"Content-Encoding": "gzip"}) or True)
    assert "packs its answers" in refusal(place(server))


def test_a_server_that_does_not_say_how_large_a_file_is(server):
    server.odd = lambda h: h.reply(200, b"", **{"Content-Length": ""}) or setattr(h, "close_connection", True) or True
    assert "does not say how large it is" in refusal(place(server))


def test_an_empty_file_is_empty(server):
    (server.folder / "empty.bin").write_bytes(b"")
    assert read_bytes(place(server, "empty.bin")) == b""


def test_offline_nothing_is_asked(server, bucket, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(object_store, "_store", None)  # would fail
    for path in (place(server), expand_home("memory://bucket/n.txt")):
        assert refusal(path) == f"'{path}' is not read while offline; unset HF_HUB_OFFLINE, or copy it to this machine"
        with pytest.raises(UserError, match="while offline"):
            exists(path)
    assert server.requests == []


def test_web_addresses_have_no_folders(server):
    with pytest.raises(UserError, match="cannot be listed: http:// has no folders; name a table"):
        folders_in(place(server, "photos"))
    assert not is_folder(place(server, "photos"))


def test_many_files_of_a_server_are_asked_about_side_by_side(server):
    paths = [place(server).parent / "some.bin", *(place(server).parent / f"{number}" for number in range(20))]
    look = paths[0].look
    for path in paths:
        path._shared = look
    facts_of_many(paths)
    assert server.count("LOOK") == 21
    assert [facts_at(path) is not None for path in paths] == [True] + [False] * 20
    assert server.count("LOOK") == 21


def test_a_bucket_is_listed_once(bucket, monkeypatch):
    top = expand_home("memory://bucket/a")
    assert is_folder(top)
    assert not is_file(top)
    assert [str(path) for path in files_below(top, {".png"})] == [
        "memory://bucket/a/1.png",
        "memory://bucket/a/b/2.PNG",
    ]
    monkeypatch.setattr(object_store, "_store", None)
    assert folders_in(top) == ["b"]
    assert [is_folder(top / name) for name in "bc"] == [True, False]
    assert [exists(top / name) for name in ("1.png", "2.png")] == [True, False]
    assert facts_at(top / "b" / "2.PNG").size == 3


def test_an_object_that_changes_between_two_looks_has_another_mark(bucket):
    before = size_and_time(expand_home("memory://bucket/n.txt"))
    bucket.pipe("/bucket/n.txt", b"y")
    after = size_and_time(expand_home("memory://bucket/n.txt"))
    assert before[0] == after[0]
    assert before != after


def test_an_object_that_becomes_shorter_while_it_is_read_is_refused(bucket):
    bucket.pipe("/bucket/big", bytes(5000))
    with open_file(expand_home("memory://bucket/big")) as file:
        file.read(10)
        bucket.pipe("/bucket/big", bytes(2500))
        with pytest.raises(Changed):
            file.read()


def test_keys_that_are_no_names_of_files_are_refused(monkeypatch):
    listing = {"bucket/a/../x.png": {"type": "file", "size": 1}}
    store = SimpleNamespace(find=lambda key, detail: listing, _strip_protocol=lambda path: path.partition("://")[2])
    monkeypatch.setattr(object_store, "_store", lambda scheme: store)
    with pytest.raises(UserError, match=r"holds the key '../x.png', which is not the name of a file; rename it"):
        folders_in(expand_home("s3://bucket/a"))


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs"), ("az", "adlfs")])
def test_a_missing_library_is_named(scheme, package, monkeypatch):
    def missing(*_, **__):
        raise ImportError("no such package")

    monkeypatch.setattr(fsspec, "filesystem", missing)
    object_store._store_of_process.cache_clear()
    text = refusal(expand_home(f"{scheme}://bucket/a.csv"))
    assert text == f"{scheme}:// addresses need {package}, which is not installed; pip install {package}"


@pytest.mark.parametrize(
    ("error", "words", "asked"),
    [
        (PermissionError("Forbidden"), "may not be read (Forbidden)", 1),
        (
            type("NoCredentialsError", (Exception,), {})("Unable to locate credentials"),
            "may not be read (Unable to locate",
            1,
        ),
        (ValueError("bad bucket"), "cannot be read: bad bucket", 1),
        (OSError("reset https://me:pw@h/x?sig=hunter2"), "does not answer (reset https://h/x; asked 4 times", 4),
    ],
)
def test_what_a_library_raises_becomes_a_line(error, words, asked, monkeypatch):
    calls = []

    def info(key):
        calls.append(key)
        raise error

    store = SimpleNamespace(info=info, _strip_protocol=lambda path: path)
    monkeypatch.setattr(object_store, "_store", lambda scheme: store)
    text = refusal(expand_home("s3://bucket/a.csv"))
    assert words in text
    assert "hunter2" not in text
    assert len(calls) == asked


def test_what_was_read_is_not_fetched_again_and_damage_is_noticed(server, tmp_path):
    content = (server.folder / "some.bin").read_bytes()
    assert read_bytes(place(server)) == content
    fetched = server.count("GET")
    block_cache._caches.clear()  # as in another process
    assert read_bytes(place(server)) == content
    assert server.count("GET") == fetched
    files = sorted(file for file in (tmp_path / "cache").rglob("*") if file.is_file())
    assert len(files) == 11
    damaged = bytearray(files[0].read_bytes())
    damaged[3] ^= 1
    files[0].write_bytes(damaged)
    files[1].write_bytes(files[1].read_bytes()[:-1])
    block_cache._caches.clear()
    assert read_bytes(place(server)) == content
    assert server.count("GET") == fetched + 2


def test_without_a_mark_nothing_is_kept(server, tmp_path):
    server.etags = False
    read_bytes(place(server))
    read_bytes(place(server))
    assert server.count("GET") == 22
    assert not (tmp_path / "cache").exists()


def test_the_cache_keeps_to_its_bound_and_forgets_what_was_not_used(tmp_path):
    cache = block_cache.BlockCache(tmp_path / "small", 10 * 1032)
    for number in range(10):
        cache.write(f"{number:064x}", bytes([number]) * 1000)
        os.utime(tmp_path / "small" / "00" / f"{number:064x}", (1000 + number, 1000 + number))
    assert cache.read(f"{0:064x}", 1000, 0, 1000) is not None  # as long as it is sound, a look at it is enough
    fresh = block_cache.BlockCache(tmp_path / "small", 10 * 1032)
    assert fresh.read(f"{1:064x}", 1000, 5, 7) == b"\1\1"  # used again
    fresh.write(f"{10:064x}", bytes(1000))
    left = [number for number in range(11) if fresh.read(f"{number:064x}", 1000, 0, 1) is not None]
    assert left == [1, 3, 4, 5, 6, 7, 8, 9, 10]
    fresh.write("f" * 64, bytes(20_000))  # more than the bound
    assert fresh.read("f" * 64, 20_000, 0, 1) is None


def test_a_cache_that_cannot_be_written_is_done_without(server, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE", str(tmp_path / "file"))
    assert len(read_bytes(place(server))) == 10_240


@pytest.mark.parametrize(
    ("text", "size"), [("", 20 << 30), ("500M", 500 << 20), ("2 GiB", 2 << 30), ("0", 0), ("1.5k", 1536)]
)
def test_the_bound_is_a_number_of_bytes(text, size):
    assert block_cache._size(text) == size


def test_a_bound_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("SNELLEN_REMOTE_CACHE_SIZE", "much")
    with pytest.raises(
        UserError, match="expected SNELLEN_REMOTE_CACHE_SIZE as a number of bytes such as 20 GiB or 500M, got 'much'"
    ):
        block_cache.block_cache()


WRITER = """
import sys
from pathlib import Path
from snellen.files.remote.block_cache import BlockCache
cache = BlockCache(Path(sys.argv[1]), 300_000)
for turn in range(20):
    for number in range(50):
        name, content = f"{number % 3:02x}{number:062x}", bytes([number]) * 10_000
        found = cache.read(name, 10_000, 0, 10_000)
        assert found in (None, content), number
        if found is None:
            cache.write(name, content)
"""


def test_processes_share_a_cache(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) <= 300_000 * 1.1


def test_a_tar_file_is_listed_and_read_without_being_fetched_whole(server, tmp_path):
    (server.folder / "large").mkdir()
    for number in range(3):
        (server.folder / "large" / f"{number}.png").write_bytes(bytes([number]) * 50_000)
    with tarfile.open(server.folder / "photos.tar", "w") as tar:
        tar.add(server.folder / "large", arcname=".")
    path = place(server, "photos.tar")
    members = list_tar(path)
    assert members == list_tar(server.folder / "photos.tar")
    assert server.count("GET /photos.tar") < 30  # of 160 parts
    assert list(read_members(path, members[1:2])) == [bytes([int(members[1].name[2])]) * 50_000]
    assert server.count("GET /photos.tar") < 90


def test_a_tar_file_that_is_cut_off_is_refused(server):
    (server.folder / "a.png").write_bytes(bytes(3000))
    with tarfile.open(server.folder / "cut.tar", "w") as tar:
        tar.add(server.folder / "a.png")
    content = (server.folder / "cut.tar").read_bytes()
    (server.folder / "cut.tar").write_bytes(content[:2000])
    with pytest.raises(UserError, match=r"cut.tar' is cut off in .*a.png'; copy it again"):
        list_tar(place(server, "cut.tar"))


def test_opened_tables_are_noted_with_their_digest(server):
    (server.folder / "list.csv").write_text("path,label\n")
    read_text(place(server, "list.csv"))
    note = opened_files()[f"{server.address}/list.csv"]
    assert note["sha256"] == hashlib.sha256(b"path,label\n").hexdigest()
    assert note["mark"].startswith("ETag: ")


def test_a_digest_is_noted_of_a_large_file_that_was_read_whole(server):
    """Also where it is larger than what is read at once, and a mark that changed has no digest of before."""
    text = f"{server.address}/some.bin"
    with open_file(text, "table"):
        assert opened_files()[text]["sha256"] == ""
    with local_name(text, "table") as copy:
        digest = hashlib.sha256(copy.read_bytes()).hexdigest()
    with open_file(text, "table"):
        assert opened_files()[text]["sha256"] == digest
    (server.folder / "some.bin").write_bytes(bytes(range(256)) * 40 + b"more")
    with open_file(text, "table"):
        assert opened_files()[text]["sha256"] == ""
    assert file_sha256(remote_path(text)) == opened_files()[text]["sha256"] != digest


def test_another_process_knows_what_was_learnt_of_a_file(server):
    path = remote_path(f"{server.address}/some.bin")
    length = size_and_time(path)
    sent = pickle.loads(pickle.dumps(path))
    assert (sent, str(sent), size_and_time(sent)) == (path, str(path), length)
    assert server.count("LOOK") == 1
    (server.folder / "some.bin").write_bytes(b"other")
    with pytest.raises(Changed):
        read_bytes(sent)


@pytest.mark.parametrize("write", [place_to_write, lambda path: check_local(path, "--out")])
def test_an_address_is_no_place_to_write(write):
    with pytest.raises(UserError, match="'s3://bucket/a' is an address, and what is written stays on this machine"):
        write("s3://bucket/a")
    assert place_to_write("~/a") == expand_home("~/a")
