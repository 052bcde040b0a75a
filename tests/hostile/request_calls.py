"""What a run folder keeps of a web service: its answers until a table holds them, and how many requests were made."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .outcome import Different

URL = "http://127.0.0.1/predict"
TOLD = {
    "a": [b'{"probabilities": [[0.25, 0.75]]}', b'{"probabilities": [[0.5, 0.5]]}'],
    "b": [b"\x00\xff\n\r"],
    "c": [],
}


def keep_answers(folder: Path) -> None:
    """The journal of a stopped command, and its count."""
    from snellen.engine.keep.answer_journal import AnswerJournal, shard_requests
    from snellen.engine.keep.request_tally import RequestTally, tally_file

    with AnswerJournal(shard_requests(folder, "test", 0)) as journal:
        for key, answers in TOLD.items():
            for answer in answers:
                journal.add(key, answer)
    tally = RequestTally(tally_file(folder, URL))
    tally.add(3)
    tally.close()


def answers(folder: Path) -> object:
    """The answers of a damaged journal: those that were told, or none; what is added then is there at the next opening."""
    from snellen.engine.keep.answer_journal import AnswerJournal, answers_kept, shard_requests

    path, new = shard_requests(folder, "test", 0), b"what was told after the damage"
    count = answers_kept(folder)
    with AnswerJournal(path) as journal:
        given = {key: list(iter(partial(journal.take, key), None)) for key in TOLD}
        journal.add("new", new)
    for key, told in TOLD.items():
        if strange := set(given[key]) - set(told):
            raise Different(f"{path.name}: the service never told {strange}")
    with AnswerJournal(path) as journal:
        if (again := journal.take("new")) != new:
            raise Different(f"{path.name}: {again!r} was told as {new!r}")
    return count, given


def tally(folder: Path) -> object:
    """A damaged count: its bytes are requests, and more come on top."""
    from snellen.engine.keep.request_tally import RequestTally, requests_made, tally_file

    before = requests_made(folder, URL)
    counted = RequestTally(tally_file(folder, URL))
    counted.add(2)
    counted.close()
    if requests_made(folder, URL) != before + 2:
        raise Different(f"{tally_file(folder, URL).name}: {requests_made(folder, URL)} after 2 more than {before}")
    return before
