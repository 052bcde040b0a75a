"""200 simulated people take part in a study at once: is anything lost or doubled, and how long does an answer take?

    python benchmarks/study_load.py [--people 200] [--images 20] [--think 4000]

The server is a process of its own; the people are threads of this one. Times are from sending an answer to its confirmation,
when it is on disk. One answer in ten is sent twice.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from snellen.web.study import SimulateRequest, StudyFolder, StudyRequest, StudyStore, create_study, simulate_study
from snellen.web.study.tables import ANSWERS


def main() -> None:
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study"
        settings = {"practice": 0, "catch": 0, "per_person": arguments.images}
        create_study(StudyRequest(source=f"phantom:test?size=64&n={3 * arguments.images}", out=path, **settings))
        command = [sys.executable, "-m", "snellen", "study", "serve", str(path), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            url = server.stdout.readline().split()[1].partition("/#")[0]
            begin = time.perf_counter()
            try:
                request = SimulateRequest(study=path, people=arguments.people, think_ms=arguments.think, url=url)
                simulated = simulate_study(request)
            finally:
                server.terminate()
            took = time.perf_counter() - begin
        store = StudyStore(StudyFolder(path))
        with store.database.reading() as connection:
            rows = connection.execute(sa.select(sa.func.count()).select_from(ANSWERS)).scalar_one()
            keys = connection.execute(sa.select(sa.func.count(ANSWERS.c.key.distinct()))).scalar_one()
        store.close()
    wanted = arguments.people * arguments.images
    milliseconds = 1000 * np.array(simulated.seconds)
    print(
        f"{arguments.people} people × {arguments.images} images, thinking {arguments.think:.0f} ms on average; {took:.0f} s"
    )
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}")
    print(f"rows {rows} of {wanted}, lost {wanted - keys}, doubled {rows - keys}")
    print(f"median {np.median(milliseconds):.0f} ms, 95th percentile {np.quantile(milliseconds, 0.95):.0f} ms")
    sys.exit(rows != wanted or keys != wanted)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--images", type=int, default=20)
    parser.add_argument("--think", type=float, default=4000, help="mean ms between two answers of a person")
    return parser.parse_args()


if __name__ == "__main__":
    main()
