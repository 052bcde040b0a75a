"""The same training in one process and in two."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path


def in_one_and_two_processes(script: str, folder: Path) -> None:
    """Run a script that writes to the folder it is given: alone to `one`, as a team of two on gloo to `two`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", script, folder / "one"], check=True, env=env, timeout=120)
    shared = {
        **env,
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "ACCELERATE_USE_CPU": "true",
    }
    team = [
        subprocess.Popen(
            [sys.executable, "-c", script, folder / "two"], env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        )
        for rank in range(2)
    ]
    assert [child.wait(timeout=120) for child in team] == [0, 0]
