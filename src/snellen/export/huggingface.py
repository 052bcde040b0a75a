"""A run as a dataset of Hugging Face: a folder with Parquet files and the README.md that says what they are.

README.md                  the dataset card; its head names configurations, columns, splits and sizes
answers/<role>.parquet     every answer, as in `answer_rows.COLUMNS`; a split per role of the data
findings/findings.parquet  every finding, as in findings.csv
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.atomic import write_atomic, writing
from snellen.engine.keep.run_folder import RunFolder
from snellen.export.answer_rows import COLUMNS, roles
from snellen.export.folder import empty_folder
from snellen.export.table import write_rows
from snellen.report import findings_frame
from snellen.report.cards import card_of

if TYPE_CHECKING:
    import pyarrow as pa

_TYPES = {"float": "float32"}  # as the head of a card says them


def write_dataset(run: RunFolder, folder: Path) -> None:
    """The folder; `datasets.load_dataset(folder, "answers")` and `"findings"` read it."""
    import pyarrow.parquet as pq

    from snellen.audits import read_findings

    findings = _findings_table(findings_frame(read_findings(run.results())))
    empty_folder(folder, run, "hf")
    splits = dict(zip(roles(run), _splits(roles(run))))
    counts = {split: write_rows(run, _answers(folder, split), role) for role, split in splits.items()}
    place = folder / "findings" / "findings.parquet"
    with writing(place) as file:
        pq.write_table(findings, file, compression="zstd", write_page_checksum=True)
    answers = {name: _TYPES.get(kind, kind) for name, (kind, _) in COLUMNS.items()}
    facts = [
        _config("answers", answers, {split: (count, _answers(folder, split)) for split, count in counts.items()}),
        _config("findings", _types_of(findings), {"findings": (len(findings), place)}),
    ]
    write_atomic(folder / "README.md", _card(run, facts, splits).encode())


def _answers(folder: Path, split: str) -> Path:
    return folder / "answers" / f"{split}.parquet"


def _splits(names: list[str]) -> list[str]:
    """Names of splits, which have letters, digits and underscores alone, each once."""
    splits: list[str] = []
    for name in names:
        split = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_") or "data"
        splits.append(split if split not in splits else f"{split}_{len(splits)}")
    return splits


def _config(name: str, types: Mapping[str, str], splits: Mapping[str, tuple[int, Path]]) -> dict[str, Any]:
    """The `dataset_info` of one configuration: splits with their rows and files."""
    sizes = {split: file.stat().st_size for split, (_, file) in splits.items()}
    return {
        "config_name": name,
        "features": [{"name": column, "dtype": dtype} for column, dtype in types.items()],
        "splits": [
            {"name": split, "num_bytes": sizes[split], "num_examples": count} for split, (count, _) in splits.items()
        ],
        "download_size": sum(sizes.values()),
        "dataset_size": sum(sizes.values()),
    }


def _card(run: RunFolder, facts: list[dict[str, Any]], splits: Mapping[str, str]) -> str:
    import yaml

    files = {
        "answers": [{"split": split, "path": f"answers/{split}.parquet"} for split in splits.values()],
        "findings": [{"split": "findings", "path": "findings/findings.parquet"}],
    }
    head = {
        "configs": [
            {"config_name": name, "data_files": parts, **({"default": True} if name == "answers" else {})}
            for name, parts in files.items()
        ],
        "dataset_info": facts,
        "tags": ["snellen", "model-evaluation", "robustness"],
    }
    text = str(yaml.safe_dump(head, sort_keys=False, allow_unicode=True))
    rows = "\n".join(f"| {name} | {kind} | {meaning} |" for name, (kind, meaning) in COLUMNS.items())
    return (
        f"---\n{text}---\n\n# Answers and findings of an audit\n\n"
        "`answers` has a row per model, modification and image; `findings` what was concluded from them.\n\n"
        f"| column of `answers` | type | meaning |\n|---|---|---|\n{rows}\n\n{card_of(run)}"
    )


def _findings_table(frame: Any) -> pa.Table:
    """The findings with one type per column: truth values, whole numbers, numbers, or else words."""
    import pyarrow as pa

    columns = {}
    for name in frame.columns:
        cells = [None if cell is None or cell != cell else cell for cell in frame[name].tolist()]
        known = [cell for cell in cells if cell is not None]
        if known and all(isinstance(cell, bool) for cell in known):
            columns[name] = pa.array(cells, pa.bool_())
        elif known and all(isinstance(cell, int) and not isinstance(cell, bool) for cell in known):
            columns[name] = pa.array(cells, pa.int64())
        elif all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known):
            columns[name] = pa.array(cells, pa.float64())
        else:
            columns[name] = pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    return pa.table(columns)


def _types_of(table: pa.Table) -> dict[str, str]:
    return {field.name: {"double": "float64"}.get(str(field.type), str(field.type)) for field in table.schema}
