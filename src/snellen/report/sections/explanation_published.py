"""Published alignment (Won et al. 2023, table 1), to read a run's own beside."""

from __future__ import annotations

from snellen.report.blocks import Block, Cell, Details, Published, Row, Table, heads
from snellen.report.published import published_table

PAPER = "Won et al. 2023"
COLUMNS = {
    "gradcam energy_pg": "Grad-CAM, EnergyPG",
    "gradcam ehr": "Grad-CAM, EHR",
    "iba energy_pg": "IBA, EnergyPG",
    "iba ehr": "IBA, EHR",
}
TEXT = (
    "the published values are of five ResNet-50 on 1,000 ImageNet images that all of them are sure of, with boxes of 10 to 50% "
    "of the image. They say how far apart networks have been, not how good these are."
)


def published_details() -> list[Block]:
    """Table 1, folded."""
    rows = tuple(
        Row(
            Cell(name),
            tuple(Cell(f"{one.value:.3f} ± {one.sd:.3f}", one.value) for one in (row[key] for key in COLUMNS)),
        )
        for name, row in published_table("001", "1").items()
    )
    table = Table(heads("trained with", *COLUMNS.values()), rows, dense=True)
    return [Details("Published values", (Published(PAPER, False, TEXT, (table,)),))]
