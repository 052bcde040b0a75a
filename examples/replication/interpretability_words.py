"""What the contrasts of recipes say about the claims of Won et al. 2023, in sentences made from the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recipe_contrasts import Column, Contrast, Findings, contrast

METHODS = {"gradcam": "Grad-CAM", "iba": "IBA"}
Pairs = Sequence[tuple[str, Contrast]]


def findings_in_words(findings: Findings, names: Mapping[str, str]) -> list[str]:
    """One sentence or two per claim of the paper; those that a table cannot settle say so."""
    return [
        _alignment(findings, names),
        *_outlines(findings, names),
        _faithfulness(findings, names),
        _concepts(findings, names),
        _accuracy(findings, names),
    ]


def _alignment(findings: Findings, names: Mapping[str, str]) -> str:
    """Claim 1: maps of networks trained plainly agree best with the boxes."""
    words = []
    below_all = above_all = count = 0
    for method, title in METHODS.items():
        pairs = _pairs(findings, names, [Column(name, method) for name in ("energy_pg", "ehr")])
        below, above = _clear(pairs, -1), _clear(pairs, 1)
        below_all, above_all, count = below_all + len(below), above_all + len(above), count + len(pairs)
        words.append(f"by {title} {len(below)} of {len(pairs)}")
    verdict = (
        "Agrees"
        if below_all == count
        else "Disagrees"
        if above_all
        else "Agrees in part"
        if below_all
        else "Not settled"
    )
    none = "none is clearly above" if not above_all else f"{above_all} are clearly above"
    return (
        f"**{verdict}:** maps of networks that learnt plainly agree best with the boxes. Differences in EnergyPG and EHR that "
        f"are clearly below the baseline: {', '.join(words)}; {none}."
    )


def _outlines(findings: Findings, names: Mapping[str, str]) -> list[str]:
    """The reversal that section 5.2 of the paper discusses: outlines fit boxes better, energies do not."""
    sentences = []
    for method, title in METHODS.items():
        for model, name in _recipes(findings, names):
            wsol = contrast(findings, Column("wsol", method), model)
            inside = [contrast(findings, Column(one, method), model) for one in ("energy_pg", "ehr")]
            rises = [one is not None and one.clear and one.value > 0 for one in inside]
            if wsol is not None and wsol.clear and wsol.value > 0 and not any(rises):
                energy = " and ".join(f"{one.value:+.1f}".replace("-", "−") for one in inside if one is not None)
                sentences.append(
                    f"**Agrees, the reversal of WSOL:** by {title} {name} finds {wsol.value:.1f} points more boxes than the "
                    f"baseline ({wsol.low:.1f} to {wsol.high:.1f}), while EnergyPG and EHR change by {energy}. The outline of "
                    "its maps fits the boxes better, their energy does not."
                )
    return sentences or ["**Not settled, the reversal of WSOL:** no recipe is clearly above the baseline in WSOL."]


def _faithfulness(findings: Findings, names: Mapping[str, str]) -> str:
    """Claim 2: mixing makes networks less faithful, Cutout more."""
    columns = [Column("inter_model_deletion", method, scale=1) for method in METHODS]
    pairs = _pairs(findings, names, columns)
    below, above = _clear(pairs, -1), _clear(pairs, 1)
    spread = max(
        max(runs) - min(runs)
        for column in columns
        for model in findings.models()
        if (runs := findings.runs(column, model))
    )
    apart = [
        name
        for model, name in _recipes(findings, names)
        if all((one := contrast(findings, column, model)) and one.apart for column in columns)
    ]
    if not below and not above:
        text = f"**Not settled:** faithfulness. None of the {len(pairs)} differences in deletion is clear"
    else:
        text = f"**Faithfulness:** of {len(pairs)} differences in deletion {_list(below, 'below')}, {_list(above, 'above')}"
    side = f" Only of {_join(apart)} do all runs lie on one side of the baseline's, by both methods." if apart else ""
    published = (
        "The paper has MixUp, CutMix and SaliencyMix below the baseline and Cutout above, from one network each."
    )
    return f"{text}: runs of one recipe differ by up to {spread:.1f}.{side} {published}"


def _concepts(findings: Findings, names: Mapping[str, str]) -> str:
    """Claim 3: mixing leaves fewer different concepts."""
    different = _pairs(findings, names, [Column("unique_concepts", scale=1)])
    units = _pairs(findings, names, [Column("detector_share")])
    fewer, more = _clear(different, -1), _clear(different, 1)
    word = "Agrees" if len(fewer) == len(different) else "Disagrees" if more else "Not settled"
    return (
        f"**{word}:** fewer different concepts after mixing. They are {_list(fewer, 'fewer')}, {_list(more, 'more')}; units that "
        f"detect one are {_list(_clear(units, -1), 'fewer')}, {_list(_clear(units, 1), 'more')}."
    )


def _accuracy(findings: Findings, names: Mapping[str, str]) -> str:
    pairs = _pairs(findings, names, [Column("accuracy")])
    return f"Accuracy is {_list(_clear(pairs, -1), 'below the baseline')}, {_list(_clear(pairs, 1), 'above')}."


def _recipes(findings: Findings, names: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(model, names[model]) for model in findings.models()[1:]]


def _pairs(findings: Findings, names: Mapping[str, str], columns: Sequence[Column]) -> Pairs:
    known = (
        (name, contrast(findings, column, model)) for column in columns for model, name in _recipes(findings, names)
    )
    return [(name, one) for name, one in known if one is not None]


def _clear(pairs: Pairs, sign: int) -> list[str]:
    return [name for name, one in pairs if one.clear and one.value * sign > 0]


def _list(names: Sequence[str], word: str) -> str:
    return f"clearly {word} in {_join(dict.fromkeys(names)) if names else 'no recipe'}"


def _join(names: Sequence[str] | Mapping[str, None]) -> str:
    listed = list(names)
    return " and ".join(part for part in (", ".join(listed[:-1]), listed[-1]) if part)
