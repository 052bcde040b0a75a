"""The same training in one process and in two."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from torch.distributed import TCPStore

from ..gates import PATIENCE


def in_one_and_two_processes(script: str, folder: Path) -> None:
    """Run a script that writes to the folder it is given: alone to `one`, as a team of two on gloo to `two`."""
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", script, folder / "one"], check=True, env=env, timeout=PATIENCE)
    meeting = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # its port is taken by none but itself
    shared = {
        **env,
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(meeting.port),
        "TORCHELASTIC_USE_AGENT_STORE": "True",  # both find the store, neither has to open it
        "ACCELERATE_USE_CPU": "true",
        "GLOO_SOCKET_IFNAME": "lo",  # else gloo looks its own host name up, which ends it where no network answers
    }
    team = [
        subprocess.Popen(
            [sys.executable, "-c", script, folder / "two"], env={**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
        )
        for rank in range(2)
    ]
    try:
        assert [child.wait(timeout=PATIENCE) for child in team] == [0, 0]
    finally:
        for child in team:
            child.kill()  # nothing, where it has ended
            child.wait()
