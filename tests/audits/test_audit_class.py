"""The shape of audits: every hook has a default, a user's own audit works as an object, and every finding has its words."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import jsonschema
import numpy as np
import pytest

import snellen
from snellen.audits import AUDITS, Audit, BaselineAudit, Exam, Finding, parse_audits
from snellen.audits.finding import finding
from snellen.audits.label import in_sentence, plain_label
from snellen.distort import Shuffle
from snellen.engine import Answers, Cell
from snellen.errors import UserError
from snellen.measure import accuracy
from snellen.models import from_callable, from_torch
from snellen.models.zoo import NETWORKS
from snellen.report.findings import SCHEMA

DATA = "phantom:test?size=16&n=36&texture_bias=0.5"


@dataclass(frozen=True)
class Agreement(Audit):
    """How often shuffling leaves the answer as it was; says nothing of titles, names or words."""

    grid: int = 2

    def cells(self, exam: Exam) -> list[Cell]:
        return [exam.cell(Shuffle(self.grid))]

    def conclude(self, exam: Exam, answers: Answers) -> list[Finding]:
        (cell,) = self.cells(exam)
        clean, shuffled = answers.together(exam.clean(), cell)
        same = accuracy((clean.pred == shuffled.pred).astype(float))
        return [finding("agreement", "same_answer", answers.model, same, "share of answers that stay", cells=(cell,))]


def first_pixel(name: str = "pixel"):
    return from_callable(lambda images: np.eye(12)[images[:, 0, 0, 0] % 12], size=16, name=name, version=name)


@pytest.mark.parametrize("audit", [BaselineAudit, *AUDITS.values()])
def test_every_audit_derives_from_the_class_and_has_a_title(audit: type[Audit]) -> None:
    assert issubclass(audit, Audit)
    assert audit.title
    assert audit().names


def test_every_hook_of_the_class_does_nothing_and_is_documented() -> None:
    audit, exam = Audit(), Exam(classes={"test": "ab"}, side=16)
    assert (audit.title, audit.names, audit.compared, audit.by_default, audit.variants) == ("", None, (), False, ())
    assert not audit.suits(snellen.load_data(DATA))
    assert not audit.parts(snellen.load_data(DATA))
    asked = (
        audit.lists(),
        audit.responses(),
        audit.cells(exam),
        audit.maps(exam),
        audit.trials(exam),
        audit.searches(exam),
    )
    asked += (audit.surveys(exam), audit.follow(exam, {}))
    assert not any((*asked, audit.compare(exam, [], []), audit.pictures(exam, []), audit.trial_pictures(exam, [])))
    hooks = [name for name, value in vars(Audit).items() if callable(value) and not name.startswith("_")]
    assert len(hooks) == 14
    assert all(vars(Audit)[name].__doc__ for name in hooks)


def test_an_audit_with_cells_and_conclude_alone_works_from_end_to_end(tmp_path) -> None:
    run = snellen.audit(first_pixel(), DATA, [Agreement(), "interference([shuffle(2)])"], tmp_path / "run", quiet=True)
    assert "agreement(grid=2)" in run.facts["audits"]
    (one,) = (one for one in run.results()["findings"] if one["name"] == "same_answer")
    answers = run.predictions().pivot(index="sample", columns="distortion", values="pred")
    assert one["value"] == pytest.approx((answers["none()"] == answers["shuffle(grid=2)"]).mean())
    assert one["interference"] is not None
    assert (one["label"], one["topic"]) == (
        "Same answer under 2×2 patches shuffled",
        "same answer under 2×2 patches shuffled",
    )
    assert "Same answer under 2×2 patches shuffled" in (run.path / "report.html").read_text()


def test_an_audit_that_is_none_is_refused_with_what_is_wanted() -> None:
    class Loose:
        def cells(self, exam: Exam) -> list[Cell]:
            return []

    for given in (Loose(), Audit()):
        with pytest.raises(UserError, match=rf"derive from snellen\.audits\.Audit, got {type(given).__name__}"):
            parse_audits([given])  # type: ignore[list-item]


@pytest.fixture(scope="module")
def everything() -> snellen.Run:
    """Two models under all audits, with training images."""
    chosen = [name for name in AUDITS if name not in ("shape", "attention")]  # the last asks transformers alone
    named = ", ".join(f"{name}(validate=true)" if name == "occlusion" else name for name in chosen)
    models = [from_torch(NETWORKS["smallnet"](12), size=16, name=name) for name in ("one", "two")]
    train = "phantom:train?size=16&n=36&texture_bias=0.5"
    return snellen.audit(models, DATA, f"{named}, shape(2)", train=train, quiet=True, report=False, device="cpu")


def test_every_finding_says_what_it_is_called(everything: snellen.Run) -> None:
    results = everything.results()
    assert {one["audit"] for one in results["findings"]} == {"baseline", "between", *AUDITS} - {
        "attention",
        "replies",  # of chat models alone
    }
    for one in results["findings"]:
        assert one["label"]
        assert one["topic"]
        assert "_" not in one["label"], one["name"]
    rows = [(one["audit"], one["model"], one["label"]) for one in results["findings"]]
    assert len(set(rows)) == len(rows)  # told apart by their labels
    jsonschema.validate(results, json.loads(SCHEMA.read_text()))


def test_labels_are_the_last_columns_of_the_table(everything: snellen.Run) -> None:
    table = everything.findings()
    assert list(table.columns[-2:]) == ["label", "topic"]
    assert table.set_index("name").loc["train_accuracy", "label"].iloc[0] == "Clean accuracy (train images)"


@pytest.mark.parametrize(
    ("name", "distortions", "facts", "on", "label"),
    [
        ("flip_rate", ["shuffle(grid=4)"], {}, "test", "Flip rate under 4×4 patches shuffled"),
        ("flip_rate", ["none()"], {}, "train", "Flip rate (train images)"),
        ("cut_occlusion", ["occlude()", "tiles()"], {"fill": "black"}, "test", "Cut occlusion, black"),
        ("mean_iocclusion", [], {}, "", "Mean iOcclusion"),
        ("iocclusion", [], {}, "mixed_same", "iOcclusion"),
    ],
)
def test_a_finding_without_words_goes_by_its_name(name, distortions, facts, on, label) -> None:
    assert plain_label(name, distortions, facts, on) == label


def test_a_label_inside_a_sentence_is_small_but_for_abbreviations() -> None:
    labels = ["Shape bias", "BG-Gap: same class", "DI: noise", "iOcclusion"]
    assert [in_sentence(one) for one in labels] == ["shape bias", "BG-Gap: same class", "DI: noise", "iOcclusion"]


def test_a_finding_without_a_label_is_named_by_what_it_is_about() -> None:
    cell = Cell(Shuffle(2), "train")
    plain = Finding("mine", "flip_rate", "net", 0.5, 0.4, 0.6, 10, "text", cells=(cell,))
    assert plain.label == plain_label("flip_rate", [str(cell.distortion)], {}, "train") != ""
    assert plain.label.startswith("Flip rate under ")
    assert plain.topic == in_sentence(plain.label)
    given = replace(plain, label="Flips", topic="how often it flips")
    assert (given.label, given.topic) == ("Flips", "how often it flips")
