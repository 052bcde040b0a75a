"""Freed memory stays with the process while networks answer, and goes back afterwards; told by glibc's own counts."""

import platform
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from snellen.engine import Progress, Store
from snellen.engine.ask import freed_memory
from snellen.engine.ask.freed_memory import frees_large_blocks, keep_freed_memory
from snellen.engine.ask.local import run_local
from snellen.exam.prepare import prepare
from snellen.exam.request import AuditRequest
from snellen.models import from_torch
from snellen.models.model import Model
from snellen.models.zoo import NETWORKS

on_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")

COUNTS = """
import ctypes
from snellen.engine.ask.freed_memory import keep_freed_memory

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


def smallnet(size: int) -> Model:
    net = NETWORKS["smallnet"](12)
    return from_torch(net, size=size, mean=[0.5] * 3, std=[0.25] * 3, name="smallnet", device="cpu")


def request_of(model: Model, size: int, out: Path) -> AuditRequest:
    data, audits = f"phantom:test?n=12&size={size}", ("interference([shuffle(4)])",)
    return AuditRequest(models=(model,), data=data, audits=audits, out=out, device="cpu")


@pytest.mark.parametrize(("size", "device", "wanted"), [(32, "cpu", False), (96, "cpu", True), (96, "cuda", False)])
def test_it_is_wanted_for_images_that_are_not_small_on_a_cpu(tmp_path, size, device, wanted):
    plan = prepare(request_of(smallnet(size), size, tmp_path / "run")).plan()
    settings = replace(plan.settings, device=device)
    assert frees_large_blocks(replace(plan, settings=settings)) is wanted


@on_glibc
@pytest.mark.parametrize(("size", "users"), [(32, {0}), (96, {1})])
def test_networks_are_asked_while_memory_stays_and_it_goes_back_afterwards(tmp_path, size, users):
    model, seen = smallnet(size), set()
    predict = model.predict
    assert predict is not None

    def watched(images):
        seen.add(freed_memory._users)
        return predict(images)

    plan = prepare(request_of(replace(model, predict=watched), size, tmp_path / "run")).plan()
    run_local(plan, Store(tmp_path / "store"), Progress(quiet=True))
    assert seen == users
    assert freed_memory._users == 0
