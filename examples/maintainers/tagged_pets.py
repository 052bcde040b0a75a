"""The pets with and without their pasted tags, and networks trained on either: a shortcut that maps must expose.

python examples/maintainers/tagged_pets.py --out runs/tagged

Of 74 photographs a white tag "Cat" or a black tag "Dog" was pasted into a twin. One network learns cats and dogs from tagged
pictures, one from the plain ones; both are audited on the tagged test pictures and on their plain twins. The box is that of the
tag, so EnergyPG is the share of a map that lies on the tag, or on the place where it would be.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))
from shared_networks import shared

import snellen
from snellen.train import Recipe, train

SIDE, WHOLE = 64, 224
CLASSES = ("cat", "dog")
PICTURES = {"tagged": "artifact_file", "plain": "file"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("runs/tagged"))
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--audits", default="explanation(method=gradcam, layer=-2)")
    chosen = parser.parse_args()
    data = {(name, split): write_arrays(chosen.out, name, split) for name in PICTURES for split in ("train", "test")}
    recipe = Recipe(arch="smallnet", epochs=chosen.epochs, batch_size=16, lr=0.05, padding=4)
    models = {
        name: [str(path) for path in train(recipe, data[name, "train"], chosen.out / name, chosen.runs)]
        for name in PICTURES
    }
    for shown in PICTURES:
        run = snellen.audit(models, data[shown, "test"], chosen.audits, out=chosen.out / f"on-{shown}")
        frame = run.findings()
        wanted = frame[frame["name"].isin(["accuracy", "energy_pg", "ehr", "pointing_game"])]
        print(f"shown {shown}\n{wanted[['model', 'name', 'value', 'low', 'high']].to_string(index=False)}")


def write_arrays(folder: Path, name: str, split: str) -> str:
    """The pictures of one kind at 64 pixels with the boxes of their tags; every second one is for testing."""
    with (shared() / "pets" / "boxes.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["artifact_file"]]
    rows = rows[split == "test" :: 2]
    images = [Image.open(shared() / "pets" / row[PICTURES[name]]).convert("RGB") for row in rows]
    corners = [[float(row[f"artifact_{side}"]) for side in ("xmin", "ymin", "xmax", "ymax")] for row in rows]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{split}.npz"
    np.savez(
        path,
        images=np.stack([np.asarray(one.resize((SIDE, SIDE), Image.Resampling.BOX)) for one in images]),
        labels=np.array([CLASSES.index(row["species"]) for row in rows]),
        boxes=np.array(corners) * SIDE / WHOLE,
        ids=[Path(row["file"]).stem for row in rows],
        classes=list(CLASSES),
    )
    return f"arrays:{path}"


if __name__ == "__main__":
    main()
