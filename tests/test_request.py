"""Settings are declared once: the same values and the same errors from a command, a settings file and Python."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import typer
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from snellen.cli.options import takes
from snellen.errors import UserError, command
from snellen.request import Request, describe, setting, settings_of, signature_of
from snellen.settings_file import door, read_settings, resolve, write_settings


@dataclass(frozen=True, kw_only=True)
class Press(Request):
    """A request with a setting of every kind."""

    sheets: tuple[object, ...] = setting("sheets to print", ())
    ink: object = setting("ink, by name or mixed in Python")
    copies: int | None = setting("number of copies", at_least=1)
    speed: float | None = setting("sheets per second", above=0)
    size: Literal["auto"] | int = setting("sheet width in mm, or auto", "auto", at_least=10)
    paper: Literal["plain", "glossy"] = setting("paper", "plain")
    name: str | None = setting("name of the job")
    tags: tuple[str, ...] = setting("labels of the job", (), flag="--tag")
    out: Path | None = setting("folder to write to")
    quiet: bool = setting("print nothing", False, short="-q")
    duplex: bool = setting("print on both sides", True)
    fresh: bool = setting("start again", False, once=True)


def by_command(*arguments: str) -> Press:
    """The request that a command line makes."""
    app, requests = typer.Typer(rich_markup_mode=None), []

    @app.command()
    @takes(Press, arguments=("sheets",))
    def press(values: dict[str, Any]) -> None:
        requests.append(Press.read(values))

    answer = CliRunner().invoke(app, arguments)
    if isinstance(answer.exception, UserError):
        raise answer.exception
    assert answer.exit_code == 0, answer.output
    return requests[0]


def by_file(tmp_path: Path, text: str) -> Press:
    (tmp_path / "press.yaml").write_text(text)
    return resolve(Press, {}, tmp_path / "press.yaml")


@pytest.mark.parametrize(
    ("name", "arguments", "line", "value"),
    [
        ("sheets", ["a", "b"], "sheets: [a, b]", ("a", "b")),
        ("sheets", ["a"], "sheets: a", ("a",)),
        ("ink", ["--ink", "red"], "ink: red", "red"),
        ("copies", ["--copies", "3"], "copies: 3", 3),
        ("copies", ["--copies", "3"], "copies: '3'", 3),
        ("copies", ["--copies", "1e3"], "copies: 1000.0", 1000),
        ("copies", ["--copies", "9007199254740993"], "copies: 9007199254740993", 9007199254740993),
        ("speed", ["--speed", "2.5"], "speed: 2.5", 2.5),
        ("speed", ["--speed", "2"], "speed: 2", 2.0),
        ("size", ["--size", "auto"], "size: auto", "auto"),
        ("size", ["--size", "210"], "size: 210", 210),
        ("paper", ["--paper", "glossy"], "paper: glossy", "glossy"),
        ("name", ["--name", "7"], "name: '7'", "7"),
        ("tags", ["--tag", "a", "--tag", "b"], "tags: [a, b]", ("a", "b")),
        ("out", ["--out", "a/b"], "out: a/b", Path("a/b")),
        ("quiet", ["--quiet"], "quiet: true", True),
        ("quiet", ["-q"], "quiet: yes", True),
        ("duplex", ["--no-duplex"], "duplex: false", False),
        ("fresh", ["--fresh"], "fresh: true", True),
    ],
)
def test_a_value_is_the_same_from_everywhere(
    tmp_path: Path, name: str, arguments: list[str], line: str, value: Any
) -> None:
    wanted = Press(**{name: value})
    assert getattr(wanted, name) == value
    assert type(getattr(wanted, name)) is type(value)
    assert by_command(*arguments) == by_file(tmp_path, line) == wanted


@pytest.mark.parametrize(
    ("arguments", "line", "value", "message"),
    [
        (["--copies", "0"], "copies: 0", {"copies": 0}, "expected copies as a whole number of at least 1, got {}"),
        (["--copies", "x"], "copies: x", {"copies": "x"}, "expected copies as a whole number of at least 1, got 'x'"),
        (["--copies", "1.5"], "copies: 1.5", {"copies": 1.5}, "expected copies as a whole number of at least 1, got {}"),
        (["--copies", "inf"], "copies: .inf", {"copies": "inf"}, "expected copies as a whole number of at least 1, got"),
        (["--speed", "0"], "speed: 0", {"speed": 0}, "expected speed as a number above 0, got {}"),
        (["--speed", "nan"], "speed: nan", {"speed": "nan"}, "expected speed as a number above 0, got 'nan'"),
        (["--size", "small"], "size: small", {"size": "small"}, "expected size as auto or a whole number of at least 10"),
        (["--size", "9"], "size: 9", {"size": 9}, "expected size as auto or a whole number of at least 10, got {}"),
        (["--paper", "glosy"], "paper: glosy", {"paper": "glosy"}, "unknown paper 'glosy'; did you mean 'glossy'?"),
        (["--out", ""], "out: ''", {"out": ""}, "expected out as a path, got ''"),
    ],
)  # fmt: skip
def test_an_error_is_the_same_from_everywhere(
    tmp_path: Path, arguments: list[str], line: str, value: dict[str, Any], message: str
) -> None:
    texts = []
    for call in (lambda: by_command(*arguments), lambda: by_file(tmp_path, line), lambda: Press(**value)):
        with pytest.raises(UserError) as refused:
            call()
        texts.append(str(refused.value).removeprefix(f"{tmp_path / 'press.yaml'}: "))
    (given,) = value.values()
    for text, shown in zip(texts, (repr(arguments[1]), str(given), str(given))):
        assert text.startswith(message.format(shown))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sheets: 3", "expected sheets as a text or a list of them, got 3"),
        ("sheets: [a, 3]", "expected sheets as a text or a list of them, got ['a', 3]"),
        ("ink: {red: 1}", "expected ink as a text, got {'red': 1}"),
        ("copies: true", "expected copies as a whole number of at least 1, got True"),
        ("copies: [1]", "expected copies as a whole number of at least 1, got [1]"),
        ("name: 7", "expected name as a text, got 7"),
        ("out: [a]", "expected out as a path, got ['a']"),
        ("quiet: maybe", "expected quiet as true or false, got 'maybe'"),
        ("paper: 3", "expected paper as plain or glossy, got 3"),
    ],
)
def test_a_file_may_hold_what_no_shell_can_say_and_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(UserError) as refused:
        by_file(tmp_path, line)
    assert str(refused.value) == f"{tmp_path / 'press.yaml'}: {message}"


def test_python_may_pass_objects_where_texts_are_not_all(tmp_path: Path) -> None:
    thing = object()
    request = Press(ink=thing, sheets=[thing, "b"], copies=3)
    assert request.ink is thing
    assert request.sheets == (thing, "b")
    write_settings(tmp_path / "settings.yaml", request)
    text = (tmp_path / "settings.yaml").read_text()
    assert text == (
        "# sheets was made in Python and is not listed here: give it again\n"
        "# ink was made in Python and is not listed here: give it again\n"
        "copies: 3\n"
    )
    assert resolve(Press, {"ink": thing, "sheets": [thing, "b"]}, tmp_path / "settings.yaml") == request


def test_a_name_that_does_not_exist_is_told_with_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^unknown setting 'copis'; did you mean 'copies'\?$"):
        Press.read({"copis": 3})
    with pytest.raises(UserError, match=r"^unknown setting in .*press.yaml 'copis'; did you mean 'copies'\?$"):
        by_file(tmp_path, "copis: 3")


def test_what_was_given_wins_over_the_file_and_none_does_not(tmp_path: Path) -> None:
    (tmp_path / "press.yaml").write_text("copies: 3\nquiet: true\ntags: [a]\nsize: 100\n")
    over = {"copies": None, "quiet": False, "tags": [], "size": "auto"}
    assert resolve(Press, over, tmp_path / "press.yaml") == Press(copies=3)


def test_the_dashes_of_an_option_are_understood_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("no-such: 1\n")
    assert read_settings(tmp_path / "a.yaml") == {"no_such": 1}


def test_a_setting_that_is_there_twice_is_refused_in_either_spelling(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("copies: 1\nquiet: true\ncopies: 2\n")
    with pytest.raises(UserError, match=r"a.yaml line 3: 'copies' stands there twice, first in line 1"):
        resolve(Press, {}, tmp_path / "a.yaml")
    (tmp_path / "a.yaml").write_text("no-such: 1\nno_such: 2\n")
    with pytest.raises(UserError, match=r"a.yaml: 'no-such' and 'no_such' are one setting; leave one out"):
        read_settings(tmp_path / "a.yaml")


def test_a_time_is_no_number(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a whole number.*'1:30'"):
        by_file(tmp_path, "copies: 1:30")


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    (tmp_path / "list.yaml").write_text("- a\n")
    (tmp_path / "bad.yaml").write_text("a: [1\nb: 2\n")
    for name, message in (
        ("nowhere.yaml", "no settings file '.*nowhere.yaml'"),
        ("list.yaml", "list.yaml: expected settings as 'name: value' lines, got list"),
        ("bad.yaml", "bad.yaml line 2 is not YAML"),
        ("", "is a folder; expected a settings file"),
    ):
        with pytest.raises(UserError, match=message):
            read_settings(tmp_path / name)


texts = st.text(min_size=1, max_size=12)
requests = st.builds(
    Press,
    sheets=st.lists(texts, max_size=3),
    ink=st.none() | texts,
    copies=st.none() | st.integers(1, 10**30),
    speed=st.none() | st.floats(0, exclude_min=True, allow_infinity=False),
    size=st.just("auto") | st.integers(10, 10**6),
    paper=st.sampled_from(["plain", "glossy"]),
    name=st.none() | texts,
    tags=st.lists(texts, max_size=3),
    out=st.none() | texts.filter(lambda text: "\0" not in text and not text.startswith("~")).map(Path),
    quiet=st.booleans(),
    duplex=st.booleans(),
)


@settings(max_examples=100)
@given(requests)
def test_settings_that_are_written_make_the_same_request(
    tmp_path_factory: pytest.TempPathFactory, request: Press
) -> None:
    file = tmp_path_factory.mktemp("settings") / "settings.yaml"
    write_settings(file, request)
    assert resolve(Press, {}, file) == request
    assert set(yaml.safe_load(file.read_text()) or {}) == set(request.chosen())


def test_what_must_not_be_repeated_is_not_written(tmp_path: Path) -> None:
    write_settings(tmp_path / "settings.yaml", Press(fresh=True, copies=2))
    assert (tmp_path / "settings.yaml").read_text() == "copies: 2\n"


def test_help_signature_and_docstring_follow_from_the_request() -> None:
    app = typer.Typer(rich_markup_mode=None)
    app.command()(takes(Press, arguments=("sheets",))(lambda values: None))
    shown = " ".join(CliRunner().invoke(app, ["--help"]).output.split())
    for one in settings_of(Press):
        assert one.help in shown
        assert one.name == "sheets" or one.flag in shown
    for text in ("--size auto|N", "--paper plain|glossy", "-q, --quiet / --no-quiet", "[SHEET]..."):
        assert text in shown
    signature = signature_of(Press, ("sheets", "ink"))
    assert list(signature.parameters) == [one.name for one in settings_of(Press)]
    assert signature.parameters["ink"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert signature.parameters["duplex"].default is True
    assert "    copies: number of copies\n" in describe(Press)


@dataclass(frozen=True, kw_only=True)
class Cutter(Request):
    """A request with numbers that have ranges, and a setting that must be given."""

    sheets: str | None = setting("sheets to cut", required=True)
    share: float = setting("share that is cut off", 0.5, at_least=0.05, at_most=0.95)
    width: float = setting("width of the rest", 1.0, above=0, at_most=1)
    shift: int = setting("millimetres to the right", 0, at_most=1000)
    per_side: tuple[int, ...] = setting("cuts of each side", (1, 2), commas=True, at_least=1, flag="--per")
    sharp: bool = setting("by the new blade", False, flag="--sharp/--blunt")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"share": 2}, "expected share from 0.05 to 0.95, got 2"),
        ({"share": "0.01"}, "expected share from 0.05 to 0.95, got '0.01'"),
        ({"share": "much"}, "expected share as a number of at least 0.05, got 'much'"),
        ({"width": 0}, "expected width above 0, up to 1, got 0"),
        ({"shift": -1001}, "expected shift of at most 1,000, got -1001"),
        (
            {"per_side": "1,0"},
            "expected per_side as a whole number of at least 1, or several separated by commas, got '1,0'",
        ),
        ({"sharp": "maybe"}, "expected sharp as true or false, got 'maybe'"),
        ({"sheets": None}, "sheets is required: sheets to cut"),
        ({"widt": 1}, "unknown setting 'widt'; did you mean 'width'?"),
    ],
)
def test_ranges_and_what_is_required_in_the_words_of_the_caller(values: dict[str, Any], message: str) -> None:
    settings = {"sheets": "a", **values}
    with pytest.raises(UserError) as in_python:
        Cutter.read(settings)
    assert str(in_python.value) == message
    with pytest.raises(UserError) as typed, command():
        Cutter.read(settings)
    flags = {"per_side": "--per"}
    (name,) = values
    expected = message if message.startswith("unknown") else message.replace(name, flags.get(name, f"--{name}"), 1)
    assert str(typed.value) == expected


def test_bounds_are_allowed_and_both_options_of_a_truth_value_are_taken() -> None:
    assert Cutter(sheets="a", share=0.95, width=1, shift=-1000, per_side="2, 3").per_side == (2, 3)
    seen: list[Cutter] = []
    app = typer.Typer(rich_markup_mode=None)
    app.command()(takes(Cutter)(lambda values: seen.append(Cutter.read(values))))
    for words in (["--sharp"], ["--blunt"], []):
        assert CliRunner().invoke(app, ["--sheets", "a", "--per", "4", *words]).exit_code == 0
    assert [(one.sharp, one.per_side) for one in seen] == [(True, (4,)), (False, (4,)), (False, (4,))]


def test_a_door_takes_settings_by_position_by_name_and_from_a_file(tmp_path: Path) -> None:
    def cut_paper(request: Cutter) -> Cutter:
        """Cut paper."""
        return request

    cut = door(cut_paper, Cutter, "sheets", "share", sharp=True)
    assert cut("a", 0.7) == Cutter(sheets="a", share=0.7, sharp=True)
    (tmp_path / "cut.yaml").write_text("share: 0.2\nwidth: 0.3\n")
    assert cut("a", config=tmp_path / "cut.yaml", width=0.4) == Cutter(sheets="a", share=0.2, width=0.4, sharp=True)
    assert cut.__name__ == "cut"
    assert list(inspect.signature(cut).parameters)[:2] == ["sheets", "share"]
    assert inspect.signature(cut).parameters["sharp"].default is True
    assert "    share: share that is cut off\n" in (cut.__doc__ or "")
    with pytest.raises(TypeError, match="takes 2 values by position"):
        cut("a", 0.5, 1)
    with pytest.raises(TypeError, match="got 'share' twice"):
        cut("a", 0.5, share=0.6)
