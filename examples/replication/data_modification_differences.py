"""What differs from Marcu & Prügel-Bennett 2022, from the facts of the tidy findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from data_modification_tables import METHODS, PUBLISHED_RUNS, SETS
from tidy_findings import Tidy

from snellen.train import preset

IMAGES = {"cifar10": (50_000, 10_000), "fashion_mnist": (60_000, 10_000)}  # training and test images of the paper
SHOWN = ("epochs", "batch_size", "lr", "schedule", "momentum", "weight_decay", "smoothing", "padding")
# What our distortions and measures do otherwise, whatever was trained.
ALWAYS = (
    'The paper says "black", its code fills with the mean colour: both fills have rows of their own, beside the same published '
    "value.",
    "Squares are exact in area where the public code rounds to even sides.",
    "The code that pastes pixels of another dataset cannot run as published: ours cuts the same region out of a random image "
    "of the other test set.",
    "DI counts every wrong answer once and is scaled by the number of classes; the public script counts once per class and "
    "batch, and divides by 100.",
    "Table 9 is read as: the share of each run stays, and the weight is the maximum over the runs of the rise of the dominant "
    "class, in the place of the mean: published means and deviations of table 9 are those of table 1 times one factor.",
    "iOcclusion draws per image whether the most or the least salient pixels are covered, as the public code; the text says "
    "per batch.",
    "Published values of table 12 on Fashion-MNIST exceed the bound of the index.",
    "ImageNet rows of tables 1 and 3 are of the ResNet-101 of Harris et al. 2020 and are not repeated; nor are those of "
    "CIFAR-100 and Tiny ImageNet.",
)  # fmt: skip


def differences(tidy: Tidy) -> list[str]:
    """One sentence or two each, the training first."""
    lines = []
    for dataset in SETS:
        methods = {method: tidy.facts(("mixes", dataset, method)) for method in METHODS}
        methods = {method: facts for method, facts in methods.items() if facts}
        if methods:
            lines += [f"{SETS[dataset]}: {text}" for text in _of_dataset(dataset, methods)]
        missing = [name for method, name in METHODS.items() if method not in methods]
        if missing and len(missing) < len(METHODS):
            lines.append(f"{SETS[dataset]}: not trained: {', '.join(missing)}.")
        elif missing:
            lines.append(f"{SETS[dataset]} was not trained.")
    return [*lines, *ALWAYS]


def _of_dataset(dataset: str, methods: dict[str, dict[str, str]]) -> list[str]:
    lines = _recipe(methods)
    runs = {METHODS[method]: facts["runs"] for method, facts in methods.items()}
    lines.append(
        f"runs: {', '.join(f'{name} {count}' for name, count in runs.items())}; published {PUBLISHED_RUNS} each."
    )
    for name, wanted in zip(("training images", "test images"), IMAGES[dataset]):
        if any(int(facts[name]) != wanted for facts in methods.values()):
            lines.append(f"{_each(methods, name)} {name} instead of {wanted:,}.")
    if all(facts["seen images"] == "0" for facts in methods.values()):
        lines.append("no training images were asked about, so there is no iOcclusion.")
    elif any(int(facts["seen images"]) != IMAGES[dataset][0] for facts in methods.values()):
        lines.append(
            f"the gap between training and test accuracy, and with it iOcclusion, is measured on {_each(methods, 'seen images')} "
            f"training images, of {_each(methods, 'seen data')}, instead of all."
        )
    lines.append(
        f"pixels of another dataset are cut from {_each(methods, 'donor images')} test images of "
        f"{_each(methods, 'donors')}; trained in {_each(methods, 'training precision')}, asked in {_each(methods, 'precision')}."
    )
    notes = [text for facts in methods.values() for name, text in facts.items() if name.startswith("note ")]
    return [*lines, *dict.fromkeys(notes)]


def _recipe(methods: dict[str, dict[str, str]]) -> list[str]:
    """The settings that are not the published ones, each with the methods it belongs to; or that there are none."""
    changes: dict[str, list[str]] = {}
    for method, facts in methods.items():
        wanted = asdict(preset("marcu2022", arch="preact_resnet18_fmix", mix=facts["recipe.mix"]))
        for name, value in wanted.items():
            text = facts.get(f"recipe.{name}", str(value))
            if name != "seed" and text != str(value):
                changes.setdefault(f"{name} {text} instead of {value}", []).append(METHODS[method])
    if not changes:
        wanted = asdict(preset("marcu2022", arch="preact_resnet18_fmix"))
        settings = ", ".join(f"{name} {wanted[name]}" for name in SHOWN)
        return [f"nothing in the recipe (PreAct-ResNet18; {settings}; random crop and flip)."]
    return [f"trained otherwise: {'; '.join(_change(text, names, methods) for text, names in changes.items())}."]


def _change(text: str, names: Sequence[str], methods: dict[str, dict[str, str]]) -> str:
    return text if len(names) == len(methods) else f"{text} ({', '.join(names)})"


def _each(methods: dict[str, dict[str, str]], name: str) -> str:
    return " or ".join(dict.fromkeys(_grouped(facts[name]) for facts in methods.values()))


def _grouped(text: str) -> str:
    return f"{int(text):,}" if text.isdigit() else text


def common_facts(tidy: Tidy) -> dict[str, str]:
    """Facts of all groups; where they differ, all values, in order."""
    facts: dict[str, list[str]] = {}
    for group in tidy.groups():
        for name, text in tidy.facts(group).items():
            facts.setdefault(name, []).append(text)
    return {name: ", ".join(sorted(set(texts))) for name, texts in facts.items()}
