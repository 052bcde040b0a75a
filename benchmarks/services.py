"""Requests per second against latency with 1 to 64 in flight, and memory over many requests, of a service on this machine.

    python benchmarks/services.py speed [LATENCY ...]      seconds that the service takes for an answer; default 0.1 0.3 1
    python benchmarks/services.py audit [LATENCY]          an audit whose images are asked one by one
    python benchmarks/services.py memory [REQUESTS]        default 100,000

The service is a process of its own that waits and answers the same probabilities. Ideal are so many requests in flight per
latency.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from PIL import Image

from snellen.exam import audit
from snellen.models.remote.address import Address
from snellen.models.remote.fleet import fleet_of
from snellen.models.remote.protocol import request_of

CLASSES = 12
IN_FLIGHT = (1, 4, 16, 64)
ROUNDS = 12  # requests per connection


def serve(latency: float, port: Connection) -> None:
    """Answer any number of requests at once, each after the latency; tell the port first."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not reader.at_eof():
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                return  # the client has gone
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            images = (await reader.readexactly(length)).count(b'"iVBOR')
            await asyncio.sleep(latency)
            row = "[" + ",".join(["0.5", *["0.01"] * (CLASSES - 1)]) + "]"
            body = f'{{"probabilities": [{",".join([row] * images)}]}}'.encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=1 << 26)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


@contextmanager
def service(latency: float) -> Iterator[str]:
    """The URL of a service in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(latency, there), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{here.recv()}/predict"
    finally:
        process.terminate()
        process.join()


def photo(side: int) -> np.ndarray:
    """One image uint8 [1, side, side, 3] that packs as badly as a photograph."""
    small = np.random.default_rng(0).integers(0, 256, (side // 4, side // 4, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(small).resize((side, side)))[None]


def speed(latencies: Sequence[float]) -> None:
    """Requests of one 224-px image, encoded anew each time."""
    image = photo(224)
    for latency in latencies:
        with service(latency) as url:
            for parallel in IN_FLIGHT:
                fleet, count = fleet_of(Address(url, parallel=parallel)), ROUNDS * parallel
                fleet.post_all(request_of(image) for _ in range(parallel))  # connects
                began, worked = time.perf_counter(), time.process_time()
                fleet.post_all(request_of(image) for _ in range(count))
                seconds, work = time.perf_counter() - began, (time.process_time() - worked) / count
                rate, ideal = count / seconds, parallel / latency
                words = f"{latency:g} s, {parallel} in flight: {rate:,.1f} requests per second"
                print(f"{words}, {rate / ideal:.0%} of {ideal:,.0f}; {work * 1000:.1f} ms of CPU time each", flush=True)


def whole_audit(latency: float) -> None:
    """Clean images and the yardstick of 96 images of 224 px, one per request, probe images and first look included."""
    for parallel in (1, 16):
        with service(latency) as url, tempfile.TemporaryDirectory() as folder:
            text = f"one={url}#size=224&batch=1&parallel={parallel}"
            began = time.perf_counter()
            run = audit(text, "phantom:test?size=224&n=96", "occlusion(areas=[0.3], fills=[black])", Path(folder) / "run",
                        quiet=True, report=False)  # fmt: skip
            seconds, sent = time.perf_counter() - began, run.facts["services"][url]["requests"]
            words = f"{latency:g} s, {parallel} in flight: {sent} requests in {seconds:.1f} s"
            print(f"{words}, {sent * latency / parallel / seconds:.0%} of the ideal", flush=True)


def memory(requests: int) -> None:
    """Peak memory of this process after a tenth of the requests, and after all: 1,000 per call of a model."""
    body = request_of(photo(32))
    with service(0.0) as url:
        fleet, began = fleet_of(Address(url, parallel=16)), time.perf_counter()
        for number in range(1, requests // 1000 + 1):
            fleet.post_all(body for _ in range(1000))
            if number in (requests // 10_000, requests // 1000):
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
                passed = time.perf_counter() - began
                print(f"{number * 1000:,} requests: peak {peak:,.1f} MB, {passed:.0f} s", flush=True)


def main() -> None:
    what, *numbers = sys.argv[1:] or ["speed"]
    if what == "speed":
        speed([float(number) for number in numbers] or [0.1, 0.3, 1.0])
    elif what == "audit":
        whole_audit(float(numbers[0]) if numbers else 0.3)
    else:
        memory(int(numbers[0]) if numbers else 100_000)


if __name__ == "__main__":
    main()
