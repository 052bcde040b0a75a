"""The command line: one file per command, which parses, calls one function of the library and prints."""

from __future__ import annotations

import io
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn

import typer

from snellen.atomic import DISK_FAILURES, cannot_write
from snellen.cli.audit import audit
from snellen.cli.build import build
from snellen.cli.calibrate import calibrate
from snellen.cli.check import check
from snellen.cli.compare import compare
from snellen.cli.curate import curate
from snellen.cli.demo import demo
from snellen.cli.dissect import dissect
from snellen.cli.doctor import doctor
from snellen.cli.explain import explain
from snellen.cli.export import export
from snellen.cli.list import list_
from snellen.cli.match import match
from snellen.cli.options import epilog, summary
from snellen.cli.report import report
from snellen.cli.search import search
from snellen.cli.sql import sql
from snellen.cli.study import study
from snellen.cli.sweep import sweep
from snellen.cli.train import train
from snellen.ctrl_c import STOPPED
from snellen.errors import UserError, command, unknown
from snellen.extras import missing
from snellen.terminal import show, tell, tell_block

# Each command with lines to paste, which its --help ends with.
COMMANDS: dict[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "audit": (audit, ("snellen audit timm:resnet18.a1_in1k --data folder:photos --limit 500",)),
    "train": (
        train,
        ("snellen train preact_resnet18 --data arrays:cifar10.npz --recipe fast --mix cutmix --runs 5 --out cutmix",),
    ),
    "search": (search, ("snellen search timm:resnet18.a1_in1k --data folder:photos --set cifar10 --length 5",)),
    "demo": (demo, ("snellen demo --out demo",)),
    "calibrate": (calibrate, ("snellen calibrate --out calibration --only square_edges",)),
    "check": (
        check,
        (
            "snellen check runs/new --require 'accuracy > 0.9'",
            "snellen check runs/new --baseline runs/old --require 'no_worse(accuracy)' --junit gate.xml",
        ),
    ),
    "compare": (
        compare,
        (
            "snellen compare runs/three-models",
            "snellen compare runs/new runs/old --page flips.html",
        ),
    ),
    "report": (report, ("snellen report runs/resnet18-on-photos",)),
    "export": (
        export,
        (
            "snellen export runs/resnet18-on-photos --out answers.parquet",
            "snellen export runs/resnet18-on-photos --format fiftyone --out for-fiftyone",
        ),
    ),
    "explain": (
        explain,
        (
            "snellen explain timm:resnet18.a1_in1k photo.jpg --layer -2",
            "snellen explain original='a/*.safetensors' mixed='b/*.safetensors' --data phantom:test --limit 64 --out explained",
        ),
    ),
    "dissect": (
        dissect,
        (
            "snellen dissect timm:resnet18.a1_in1k --data coco:instances.json?images=photos --layer layer4",
            "snellen dissect python:snellen.models.planted:concept_units@0.5 --data 'phantom:test?size=32&n=200' --out planted",
        ),
    ),
    "match": (
        match,
        (
            "snellen match torchvision:resnet50@IMAGENET1K_V2 folder:imagenet-a --rule mean --out map.csv",
            "snellen match mine.onnx photos --look 5",
        ),
    ),
    "curate": (
        curate,
        ("snellen curate in9:variants --reviewer ann,ben", "snellen curate in9:variants --apply variants-clean"),
    ),
    "list": (list_, ("snellen list distortions",)),
    "sql": (
        sql,
        ('snellen sql runs/a "select distortion, avg(score) from answers join cells using (cell) group by 1"',),
    ),
    "doctor": (doctor, ("snellen doctor --json",)),
}
GROUPS: dict[str, tuple[typer.Typer, tuple[str, ...]]] = {
    "build": (build, ("snellen build phantom --format coco --out phantom-coco",)),
    "study": (study, ("snellen study create 'phantom:test?size=64&n=120' --distortion 'occlude(0.5)' --out study",)),
    "sweep": (
        sweep,
        (
            "snellen sweep amount smallnet --data phantom:train --amounts 250,500 --test plain=phantom:test --out amounts",
        ),
    ),
}

app = typer.Typer(
    name="snellen",
    help="An eye exam for vision models: what they rely on, what breaks them, and which conclusions can be trusted.",
    epilog=epilog("snellen list", "snellen audit timm:resnet18.a1_in1k --data folder:photos", "snellen demo"),
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for _name, (_command, _examples) in COMMANDS.items():
    app.command(_name, epilog=epilog(*_examples))(_command)
for _name, (_group, _examples) in GROUPS.items():
    app.add_typer(_group, name=_name, epilog=epilog(*_examples))

for _typer in (app, *(_group for _group, _ in GROUPS.values())):
    for _registered in _typer.registered_commands:  # else click cuts their summaries to one line
        _registered.short_help = summary(_registered.callback)
for _registered_group in app.registered_groups:
    assert _registered_group.typer_instance is not None
    _registered_group.short_help = str(_registered_group.typer_instance.info.help)

DEBUG = "--debug"
_ClickError: Any = typer.BadParameter.__mro__[2]  # typer brings its own click, or uses the installed one


@app.callback(invoke_without_command=True)
def general_options(
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="show the traceback of an error; accepted anywhere")] = False,
) -> None:
    if version:
        from snellen.version import __version__

        show(__version__)
        raise typer.Exit


def main(arguments: list[str] | None = None) -> None:
    """Run a command; errors the user can fix are one line on stderr and exit code 2, defects of ours a traceback and 3."""
    words = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # of an encoding that has no such letter
    code = _run([word for word in words if word != DEBUG], DEBUG in words)
    if code == 130:
        tell(STOPPED)
    sys.exit(code)


def _run(words: list[str], debug: bool) -> int:
    """Run a command and print what went wrong; its exit code."""
    try:
        with command(), _noticing_exit():
            code = app(words, standalone_mode=False)
        sys.stdout.flush()  # a full disk shows here at the latest
        return code or 0
    except UserError as error:
        return _refuse(str(error), debug)
    except _ClickError as error:
        return _misused(error)
    except (SystemExit, BrokenPipeError) as stop:
        if isinstance(stop, BrokenPipeError) or isinstance(stop.__context__, BrokenPipeError):
            os.dup2(
                os.open(os.devnull, os.O_WRONLY), 1
            )  # nobody reads on, as after `| head`; nor may the last flush fail
            return 141
        # The commands themselves end otherwise, so it is code of the user's.
        return _refuse(f"a model, or other code that was loaded, called sys.exit({stop.code!r}); take that out", debug)
    except BaseException as error:
        if _was_interrupted(error):
            return 130
        if isinstance(error, ModuleNotFoundError) and (refusal := missing(error)):
            return _refuse(str(refusal), debug)
        if isinstance(error, OSError) and error.errno in DISK_FAILURES:
            return _refuse(str(cannot_write(error.filename or "to the output", error)), debug)
        from snellen.plugins import blame

        if culprit := blame(error):
            return _refuse(str(culprit), debug)
        tell_block(traceback.format_exc())
        tell("error: this is a defect of snellen, not of your input; please report the lines above")
        return 3


@contextmanager
def _noticing_exit() -> Iterator[None]:
    """Let `os._exit` raise SystemExit, which is told: it would end the command without a word, as if all were well.

    In the main thread, where models are asked. In another nobody hears what is raised: there it ends the command as a failure.
    Processes that were forked leave as they like.
    """
    leave, process = os._exit, os.getpid()

    def stay(status: int) -> NoReturn:
        if os.getpid() != process:
            leave(status)
        if threading.current_thread() is threading.main_thread():
            raise SystemExit(status)
        if status == 0:
            tell("error: a model, or other code that was loaded, called os._exit(0) in a thread; take that out")
        leave(status or 2)

    os._exit = stay
    try:
        yield
    finally:
        os._exit = leave


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: a library that is interrupted while it is imported may raise something else."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _misused(error: Any) -> int:
    """What is wrong with how a command was typed, in one line; the exit code."""
    if type(error).__name__ == "NoArgsIsHelpError":
        tell_block(error.format_message())
        return 2
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "snellen"
    option = getattr(error, "option_name", None)
    if type(error).__name__ == "NoSuchOption" and context:
        known = {name for parameter in context.command.params for name in parameter.opts if name.startswith("--")}
        return _refuse(str(unknown("option", str(option), known)))
    text = error.format_message().rstrip(".")
    return _refuse(f"{text[:1].lower()}{text[1:]}{'' if text.endswith('?') else f'; see `{path} --help`'}")


def _refuse(text: str, debug: bool = False) -> int:
    if debug:
        tell_block(traceback.format_exc())
    tell(f"error: {text}")
    return 2
