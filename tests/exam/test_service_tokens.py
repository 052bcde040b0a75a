"""Tokens of chat models: planned by an estimate or by what answers stated, counted over all commands, and priced."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.cli import main
from snellen.engine.keep.request_tally import RequestTally, tally_file, tokens_used
from snellen.errors import UserError
from snellen.models.chat.picture import SentPicture
from snellen.models.chat.tokens import ChatTokens
from snellen.models.remote.token_use import TokenUse

from ..models.chat_service import completion, serve_chat
from ..models.service import Server, reply

DATA = "phantom:test?size=56&n=40"
IN, OUT = 100, 3  # what each completion states


def audit(server: Server, folder: Path, settings: str = "", **how: Any) -> Any:
    return snellen.audit(f"m=chat:{server.url}#model=m{settings}", DATA, [], folder, quiet=True, **how)


def test_before_there_are_answers_tokens_are_an_estimate_and_nothing_is_asked(tmp_path: Path) -> None:
    with serve_chat(lambda body: completion("disc")) as server:
        (service,) = audit(server, tmp_path / "run", "&protocol=free&token_price=10,20", dry_run=True).services
        assert not server.requests
    words = "What is the main object in this image? Answer with its name and nothing else."
    per_question = -(-len(words) // 4) + 2 * 2
    assert service["input_tokens"] == 80 * per_question
    assert service["output_tokens"] == 80 * 64
    assert service["tokens_from"] == "tokens by an estimate"
    assert service["cost"] == pytest.approx((80 * per_question * 10 + 80 * 64 * 20) / 1e6)


@pytest.mark.parametrize(
    ("picture", "tokens"), [(SentPicture(), 8 * 16), (SentPicture(side=56), 1 * 2), (SentPicture(side=896), 16 * 32)]
)
def test_the_estimate_is_of_the_picture_as_it_is_sent(picture: SentPicture, tokens: int) -> None:
    assert ChatTokens(8, picture, 5).expected(224, 448) == TokenUse(1, 2 + tokens, 5)


def test_tokens_that_answers_state_stand_in_run_and_report_and_plan_what_is_left(tmp_path: Path) -> None:
    with serve_chat(lambda body: completion("disc")) as server:
        with pytest.raises(UserError, match="budget"):
            audit(server, tmp_path / "run", "&budget=60")
        (service,) = audit(server, tmp_path / "run", dry_run=True).services
        assert service["input_tokens"] == service["requests"] * IN
        assert service["output_tokens"] == service["requests"] * OUT
        assert service["tokens_from"] == "tokens by the mean of 60 answers"
        run = audit(server, tmp_path / "run", "&price=1&token_price=2.5,10")
        sent = len(server.requests)
    cost = sent / 1000 + (sent * IN * 2.5 + sent * OUT * 10) / 1e6
    url = f"{server.url}/chat/completions"
    assert run.facts["services"][url] == {
        "requests": sent,
        "cost": pytest.approx(cost, abs=1e-6),
        "tokens": {"answers": sent, "input": sent * IN, "output": sent * OUT},
    }
    page = (tmp_path / "run" / "report.html").read_text()
    assert (
        f"{sent}, {sent * IN:,} tokens read and {sent * OUT:,} written, as {sent:,} answers state, which cost" in page
    )


def test_answers_that_state_none_or_nonsense_are_answers_still(tmp_path: Path) -> None:
    stated: list[Any] = [None, {"prompt_tokens": -1, "completion_tokens": 1}, {"prompt_tokens": "1"}, [], 10**30]

    def behave(body: bytes) -> Any:
        content = {"choices": [{"message": {"content": "disc"}}], "usage": stated[len(server.requests) % len(stated)]}
        return reply(content)

    with serve_chat(behave) as server:
        run = audit(server, tmp_path / "run", "&retries=0")
    (service,) = run.facts["services"].values()
    assert "tokens" not in service
    assert (run.predictions()["pred"] >= 0).all()


def test_what_is_taken_from_the_journal_is_not_counted_again(tmp_path: Path) -> None:
    with serve_chat(lambda body: completion("disc")) as server:
        for budget in (50, 70, 90):
            with pytest.raises(UserError, match="budget"):
                audit(server, tmp_path / "run", f"&budget={budget}")
        audit(server, tmp_path / "run")
        url = f"{server.url}/chat/completions"
        assert tokens_used(tmp_path / "run", url).answers == len(server.requests) == 120


def test_a_cut_file_of_tokens_loses_its_last_line_alone(tmp_path: Path) -> None:
    tally = RequestTally(tally_file(tmp_path, "u"))
    tally.add_tokens(TokenUse(1, 10, 2))
    tally.add_tokens(TokenUse(2, 20, 4))
    tally.close()
    assert tokens_used(tmp_path, "u") == TokenUse(3, 30, 6)
    (file,) = tmp_path.rglob("*.tokens")
    file.write_bytes(file.read_bytes()[:-3])
    assert tokens_used(tmp_path, "u") == TokenUse(1, 10, 2)


def test_the_command_prints_tokens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serve_chat(lambda body: completion("disc")) as server:
        words = ["audit", f"m=chat:{server.url}#model=m&token_price=0.5", "--data", DATA, "--out", str(tmp_path / "r")]
        with pytest.raises(SystemExit) as ending:
            main([*words, "--dry-run"])
    assert ending.value.code in (None, 0)
    line = r"requests ([\d,]+), sent 0, input tokens ([\d,]+), output tokens ([\d,]+), tokens by an estimate, cost 0\."
    found = re.search(line, capsys.readouterr().out)
    assert found is not None
    requests, _, written = (int(number.replace(",", "")) for number in found.groups())
    assert written == 64 * requests > 0


def test_prices_of_tokens_are_one_or_two_numbers_and_in_no_key(tmp_path: Path) -> None:
    text = "chat:http://127.0.0.1:9/v1#model=m&classes=a,b"
    plain = snellen.load_model(text).card
    assert snellen.load_model(f"{text}&token_price=1,2").card.fingerprint == plain.fingerprint
    for wrong in ("1,2,3", "-1", "x", ""):
        with pytest.raises(UserError, match="expected token_price as what a million tokens cost"):
            snellen.load_model(f"{text}&token_price={wrong}")
    with pytest.raises(UserError, match="unknown setting"):
        snellen.load_model("http://127.0.0.1:9/#token_price=1")
