"""A model of the user's own may fail, leave, hang or move about: the command ends in one line and stays where it is."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
import torch

from snellen.cli import main
from snellen.engine.ask.watchdog import Watchdog
from snellen.errors import Hung, UserError
from snellen.models import from_callable
from snellen.models.subject import load_text, subjects_of
from snellen.user_code import user_code

from .gates import PATIENCE

NETS = """
import os, sys
import numpy as np
from snellen.models import from_callable, from_torch

class Stop(BaseException):
    pass

def raising(error):
    raise error

def model(function):
    return from_callable(function, classes=["a", "b"], size=8, version="1")

def leaves(): sys.exit(0)
def leaves_with_words(): sys.exit("\\x1b[31mbye")
def leaves_at_once(): os._exit(0)
def fails(): raise ValueError("two\\nlines")
def fails_oddly(): raise Stop
def reads(): return input()
def nothing(): return None
def leaves_when_asked(): return model(lambda images: sys.exit(0))
def leaves_at_once_when_asked(): return model(lambda images: os._exit(0))
def stops_when_asked(): return model(lambda images: raising(Stop("no")))
def leaves_when_probed(): return lambda images: sys.exit(0)
def fails_when_probed(): return lambda images: 1 / 0
def complex(): return model(lambda images: np.full((len(images), 2), 1j))
def size(): return from_callable(len, size=0, version="1")
def huge(): return from_callable(len, size=(8, 10**9), version="1")
def flat(): return from_torch(np, mean=[0.5], std=[0.0])

def moves():
    os.chdir("/")
    return model(lambda images: np.full((len(images), 2), 0.5))
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nets.py").write_text(NETS)
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(0)\n")
    (tmp_path / "moving.py").write_text("import os\nos.chdir('/')\nmodel = len\n")
    (tmp_path / "broken.py").write_text("def (\n")
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    images = np.random.default_rng(0).integers(0, 255, (40, 8, 8, 3), dtype=np.uint8)
    np.savez(tmp_path / "data.npz", images=images, labels=np.arange(40) % 2, classes=np.array(["a", "b"]))
    return tmp_path


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("nets.py:leaves", "the factory 'nets.py:leaves' called sys.exit(0); take that out"),
        ("nets.py:leaves_with_words", r"called sys.exit('\x1b[31mbye'); take that out"),
        ("nets.py:leaves_at_once", "the factory 'nets.py:leaves_at_once' called sys.exit(0); take that out"),
        ("nets.py:leaves_at_once_when_asked", "called sys.exit(0)"),
        ("nets.py:fails", "the factory 'nets.py:fails' failed: ValueError: two"),
        ("nets.py:fails_oddly", "the factory 'nets.py:fails_oddly' failed: Stop"),
        ("nets.py:reads", "the factory 'nets.py:reads' failed: "),
        ("nets.py:nothing", "expected a model, a torch module or a callable, got NoneType"),
        ("nets.py:leaves_when_asked", "called sys.exit(0)"),
        ("nets.py:stops_when_asked", "failed: Stop: no"),
        ("nets.py:leaves_when_probed", "model 'leaves_when_probed' called sys.exit(0)"),
        ("nets.py:fails_when_probed", "model 'fails_when_probed' failed: ZeroDivisionError: division by zero"),
        ("nets.py:complex", "answered complex numbers"),
        ("nets.py:size", "expected a size from 1 to 10,000 pixels, got 0"),
        ("nets.py:huge", "expected a size from 1 to 10,000 pixels"),
        ("nets.py:flat", "expected a std above 0"),
        ("leaving.py:model", "importing 'leaving.py' called sys.exit(0)"),
        ("broken.py:model", "importing 'broken.py' failed: SyntaxError"),
        ("folder.py:model", "'folder.py' is a folder, not a file"),
        ("pipe.py:model", "'pipe.py' is a pipe, not a file"),
        ("nowhere.py:model", "no file 'nowhere.py'"),
    ],
)
def test_a_model_that_fails_or_leaves_is_one_line_and_exit_2(
    here: Path, capsys: pytest.CaptureFixture[str], model: str, reason: str
) -> None:
    arguments = ["audit", f"python:{model}", "--data", "arrays:data.npz", "--audits", "interference([noise(0.1)])"]
    with pytest.raises(SystemExit) as stopped:
        main([*arguments, "--out", "run", "--quiet"])
    told = capsys.readouterr()
    assert (stopped.value.code, told.out) == (2, "")
    (line,) = told.err.strip().splitlines()
    assert line.startswith("error: ")
    assert reason in line
    assert not (here / "run").exists()


def test_the_working_folder_stays_whatever_a_module_or_a_factory_does(here: Path) -> None:
    load_text("python:nets.py:moves")
    assert Path.cwd() == here
    with pytest.raises(UserError):
        load_text("python:moving.py:model")  # `len` is no model
    assert Path.cwd() == here
    with user_code("a factory"):
        os.chdir("/")
    assert Path.cwd() == here


@pytest.mark.parametrize(("status", "ends"), [(0, 2), (3, 3)])
def test_a_thread_of_a_model_that_leaves_is_a_failure_too(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], status: int, ends: int
) -> None:
    """With `--require` it would pass: nothing after it runs. Here it stays, so that the test can go on."""
    left: list[int] = []
    monkeypatch.setattr(os, "_exit", left.append)
    (here / "threads.py").write_text(
        "import os, threading\nimport numpy as np\n\n"
        "def model(images):\n"
        f"    thread = threading.Thread(target=lambda: os._exit({status}))\n"
        "    thread.start()\n    thread.join()\n    return np.full((len(images), 2), 0.5)\n\n"
        "def factory():\n    return model\n"
    )
    with pytest.raises(SystemExit):
        main(["audit", "python:threads.py:factory", "--data", "arrays:data.npz", "--dry-run"])
    assert set(left) == {ends}
    assert ("called os._exit(0) in a thread; take that out" in capsys.readouterr().err) is (status == 0)


@pytest.mark.parametrize("error", [KeyboardInterrupt, Hung, GeneratorExit])
def test_what_ends_a_run_from_outside_is_not_blamed_on_the_model(error: type[BaseException]) -> None:
    def predict(images: np.ndarray) -> np.ndarray:
        raise error

    model = from_callable(predict, size=8, version="1")
    with pytest.raises(error):
        model(torch.zeros((1, 3, 8, 8), dtype=torch.uint8))


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_a_factory_that_hangs_is_ended_by_the_shard_timeout(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    def hang(text: str, device: object = None) -> None:
        """Loading begins: the watchdog's time is over at once, and only its signal ends the wait."""
        watchdogs[-1].seconds = 0.01
        watchdogs[-1].feed()
        threading.Event().wait(PATIENCE)

    watchdogs: list[Watchdog] = []
    set_up = Watchdog.__init__
    monkeypatch.setattr(Watchdog, "__init__", lambda self, seconds: (set_up(self, seconds), watchdogs.append(self))[0])
    monkeypatch.setattr("snellen.models.subject.load_text", hang)
    with pytest.raises(SystemExit) as stopped:
        main(["audit", "python:nets.py:moves", "--data", "arrays:data.npz", "--shard-timeout", "900", "-q", *more])
    assert stopped.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("error: loading the models took more than 0.01 s (--shard-timeout)")
    assert not (here / "runs").exists()


def test_the_home_of_nobody_holds_no_model(here: Path) -> None:
    with pytest.raises(UserError, match="no file"):
        subjects_of("python:~nobody_of_this_name/nets.py:model")
