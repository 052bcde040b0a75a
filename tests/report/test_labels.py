"""What tells two rows of one model apart is in their labels, for runs of every audit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import snellen
from snellen.audits import AUDITS
from snellen.exam.run import Run
from snellen.report.glossary import GLOSSARY, SIGN_MEANINGS, sentence_on
from snellen.report.sections import SECTIONS

ROOT = Path(__file__).resolve().parents[2]
DATA = "phantom:test?size=32&n=40"
ONE_PASS = (
    "occlusion([0.3], [black, noise], validate=true),interference,shape,augmentation,background,calibration,corruptions,delivery,"
    "replies"
)
OTHERS = (
    "occluders(px=[4]),adversarial_backgrounds(backgrounds=3),inside_mask,explanation,faithfulness(points=4),concepts,"
    "shift(length=2,random=4,evaluations=10,images=20)"
)


def repeated(run: Run) -> list[tuple[str, str]]:
    """The labels that two findings of one model share."""
    counts = Counter((finding.model, finding.label) for finding in run.stored_findings())
    return [row for row, number in counts.items() if number > 1]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small network that was not trained: labels do not depend on what it learnt."""
    import torch

    from snellen.models.checkpoint import save_checkpoint
    from snellen.models.zoo import NETWORKS

    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("network") / "net.safetensors"
    save_checkpoint(path, NETWORKS["smallnet"](12), {"arch": "smallnet", "size": [32, 32]})
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("audits", [ONE_PASS, OTHERS])
def test_no_two_rows_of_a_model_have_the_same_label(audits: str, network: str) -> None:
    run = snellen.audit({"net": network}, DATA, audits, train="phantom:train?size=32&n=40", quiet=True, report=False)
    assert len({finding.audit for finding in run.stored_findings()}) > 5
    assert repeated(run) == []


def test_the_runs_above_are_of_every_audit_but_that_of_transformers() -> None:
    names = {text.partition("(")[0] for text in (*ONE_PASS.split(","), *OTHERS.split(","))} & AUDITS.keys()
    assert names == AUDITS.keys() - {
        "attention"
    }  # whose labels name region and condition: tests/audits/test_attention_audit.py


def test_every_term_of_a_section_is_in_the_glossary_and_opens_with_a_sentence() -> None:
    terms = {term: meaning for section in SECTIONS.values() for term, meaning in section.meanings.items()}
    assert terms.items() <= GLOSSARY.items()
    assert all(sentence_on(term)[-1] in ".?" or sentence_on(term) == GLOSSARY[term] for term in GLOSSARY)
    assert len(sentence_on("DI").split()) < 15


def test_every_mark_is_explained() -> None:
    from snellen.audits.stored_finding import SIGNS

    assert set(SIGN_MEANINGS) == set(SIGNS.values()) - {""}
