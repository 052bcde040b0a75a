"""Names and synsets of ImageNet from timm: torchvision's own list of names, from elsewhere, is the oracle."""

from __future__ import annotations

from collections import Counter

import pytest
from timm.data import ImageNetInfo
from torchvision.models import ResNet18_Weights

from snellen.models.class_proposal import propose_classes
from snellen.models.label_maps import imagenet

TORCHVISION = list(ResNet18_Weights.IMAGENET1K_V1.meta["categories"])
INFO = ImageNetInfo()
TIMM = [f"{INFO.index_to_description(i)}, {INFO.index_to_label_name(i)}" for i in range(1000)]


def ways(known: list[str] | None, wanted: list[str]) -> Counter:
    return Counter(
        (match.how, match.sure) for match in propose_classes(known, len(known or TIMM), dict.fromkeys(wanted, 1))[0]
    )


@pytest.mark.parametrize(
    "known", [TIMM, TORCHVISION, ["background", *TORCHVISION], None], ids=["ids", "words", "1001", "none"]
)
def test_the_200_classes_of_imagenet_a_and_r_are_all_found(known: list[str] | None) -> None:
    """By id where the model has ids; else because its 1,000 or 1,001 names, or outputs, are in ImageNet's order."""
    first = 1 if known is not None and len(known) == 1001 else 0
    for name, file in imagenet.SETS.items():
        ids = [synset for synset in imagenet.synsets() if synset in _ids(file)]
        proposed, rule, remarks = propose_classes(known, len(known or TIMM), dict.fromkeys(ids, 1))
        assert [match.outputs for match in proposed] == [(imagenet.synsets().index(synset) + first,) for synset in ids]
        assert rule == "argmax"
        assert f"the data's {len(ids)} classes are those of {name}" in remarks[0]
        assert ("--rule mean" in remarks[0]) == (name in imagenet.CHOSEN_AMONG)


def _ids(file: str) -> set[str]:
    from pathlib import Path

    import timm.data

    return set((Path(timm.data.__file__).parent / "_info" / file).read_text().split())


def test_all_1000_ids_are_imagenet_v2_and_sketch_too() -> None:
    assert ways(TORCHVISION, list(imagenet.synsets())) == {("id", "sure"): 1000}
    assert "ImageNet-V2" in propose_classes(TIMM, 1000, dict.fromkeys(imagenet.synsets(), 1))[2][0]


def test_names_of_torchvision_find_the_same_place_among_those_of_timm_or_none() -> None:
    """Sorted, as folders are; what is taken is right, and what bears two names is not taken."""
    wanted = sorted(TORCHVISION)
    proposed, _, _ = propose_classes(TIMM, 1000, dict.fromkeys(wanted, 1))
    wrong = [match.name for match in proposed if match.outputs and match.outputs[0] != TORCHVISION.index(match.name)]
    assert wrong == []
    assert {match.name for match in proposed if not match.outputs} == {
        "crane",
        "crane bird",
        "maillot",
        "maillot tank suit",
    }


def test_a_shuffled_list_is_not_taken_for_imagenets_order() -> None:
    assert imagenet.synsets_by_place([(name.lower(),) for name in sorted(TORCHVISION)]) is None
