"""The page about chat models is true: its first command runs, and it names every setting, state and bound."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import snellen
from snellen.cli import main
from snellen.models.chat.options import read_confusions
from snellen.models.chat.reading import LONGEST, VERBS
from snellen.models.chat.settings import ASKING, DEFAULTS, ChatSettings
from snellen.models.text_answers import STATES

from .chat_service import completion, serve_chat

PAGE = (Path(__file__).resolve().parents[2] / "docs/start/chat-models.md").read_text()


def test_the_first_command_of_the_page_audits_a_chat_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = re.search(r"^    snellen (audit .*)$", PAGE, re.M)
    query = re.search(r"^    snellen (sql .*)$", PAGE, re.M)
    assert command is not None
    assert query is not None
    with serve_chat(lambda body: completion("disc")) as server:
        words = shlex.split(command[1].replace("http://127.0.0.1:8000/v1", server.url))
        words[words.index("--out") + 1] = str(tmp_path / "run")
        with pytest.raises(SystemExit) as ending:
            main([*words, "--limit", "8", "--audits", "occlusion(areas=[0.3], fills=[black])", "--quiet"])
    assert ending.value.code in (None, 0)
    assert set(snellen.load_run(tmp_path / "run").predictions()["raw"]) == {
        snellen.load_data("phantom:test").classes.index("disc")
    }
    words = shlex.split(query[1])
    words[1] = str(tmp_path / "run")
    with pytest.raises(SystemExit) as ending:
        main(words)
    assert ending.value.code in (None, 0)
    block = re.search(r"^snellen (sql runs/other .*?--csv)$", PAGE, re.M | re.S)
    assert block is not None
    words = shlex.split(block[1])
    words[1] = str(tmp_path / "run")
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(words)
    (tmp_path / "confusions.csv").write_text(capsys.readouterr().out)
    classes = snellen.load_data("phantom:test").classes
    table = read_confusions(tmp_path / "confusions.csv", classes)
    assert (table[classes.index("disc")] > 0).sum() > 1  # all images were taken for discs


def test_the_page_names_every_setting_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", PAGE.partition("## The picture")[2], re.M))
    rows = {name: default.strip() for name, default in rows.items()}
    assert set(rows) == {*ASKING, "size"}
    chat = ChatSettings("m")
    told = {"none": "no", "logprobs": "yes", "options": "all"}
    for name in ("protocol", "none", "order", "options", "distractors", "max_tokens", "temperature", "logprobs"):
        assert rows[name] == told.get(
            name, f"{getattr(chat, name):g}" if name == "temperature" else str(getattr(chat, name))
        )
    assert (chat.none, chat.logprobs, rows["format"]) == (False, True, chat.picture.format)
    assert f"`timeout` ({DEFAULTS['timeout']:g} s), `parallel` ({DEFAULTS['parallel']})" in PAGE


def test_the_page_names_every_state_and_the_words_of_a_refusal() -> None:
    assert re.findall(r"^\| `(\(.*?\))` \|", PAGE, re.M) == list(STATES)
    assert f"{LONGEST:,} characters" in PAGE
    words = " ".join(PAGE.split())
    for verb in VERBS.replace("[sz]", "s").split("|"):
        assert re.search(rf"can't, cannot.*\b{verb}\b", words), verb
