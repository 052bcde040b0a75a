"""On Ray, whoever answers a shard and whoever dies, the table is the local one."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import snellen
from snellen.data import from_arrays
from snellen.data.occluders import from_images
from snellen.errors import UserError
from snellen.models import from_callable
from snellen.models.checkpoint import save_checkpoint
from snellen.models.zoo import NETWORKS

from ..gates import PATIENCE, is_alive, meanwhile, wait_until

ray = pytest.importorskip("ray", reason="needs Ray: pip install 'snellen[ray]'")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DATA = "phantom:test?size=16&n=120"
AUDIT = "occlusion(areas=[0.3])"
ask = functools.partial(snellen.audit, quiet=True, report=False, shard=10, batch_size=5)
on_ray = functools.partial(ask, engine="ray")
same = functools.partial(pd.testing.assert_frame_equal, check_exact=True)

NETS = """
import os, time
from pathlib import Path
import numpy as np
import ray
from snellen.models import from_callable

HERE = Path(__file__).parent

def first_pixels(images):
    return np.eye(12)[images[:, 3, 5, 0] % 12]

def plain():
    return from_callable(first_pixels, size=16, name="plain", version="1")

def stay(gate):
    "Return when the test has opened the gate, which is a file."
    end = time.monotonic() + PATIENCE
    while not (HERE / gate).exists():
        if time.monotonic() > end or (HERE / "in_vain").exists():
            (HERE / "in_vain").write_text(gate)
            raise RuntimeError(f"waited {PATIENCE} s in vain for '{gate}'")
        time.sleep(0.01)

def sign_in():
    "Leave the process and node of whoever answers; the node."
    node = ray.get_runtime_context().get_node_id()
    (HERE / f"{node}.{os.getpid()}.worker").touch()
    return node

def stays_after_three():
    "Answers until three shards are kept."
    def answer(images):
        sign_in()
        if len(list(HERE.glob("run/answers/*/*.parquet"))) >= 3:
            stay("never.open")
        return first_pixels(images)
    return from_callable(answer, size=16, name="plain", version="1")

def stays_at_its_node():
    "Answers when the gate of its node is open."
    def answer(images):
        stay(f"{sign_in()}.open")
        return first_pixels(images)
    return from_callable(answer, size=16, name="plain", version="1")

def hangs_once():
    def answer(images):
        if not (HERE / "hung").exists():
            (HERE / "hung").touch()
            stay("never.open")
        return first_pixels(images)
    return from_callable(answer, size=16, name="plain", version="1")
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A node of two CPUs, to which tests may add others."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 100 * 2**20, "include_dashboard": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # by default a busy machine leaves workers next to no time
        patch.setenv("RAY_worker_register_timeout_seconds", str(PATIENCE))
        nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "wait": False, **small})
        nodes.wait_for_nodes(PATIENCE)
        ray.init(nodes.address, log_to_driver=False, logging_level="ERROR")
        yield nodes
        ray.shutdown()
        nodes.shutdown()


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """As many threads here as an actor has: fp32 sums may depend on their number."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def nets(tmp_path: Path) -> Iterator[str]:
    """A file of models; none of them may have left its gate because nothing happened."""
    (tmp_path / "nets.py").write_text(f"PATIENCE = {PATIENCE}\n{NETS}")
    yield f"python:{tmp_path}/nets.py"
    assert not (tmp_path / "in_vain").exists(), f"a worker stood at a gate for {PATIENCE} s"


@pytest.fixture
def phantom_table(nets: str) -> pd.DataFrame:
    return ask(f"{nets}:plain", DATA, AUDIT).predictions()


def shards(folder: Path) -> int:
    return len(list(folder.glob("answers/*/*.parquet")))


def workers(folder: Path) -> set[tuple[str, int]]:
    """(node, process) of everyone who answered."""
    return {(file.name.split(".")[0], int(file.name.split(".")[1])) for file in folder.glob("*.worker")}


def test_a_trained_network_gives_the_local_table_with_one_and_two_actors(
    cluster: Any, shared: Path, realdata: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SNELLEN_SHARED", str(shared.parent))
    images, labels, index = realdata.load_small("cifar10", "test", shared)
    np.savez(tmp_path / "cifar.npz", images=images[:200], labels=labels[:200], ids=[str(i) for i in index[:200]])
    factory = f"python:{ROOT}/examples/maintainers/shared_networks.py:cifar10_run"
    network = f"{factory}@{shared}/models/cifar10_runs/basic-0.safetensors"
    exam = functools.partial(ask, network, f"arrays:{tmp_path}/cifar.npz", AUDIT, shard=32, batch_size=16)
    local = exam().predictions()
    assert local["score"].mean() > 0.5
    for actors in (1, 2):
        same(local, exam(engine="ray", actors=actors).predictions())


def test_a_zoo_checkpoint_gives_the_local_table_whole_and_resumed(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first command asks one audit on Ray, the second the rest; relative paths mean the driver's folder."""
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    card = {"arch": "smallnet", "size": [32, 32], "mean": [0.5] * 3, "std": [0.25] * 3}
    save_checkpoint(Path("net.safetensors"), NETWORKS["smallnet"](12), card)
    world = "phantom:test?size=32&n=96"
    pasted = "occlusion(areas=[0.3], fills=[black, donor])"
    both = f"{pasted}, interference([shuffle(2)])"
    donors = "phantom:train?size=32&n=20"
    local = ask("net.safetensors", world, both, donors=donors)
    on_ray("net.safetensors", world, pasted, out="run", actors=2, donors=donors)
    whole = on_ray("net.safetensors", world, both, out="run", actors=2, donors=donors)
    same(local.predictions(), whole.predictions())
    same(local.findings(), whole.findings())
    assert json.loads(Path("run/run.json").read_text())["engine"] == "ray"


def test_cutouts_travel_as_a_folder_and_as_made_in_python(cluster: Any, nets: str, tmp_path: Path) -> None:
    things = [np.zeros((12, 9, 4), np.uint8) for _ in range(3)]
    for number, thing in enumerate(things):
        thing[1 + number : 11, 1:8] = (80 * number, 9, 200, 255)
        Image.fromarray(thing).save(tmp_path / f"{number}.png")
    for pool in (str(tmp_path), from_images(things)):
        local = ask(f"{nets}:plain", DATA, "interference([cutouts(0.3)])", occluders=pool)
        away = on_ray(f"{nets}:plain", DATA, "interference([cutouts(0.3)])", actors=1, occluders=pool)
        same(local.predictions(), away.predictions())
        assert local.predictions()["distortion"].str.startswith("cutouts").any()


def test_models_and_data_made_in_python_travel_or_are_named(cluster: Any, nets: str) -> None:
    def dark(images: np.ndarray) -> np.ndarray:
        return np.eye(4)[images.mean((1, 2, 3)).astype(int) % 4]

    rng = np.random.default_rng(0)
    arrays = {"images": rng.integers(0, 256, (30, 16, 16, 3), dtype=np.uint8), "labels": np.arange(30) % 4}
    data = from_arrays(arrays, "memory:grey", "1")
    model = from_callable(dark, size=16, name="dark", version="1")
    same(ask(model, data, AUDIT).predictions(), on_ray(model, data, AUDIT, actors=1).predictions())
    lock = threading.Lock()
    stuck = from_callable(lambda images: dark(images) * (lock is not None), size=16, name="stuck", version="1")
    with pytest.raises(
        UserError, match=r"model 'stuck' cannot travel .*cannot pickle '_thread.lock'.*; give it as text"
    ):
        on_ray(stuck, data, AUDIT, actors=1)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also where the tests were started in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_leaves_a_run_that_continues_to_the_same_table(
    cluster: Any, nets: str, phantom_table: pd.DataFrame, tmp_path: Path, ctrl_c: None
) -> None:
    out = tmp_path / "run"

    def interrupt() -> None:
        wait_until(lambda: shards(out) >= 3, "three shards")
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), meanwhile(interrupt):
        on_ray(f"{nets}:stays_after_three", DATA, AUDIT, out=out, actors=2)
    assert 3 <= shards(out) < 12
    wait_until(lambda: not any(is_alive(pid) for _, pid in workers(tmp_path)), "the end of all workers")
    same(phantom_table, on_ray(f"{nets}:plain", DATA, AUDIT, out=out, actors=1).predictions())


def test_a_killed_worker_and_a_lost_node_cost_only_their_shards(
    cluster: Any, nets: str, phantom_table: pd.DataFrame, tmp_path: Path
) -> None:
    """Three workers begin a shard each; one is killed and one lost before they answer, the third keeps shards between."""
    out = tmp_path / "run"
    lost = cluster.add_node(wait=False, num_cpus=1, object_store_memory=100 * 2**20)
    wait_until(lambda: ray.cluster_resources()["CPU"] == 3, "the second node")

    def harm() -> None:
        wait_until(lambda: len(workers(tmp_path)) == 3, "a shard in the hands of each of three workers")
        head, victim = next((node, pid) for node, pid in workers(tmp_path) if node != lost.node_id)
        os.kill(victim, signal.SIGKILL)
        (tmp_path / f"{head}.open").touch()
        wait_until(lambda: shards(out) > 0, "a shard of the worker that is left on the first node")
        cluster.remove_node(lost, allow_graceful=False)

    with meanwhile(harm):
        run = on_ray(f"{nets}:stays_at_its_node", DATA, AUDIT, out=out, actors=3, shard=5, batch_size=5)
    assert shards(out) == 24
    assert len({node for node, _ in workers(tmp_path)}) == 2
    same(phantom_table, run.predictions())


class Clock:
    """The driver's clock, which a test can put forward."""

    ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


def test_a_shard_that_hangs_is_given_to_another_actor(
    cluster: Any, nets: str, phantom_table: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("snellen.engine.ask.cluster.time", clock)

    def let_an_hour_pass() -> None:
        wait_until(lambda: (tmp_path / "hung").exists(), "a worker that hangs")
        clock.ahead = 3600

    with meanwhile(let_an_hour_pass):
        run = on_ray(f"{nets}:hangs_once", DATA, AUDIT, actors=1, shard_timeout=1800)
    same(phantom_table, run.predictions())


def test_what_goes_wrong_in_an_actor_arrives_in_one_line(cluster: Any, tmp_path: Path) -> None:
    def nothing(images: np.ndarray) -> np.ndarray:
        return np.full((len(images), 12), np.nan)

    def broken(images: np.ndarray) -> np.ndarray:
        raise RuntimeError("no such layer\nand more")

    with pytest.raises(
        UserError, match=r"^model 'n' answered nan for sample 'test-s0/\d+' under none\(\); check its weights"
    ) as caught:
        on_ray(from_callable(nothing, size=16, name="n", version="1"), DATA, AUDIT, actors=1)
    assert type(caught.value) is UserError
    with pytest.raises(UserError, match=r"model 'b' failed on \d+ of 120 images .* RuntimeError: no such layer"):
        on_ray(from_callable(broken, size=16, name="b", version="1"), DATA, AUDIT, actors=1)


def test_wrong_calls_are_refused_with_the_next_step(nets: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match="unknown engine 'rai'; did you mean 'ray'"):
        ask(f"{nets}:plain", DATA, AUDIT, engine="rai")
    with pytest.raises(UserError, match="actors needs engine ray"):
        ask(f"{nets}:plain", DATA, AUDIT, actors=3)
    with pytest.raises(UserError, match="expected shard_timeout above 0, up to 10,000,000, got 0"):
        ask(f"{nets}:plain", DATA, AUDIT, shard_timeout=0)
    with pytest.raises(UserError, match="expected cpus_per_actor from 1 to 10,000, got 0"):
        on_ray(f"{nets}:plain", DATA, AUDIT, cpus_per_actor=0)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(UserError, match=r"no Ray cluster at '127.0.0.1:1' \(ConnectionRefusedError.*; start one"):
        on_ray(f"{nets}:plain", DATA, AUDIT, address="127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "ray", None)
    model = from_callable(lambda images: np.full((len(images), 12), 1 / 12), size=16, name="m", version="1")
    with pytest.raises(UserError, match=r"pip install 'snellen\[ray\]'"):
        on_ray(model, DATA, AUDIT)
