"""Requests per second against latency with 1 to 64 in flight, and memory over many requests, of a service on this machine.

    python benchmarks/services.py speed [LATENCY ...]      seconds that the service takes for an answer; default 0.1 0.3 1
    python benchmarks/services.py audit [LATENCY]          an audit whose images are asked one by one
    python benchmarks/services.py memory [REQUESTS]        default 100,000
    python benchmarks/services.py cover [SIMULATIONS]      how often intervals hold what was planted; default 2,000

The service is a process of its own that waits and answers the same probabilities. Ideal are so many requests in flight per
latency.
"""

from __future__ import annotations

import asyncio
import functools
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
from snellen.measure import Estimate, accuracy, answer_changes
from snellen.measure.comparison import Comparison, compare
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
                body = functools.partial(request_of, image)  # made when a connection is free for it, as models do
                fleet.post_all(body for _ in range(parallel))  # connects
                began, worked = time.perf_counter(), time.process_time()
                fleet.post_all(body for _ in range(count))
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


def cover(simulations: int) -> None:
    """How often 95% intervals hold planted refusals, noise, drift and effects of delivery of a chat model: images have
    propensities of their own, so that answers to one image are alike."""
    draws = np.random.default_rng(37)

    def happens(share: np.ndarray, times: int = 1) -> np.ndarray:
        return (draws.random((times, len(share))) < share).astype(float)

    def each(images: int) -> Iterator[tuple[str, Estimate | Comparison, float]]:
        refuses, errs = draws.beta(0.5, 9.5, images), draws.beta(1, 5, images)  # means 1/20 and 1/6
        noise = 2 * (1 / 6 - 2 / 42)  # 2 q (1 - q), q being beta(1, 5)
        yield "share of refusals", accuracy(happens(refuses)), 1 / 20
        occluded = 1 - (1 - refuses) * 0.6
        yield "rise of refusals under occlusion", compare(happens(occluded), happens(refuses)), 0.95 * 0.4
        yield "noise floor, two repeats", answer_changes(happens(errs, 2)), noise
        yield "noise floor, three repeats", answer_changes(happens(errs, 3)), noise
        first = happens(np.full(images, 0.5))
        yield (
            "drift of a tenth",
            answer_changes(np.concatenate([first, abs(first - happens(np.full(images, 0.1)))])),
            0.1,
        )
        clean, again, sent = happens(errs, 3)
        moved = abs(sent - happens(np.full(images, 0.15))[0])  # a delivery that turns over 15% of all answers
        beyond = compare((clean != moved).astype(float), (clean != again).astype(float))
        yield "answers changed by a delivery beyond the noise floor", beyond, 0.15 * (1 - 2 * noise)

    for images in (30, 100, 400):
        holds: dict[str, int] = {}
        for _ in range(simulations):
            for name, estimate, truth in each(images):
                holds[name] = holds.get(name, 0) + (estimate.low <= truth <= estimate.high)
        for name, count in holds.items():
            print(f"{images} images, {name}: {count / simulations:.1%} of {simulations:,}", flush=True)


def main() -> None:
    what, *numbers = sys.argv[1:] or ["speed"]
    if what == "speed":
        speed([float(number) for number in numbers] or [0.1, 0.3, 1.0])
    elif what == "audit":
        whole_audit(float(numbers[0]) if numbers else 0.3)
    elif what == "cover":
        cover(int(numbers[0]) if numbers else 2_000)
    else:
        memory(int(numbers[0]) if numbers else 100_000)


if __name__ == "__main__":
    main()
