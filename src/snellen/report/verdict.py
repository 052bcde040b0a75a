"""The verdict: what the findings say, in words for someone who has to decide.

Every number is a finding's. Nothing is called an artefact for certain, and nothing is cleared: DI is comparative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from snellen.audits.trust import TOO_FEW
from snellen.report.adversarial import adversarial_said
from snellen.report.background import background_said
from snellen.report.table import leader
from snellen.report.trust import apart, mark_of
from snellen.report.words import covering, in_words, index, interval, known, listed, percent

Finding = Mapping[str, Any]
CAVEAT = (
    "The DI index is comparative, not absolute: there is no threshold above which a number is wrong. "
    "A mark (▲) asks you to look twice before you call a fall in accuracy a lack of robustness."
)


def verdict_of(results: Mapping[str, Any], table: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Per model the sentences `clean`, `breaks`, `background`, `trust` and `yardstick` and the list `flagged`, one entry per
    class that a distortion may be taken for; then the sentences between models, and the caveat."""
    said = []
    for model, runs in results["models"].items():
        own = [one for one in results["findings"] if one["model"] == model]
        said.append(
            {
                "model": model,
                "clean": clean(own, len(runs), results["data"]),
                "breaks": breaks(own),
                "background": " ".join(filter(None, (background_said(own, results["data"]), adversarial_said(own)))),
                "trust": trust(own),
                "flagged": marked(own, "flagged"),
                "yardstick": yardstick(own),
            }
        )
    rows = [row for section in table for row in section["rows"]]
    return {"models": said, "between": between(rows) if len(said) > 1 else [], "caveat": CAVEAT}


def clean(own: Sequence[Finding], runs: int, data: Mapping[str, Any]) -> str:
    """How good the model is on unmodified images, and whether that is more than chance."""
    one = _first(own, "accuracy")
    if one is None or not known(one["value"]):
        return "No unmodified test image could be scored, so nothing can be said."
    spread = "one run: no spread over runs"
    if runs > 1 and one["per_run"]:
        spread = f"{runs} runs, from {percent(min(one['per_run']))} to {percent(max(one['per_run']))}"
    range_ = interval(one["low"], one["high"], "share")
    images = "image" if one["n"] == 1 else "images"
    told = f"Right on {percent(one['value'])} of {one['n']:,} unmodified {images} (95 % interval {range_} %; {spread})."
    chance = 1 / max(1, len(data[one["on"]]["classes"]))
    if one["low"] is None or one["low"] <= chance:
        told += f" That is not clearly above chance ({percent(chance)}): falls under distortion then say little."
    return told


def breaks(own: Sequence[Finding]) -> str:
    """How far accuracy falls under squares, from which size on it is halved, and under what else it falls most."""
    told = []
    means = [one for one in own if one["name"] == "cut_occlusion" and known(one["value"])]
    squares = [one for one in means if one["facts"]["fill"] != "cutout"]
    if squares:
        each = listed([f"{percent(one['value'])} with {one['facts']['fill']} ones" for one in squares])
        told.append(f"Under one square, averaged over its sizes, it is right on {each}.{_halved(own, squares)}")
    told += [
        f"Under one of your cut-outs, averaged over its sizes, it is right on {percent(one['value'])}."
        for one in means
        if one not in squares
    ]
    for one in own:
        if one["name"] == "fill_gap" and one["low"] is not None and (one["low"] > 0 or one["high"] < 0):
            fill, other = one["facts"]["fill"], one["facts"]["other"]
            told.append(
                f"The fill alone, hiding the very same pixels, moves this by {100 * abs(one['value']):.1f} points "
                f"({fill if one['value'] < 0 else other} is worse)."
            )
    others = [one for one in own if one["name"] == "distorted_accuracy" and known(one["value"])]
    if others:
        worst = min(others, key=lambda one: one["value"])
        among = "Of the other distortions" if means else "Of the distortions"
        told.append(f"{among} the hardest is: {in_words(worst['distortions'][0])} ({percent(worst['value'])}).")
    return " ".join(told)


def trust(own: Sequence[Finding]) -> str:
    """Whether some of its falls may be artefacts; `marked` names the distortions."""
    if not any(one["interference"] and known(one["interference"]["index"]) for one in own):
        return "No interference was measured, so it is unknown whether a distortion is taken for a class."
    if not any(one["interference"] and known(one["interference"]["null95"]) for one in own):
        return f"{TOO_FEW[:1].upper()}{TOO_FEW[1:]}. So it cannot be said whether a distortion is taken for a class."
    if not marked(own, "flagged"):
        return "No distortion stands out: none has a DI above both chance and mild noise."
    return (
        "Do not read the falls marked ▲ as weakness alone: errors pile up on one class, more than under mild noise and "
        "more than by chance, so the distortion itself may be taken for that class."
    )


def yardstick(own: Sequence[Finding]) -> str:
    """A warning where mild noise itself pushes errors towards a class; else nothing."""
    held = next((one["interference"] for one in own if one["name"] == "noisy_accuracy"), None)
    if mark_of(held) != "raised" or held is None:
        return ""
    told = (
        f"Mild noise itself pushes errors towards '{held['dominant']}' (DI {index(held['index'])}, by chance up to "
        f"{index(held['null95'])}): a lenient yardstick."
    )
    raised = "; ".join(marked(own, "raised"))
    return told + (f" No ▲ is no all-clear where DI is clearly above chance (△): {raised}." if raised else "")


def between(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Who leads clearly on what, and where that order may be an artefact because a distortion hits one model harder."""
    leads: dict[str | None, list[str]] = {}
    doubts: dict[tuple[str, str], list[tuple[str, Finding, Finding]]] = {}
    for row in rows:
        if row["unit"] != "share" or not row["better"] or sum(cell is not None for cell in row["cells"]) < 2:
            continue
        best = leader(row)
        leads.setdefault(best, []).append(row["topic"])
        cells = {cell["model"]: cell["trust"] for cell in row["cells"] if cell and cell["trust"]}
        for model, held in cells.items():
            if best is not None and best in cells and _harder(held, cells[best]):
                doubts.setdefault((best, model), []).append((row["topic"], held, cells[best]))
    told = [f"{model} is clearly better on {listed(on)}." for model, on in leads.items() if model]
    if None in leads:
        told.append(f"No clear leader, which is no proof of equality, on {listed(leads[None])}.")
    return told + _how_compared(rows) + [_doubt(best, model, found) for (best, model), found in doubts.items()]


def _how_compared(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What "clearly" means, and what these data could not have shown."""
    reach = [pair["detectable"] for row in rows for pair in row["pairs"] if known(pair["detectable"])]
    if not reach:
        return []
    low, high = (f"{100 * share:.1f}" for share in (min(reach), max(reach)))
    points = low if low == high else f"{low} to {high}"
    return [
        "Clearly: paired on the same images, p < 0.05 after Holm's correction. True differences below "
        f"{points} points (depending on the distortion) would often have gone unseen."
    ]


def _harder(held: Finding, than: Finding) -> bool:
    """Whether a distortion is marked for one model and hits it harder than the other."""
    if held["mark"] != "flagged" or not (known(than["index"]) and held["index"] > than["index"]):
        return False
    return than["mark"] != "flagged" or apart(held, than)


def _doubt(best: str, model: str, found: Sequence[tuple[str, Finding, Finding]]) -> str:
    where = listed([topic for topic, _, _ in found])
    classes = listed(list(dict.fromkeys(f"'{held['dominant']}'" for _, held, _ in found)))
    beside = listed([f"{index(held['index'])} against {index(other['index'])}" for _, held, other in found])
    return (
        f"That {best} leads {model} on {where} could be an artefact: to {model} this may look like {classes}, more than to "
        f"{best} (DI {beside}). That is not the same as {model} being less robust."
    )


def _halved(own: Sequence[Finding], means: Sequence[Finding]) -> str:
    """From which covered share on less than half of the clean accuracy is left, per fill."""
    base = _first(own, "accuracy")
    if base is None or not base["value"]:
        return ""
    halved, held = [], []
    for fill in (one["facts"]["fill"] for one in means):
        steps = [one for one in own if one["name"] == "occluded_accuracy" and one["facts"]["fill"] == fill]
        low = [one["facts"]["covered"] for one in steps if known(one["value"]) and one["value"] < base["value"] / 2]
        if shares := [share for share in low if known(share)]:
            halved.append(f"{percent(min(shares), 0)} ({fill})")
        elif not low:
            held.append(fill)
    told = f" It falls below half of its clean accuracy once the square covers {listed(halved)}." if halved else ""
    return told + (f" At every size tried it keeps at least half of it under {listed(held)} squares." if held else "")


def marked(own: Sequence[Finding], mark: str) -> list[str]:
    """The distortions with a mark, gathered by dominant class, sizes of a square together; the yardstick left out."""
    held = {one["interference"]["distortion"]: one["interference"] for one in own if one["interference"]}
    squares = {one["distortions"][0]: one["facts"] for one in own if one["name"] == "occluded_accuracy"}
    yardsticks = {text for one in own if one["name"].startswith("noisy_") for text in one["distortions"]}
    classes: dict[str, dict[str, list[tuple[float, float | None]]]] = {}
    for distortion, found in held.items():
        if mark_of(found) == mark and distortion not in yardsticks:
            square = squares.get(distortion)
            what = covering(square["fill"]) if square else in_words(distortion)
            under = classes.setdefault(found["dominant"], {}).setdefault(what, [])
            under.append((found["index"], square["covered"] if square else None))
    return [
        f"'{name}' under {listed([_under(what, values) for what, values in found.items()])}"
        for name, found in classes.items()
    ]


def _under(what: str, values: Sequence[tuple[float, float | None]]) -> str:
    """A distortion with its covered shares and its highest DI."""
    shares = [f"{100 * share:.0f}" for share in sorted(share for _, share in values if share is not None)]
    over = f" over {listed(shares)} % of the image" if shares else ""
    return f"{what}{over} (DI {'up to ' if len(values) > 1 else ''}{index(max(value for value, _ in values))})"


def _first(own: Sequence[Finding], name: str) -> Finding | None:
    return next((one for one in own if one["name"] == name), None)
