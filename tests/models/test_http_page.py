"""The page about models behind a web service is true: its service runs, and its commands audit it."""

from __future__ import annotations

import importlib
import re
import shlex
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.cli import main
from snellen.models.remote.address import OPTIONS, Address
from snellen.models.remote.client import DECLINED, LONGEST_WAIT, MOST_ANSWER

PAGE = (Path(__file__).resolve().parents[2] / "docs/start/http-models.md").read_text()


def test_the_service_of_the_page_can_be_audited_by_its_first_command(tmp_path: Path) -> None:
    code = re.search(r"^```python\n(# service\.py\n.*?)^```$", PAGE, re.S | re.M)
    command = re.search(r"^    snellen (audit .*)$", PAGE, re.M)
    assert code is not None
    assert command is not None
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 22
    names: dict[str, Any] = {"__name__": "service"}
    exec(compile(code[1], "service.py", "exec"), names)
    names["Service"].log_message = lambda *arguments: None
    with ThreadingHTTPServer(("127.0.0.1", 0), names["Service"]) as web:
        threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        words = shlex.split(command[1].replace(":8000", f":{web.server_port}"))
        words[words.index("--out") + 1] = str(tmp_path / "run")
        with pytest.raises(SystemExit) as ending:
            main([*words, "--limit", "8", "--audits", "occlusion(areas=[0.3], fills=[black])", "--quiet"])
        web.shutdown()
    assert ending.value.code in (None, 0)
    assert set(snellen.load_run(tmp_path / "run").predictions()["model"]) == {"mine"}


def test_the_search_of_the_page_breaks_the_service_that_knows_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("service", "knowing"):
        code = re.search(rf"^```python\n(# {name}\.py\n.*?)^```$", PAGE, re.S | re.M)
        assert code is not None
        (tmp_path / f"{name}.py").write_text(
            code[1].replace("8000), service.Service).serve_forever()", "0), service.Service)")
        )
    monkeypatch.syspath_prepend(str(tmp_path))
    service = importlib.import_module("service")
    monkeypatch.setattr(service.Service, "log_message", lambda *arguments: None)
    importlib.import_module("knowing")  # puts its model into the service
    command = re.search(r"^    snellen (search (?:[^\n]*\\\n)*[^\n]*)$", PAGE, re.M)
    assert command is not None
    with ThreadingHTTPServer(("127.0.0.1", 0), service.Service) as web:
        threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        words = shlex.split(command[1].replace("\\\n", " ").replace(":8000", f":{web.server_port}"))
        words[words.index("--out") + 1] = str(tmp_path / "run")
        with pytest.raises(SystemExit) as ending:
            main([*words, "--quiet"])
        web.shutdown()
    assert ending.value.code in (None, 0)
    found = snellen.load_run(tmp_path / "run").findings().set_index("name")["value"]
    assert found["accuracy"] == 1
    assert found["worst_accuracy"] < 0.5


def test_the_page_names_every_setting_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+?) \| .+ \|$", PAGE.partition("## Settings")[2], re.M))
    assert set(rows) == set(OPTIONS)
    address = Address("http://h/")
    assert [rows[name] for name in ("batch", "timeout", "retries", "task")] == ["32", "30", "3", address.task]
    assert (address.batch, address.timeout, address.retries) == (32, 30, 3)


def test_the_page_states_the_bounds() -> None:
    assert f"{MOST_ANSWER >> 20} MiB" in PAGE
    assert f"up to {LONGEST_WAIT:g} s" in PAGE
    assert ", ".join(map(str, DECLINED)) in PAGE
