"""A server that answers what Hugging Face's libraries ask of the hub about one dataset of Parquet files."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"
WHERE = "/api/datasets/owner/name"


@contextmanager
def fake_hub(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """The address of a hub with the files of a folder as `owner/name`, and what it was asked: method, path, range."""
    questions: list[str] = []

    class Hub(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            questions.append(f"{self.command} {path} {self.headers.get('Range', '')}".strip())
            name = path.partition("/resolve/")[2].partition("/")[2]
            if name and (folder / name).is_file():
                self.file((folder / name).read_bytes())
            elif path == WHERE or path.startswith(f"{WHERE}/revision/"):
                siblings = [{"rfilename": entry["path"]} for entry in files(folder)]
                self.json(
                    {"_id": "1", "id": "owner/name", "sha": COMMIT, "siblings": siblings, "tags": [], "private": False}
                )
            elif path.startswith(f"{WHERE}/tree/"):
                below = path.removeprefix(f"{WHERE}/tree/").partition("/")[2]
                self.json(entries(folder, below, "recursive=true" in query.lower()))
            else:
                self.json({"error": "no such thing"}, 404)

        do_HEAD = do_GET

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"]))
            questions.append(f"POST {self.path}")
            if "paths-info" in self.path:
                body = content.decode()
                self.json([entry for entry in files(folder) if entry["path"] in body.replace("%2F", "/")])
            else:
                self.json({"error": "no such thing"}, 404)

        def file(self, content: bytes) -> None:
            size, part, status = len(content), content, 200
            if bounds := self.headers.get("Range", "").removeprefix("bytes="):
                start, _, stop = bounds.partition("-")
                part, status = content[int(start) : int(stop or size) + 1], 206
            self.send_response(status)
            self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Accept-Ranges", "bytes")
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{int(start) + len(part) - 1}/{size}")
            self.body(part)

        def json(self, value: object, status: int = 200) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status == 404:
                self.send_header("X-Error-Code", "EntryNotFound")
            self.body(json.dumps(value).encode())

        def body(self, content: bytes) -> None:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", questions
    finally:
        server.shutdown()
        server.server_close()


def entries(folder: Path, below: str, recursive: bool) -> list[dict[str, object]]:
    """The files in a folder of the dataset, and its folders, or all below it."""
    prefix = f"{below}/" if below else ""
    inside = [entry for entry in files(folder) if str(entry["path"]).startswith(prefix)]
    if recursive:
        return inside
    names = [str(entry["path"]).removeprefix(prefix) for entry in inside]
    folders = sorted({name.partition("/")[0] for name in names if "/" in name})
    return [
        *({"type": "directory", "oid": "0", "size": 0, "path": prefix + name} for name in folders),
        *(entry for entry, name in zip(inside, names) if "/" not in name),
    ]


def files(folder: Path) -> list[dict[str, object]]:
    return [
        {"type": "file", "oid": hashlib.sha1(file.read_bytes()).hexdigest(), "size": file.stat().st_size,
         "path": file.relative_to(folder).as_posix()}
        for file in sorted(folder.rglob("*")) if file.is_file()
    ]  # fmt: skip
