"""Freed memory stays with the process while networks answer, and goes back afterwards; told by glibc's own counts."""

import platform
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import snellen
from snellen import freed_memory
from snellen.engine import RunProgress
from snellen.exam import carry_out
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.freed_memory import keep_freed_memory
from snellen.models import from_torch
from snellen.models.model import Model
from snellen.models.zoo import NETWORKS
from snellen.train import Recipe, train

on_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")

COUNTS = """
import ctypes
from snellen.freed_memory import keep_freed_memory

class Info(ctypes.Structure):
    NAMES = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    _fields_ = [(name, ctypes.c_size_t) for name in NAMES]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Info
library.malloc.restype = ctypes.c_void_p
library.free.argtypes = [ctypes.c_void_p]

def mappings_of(size):
    "how many mappings of their own a block of so many bytes gets"
    before = library.mallinfo2().hblks
    block = library.malloc(ctypes.c_size_t(size))
    after = library.mallinfo2().hblks
    library.free(block)
    return after - before

def heap():
    return library.mallinfo2().arena >> 20

MANY = 200 << 20
"""


def in_a_process(code: str) -> list[str]:
    """What code prints in a fresh process, whose memory nothing else has used."""
    whole = COUNTS + textwrap.dedent(code)
    return subprocess.run([sys.executable, "-c", whole], check=True, capture_output=True, text=True).stdout.split()


@on_glibc
def test_a_large_block_stays_until_the_end_and_goes_back_then():
    words = in_a_process("""
        print(mappings_of(MANY))
        with keep_freed_memory():
            print(mappings_of(MANY), heap() >= 200, mappings_of(MANY), heap() < 300)
        print(heap() < 100, mappings_of(MANY))
    """)
    assert words == ["1", "0", "True", "0", "True", "True", "1"]


@on_glibc
def test_only_the_last_of_several_users_gives_memory_back():
    words = in_a_process("""
        with keep_freed_memory():
            with keep_freed_memory():
                print(mappings_of(MANY))
            print(mappings_of(MANY), heap() >= 200)
        print(mappings_of(MANY), heap() < 100)
    """)
    assert words == ["0", "0", "True", "1", "True"]


@on_glibc
def test_memory_goes_back_after_an_error_too():
    words = in_a_process("""
        try:
            with keep_freed_memory():
                print(mappings_of(MANY))
                raise ValueError
        except ValueError:
            print(mappings_of(MANY), heap() < 100)
    """)
    assert words == ["0", "1", "True"]


@on_glibc
def test_nothing_changes_where_it_is_not_wanted():
    words = in_a_process("""
        with keep_freed_memory(False):
            print(mappings_of(MANY))
    """)
    assert words == ["1"]


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: ("", ""))
    monkeypatch.setattr(freed_memory.ctypes, "CDLL", lambda name: pytest.fail("the C library was asked"))
    with keep_freed_memory():
        pass


def watched_smallnet(seen: set[int]) -> Model:
    """A network that notes how many keep freed memory while it answers."""
    network = NETWORKS["smallnet"](12)
    model = from_torch(network, size=32, mean=[0.5] * 3, std=[0.25] * 3, name="smallnet", device="cpu")
    network.register_forward_hook(lambda *_: seen.add(freed_memory._users))
    return model


@on_glibc
def test_networks_are_audited_while_memory_stays_and_it_goes_back_afterwards(tmp_path: Path) -> None:
    seen: set[int] = set()
    data, audit = "phantom:test?n=40&size=32", "interference([shuffle(4)])"
    snellen.audit(watched_smallnet(seen), data, audit, tmp_path / "run", device="cpu", quiet=True, report=False)
    assert seen == {1}
    assert freed_memory._users == 0


@on_glibc
def test_networks_are_trained_while_memory_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[int] = set()
    step = torch.optim.SGD.step

    def watched(*arguments: Any, **named: Any) -> Any:
        seen.add(freed_memory._users)
        return step(*arguments, **named)

    monkeypatch.setattr(torch.optim.SGD, "step", watched)
    train(Recipe(epochs=1, batch_size=8, optimiser="sgd"), "phantom:train?n=24&size=16", tmp_path, device="cpu")
    assert seen == {1}
    assert freed_memory._users == 0


@pytest.mark.parametrize(("device", "wanted"), [("cpu", True), ("cuda", False)])
def test_an_audit_wants_it_on_a_cpu_alone(
    device: str, wanted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked(Exception):
        pass

    def ask(wanted: bool) -> None:
        raise Asked(wanted)

    monkeypatch.setattr(carry_out, "keep_freed_memory", ask)
    request = AuditRequest(models=(watched_smallnet(set()),), data="phantom:test?n=40&size=32", out=tmp_path / "run")
    prepared = prepare(request)
    settings = replace(prepared.inputs.settings, device=device)
    on_device = replace(prepared, inputs=replace(prepared.inputs, settings=settings))
    with pytest.raises(Asked) as asked:
        carry_out.carry_out(on_device, RunProgress(quiet=True), carry_out.Execution())
    assert asked.value.args == (wanted,)
