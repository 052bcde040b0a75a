"""A PostgreSQL server for tests: its own folder and port, run by an unprivileged user, since it refuses root."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.gates import wait_until

NOBODY = 65534


def programs() -> Path | None:
    """The folder of initdb and postgres; None where PostgreSQL is not installed, or cannot be run as another user."""
    places = [
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
        Path("/usr/local/bin"),
        Path("/usr/bin"),
    ]
    as_other = os.getuid() != 0 or shutil.which("setpriv") is not None
    return next((place for place in places if (place / "initdb").exists() and as_other), None)


@contextmanager
def server() -> Iterator[str]:
    """The URL of an empty database."""
    place = programs()
    assert place is not None
    # not below the folder of the tests, which only their user may enter
    folder = Path(tempfile.mkdtemp(prefix="snellen-postgres-", dir="/tmp"))
    as_nobody = []
    if os.getuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    initdb = [
        place / "initdb",
        "-D",
        folder / "data",
        "-U",
        "snellen",
        "-A",
        "trust",
        "--no-sync",
        "-E",
        "UTF8",
        "--locale=C",
    ]
    subprocess.run([*as_nobody, *initdb], check=True, **quiet)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"]  # our server is killed, not this one
    command = [*as_nobody, place / "postgres", "-D", folder / "data", "-p", str(port), "-k", folder, *settings]
    process = subprocess.Popen(command, **quiet)
    try:
        ready = [place / "pg_isready", "-h", "127.0.0.1", "-p", str(port)]
        wait_until(lambda: subprocess.run(ready, **quiet).returncode == 0, "PostgreSQL")
        yield f"postgresql://snellen@127.0.0.1:{port}/postgres"
    finally:
        process.send_signal(signal.SIGINT)  # SIGTERM would wait until every connection is closed
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
