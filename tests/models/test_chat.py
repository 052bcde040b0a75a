"""Chat models from text to findings: a known observer behind an endpoint is measured as the observer itself."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import snellen
from snellen.data import Photo
from snellen.data.canvas import Canvas
from snellen.data.phantom import World, export
from snellen.errors import UserError
from snellen.models.adapters.chat import chat_model
from snellen.models.chat.settings import parse_chat
from snellen.models.labels import LabelMap, match_classes
from snellen.models.model import Model
from snellen.models.remote.fleet import fleet_of
from snellen.models.text_answers import STATES

from .chat_service import answering, completion, image_in, serve_chat, token, words_in
from .service import Server, Time, reply, status

CLASSES = ["dark", "grey", "bright"]
IMAGES = torch.tensor([10, 120, 240], dtype=torch.uint8).view(3, 1, 1, 1).expand(3, 3, 8, 8).contiguous()
PROTOCOLS = ("closed", "choice", "free")


def by_brightness(image: np.ndarray) -> str:
    return CLASSES[min(2, int(image.mean() // 85))]


def ask(server: Server, settings: str = "", time: Time | None = None) -> Model:
    address, chat = parse_chat(f"{server.url}#model=m&classes={','.join(CLASSES)}&{settings}".rstrip("&"))
    time = time or Time()
    return chat_model(address, chat, CLASSES, fleet_of(address, time.clock, time.sleep))


def read(model: Model, images: torch.Tensor = IMAGES) -> Any:
    """What the table of answers has of some images, all of the first class."""
    label_map, _ = match_classes(model.classes, CLASSES, "m")
    return label_map.read(model(images), torch.zeros(len(images), dtype=torch.int64))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("style", [str, "**{}.**", "The answer is {}.", "<p>{}</p>", "<think>dark? grey?</think>{}"])
def test_the_class_that_is_named_is_the_answer(protocol: str, style: Any) -> None:
    words = style if style is str else style.format
    with serve_chat(answering(by_brightness, words)) as server:
        reading = read(ask(server, f"protocol={protocol}"))
        assert server.requests[0][0] == "/v1/chat/completions"
    assert reading.pred.tolist() == reading.raw.tolist() == [0, 1, 2]
    assert reading.confidence.isnan().all()
    assert reading.label_prob.isnan().all()


@pytest.mark.parametrize(
    ("content", "more", "state"),
    [
        ("a violin", {}, 0),
        ("oscuro", {}, 0),
        ("dark or grey", {}, 0),
        ("I'm sorry, but I can't help with that.", {}, 1),
        (None, {"refusal": "no"}, 1),
        (None, {}, 2),
        ("", {}, 2),
        ("Looking at this picture, I", {"finish": "length"}, 3),
        ("word " * 2_000_000, {}, 3),  # 10 MB
    ],
)
def test_a_reply_that_names_no_class_is_wrong_and_keeps_its_state(content: str | None, more: Any, state: int) -> None:
    with serve_chat(lambda body: completion(content, **more)) as server:
        reading = read(ask(server), IMAGES[:1])
    assert (reading.pred.item(), reading.raw.item()) == (-1, len(CLASSES) + state)


def test_confidence_is_that_of_the_tokens_where_the_service_tells_them() -> None:
    marks = {}

    def sure(body: bytes) -> Any:
        lines = dict(line.split(". ")[::-1] for line in words_in(body).splitlines()[1:4])
        marks.update(lines)
        others = {lines["dark"]: 0.3, lines["bright"]: 0.1}
        return completion(lines["grey"], tokens=[token(lines["grey"], 0.6, **others)])

    with serve_chat(sure) as server:
        reading = read(ask(server, "protocol=choice"), IMAGES[:1])
        assert ask(server, "protocol=choice")(IMAGES[:1])[0].tolist() == pytest.approx([0.3, 0.6, 0.1, 0, 0, 0, 0])
    assert (reading.pred.item(), reading.confidence.item(), reading.label_prob.item()) == pytest.approx((1, 0.6, 0.3))


def test_the_class_that_is_named_stays_the_answer_where_another_was_likelier() -> None:
    def drawn(body: bytes) -> Any:
        lines = dict(line.split(". ")[::-1] for line in words_in(body).splitlines()[1:4])
        return completion(lines["grey"], tokens=[token(lines["grey"], 0.2, **{lines["dark"]: 0.8})])

    with serve_chat(drawn) as server:
        reading = read(ask(server, "protocol=choice"), IMAGES[:1])
    assert (reading.pred.item(), reading.confidence.item()) == pytest.approx((1, 0.2))


def test_a_class_that_was_named_against_all_odds_is_the_answer_still() -> None:
    with serve_chat(lambda body: completion("bright", tokens=[{"token": "bright", "logprob": -9999}])) as server:
        reading = read(ask(server), IMAGES[:1])
    assert reading.pred.item() == 2
    assert reading.confidence.item() == pytest.approx(0, abs=1e-30)


def test_what_is_no_completion_is_asked_for_again_and_then_a_failure_of_its_image_alone() -> None:
    time = Time()

    def picky(body: bytes) -> Any:
        return reply(b"<html>busy</html>") if image_in(body).mean() > 200 else answering(by_brightness)(body)

    with serve_chat(picky) as server:
        model = ask(server, "retries=2&parallel=1", time)
        assert model.by_row is not None
        answers, errors = model.by_row(IMAGES)
        assert len(server.requests) == 2 + 3
    assert answers[:2].argmax(1).tolist() == [0, 1]
    assert answers[2].isnan().all()
    assert list(errors) == [2]
    assert "cannot be read as JSON" in errors[2]
    assert "\n" not in errors[2]
    assert len(errors[2]) < 500


def test_an_error_that_passes_is_waited_out() -> None:
    time = Time()
    with serve_chat(status(429, Retry_After="7"), status(500), answering(by_brightness)) as server:
        assert read(ask(server, "parallel=1", time), IMAGES[:1]).pred.item() == 0
    assert time.naps == [7, 1]


def test_a_confidence_that_is_not_known_stays_so_under_every_rule() -> None:
    row = torch.tensor([[0, torch.nan, 0, 0], [0, 0, 0, 1.0]])
    labels = torch.tensor([1, 1])
    for rule, targets in (("argmax", (0, 1, 1, -1)), ("sum", (0, 1, 1, -1)), ("mean", (0, 1, 1, -1))):
        reading = LabelMap(2, rule, targets).read(row, labels)  # type: ignore[arg-type]
        assert reading.pred.tolist() == [1, -1]
        assert reading.raw.tolist() == [1, 3]
        assert reading.confidence[:1].isnan().all()


def test_states_are_matched_to_no_class_whatever_the_data_are() -> None:
    for classes in (["dark", "grey"], ["0", "1"], ["dog", "bird", "fish"], ["airplane", "bear", "bicycle"]):
        label_map, notices = match_classes((*classes, *STATES), classes, "m")
        assert (label_map.targets, notices) == ((*range(len(classes)), -1, -1, -1, -1), [])


@pytest.fixture(scope="module")
def conflicts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Cue conflicts of the phantom world."""
    folder = tmp_path_factory.mktemp("cue")
    export(World("test", n=48, size=32), "cue-conflict", folder / "set")
    return f"cue:{folder / 'set'}"


@pytest.fixture(scope="module")
def measured(conflicts: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The findings about an observer that is asked directly, and about the same behind an endpoint, by each protocol."""
    observer = snellen.load_model("observer:mixture(shape(), texture())")
    direct = replace(observer, card=replace(observer.card, name="direct", canvas=Canvas(32, 32, "crop", 32)))

    def named(image: np.ndarray) -> str:
        probabilities = observer(torch.from_numpy(np.array(image)).permute(2, 0, 1)[None])
        assert observer.classes is not None
        return observer.classes[int(probabilities.argmax())]

    with serve_chat(answering(named, "I think it is {}.".format)) as server:
        chats = [f"{protocol}=chat:{server.url}#model=m&size=32&protocol={protocol}" for protocol in PROTOCOLS]
        audits = "shape, interference([shuffle(2), occlude(0.4, grey)]), occlusion(areas=[0.3], fills=[black])"
        run = snellen.audit(
            [direct, *chats], conflicts, audits, tmp_path_factory.mktemp("run") / "run", quiet=True, limit=150
        )
    return {
        model: {
            (f["audit"], f["name"], *f["distortions"]): (f["value"], f["low"], f["high"], f["n"])
            for f in run.results()["findings"]
            if f["model"] == model
        }
        for model in ("direct", *PROTOCOLS)
    }


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_accuracy_interference_and_shape_bias_are_those_of_the_observer_itself(measured: Any, protocol: str) -> None:
    direct = measured["direct"]
    shared = {key: value for key, value in direct.items() if key in measured[protocol]}
    assert {"accuracy", "interference", "shape_bias", "shuffled_accuracy"} <= {name for _, name, *_ in shared}
    assert {key: measured[protocol][key] for key in shared} == shared
    assert 0.05 < direct["shape", "shape_bias", "none()"][0] < 0.95


def test_an_audit_keeps_states_in_raw_and_unknown_confidence_as_nan(tmp_path: Path) -> None:
    """Every third class is refused, every other one is answered in another language."""
    data = snellen.load_data("phantom:test?size=16&n=48")
    seen = {bytes(photo.image): row for row, photo in enumerate(data.read(range(48))) if isinstance(photo, Photo)}

    def answer(body: bytes) -> Any:
        row = seen.get(np.ascontiguousarray(image_in(body)).tobytes(), 0)
        label = int(data.samples.labels[row])
        return completion((data.classes[label], "I cannot help with that", "algo")[label % 3])

    with serve_chat(answer) as server:
        run = snellen.audit(f"m=chat:{server.url}#model=m", data, [], tmp_path / "run", quiet=True)
    rows = run.predictions()
    rows = rows[rows["distortion"] == "none()"]
    label = rows["label"].to_numpy()
    classes = len(data.classes)
    assert (rows["pred"] == np.where(label % 3 == 0, label, -1)).all()
    assert (rows["raw"] == np.select([label % 3 == 0, label % 3 == 1], [label, classes + 1], classes)).all()
    assert rows["confidence"].isna().all()
    assert rows["score"].mean() == pytest.approx((label % 3 == 0).mean())
    warnings = [entry["name"] for entry in run.results()["warnings"]]
    assert "no_probabilities" not in warnings
    assert run.results()["warnings"][warnings.index("unmapped")]["advice"].endswith("name its words by #synonyms=FILE")


def test_the_key_is_sent_and_stands_in_no_file_message_or_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from snellen.cli import main

    def command(*more: str) -> tuple[int, str]:
        words = [
            "audit",
            f"m=chat:{server.url}#model=m&token=CHAT_KEY&retries=0",
            "--data",
            "phantom:test?size=16&n=12",
        ]
        words += ["--audits", "occlusion(areas=[0.3], fills=[black])", "--out", str(tmp_path / "run"), *more]
        with pytest.raises(SystemExit) as ending:
            main(words)
        printed = capsys.readouterr()
        return int(ending.value.code or 0), printed.out + printed.err

    with serve_chat(lambda body: completion("circle")) as server:
        monkeypatch.delenv("CHAT_KEY", raising=False)
        code, printed = command()
        assert code == 2
        assert "the environment variable 'CHAT_KEY' holds no token" in printed
        monkeypatch.setenv("CHAT_KEY", "s3cret-key")
        code, printed = command("--fresh")
        assert code == 0, printed
        assert server.requests[-1][1]["Authorization"] == "Bearer s3cret-key"
        server.behaviours = [status(302, Location="http://elsewhere/v1")]
        again = command("--fresh", "--debug")
        assert again[0] == 2
        assert "redirects are not followed" in again[1]
        server.behaviours = [lambda body: reply({"error": {"message": "wrong key"}}, 401)]
        wrong = command("--fresh", "--debug")
        assert "answered 401" in wrong[1]
    assert "s3cret-key" not in printed + again[1] + wrong[1]
    files = [file for file in (tmp_path / "run").rglob("*") if file.is_file()]
    assert files
    assert not [file for file in files if b"s3cret-key" in file.read_bytes()]


def test_escapes_in_what_a_service_says_do_not_act_on_the_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from snellen.cli import main

    with serve_chat(lambda body: reply(b"\x1b[2Jgone<script>", 403)) as server, pytest.raises(SystemExit) as ending:
        main(
            ["audit", f"chat:{server.url}#model=m", "--data", "phantom:test?size=16&n=36", "--out", str(tmp_path / "r")]
        )
    assert ending.value.code == 2
    assert "\x1b" not in capsys.readouterr().err


def test_ten_megabytes_that_are_no_completion_are_one_short_line() -> None:
    with (
        serve_chat(lambda body: reply(b"<html>" + b"x" * 10_000_000)) as server,
        pytest.raises(RuntimeError, match="cannot be read as JSON") as caught,
    ):
        ask(server, "retries=0&parallel=1")(IMAGES[:1])
    assert len(str(caught.value)) < 500


def test_a_dry_run_asks_nothing_and_states_the_requests(tmp_path: Path) -> None:
    with serve_chat(answering(by_brightness)) as server:
        plan = snellen.audit(
            f"m=chat:{server.url}#model=m&price=2", "phantom:test?size=16&n=40", [], tmp_path / "run", dry_run=True
        )
        assert not server.requests
    assert "80" in str(plan)  # clean images and the yardstick


def test_repeats_are_runs_with_seeds_of_their_own(tmp_path: Path) -> None:
    with serve_chat(lambda body: completion("disc")) as server:
        text = f"m=chat:{server.url}#model=m&repeats=2&temperature=1"
        run = snellen.audit(text, "phantom:test?size=16&n=24", [], tmp_path / "run", quiet=True)
        seeds = [json.loads(body)["seed"] for _, _, body in server.requests]
    assert sorted(set(seeds)) == [0, 1]
    assert seeds.count(0) == seeds.count(1)
    assert run.predictions()["run"].nunique() == 2


def test_a_budget_stops_an_audit_and_a_larger_one_goes_on_without_paying_twice(tmp_path: Path) -> None:
    """The first look asks 40 images, the audit 40 clean ones and 40 under mild noise."""

    def audit(budget: int) -> Any:
        text = f"m=chat:{server.url}#model=m&budget={budget}"
        return snellen.audit(text, "phantom:test?size=16&n=40", [], tmp_path / "run", quiet=True)

    with serve_chat(lambda body: completion("disc")) as server:
        with pytest.raises(UserError, match="budget"):
            audit(60)
        assert len(server.requests) == 60
        run = audit(1000)
        assert len(server.requests) <= 120
    assert len(run.predictions()) == 80
