"""Published values: what is typed in agrees with itself and with the numbers the paper states in words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from snellen.report.published import PUBLISHED, published, published_table

ROOT = Path(__file__).parents[2]


def test_a_file_is_named_after_its_paper_and_says_so_in_every_row() -> None:
    names = [file.stem for file in PUBLISHED.glob("*.csv")]
    assert "marcu2022" in names
    for name in names:
        assert re.fullmatch(r"[a-z]+(19|20)\d\d", name)
        assert {value.paper for value in published(name)} == {name}


def test_bg_gaps_of_table_5() -> None:
    """The six that were worked out by hand from the paper."""
    table = published_table("xiao2021", "5")
    gaps = {row: held["mixed_same"].value - held["mixed_rand"].value for row, held in table.items()}
    for name, gap in [
        ("original", 20.22), ("mixed_same", 23.04), ("mixed_rand", -0.20), ("IN-9L", 14.30), ("ImageNet", 6.67),
        ("ImageNet, tested on Full-IN", 15.65),
    ]:  # fmt: skip
        assert gaps[f"ResNet-50 trained on {name}"] == pytest.approx(gap, abs=1e-9)
    assert len(table) == 11
    assert sum(map(len, table.values())) == 11 * 9 - 1


def test_gaps_of_table_2_are_those_of_its_rows_and_its_resnets_those_of_table_5() -> None:
    two, five = published_table("xiao2021", "2"), published_table("xiao2021", "5")
    assert len(two) == 10
    for row, held in two.items():
        gap = held["mixed_same"].value - held["mixed_rand"].value
        assert held["bg_gap"].value == pytest.approx(gap, abs=0.051), row
    for trained in ("ImageNet", "IN-9L"):
        own, other = two[f"ResNet-50 trained on {trained}"], five[f"ResNet-50 trained on {trained}"]
        for column in ("original", "only_bg_t", "mixed_same", "mixed_rand"):
            assert own[column].value == pytest.approx(other[column].value, abs=0.051)


def test_numbers_that_the_paper_says_in_words() -> None:
    """22.3 points gained by training on Mixed-Rand (the 17.3 it also states are 17.95 in its table); points from shape."""
    five = published_table("xiao2021", "5")
    rand, original, large = (five[f"ResNet-50 trained on {name}"] for name in ("mixed_rand", "original", "IN-9L"))
    assert rand["mixed_next"].value - original["mixed_next"].value == pytest.approx(22.3, abs=0.05)
    assert original["no_fg"].value - original["only_bg_b"].value == pytest.approx(9, abs=0.5)
    assert large["no_fg"].value - large["only_bg_b"].value == pytest.approx(22, abs=0.5)
    with_foreground = [rand[name].value for name in ("mixed_next", "mixed_rand", "mixed_same", "only_fg", "original")]
    assert max(with_foreground) - min(with_foreground) == pytest.approx(3.8, abs=0.05)
    assert published_table("xiao2021", "6")["ResNet-50 trained on IN-9L"]["vulnerable"].value == 88


def test_nine_class_totals_and_every_value_says_whose_weights() -> None:
    totals = {one.row: one.value for one in published("xiao2021") if one.column == "class_total"}
    assert len(totals) == 9
    assert (totals["insect"], totals["instrument"], totals["carnivore"]) == (66.55, 73.19, 53.11)
    for one in published("xiao2021"):
        assert 0 <= one.value <= 100 or one.column == "bg_gap"
        assert one.unit == "percent"
        assert one.sd is None
        assert "weights" in one.note or "trained" in one.note


def test_tables_of_volpi_and_murino_are_those_of_the_paper() -> None:
    """Values by eye from the paper; ADA is a column of tables 1 and 2 alone, and no table has a hole."""
    one = published_table("volpi2019", "1")
    assert [(one["searched_worst"][name].value, one["searched_worst"][name].sd) for name in ("ERM", "ADA", "ESDA")] == [
        (0.122, 0.028), (0.177, 0.042), (0.977, 0.0),
    ]  # fmt: skip
    assert (one["hue_accuracy"]["ADA"].value, one["negative_accuracy"]["ERM"].value) == (0.980, 0.436)
    assert published_table("volpi2019", "2")["MNIST-M"]["RSDA"].value == 0.815
    assert published_table("volpi2019", "3")["STL"]["ERM"].value == 0.466
    assert published_table("volpi2019", "4")["random_worst"]["RSDA"].value == 0.825
    assert published_table("volpi2019", "5")["searched_worst, N = 5"]["face detection API"].sd == 0.134
    shapes = {number: {len(row) for row in published_table("volpi2019", number).values()} for number in "12345"}
    assert shapes == {"1": {5}, "2": {5}, "3": {4}, "4": {4}, "5": {1}}
    assert all(0 <= value.value <= 1 and value.unit == "share" for value in published("volpi2019"))


def test_numbers_of_kassaw_et_al_are_those_that_the_text_has() -> None:
    """Partitions add up to the sizes of table 1; the gaps are the ones stated in words; a row that lost its name is numbered."""
    sizes = published_table("kassaw2024", "1")
    assert (sizes["IRUO-HTS"]["test images"].value, sizes["IRUO-Base"]["training images"].value) == (552, 61_400)
    assert sizes["IRUO-HTS"]["test images"].value == 8 * 23 * 3  # images × classes × levels
    gaps = published_table("kassaw2024", "6.3")
    assert [gaps[level]["people less Swin with MixUp"].value for level in ("level 1", "level 2")] == [3, 3.5]
    assert gaps["people"]["asked"].value - gaps["people"]["removed as outliers"].value == 18
    (row,) = published_table("kassaw2024", "A1").values()
    assert (len(row), row["value 1"].value, row["value 12"].value) == (12, 0.885, 0.726)


def test_tables_2_and_3_of_won_et_al_nearly_coincide() -> None:
    """Insertion is deletion read from the other end: the published areas differ by less than 1 of 100."""
    two, three = (published_table("won2023", number) for number in "23")
    assert two["Cutout"]["gradcam inter_model_deletion"].value == 71.411
    for name, row in two.items():
        for method in ("gradcam", "iba"):
            other = three[name][f"{method} inter_model_insertion"].value
            assert row[f"{method} inter_model_deletion"].value == pytest.approx(other, abs=1)


BRACKET = re.compile(r"\[(\.\d{3})\]")
SHIFT_ROWS = {
    "original": "original", "RS": "random_worst", "ES": "searched_worst", "negatives": "negative_accuracy",
    "SAE": "hue_accuracy", "USPS": "USPS", "MNIST-M": "MNIST-M",
}  # fmt: skip


@pytest.mark.parametrize(
    ("heading", "tables", "count"),
    [("## Digits", "12", 35), ("## CIFAR-10", "3", 12), ("## CamVid", "4", 12)],
)
def test_values_in_brackets_on_the_results_page_are_the_published_ones(heading: str, tables: str, count: int) -> None:
    """Every bracket of docs/results/shift.md, by the row and column that it stands in."""
    page = (ROOT / "docs/results/shift.md").read_text(encoding="utf-8")
    part = page[page.index(heading) :].split("\n## ")[0]
    held = {name: row for number in tables for name, row in published_table("volpi2019", number).items()}
    columns: list[str] = []
    seen = 0
    for line in part.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if "ERM" in cells:
            columns = cells
        for name, cell in zip(columns[1:], cells[1:]):
            for text in BRACKET.findall(cell):
                row = next(ours for words, ours in SHIFT_ROWS.items() if cells[0].startswith(words))
                assert float(text) == held[row][name].value, (cells[0], name)
                seen += 1
    assert seen == count


def test_the_report_shows_the_published_table_of_a_published_set_of_edits_only() -> None:
    from snellen.report.sections.shift_published import TABLES, published_shift_blocks

    (details,) = published_shift_blocks("mnist")
    (shown,) = details.blocks
    text = repr(shown)
    assert "Volpi & Murino 2019" in text
    assert "0.122 ± 0.028" in text
    assert all(published_shift_blocks(name) for name in TABLES)
    assert published_shift_blocks("mine.yaml") == []
